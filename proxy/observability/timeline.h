// timeline.h – the last hour in numbers, one row for every ten seconds, for the plots of the live page.
//
// Why: whoever looks on wants to see what changed, without a Prometheus beside armgate. Nothing is counted anew: each row is
// the difference between two looks at the counters, so requests pay nothing for it.
// Limits    kSlots rows, then the oldest is forgotten.
// Threads   one: the first event loop's.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "proxy/observability/metrics.h"
#include "proxy/observability/upstream_watch.h"

namespace armgate {

class Timeline {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(10);
  static constexpr size_t kSlots = 360;

  // What was counted since the start, and how many writes wait now.
  struct Sample {
    GatewayTally::Counts tally;
    DurationHistogram::Counts waited;
    UpstreamCounts upstream;
    uint64_t waiting = 0;
  };

  // Each kEvery. The first look only says where to count from.
  void add(const Sample& sample);

  // {"every_s", "slots", "columns": {"requests": [...], ...}}, the oldest row first.
  std::string json() const;

 private:
  struct Row {
    uint64_t requests = 0;
    uint64_t guarded = 0;
    uint64_t merged = 0;
    uint64_t stale = 0;
    uint64_t refused = 0;
    uint64_t waiting = 0;
    uint64_t added_ms = 0;      // that armgate held a request, on average over all
    uint64_t added_p95_ms = 0;  // of those that it held at all, 95 % were held at most so long
    uint64_t arm_409 = 0;
    uint64_t arm_412 = 0;
    uint64_t arm_429 = 0;
  };

  std::array<Row, kSlots> rows_{};
  size_t count_ = 0;  // ever
  std::optional<Sample> before_;
};

}  // namespace armgate
