// net_event.h – what the network shell tells the log and the metrics. Never a credential, a body or a query.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace armgate::net {

enum class NetEventKind {
  ConnectionAccepted,
  ConnectionLimit,  // refused: too many connections
  AcceptFailed,
  ProxyRefused,  // the first request on the proxy port was refused
  NameNotTaken,  // the client's user name is none that armgate can use
  Intercepted,
  HandshakeFailed,  // with the client
  RequestRefused,   // malformed, too large or too slow
  BodyLimit,        // refused: too much is held of the bodies of other requests
  TunnelOpened,
  TunnelPastGuard,  // besides TunnelOpened: to an intercepted host, on another port
  TunnelFailed,
  TunnelClosed,
};

struct NetEvent {
  NetEventKind kind;
  std::string_view peer{};       // the client's address
  std::string_view client{};     // the user name of its proxy URL, once its CONNECT was read
  std::string_view host{};       // that it asked for, if known
  std::string_view text{};       // a sentence for a person; may be empty
  std::string_view method{};     // for RequestRefused, if the head was read
  std::string_view path{};       // for RequestRefused, if the head was read
  uint64_t to_host_bytes = 0;    // for TunnelClosed
  uint64_t from_host_bytes = 0;  // for TunnelClosed
};

// May be called on any event loop; must not block. Empty: nobody listens.
using NetEventSink = std::function<void(const NetEvent& event)>;

inline void emit(const NetEventSink& sink, const NetEvent& event) {
  if (sink) sink(event);
}

}  // namespace armgate::net
