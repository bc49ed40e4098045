// upstream_host.h – the keep-alive TLS connections of one event loop to one upstream host.
//
// Invariants
//   1. At most `connections_max` connections exist; a caller beyond that waits, first come, first served, until its
//   deadline.
//   2. A connection is handed out for reuse only if it is young enough and nothing unread, FIN included, waits on it.
// Threads   one event loop.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "certs/ssl_handles.h"
#include "proxy/async/waiter.h"
#include "proxy/net/socket/input_buffer.h"
#include "proxy/net/socket/tls_stream.h"
#include "proxy/net/upstream/connector.h"
#include "proxy/seams/upstream.h"

namespace armgate::net {

struct UpstreamConnection {
  std::unique_ptr<ByteStream> stream;
  InputBuffer input;
  uint64_t exchanges = 0;  // answers read to their end; 0: fresh
  TimePoint idle_since{};
};

struct UpstreamHostOptions {
  size_t connections_max = 256;
  size_t idle_connections_max = 256;
  Duration idle_max = std::chrono::seconds(55);  // below what ARM's front door allows: the first to close loses no request
  Duration connect_max = std::chrono::seconds(10);
  Duration handshake_max = std::chrono::seconds(10);
  Duration unacknowledged_max = std::chrono::seconds(30);
  uint16_t port = 443;
};

class UpstreamHost : public std::enable_shared_from_this<UpstreamHost> {
 public:
  UpstreamHost(std::string host, Clock& clock, const Executor& executor, Connector& connector, SSL_CTX* context,
               const UpstreamHostOptions& options);

  // An idle connection or a new one. Errors have Sent::No. `gate`: who asks, if that may change; it outlives the call.
  Task<Result<std::unique_ptr<UpstreamConnection>>> acquire(TimePoint deadline, SendGate* gate = nullptr);

  // The exchange ended in order and another may follow.
  void give_back(std::unique_ptr<UpstreamConnection> connection);
  // The connection cannot be used again.
  void discard(std::unique_ptr<UpstreamConnection> connection);
  // The idle ones cannot be used either: the path that they all take may be dead.
  void discard_idle();

  size_t open() const { return open_; }
  bool unused() const { return open_ == 0 && waiting_.empty() && promised_ == 0; }
  const std::string& name() const { return host_; }

 private:
  std::unique_ptr<UpstreamConnection> take_idle();
  Task<Result<std::unique_ptr<UpstreamConnection>>> connect(TimePoint deadline);
  // Connections that could be handed out at once, idle or new.
  size_t free() const { return options_.connections_max - open_ + idle_.size(); }
  // One of them is promised to the caller then.
  Task<Result<void>> wait_in_line(TimePoint deadline, SendGate* gate);
  void wake_next();
  void end_late_waits();
  void close_old();
  void keep_session(certs::SessionHandle session);

  const std::string host_;
  Clock& clock_;
  const Executor executor_;
  Connector& connector_;
  SSL_CTX* const context_;
  const UpstreamHostOptions options_;

  size_t open_ = 0;
  std::vector<std::unique_ptr<UpstreamConnection>> idle_;  // least recently used first
  struct InLine {
    Waiter* waiter;
    TimePoint deadline;
  };
  std::deque<InLine*> waiting_;
  TimePoint first_deadline_ = kNever;           // of those in line, or earlier
  size_t promised_ = 0;                         // of free(): to those who were first in line and have not run yet
  std::vector<certs::SessionHandle> sessions_;  // to resume from; each is used once (RFC 8446 appendix C.4)
  DeadlineTimer expiry_;
  DeadlineTimer too_late_;  // one for all in line: while many wait, each waits for a moment only
};

}  // namespace armgate::net
