// log_throttle.h – says when something that happens again and again should be told: at once, and then not before a while has
// passed.
#pragma once

#include <cstdint>
#include <utility>

#include "base/time.h"

namespace armgate::net {

class LogThrottle {
 public:
  explicit LogThrottle(Duration at_least_apart) : at_least_apart_(at_least_apart) {}

  // It has happened again: how often since it was last told, if it should be told now; else 0.
  uint64_t count(TimePoint now) {
    ++untold_;
    if (next_ > now) return 0;
    next_ = now + at_least_apart_;
    return std::exchange(untold_, 0);
  }

 private:
  const Duration at_least_apart_;
  TimePoint next_{};
  uint64_t untold_ = 0;
};

}  // namespace armgate::net
