#include "proxy/observability/timeline.h"

#include <algorithm>
#include <utility>

#include "json/tree.h"

namespace armgate {
namespace {

constexpr double kMillisecondsPerSecond = 1000;

// The upper bound of the bucket in which the 95th of a hundred lies; beyond all of them, the last bound.
uint64_t percentile_95_ms(const DurationHistogram::Counts& now, const DurationHistogram::Counts& before) {
  uint64_t all = 0;
  for (size_t i = 0; i < now.buckets.size(); ++i) all += now.buckets[i] - before.buckets[i];
  if (all == 0) return 0;
  uint64_t below = 0;
  for (size_t i = 0; i < DurationHistogram::kBounds.size(); ++i) {
    below += now.buckets[i] - before.buckets[i];
    if (below * 100 >= all * 95) return static_cast<uint64_t>(DurationHistogram::kBounds[i] * kMillisecondsPerSecond);
  }
  return static_cast<uint64_t>(DurationHistogram::kBounds.back() * kMillisecondsPerSecond);
}

}  // namespace

void Timeline::add(const Sample& sample) {
  if (before_) {
    const Sample& before = *before_;
    const uint64_t requests = sample.tally.requests - before.tally.requests;
    const double held_ms = (sample.waited.seconds - before.waited.seconds) * kMillisecondsPerSecond;
    rows_[count_++ % kSlots] = {
        .requests = requests,
        .guarded = sample.tally.guarded - before.tally.guarded,
        .merged = sample.tally.merged - before.tally.merged,
        .stale = sample.tally.stale - before.tally.stale,
        .refused = sample.tally.refused - before.tally.refused,
        .waiting = sample.waiting,
        .added_ms = requests == 0 ? 0 : static_cast<uint64_t>(std::max(0.0, held_ms) / static_cast<double>(requests)),
        .added_p95_ms = percentile_95_ms(sample.waited, before.waited),
        .arm_409 = sample.upstream.conflicts - before.upstream.conflicts,
        .arm_412 = sample.upstream.preconditions - before.upstream.preconditions,
        .arm_429 = sample.upstream.throttled - before.upstream.throttled,
    };
  }
  before_ = sample;
}

std::string Timeline::json() const {
  const std::pair<const char*, uint64_t Row::*> columns[] = {{"requests", &Row::requests}, {"guarded", &Row::guarded},
                                                             {"merged", &Row::merged},     {"stale", &Row::stale},
                                                             {"refused", &Row::refused},   {"waiting", &Row::waiting},
                                                             {"added_ms", &Row::added_ms}, {"added_p95_ms", &Row::added_p95_ms},
                                                             {"arm_409", &Row::arm_409},   {"arm_412", &Row::arm_412},
                                                             {"arm_429", &Row::arm_429}};
  nlohmann::ordered_json told;
  for (const auto& [name, member] : columns) {
    nlohmann::ordered_json& values = told[name] = nlohmann::ordered_json::array();
    for (size_t i = count_ - std::min(count_, kSlots); i < count_; ++i) values.push_back(rows_[i % kSlots].*member);
  }
  const nlohmann::ordered_json all = {{"every_s", std::chrono::duration_cast<std::chrono::seconds>(kEvery).count()},
                                      {"slots", kSlots},
                                      {"columns", std::move(told)}};
  return all.dump() + "\n";
}

}  // namespace armgate
