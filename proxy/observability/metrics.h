// metrics.h – what has been counted since the start, in the text format that Prometheus collects.
//
// Names and labels are told in docs/monitoring.md. None of them holds a resource's or a client's name: their number is bounded,
// and whoever may collect metrics need not be one who may know of resources.
// Threads   any; counting takes no lock. One RequestMetrics for each event loop, so that threads do not wait for each other to
//           count; whoever asks adds them up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "proxy/observability/service_state.h"
#include "proxy/observability/tally.h"
#include "proxy/observability/upstream_watch.h"
#include "proxy/request/exchange.h"
#include "proxy/request/parts.h"
#include "proxy/state/operation/operation_results.h"

namespace armgate {

// How often something took how long.
class DurationHistogram {
 public:
  // Upper bounds of its buckets in seconds; what took longer is in one more.
  static constexpr std::array kBounds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25,  0.5,  1.0,
                                         2.5,   5.0,  10.0,  25.0, 50.0, 100.0, 300.0};

  struct Counts {
    std::array<uint64_t, kBounds.size() + 1> buckets{};  // each without those before it
    double seconds = 0;                                  // of all together
    Counts& operator+=(const Counts& more);
  };

  void observe(Duration took);
  Counts counts() const;

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets_{};
  std::atomic<int64_t> microseconds_{0};
};

class RequestMetrics {
 public:
  static constexpr size_t kMethods = static_cast<size_t>(arm::Method::Other) + 1;
  static constexpr size_t kStatusClasses = 6;  // 0: no answer was given; 1 to 5: 1xx to 5xx

  struct Counts {
    std::array<std::array<uint64_t, kStatusClasses>, kMethods> requests{};
    DurationHistogram::Counts reads;   // GET and HEAD
    DurationHistogram::Counts others;  // all other methods
    DurationHistogram::Counts waited;  // of requests that waited at all
    Counts& operator+=(const Counts& more);
  };

  // A finished request. `now`: its end.
  void count(const Exchange& exchange, TimePoint now);
  Counts counts() const;

 private:
  std::array<std::array<std::atomic<uint64_t>, kStatusClasses>, kMethods> requests_{};
  DurationHistogram reads_;
  DurationHistogram others_;
  DurationHistogram waited_;
};

// Prometheus' text format, version 0.0.4.
std::string metrics_text(const ServiceState& state, const RequestMetrics::Counts& requests, const UpstreamCounts& upstream,
                         const GatewayTally::Counts& tally, const Counters& counters,
                         const std::vector<OperationResults::Count>& results, const BudgetReport& budgets);

}  // namespace armgate
