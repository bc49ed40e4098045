// gateway_tally.h – what a private gateway did for its command, for the one line that is printed at its end.
//
// Threads   any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "proxy/stages/exchange.h"
#include "proxy/stages/would_have.h"

namespace armgate {

class GatewayTally {
 public:
  // A finished exchange.
  void count(const Exchange& exchange);

  // What mode observe tells.
  void count(const WouldHave& would);

  // "14 requests to ARM: 3 writes guarded, 1 refused as stale (412), ..."; empty if nothing but passing on was done.
  std::string summary() const;

 private:
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> guarded_{0};
  std::atomic<uint64_t> stale_{0};
  std::atomic<uint64_t> unanswered_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> repeated_{0};
  std::atomic<uint64_t> recovered_{0};
  std::atomic<uint64_t> waited_{0};
  std::atomic<int64_t> waited_ms_{0};
  std::atomic<uint64_t> would_be_stale_{0};
  std::atomic<uint64_t> would_overlap_{0};
  std::atomic<uint64_t> would_be_duplicate_{0};
};

}  // namespace armgate
