// sim_clock.h – the Clock seam under virtual time: a heap of events, and a loop that jumps from one to the next.
//
// Why: a wait of fifty seconds costs nothing, and a run is a pure function of its seed. Events of one moment are ordered by
// a number drawn from the seed, so that every order that the real world could show comes up under some seed.
// Threads   one; the loop and everything on it share it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include "base/rng.h"
#include "proxy/seams/clock.h"

namespace armgate::world {

class SimClock final : public Clock {
 public:
  SimClock(boost::asio::io_context& loop, uint64_t seed);

  TimePoint now() const override { return now_; }
  WallTime wall() const override;
  Moment next_moment() override { return {++moments_, now_}; }
  std::unique_ptr<TimerHandle> call_at(const Executor& executor, TimePoint when, std::function<void()> callback) override;
  Task<void> sleep_until(TimePoint when) override;

  // An event that nobody can cancel: what the world does by itself.
  void at(TimePoint when, std::function<void()> event);

  // Everything happens at multiples of `grid`, and much of what falls on one moment is ready before anybody has reacted to any
  // of it, as on a busy machine.
  void coarsen(Duration grid) { grid_ = grid; }
  // The wall clock is set, forwards or back.
  void set_wall_by(Duration step) { wall_offset_ += step; }
  // The machine was suspended: the time is later, and what was due meanwhile happens now.
  void leap(Duration step) { now_ += step; }

  // Runs everything that is ready, then jumps to the next event and fires it. False: nothing is ready and nothing comes.
  bool step();
  // Runs what is ready without moving the time.
  void settle();

 private:
  class Timer;
  using Key = std::tuple<TimePoint, uint64_t, uint64_t>;  // when, drawn tie-break, sequence
  Key add(TimePoint when, std::function<void()> event);
  void fire_first();

  boost::asio::io_context& loop_;
  Rng rng_;
  TimePoint now_{};
  Duration wall_offset_{};
  Duration grid_{};
  uint64_t moments_ = 0;
  uint64_t sequence_ = 0;
  std::map<Key, std::function<void()>> events_;
};

}  // namespace armgate::world
