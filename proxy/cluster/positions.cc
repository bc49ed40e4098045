#include "proxy/cluster/positions.h"

#include <algorithm>
#include <iterator>

namespace armgate::cluster {
namespace {

// Quartz drifts by less than a tenth of this, and NTP slews by no more than half of it.
Duration drift_in(Duration time) { return std::chrono::duration_cast<Duration>(std::chrono::abs(time) / 1'000); }

}  // namespace

void Positions::learn(TimePoint asked, TimePoint answered, EngineTime told) {
  MutexLock lock(&mutex_);
  const bool is_better = !has_sample_ || answered - asked <= best_.answered - best_.asked;
  if (!is_better && answered - best_.answered < kTrusted) return;
  best_ = {asked, answered, told};
  has_sample_ = true;
}

void Positions::add(uint64_t number, EngineTime begun) {
  MutexLock lock(&mutex_);
  rows_.push_back({number, begun});
  if (rows_.size() > kRows) rows_.pop_front();
}

void Positions::begin_anew() {
  MutexLock lock(&mutex_);
  rows_.clear();
  has_sample_ = false;
}

uint64_t Positions::surely_before(TimePoint when) const {
  MutexLock lock(&mutex_);
  if (!has_sample_) return 0;
  // At the earliest it was this time there: as if the engine had told its time the moment before the answer came.
  const Duration since = when - best_.answered;
  const Duration earliest = since - drift_in(since);
  const EngineTime then = best_.told + std::chrono::duration_cast<std::chrono::microseconds>(earliest).count() - 1;
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), then, [](EngineTime t, const Row& row) { return t < row.begun; });
  return after == rows_.begin() ? 0 : std::prev(after)->number;
}

TimePoint Positions::time_of(EngineTime begun, TimePoint now) const {
  MutexLock lock(&mutex_);
  if (!has_sample_) return now;
  return std::min(now, best_.answered + std::chrono::microseconds(begun - best_.told));
}

}  // namespace armgate::cluster
