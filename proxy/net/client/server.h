// server.h – one event loop's listener for clients: accepts, decides, intercepts or tunnels, and drains.
//
// Usage: one ProxyServer per event loop and listener; all of a process share one ConnectionCounter. open() binds, start()
// accepts. To end: drain(), wait for the callback, abort() what is left (tunnels), and let the loop run out.
// Threads   its event loop, except where ConnectionCounter says otherwise.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/net/client/connect_policy.h"
#include "proxy/net/client/connection_counter.h"
#include "proxy/net/client/intercept.h"
#include "proxy/net/client/listener.h"
#include "proxy/net/client/session.h"

namespace armgate::net {

enum class ListenerKind {
  Proxy,   // HTTPS_PROXY: CONNECT first
  Direct,  // TLS at once; the host comes from SNI
  Plain,   // HTTP at once, for any host: armgate's own pages
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8080;
  PortUse port_use = PortUse::First;
  ListenerKind listener_kind = ListenerKind::Proxy;
  size_t connections_max = 10'000;  // of the process
  ConnectPolicy connect;
  SessionOptions session;
  Duration connect_head_max = std::chrono::seconds(10);  // for the client's CONNECT
  Duration tunnel_connect_max = std::chrono::seconds(10);
  Duration tunnel_idle_max = std::chrono::minutes(10);
};

struct ServerParts {
  Clock& clock;
  Executor executor;
  Interceptor& interceptor;
  Connector& connector;  // for tunnels
  RequestHandler handler;
  ConnectionCounter& counter;
  NetEventSink events;
  BodyRoom* bodies = nullptr;  // null: unbounded
};

class ProxyServer {
 public:
  static Result<std::unique_ptr<ProxyServer>> open(ServerParts parts, ServerOptions options);
  ~ProxyServer();

  uint16_t port() const;
  void start();

  // Stops accepting, closes idle connections, lets running exchanges finish. `drained` runs once, when nothing but
  // tunnels is left (they are not ours to guard; abort() cuts them).
  void drain(std::function<void()> drained);

  // What has not been sent yet and waits for another write is told to come again: the end is near.
  void stop_waiting();

  // Cuts every connection. Exchanges that were sent still run to their end.
  void abort();

 private:
  struct Core;
  explicit ProxyServer(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  std::shared_ptr<Core> core_;  // also held by every connection's coroutine
};

}  // namespace armgate::net
