// socket.h – a non-blocking socket: try first, wait for readiness only when there is nothing to do.
//
// Threads   one event loop.
// Cancel    close() wakes waits; destroy only when none is running.
#pragma once

#include <array>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <string>

#include "base/result.h"
#include "proxy/async/task.h"
#include "proxy/net/deadline_timer.h"

namespace armgate::net {

// Whom errors are about.
struct Peer {
  ErrorSource source = ErrorSource::Client;
  std::string name;  // for messages: a host or an address
};

enum class Readiness { Readable, Writable };

// Who waits; each has its own deadline and can be cancelled alone. A TLS read may have to wait for writability.
enum class Waiting { Reader, Writer };

class Socket {
 public:
  // Owns `fd` and makes it non-blocking.
  Socket(Clock& clock, const Executor& executor, int fd, Peer peer);

  Task<Result<void>> wait(Waiting who, Readiness what, TimePoint deadline);
  void cancel(Waiting who);
  void shutdown_write();
  void close();

  bool is_open() const { return descriptor_.is_open(); }
  int fd() { return descriptor_.native_handle(); }
  size_t unacknowledged();
  const Peer& peer() const { return peer_; }

  // The errno of a failed call, as the kind of error it is to the caller.
  Error error_of(int number) const;
  Error cancelled() const;

 private:
  struct Side {
    Side(Clock& clock, const Executor& executor);
    boost::asio::cancellation_signal interrupt;
    bool timed_out = false;
    DeadlineTimer deadline;
  };

  boost::asio::posix::stream_descriptor descriptor_;
  const Peer peer_;
  std::array<Side, 2> sides_;
};

}  // namespace armgate::net
