// positions.h – which rows of the log were there at a point of this machine's time.
//
// Why: a client may be answered by one replica and write to another a millisecond later. What it was shown counts as shown
// before its write came only if that is certain. The clocks of two machines cannot be compared. A question to the engine can:
// the engine's time lay between the asking and the answer.
//
// Invariant  surely_before() never names a row that was begun later: an uncertain one counts as later. This holds while the
//            engine's clock goes as fast as this machine's. If the engine's clock jumps back, its next answer contradicts the
//            one before and shows the jump. The engine is asked at least every tenth of the membership lease; until that answer
//            a row that was begun after the jump may be named. The same holds for a jump that no answer contradicts: one
//            shorter than two round trips and the drift since.
// Threads   any.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>

#include "base/time.h"
#include "proxy/async/mutex.h"

namespace armgate::cluster {

// Microseconds of the engine's clock.
using EngineTime = int64_t;

class Positions {
 public:
  // The engine said `told` between these two. If its clock cannot have come there from what it had said before, it has jumped,
  // and only what it says from now on counts.
  void learn(TimePoint asked, TimePoint answered, EngineTime told);
  // Whether the engine is to be asked again: nothing is known of it, or it was asked so long ago.
  bool is_due(TimePoint now, Duration every) const;
  // A row that was begun at that time; in the log's order.
  void add(uint64_t number, EngineTime begun);
  // Another engine, with another clock: what is known of the one before is not compared with it.
  void begin_anew();

  // The last row that was begun before that moment for certain; 0: none is known.
  uint64_t surely_before(TimePoint when) const;
  // When a row was begun, at the latest, by this machine's clock; `now` if nothing is known.
  TimePoint time_of(EngineTime begun, TimePoint now) const;

 private:
  static constexpr size_t kRows = 4096;
  static constexpr Duration kTrusted = std::chrono::seconds(10);
  struct Sample {
    TimePoint asked;
    TimePoint answered;
    EngineTime told = 0;
  };
  struct Row {
    uint64_t number;
    EngineTime begun;
  };
  bool contradicts(const Sample& sample) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void begin_with(const Sample& sample) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  mutable Mutex mutex_;
  Sample best_ ABSL_GUARDED_BY(mutex_){};
  TimePoint asked_ ABSL_GUARDED_BY(mutex_){};  // last
  bool has_sample_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_anew_ ABSL_GUARDED_BY(mutex_) = false;  // the next answer is another clock's
  // Rows of an earlier time were begun by the clock of before, and are taken for begun then, which is later.
  EngineTime earliest_ ABSL_GUARDED_BY(mutex_) = std::numeric_limits<EngineTime>::min();
  std::deque<Row> rows_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate::cluster
