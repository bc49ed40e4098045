// clock.h – the seam to time. Real: steady_timer. Simulation: a heap of virtual events.
//
// Why: nothing else in armgate may ask what time it is, so every wait, limit and backoff runs unchanged under the
// simulator, where a second costs nothing and the same seed gives the same run.
// Threads   now(), wall() and order() from any thread. Timers fire on the executor they were given.
#pragma once

#include <functional>
#include <memory>

#include "base/time.h"
#include "proxy/async/task.h"

namespace armgate {

// Cancels its timer when destroyed; after that the callback does not run (destroy it on the timer's executor).
class TimerHandle {
 public:
  virtual ~TimerHandle() = default;
};

class Clock {
 public:
  virtual ~Clock() = default;

  // Both may stand still until the caller suspends, or longer.
  virtual TimePoint now() const = 0;
  virtual WallTime wall() const = 0;
  // Does not stand still: for what may not happen after a moment.
  virtual TimePoint exact_now() const { return now(); }

  // The next place in the order of observed events; strictly increasing over all threads.
  virtual Moment next_moment() = 0;

  // Runs `callback` on `executor` at `when`, or soon after; at once if it is past. kNever: never.
  virtual std::unique_ptr<TimerHandle> call_at(const Executor& executor, TimePoint when, std::function<void()> callback) = 0;

  // Suspends the calling coroutine.
  virtual Task<void> sleep_until(TimePoint when) = 0;
  Task<void> sleep_for(Duration duration) { return sleep_until(now() + duration); }
};

}  // namespace armgate
