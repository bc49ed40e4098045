// real_clock.h – the Clock of production: the system's monotonic clock and Asio timers.
//
// Threads   any; one RealClock serves the whole process, so that its moments are one order.
#pragma once

#include <atomic>

#include "base/cache_line.h"
#include "proxy/seams/clock.h"

namespace armgate {

class RealClock final : public Clock {
 public:
  // One iteration of an event loop. While it lives, time stands still for its thread: what the loop is told at once has
  // happened at once. A request asks for the time two dozen times, and in some virtual machines each look at the system's clock
  // is a call into the kernel. Not more than one on a thread; nothing on it may wait for time to pass meanwhile.
  class LoopIteration {
   public:
    LoopIteration();
    ~LoopIteration();
    LoopIteration(const LoopIteration&) = delete;
    LoopIteration& operator=(const LoopIteration&) = delete;
  };

  TimePoint now() const override;
  WallTime wall() const override;
  TimePoint exact_now() const override;
  Moment next_moment() override;
  void pass(uint64_t order);  // moments from now on come after it
  std::unique_ptr<TimerHandle> call_at(const Executor& executor, TimePoint when, std::function<void()> callback) override;
  Task<void> sleep_until(TimePoint when) override;

 private:
  alignas(kCacheLineBytes) std::atomic<uint64_t> moments_{0};
};

}  // namespace armgate
