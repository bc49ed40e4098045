// client_input.h – the reading side of a client's connection, which also notices that the client left.
//
// While a watch is set, whatever arrives is read in the background. Bytes that arrive early (pipelined requests) are kept for
// the next request, up to a limit; beyond it nothing is read until they are used.
//
// Invariants
//   1. arrived() is never later than the true arrival of the first unused byte (in doubt the older moment counts).
// Threads   one event loop.
// Cancel    close the stream, then await stop(), then destroy.
#pragma once

#include <optional>

#include "proxy/async/waiter.h"
#include "proxy/net/socket/byte_stream.h"
#include "proxy/net/socket/input_buffer.h"
#include "proxy/seams/client_link.h"
#include "proxy/seams/clock.h"

namespace armgate::net {

class ClientInput {
 public:
  ClientInput(ByteStream& stream, Clock& clock, const Executor& executor, size_t early_bytes_max)
      : stream_(stream), clock_(clock), executor_(executor), early_bytes_max_(early_bytes_max), stopped_(executor) {}

  std::string_view bytes() const { return buffer_.bytes(); }
  void consume(size_t count);
  void discard() { buffer_.clear(); }
  Moment arrived() const { return arrived_; }

  // What is unread now came before the answer that is about to be written: no later than `moment`.
  void note_early(Moment moment) { early_since_ = moment; }

  // Adds bytes; their number, 0 at the end of the client's direction. No watch may be set.
  Task<Result<size_t>> more(TimePoint deadline);

  // See ClientLink.
  bool gone() const { return end_ != End::Open; }
  std::shared_ptr<const Presence> presence() const { return presence_; }
  void watch(Waiter* waiter, uint32_t bits);
  void wake_watcher();

  // Ends the watch, and the background read if one runs.
  bool is_watching() const { return watcher_ != nullptr || in_background_; }
  Task<void> stop();

 private:
  enum class End { Open, Closed, Broken };

  void start_reading();
  Task<void> read_in_background();
  void note_read(const Result<size_t>& outcome);

  ByteStream& stream_;
  Clock& clock_;
  const Executor executor_;
  const size_t early_bytes_max_;

  InputBuffer buffer_;
  Moment arrived_;
  size_t before_latest_ = 0;  // of the unused bytes came with earlier reads than ...
  Moment latest_;             // ... the last one
  std::optional<Moment> early_since_;
  End end_ = End::Open;
  std::optional<Error> broken_;  // for Broken
  const std::shared_ptr<Presence> presence_ = std::make_shared<Presence>();

  Waiter* watcher_ = nullptr;
  uint32_t watcher_bits_ = 0;
  bool in_background_ = false;
  Waiter stopped_;
};

}  // namespace armgate::net
