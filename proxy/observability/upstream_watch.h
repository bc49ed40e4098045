// upstream_watch.h – an Upstream that passes everything on to another one and counts what ARM answers: to clients and to
// armgate's own questions alike.
//
// Threads   one for each event loop, as every Upstream; counts() from any.
#pragma once

#include <atomic>
#include <cstdint>

#include "proxy/seams/upstream.h"

namespace armgate {

// ARM's answers by what they mean for armgate.
struct UpstreamCounts {
  uint64_t good = 0;           // 1xx to 3xx
  uint64_t conflicts = 0;      // 409
  uint64_t preconditions = 0;  // 412
  uint64_t throttled = 0;      // 429
  uint64_t refused = 0;        // all other 4xx
  uint64_t failed = 0;         // 5xx
  uint64_t none = 0;           // no answer came

  UpstreamCounts& operator+=(const UpstreamCounts& more);
};

class UpstreamWatch final : public Upstream {
 public:
  explicit UpstreamWatch(Upstream& watched) : watched_(watched) {}

  Task<Result<UpstreamAnswer>> send(const arm::Request& request, SendLimits limits) override;

  UpstreamCounts counts() const;

 private:
  std::atomic<uint64_t>& counter_of(int status);

  Upstream& watched_;
  std::atomic<uint64_t> good_{0};
  std::atomic<uint64_t> conflicts_{0};
  std::atomic<uint64_t> preconditions_{0};
  std::atomic<uint64_t> throttled_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> none_{0};
};

}  // namespace armgate
