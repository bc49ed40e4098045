// gate_clock.h – the time of one process of a cluster: its own order of moments, and what it is to be stopped for a while.
//
// Why: no two processes have an order of moments in common. And a process may stand still (SIGSTOP, a machine that is suspended)
// while the world goes on: what is due meanwhile happens to it all at once when it runs again.
// Threads   the simulation's one loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

#include "tests/support/world/sim_clock.h"

namespace armgate::world {

class GateClock final : public Clock {
 public:
  explicit GateClock(SimClock& world) : world_(world) {}
  TimePoint now() const override { return world_.now(); }
  WallTime wall() const override { return world_.wall(); }
  Moment next_moment() override { return {++moments_, world_.now()}; }
  std::unique_ptr<TimerHandle> call_at(const Executor& executor, TimePoint when, std::function<void()> callback) override;
  Task<void> sleep_until(TimePoint when) override;
  void pass(uint64_t order) { moments_ = std::max(moments_, order); }

  // Nothing of the process runs for so long: neither its timers, nor what comes to it from outside, which asks the next two.
  void freeze(Duration how_long) { frozen_until_ = std::max(frozen_until_, world_.now() + how_long); }
  // Does that to the process: now, or as soon as it runs again.
  void when_it_runs(std::function<void()> event);
  // Suspends until it runs.
  Task<void> until_it_runs();

 private:
  class Timer;
  bool is_frozen() const { return world_.now() < frozen_until_; }

  SimClock& world_;
  uint64_t moments_ = 0;
  TimePoint frozen_until_{};
};

}  // namespace armgate::world
