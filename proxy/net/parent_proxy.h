// parent_proxy.h – the proxy through which armgate reaches the world, where a network lets nothing else out: asked for a tunnel by
// CONNECT (RFC 9110 §9.3.6) over plain TCP, with Basic credentials (RFC 7617) if it has a user.
//
// Errors   Unreachable or TimedOut, all with Sent::No: nothing of a request goes out before the tunnel stands. Each names the
//          proxy, the option or variable that names it, and what to do.
// Threads  a tunnel: one event loop. RefusedCredentials: any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/async/mutex.h"
#include "proxy/net/no_proxy.h"
#include "proxy/net/socket.h"

namespace armgate::net {

// That the proxy refused our credentials, for all who would ask with them: an account is often locked after a few refusals. So one asks
// again after half a minute, then each time after twice as long, ten minutes at most; the others are told what the last one was.
class RefusedCredentials {
 public:
  // What to tell instead of asking; nothing: ask, which keeps others from it for a while if there was a refusal.
  std::optional<Error> instead(TimePoint now);
  void note_refused(Error refusal, TimePoint now);
  void note_taken();

 private:
  Mutex mutex_;  // the proxy is the same for all event loops
  std::optional<Error> refusal_ ABSL_GUARDED_BY(mutex_);
  TimePoint until_ ABSL_GUARDED_BY(mutex_){};
  Duration pause_ ABSL_GUARDED_BY(mutex_){};
};

struct ParentProxy {
  std::string host;
  uint16_t port = 80;
  std::string credentials;  // "user:password"; empty: none. A secret
  std::shared_ptr<RefusedCredentials> refused = std::make_shared<RefusedCredentials>();
  std::string named_by;  // the option or the variable, for messages
  NoProxy exceptions;
  std::string mark;  // of this process, so that its own listener knows a CONNECT of its own; see ConnectPolicy

  // "the proxy HOST:PORT (upstream.proxy)"
  std::string text() const;
};

// Where a CONNECT carries the mark of the process that sent it (RFC 9110 §7.6.3).
inline constexpr std::string_view kMarkField = "Via";

// Asks for a tunnel to `authority` ("host:port") over a connection to the proxy. What the far end says first stays in the socket. Notes
// in `parent.refused` what became of the credentials.
Task<Result<void>> open_tunnel(Socket& socket, const ParentProxy& parent, std::string authority, Clock& clock,
                               TimePoint deadline);

// What to add to a failed TLS handshake through the proxy.
std::string handshake_hint(const ParentProxy& parent, const Error& error);

}  // namespace armgate::net
