// tally.h – what a gateway did for its clients: for the one line that `exec` leaves behind, the status and the metrics.
//
// Threads   any. One for each event loop, so that threads do not wait for each other to count; whoever asks adds them up.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/request/exchange.h"
#include "proxy/request/observe/observe_finding.h"

namespace armgate {

// What was done about a request, as far as one word tells it.
enum class Deed { PassedOn, Guarded, Merged, Stale, Unanswered, Refused, Recovered };
Deed deed_of(const Exchange& exchange);
std::string_view to_text(Deed deed);  // as the label of armgate_outcomes_total; empty for PassedOn

class GatewayTally {
 public:
  // A finished exchange.
  void count(const Exchange& exchange);

  // What mode observe tells.
  void count(const ObserveFinding& finding);

  struct Counts {
    uint64_t requests = 0;
    uint64_t guarded = 0;
    uint64_t merged = 0;
    uint64_t stale = 0;
    uint64_t unanswered = 0;
    uint64_t refused = 0;
    uint64_t repeated = 0;
    uint64_t recovered = 0;
    uint64_t waited = 0;
    int64_t waited_ms = 0;
    uint64_t would_be_stale = 0;
    uint64_t would_be_merged = 0;
    uint64_t would_overlap = 0;
    uint64_t would_be_duplicate = 0;

    Counts& operator+=(const Counts& more);
  };
  Counts counts() const;

 private:
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> guarded_{0};
  std::atomic<uint64_t> merged_{0};
  std::atomic<uint64_t> stale_{0};
  std::atomic<uint64_t> unanswered_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> repeated_{0};
  std::atomic<uint64_t> recovered_{0};
  std::atomic<uint64_t> waited_{0};
  std::atomic<int64_t> waited_ms_{0};
  std::atomic<uint64_t> would_be_stale_{0};
  std::atomic<uint64_t> would_be_merged_{0};
  std::atomic<uint64_t> would_overlap_{0};
  std::atomic<uint64_t> would_be_duplicate_{0};
};

// "14 requests to ARM: 3 writes guarded, 1 refused as stale (412), ..."; empty if nothing but passing on was done.
std::string summary(const GatewayTally::Counts& counts);

}  // namespace armgate
