// time.h – points in time as plain values.
//
// Why: pure code takes the time as an argument, so the same decision runs under a real clock, a virtual clock and in a
// table test. GateClock has no now() on purpose: only the Clock seam (proxy/seams/clock.h) can tell the time.
#pragma once

#include <chrono>
#include <cstdint>

namespace armgate {

using Duration = std::chrono::nanoseconds;

struct GateClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<GateClock, Duration>;
  static constexpr bool is_steady = true;
};

// Monotonic; its zero has no meaning.
using TimePoint = GateClock::time_point;

// Time of day, UTC: for dates that others gave or that outlive the process (log, certificates, journal, Retry-After as a date,
// Repeatability-First-Sent). Durations are measured by TimePoint.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

inline constexpr TimePoint kNever = TimePoint::max();

// A place in the one order of events that this process has observed, and when it was. `order` is unique and decides;
// `time` is for limits and for people.
struct Moment {
  uint64_t order = 0;
  TimePoint time{};
};

inline int64_t whole_milliseconds(Duration d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); }

}  // namespace armgate
