#include "proxy/observability/upstream_watch.h"

#include <utility>

#include "proxy/async/own_counter.h"

namespace armgate {

UpstreamCounts& UpstreamCounts::operator+=(const UpstreamCounts& more) {
  good += more.good;
  conflicts += more.conflicts;
  preconditions += more.preconditions;
  throttled += more.throttled;
  refused += more.refused;
  failed += more.failed;
  none += more.none;
  return *this;
}

std::atomic<uint64_t>& UpstreamWatch::counter_of(int status) {
  if (status < 400) return good_;
  if (status >= 500) return failed_;
  switch (status) {
    case 409: return conflicts_;
    case 412: return preconditions_;
    case 429: return throttled_;
    default: return refused_;
  }
}

Task<Result<UpstreamAnswer>> UpstreamWatch::send(const arm::Request& request, SendLimits limits) {
  auto answer = co_await watched_.send(request, limits);
  // What armgate did not send is no silence of ARM's.
  const bool was_kept = !answer && answer.error().kind == ErrorKind::Cancelled && answer.error().sent == Sent::No;
  if (!was_kept) add_alone(answer ? counter_of(answer->head.status) : none_);
  co_return std::move(answer);
}

UpstreamCounts UpstreamWatch::counts() const {
  return {.good = good_,
          .conflicts = conflicts_,
          .preconditions = preconditions_,
          .throttled = throttled_,
          .refused = refused_,
          .failed = failed_,
          .none = none_};
}

}  // namespace armgate
