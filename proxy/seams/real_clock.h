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
  TimePoint now() const override;
  WallTime wall() const override;
  Moment next_moment() override;
  std::unique_ptr<TimerHandle> call_at(const Executor& executor, TimePoint when, std::function<void()> callback) override;
  Task<void> sleep_until(TimePoint when) override;

 private:
  alignas(kCacheLineBytes) std::atomic<uint64_t> moments_{0};
};

}  // namespace armgate
