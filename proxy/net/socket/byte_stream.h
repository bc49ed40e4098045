// byte_stream.h – one connection as a stream of bytes, plain or TLS.
//
// Threads   one event loop. At most one read and one write run at a time; they may overlap each other.
// Cancel    close() wakes both with an error of kind Cancelled. Destroy a stream only when no operation is running.
// Errors    TimedOut at the deadline, Reset if the connection broke, Cancelled; the source is the peer's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "proxy/async/task.h"

namespace armgate::net {

// How the peer ended its direction.
enum class StreamEnd {
  Open,      // not yet
  Notified,  // an orderly end that nobody on the path can forge: TLS close_notify (or FIN of a plain connection)
  Bare,      // FIN without close_notify: orderly for the connection, but content that ends here may be cut
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Some bytes, or 0 at the end of the peer's direction (see end()).
  virtual Task<Result<size_t>> read_some(std::span<char> into, TimePoint deadline) = 0;

  // All pieces in order, in as few writes as possible. The views and the array must stay valid until it returns.
  virtual Task<Result<void>> write_all(std::span<const std::string_view> pieces, TimePoint deadline) = 0;
  Task<Result<void>> write_all(std::string_view piece, TimePoint deadline) {
    co_return co_await write_all(std::span(&piece, 1), deadline);
  }

  // Ends our direction: close_notify if it is TLS, then FIN. Best effort.
  virtual Task<void> shutdown(TimePoint deadline) = 0;

  // Wakes a read that is waiting now with Cancelled; no effect otherwise.
  virtual void cancel_read() = 0;

  // Calls `readable` once, when a read may give something, without a read that waits for it. False if one may now: then it is
  // not called. A null function takes the request back.
  virtual bool tell_readable(std::function<void()> readable) = 0;

  virtual void close() = 0;

  virtual StreamEnd end() const = 0;

  // Bytes written that the peer's machine has not acknowledged; the end of our direction is none of them.
  virtual size_t unacknowledged() const = 0;

  // Bytes handed to the system since the connection was made; while this stands still, nothing can have arrived.
  virtual uint64_t bytes_written() const = 0;

  // Of these, how many the peer's machine has acknowledged.
  uint64_t bytes_acknowledged() const { return bytes_written() - std::min<uint64_t>(unacknowledged(), bytes_written()); }

  // True once the peer has reset the connection, or the system has given it up. Does not block and takes nothing.
  virtual bool is_broken() const = 0;

  // Acknowledges what was received now, instead of with what is written next.
  virtual void acknowledge_now() = 0;

  // Whether something unread, an end included, is here. Does not block.
  virtual bool has_input() const = 0;

  // For an idle connection: true if it is open and nothing unread is waiting. Does not block.
  virtual bool is_quiet() = 0;
};

}  // namespace armgate::net
