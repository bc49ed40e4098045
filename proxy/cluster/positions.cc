#include "proxy/cluster/positions.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace armgate::cluster {
namespace {

using std::chrono::microseconds;

// Quartz drifts by less than a tenth of this, and NTP slews by no more than half of it.
Duration drift_in(Duration time) { return std::chrono::duration_cast<Duration>(std::chrono::abs(time) / 1'000); }

EngineTime in_microseconds(Duration time) { return std::chrono::duration_cast<microseconds>(time).count(); }

}  // namespace

bool Positions::contradicts(const Sample& sample) const {
  const Duration least = sample.asked - best_.answered;
  const Duration most = sample.answered - best_.asked;
  const EngineTime since = sample.told - best_.told;
  return since < in_microseconds(least - drift_in(least)) - 1 || since > in_microseconds(most + drift_in(most)) + 1;
}

// All rows that are known were begun before it.
void Positions::begin_with(const Sample& sample) {
  best_ = sample;
  earliest_ = sample.told;
  for (Row& row : rows_) row.begun = std::max(row.begun, earliest_);
}

void Positions::learn(TimePoint asked, TimePoint answered, EngineTime told) {
  MutexLock lock(&mutex_);
  const Sample sample{asked, answered, told};
  asked_ = asked;
  const bool is_first = !std::exchange(has_sample_, true);
  if (is_first ? std::exchange(is_anew_, false) : contradicts(sample)) return begin_with(sample);
  const bool is_better = is_first || answered - asked <= best_.answered - best_.asked;
  if (is_better || answered - best_.answered >= kTrusted) best_ = sample;
}

bool Positions::is_due(TimePoint now, Duration every) const {
  MutexLock lock(&mutex_);
  return !has_sample_ || now - asked_ >= every;
}

void Positions::add(uint64_t number, EngineTime begun) {
  MutexLock lock(&mutex_);
  rows_.push_back({number, std::max(begun, earliest_)});
  if (rows_.size() > kRows) rows_.pop_front();
}

void Positions::begin_anew() {
  MutexLock lock(&mutex_);
  rows_.clear();
  has_sample_ = false;
  is_anew_ = true;
}

uint64_t Positions::surely_before(TimePoint when) const {
  MutexLock lock(&mutex_);
  if (!has_sample_) return 0;
  // At the earliest it was this time there: as if the engine had told its time the moment before the answer came.
  const Duration since = when - best_.answered;
  const Duration earliest = since - drift_in(since);
  const EngineTime then = best_.told + in_microseconds(earliest) - 1;
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), then, [](EngineTime t, const Row& row) { return t < row.begun; });
  return after == rows_.begin() ? 0 : std::prev(after)->number;
}

TimePoint Positions::time_of(EngineTime begun, TimePoint now) const {
  MutexLock lock(&mutex_);
  if (!has_sample_) return now;
  return std::min(now, best_.answered + microseconds(std::max(begun, earliest_) - best_.told));
}

}  // namespace armgate::cluster
