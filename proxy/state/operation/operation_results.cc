#include "proxy/state/operation/operation_results.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/mutant.h"

namespace armgate {
namespace {

constexpr std::string_view kOther = "other";

}  // namespace

size_t OperationResults::KindHash::operator()(const KindView& kind) const {
  return absl::HashOf(kind.type, kind.code, static_cast<int>(kind.how));
}

void OperationResults::Known::set_state(std::string_view seen) {
  state = seen;
  progress = seen.empty() ? arm::Progress::Succeeded : arm::progress_of_word(seen);
}

void OperationResults::count(const Ended& ended) {
  const KindView kind(ended.type, ended.result.error.code, ended.result.how);
  const auto known = counts_.find(kind);
  if (known != counts_.end()) {
    ++known->second;
    return;
  }
  const bool is_full = counts_.size() >= options_.kinds_max;
  ++counts_[is_full ? Kind{std::string(kOther), std::string(kOther), ended.result.how}
                    : Kind{std::string(ended.type), ended.result.error.code, ended.result.how}];
}

OperationResults::Known* OperationResults::find_or_add(const Hash128& resource, std::string_view id) {
  const auto found = known_.find(resource);
  if (found != known_.end()) return &found->second;
  if (known_.size() >= options_.resources_max) absl::erase_if(known_, [](const auto& each) { return each.second.is_well(); });
  if (known_.size() >= options_.resources_max) return nullptr;
  Known& known = known_[resource];
  known.id = id;
  return &known;
}

void OperationResults::add_failure(Known& known, const Ended& ended, Time when) {
  if (known.is_well()) unwell_.fetch_add(1, std::memory_order_relaxed);
  known.failures.push_back({when, ended.result.error, ended.request_hash});
  if (known.failures.size() > kFailuresKept) known.failures.pop_front();
  judge_failing(known, when.at);
}

bool OperationResults::note(const Ended& ended, Time now) {
  if (sink_ == nullptr) return note_here(ended, now, Counted::Yes);
  sink_->tell_result(ended, now);
  return false;
}

bool OperationResults::note_here(const Ended& ended, Time now, Counted counted) {
  const arm::Progress how = ended.result.how;
  MutexLock lock(&mutex_);
  if (counted == Counted::Yes) count(ended);
  if (arm::has_failed(how)) keep_failed(ended, now.wall);
  if (how == arm::Progress::Failed) {
    if (Known* known = find_or_add(ended.resource, ended.id)) add_failure(*known, ended, now);
  }
  return learn(ended);
}

void OperationResults::keep_failed(const Ended& ended, WallTime when) {
  last_.push_front({when, std::string(ended.id), std::string(ended.method), std::string(ended.client), ended.result});
  if (last_.size() > kLastKept) last_.pop_back();
  if (ended.first == 0 || failed_writes_.find(ended.first) != nullptr) return;
  failed_writes_.make_room(kFailedWritesKept, [](IntentId, const OperationResult&) { return true; });
  failed_writes_.add(ended.first, ended.result);
}

bool OperationResults::learn(const Ended& ended) {
  const arm::Progress how = ended.result.how;
  const auto found = known_.find(ended.resource);
  if (found == known_.end() || how == arm::Progress::Unknown) return false;
  Known& known = found->second;
  const bool was_well = known.is_well();
  const bool succeeded = how == arm::Progress::Succeeded;
  if (succeeded && !is_mutant(Mutant::SickForEver)) {
    known.failures.clear();
    known.failing.reset();
  }
  const bool gone = succeeded && ended.method == "DELETE";
  const bool forgets = gone || known.is_at_work() || (succeeded && known.progress == arm::Progress::Failed);
  if (forgets) known.set_state({});
  if (!was_well && (gone || known.is_well())) unwell_.fetch_sub(1, std::memory_order_relaxed);
  if (gone) known_.erase(found);
  return forgets;
}

void OperationResults::remember(const Ended& ended, Time then) {
  if (sink_ != nullptr) {
    Ended told = ended;
    told.intent = 0;
    return sink_->tell_result(told, then);
  }
  MutexLock lock(&mutex_);
  if (arm::has_failed(ended.result.how)) keep_failed(ended, then.wall);
  if (ended.result.how != arm::Progress::Failed) {
    learn(ended);
    return;
  }
  if (Known* known = find_or_add(ended.resource, ended.id)) add_failure(*known, ended, then);
}

bool OperationResults::note_state(const Hash128& resource, std::string_view id, std::string_view state, Time now) {
  if (sink_ == nullptr) return note_state_here(resource, id, state, now);
  sink_->tell_state(resource, id, state, now.wall);
  return false;
}

bool OperationResults::note_state_here(const Hash128& resource, std::string_view id, std::string_view state, Time now) {
  MutexLock lock(&mutex_);
  Known* const known = find_or_add(resource, id);
  if (known == nullptr || known->state == state) return false;
  const bool was_well = known->is_well();
  const bool was_at_work = known->is_at_work();
  known->set_state(state);
  // A resource that goes from one unfinished state to the next (Updating, Upgrading) was in no final state meanwhile.
  if (!was_at_work || !known->is_at_work()) known->state_since = now;
  if (was_well && !known->is_well()) unwell_.fetch_add(1, std::memory_order_relaxed);
  if (!was_well && known->is_well()) unwell_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool OperationResults::is_known_as(const Hash128& resource, std::string_view state) const {
  MutexLock lock(&mutex_);
  const auto found = known_.find(resource);
  return found != known_.end() && found->second.state == state;
}

bool OperationResults::is_watched(const Hash128& resource) const {
  if (unwell_.load(std::memory_order_relaxed) == 0) return false;
  MutexLock lock(&mutex_);
  const auto found = known_.find(resource);
  return found != known_.end() && !found->second.is_well();
}

std::optional<ResourceState> OperationResults::state_of(const Hash128& resource) const {
  MutexLock lock(&mutex_);
  const auto found = known_.find(resource);
  if (found == known_.end() || found->second.state.empty()) return std::nullopt;
  return ResourceState{found->second.id, found->second.state, found->second.state_since.wall};
}

// Called with each failure: whether its error has come often enough within the window.
void OperationResults::judge_failing(Known& known, TimePoint now) const {
  const bool is_over = known.failing && now >= known.failing->until;
  if (is_over) known.failing.reset();
  const arm::ErrorCodes& error = known.failures.back().error;
  const TimePoint from = now - options_.window;
  const auto count = std::count_if(known.failures.begin(), known.failures.end(),
                                   [&](const Failure& each) { return each.error == error && each.when.at > from; });
  const bool is_same = known.failing && known.failing->error == error;
  if (is_same)
    known.failing->until = std::max(known.failing->until, now + options_.window);
  else if (static_cast<size_t>(count) >= options_.failures)
    known.failing = Failing{error, from, now + options_.window};
}

std::optional<OperationResults::Sick> OperationResults::failing(const Known& known, TimePoint now) {
  if (!known.failing || now >= known.failing->until) return std::nullopt;
  Sick sick{known.id, Sick::Why::Failing, known.failing->error, 0, {}, {}, known.state};
  for (const Failure& each : known.failures) {
    const bool counts = each.error == known.failing->error && each.when.at > known.failing->from;
    if (!counts) continue;
    if (sick.failures++ == 0) sick.since = each.when.wall;
    sick.last = each.when.wall;
  }
  return sick;
}

std::vector<OperationResults::Sick> OperationResults::sick(TimePoint now,
                                                           const std::function<bool(const Hash128&)>& runs) const {
  std::vector<Sick> all;
  std::vector<std::pair<Hash128, Sick>> stuck;
  if (unwell_.load(std::memory_order_relaxed) == 0) return all;
  {
    MutexLock lock(&mutex_);
    for (const auto& [key, known] : known_) {
      if (auto failing_one = failing(known, now)) {
        all.push_back(*std::move(failing_one));
      } else if (known.is_at_work() && now - known.state_since.at >= options_.stuck_after) {
        stuck.push_back({key, {known.id, Sick::Why::Stuck, {}, 0, known.state_since.wall, {}, known.state}});
      }
    }
  }
  for (auto& [key, one] : stuck) {
    if (!runs(key)) all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(), [](const Sick& a, const Sick& b) { return a.since < b.since; });
  return all;
}

OperationResults::Judged OperationResults::judge(const Hash128& resource, const Hash128& bytes, Duration probe_every,
                                                 TimePoint now) {
  if (unwell_.load(std::memory_order_relaxed) == 0) return {};
  MutexLock lock(&mutex_);
  const auto found = known_.find(resource);
  if (found == known_.end()) return {};
  Known& known = found->second;
  if (!known.failing) return {};
  const TimePoint last = std::max(known.probed.time, known.failures.back().when.at);
  known.failing->until = std::max(known.failing->until, last + std::max(options_.window, 2 * probe_every));
  auto sick = failing(known, now);
  if (!sick) return {};
  const bool failed_before = std::any_of(known.failures.begin(), known.failures.end(),
                                         [&](const Failure& failure) { return failure.request_hash == bytes; });
  if (known.progress == arm::Progress::Failed && !failed_before) return {};
  const bool is_early = now < last + probe_every && !is_mutant(Mutant::ProbesUnbounded);
  return {is_early ? Goes::No : Goes::AsProbe, *std::move(sick)};
}

bool OperationResults::probe(const Hash128& resource, uint64_t judged, Moment now) {
  if (sink_ == nullptr) return probe_here(resource, judged, now);
  sink_->tell_probe(resource, judged);
  return true;
}

bool OperationResults::probe_here(const Hash128& resource, uint64_t judged, Moment now) {
  MutexLock lock(&mutex_);
  const auto found = known_.find(resource);
  if (found == known_.end()) return true;  // it has become well
  if (found->second.probed.order > judged) return false;
  found->second.probed = now;
  return true;
}

std::vector<OperationResults::Count> OperationResults::counts() const {
  std::vector<Count> all;
  {
    MutexLock lock(&mutex_);
    for (const auto& [kind, count] : counts_) all.push_back({kind.type, kind.how, kind.code, count});
  }
  std::sort(all.begin(), all.end(),
            [](const Count& a, const Count& b) { return std::tie(a.type, a.how, a.code) < std::tie(b.type, b.how, b.code); });
  return all;
}

std::optional<OperationResult> OperationResults::failure_of(IntentId write) const {
  MutexLock lock(&mutex_);
  const OperationResult* const failure = write == 0 ? nullptr : failed_writes_.find(write);
  return failure == nullptr ? std::nullopt : std::optional(*failure);
}

std::vector<OperationResults::Last> OperationResults::last() const {
  MutexLock lock(&mutex_);
  return {last_.begin(), last_.end()};
}

}  // namespace armgate
