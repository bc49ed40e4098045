// parent_proxy.h – the proxy through which armgate reaches the world, where a network lets nothing else out: asked for a tunnel
// by CONNECT (RFC 9110 §9.3.6) over plain TCP, with Basic credentials (RFC 7617) if it has a user.
//
// Errors   Unreachable or TimedOut, all with Sent::No: nothing of a request goes out before the tunnel stands. Each names the
//          proxy, the option or variable that names it, and what to do.
// Threads  one event loop.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/net/socket/socket.h"
#include "proxy/net/upstream/no_proxy.h"

namespace armgate::net {

class CredentialsGate;
std::shared_ptr<CredentialsGate> make_credentials_gate();

struct ParentProxy {
  std::string host;
  uint16_t port = 80;
  std::string credentials;  // "user:password"; empty: none. A secret
  std::shared_ptr<CredentialsGate> gate = make_credentials_gate();
  std::string named_by;  // the option or the variable, for messages
  NoProxy exceptions;
  std::string mark;  // of this process, so that its own listener knows a CONNECT of its own; see ConnectPolicy

  // "the proxy HOST:PORT (upstream.proxy)"
  std::string text() const;
};

// Where what is sent carries the mark of the process that sent it (RFC 9110 §7.6.3).
inline constexpr std::string_view kMarkField = "Via";

// Asks for a tunnel to `authority` ("host:port") over a connection to the proxy, if need be after others have asked
// (`parent.gate`). What the far end says first stays in the socket.
Task<Result<void>> open_tunnel(Socket& socket, const ParentProxy& parent, std::string authority, Clock& clock,
                               TimePoint deadline);

// What to add to a failed TLS handshake through the proxy.
std::string handshake_hint(const ParentProxy& parent, const Error& error);

}  // namespace armgate::net
