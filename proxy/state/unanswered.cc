#include "proxy/state/unanswered.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/mutant.h"

namespace armgate {
namespace {

size_t bytes_of(const std::optional<UnansweredWrites::Ending>& ending) {
  return ending && ending->answer ? ending->answer->body.size() : 0;
}

}  // namespace

UnansweredWrites::Write* UnansweredWrites::find_locked(uint64_t id) {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &*it->second;
}

void UnansweredWrites::forget(Place place) {
  const auto same = by_request_.find(place->request);
  std::erase(same->second, place->id);
  if (same->second.empty()) by_request_.erase(same);
  bytes_ -= bytes_of(place->ending);
  by_id_.erase(place->id);
  in_order_.erase(place);
}

// Arrivals are in order, the ends nearly so: looking at the front is enough to keep the table small.
void UnansweredWrites::expire_locked(TimePoint now) {
  while (!in_order_.empty() && in_order_.front().ending && now - in_order_.front().ended.time > options_.keep) {
    forget(in_order_.begin());
  }
}

void UnansweredWrites::keep_within_bounds() {
  auto it = in_order_.begin();
  while (it != in_order_.end() && (in_order_.size() > options_.writes_max || bytes_ > options_.bytes_max)) {
    const auto candidate = it++;
    if (candidate->ending && candidate->joiners.empty()) forget(candidate);
  }
}

uint64_t UnansweredWrites::add_locked(const Arrival& arrival) {
  Write& write = in_order_.emplace_back();
  write.id = next_id_++;
  write.request = arrival.request;
  write.request_id = arrival.request_id;
  write.resource = arrival.resource;
  write.asker = arrival.asker;
  const uint64_t id = write.id;
  by_id_.emplace(id, std::prev(in_order_.end()));
  by_request_[arrival.request].push_back(id);
  keep_within_bounds();
  return id;
}

void UnansweredWrites::sent(uint64_t write) {
  MutexLock lock(&mutex_);
  if (Write* w = find_locked(write)) w->sent = true;
}

void UnansweredWrites::end(uint64_t write, Ending ending, Moment now) {
  MutexLock lock(&mutex_);
  Write* w = find_locked(write);
  if (w == nullptr) return;
  w->ending = std::move(ending);
  w->ended = now;
  bytes_ += bytes_of(w->ending);
  for (const auto& joiner : w->joiners) joiner.waiter->signal(joiner.bits);
  keep_within_bounds();
}

void UnansweredWrites::delivered(uint64_t write) {
  MutexLock lock(&mutex_);
  const auto it = by_id_.find(write);
  if (it != by_id_.end() && it->second->joiners.empty()) forget(it->second);
}

void UnansweredWrites::undelivered(uint64_t write, TimePoint now) {
  MutexLock lock(&mutex_);
  const auto it = by_id_.find(write);
  if (it == by_id_.end()) return;
  const bool keeps = it->second->ending && it->second->ending->accepted;
  it->second->undelivered = true;
  if (!keeps && it->second->joiners.empty()) forget(it->second);
  expire_locked(now);
}

UnansweredWrites::Write* UnansweredWrites::earlier(const Arrival& arrival, Wanted wanted, TimePoint now) {
  expire_locked(now);
  const auto it = by_request_.find(arrival.request);
  if (it == by_request_.end()) return nullptr;
  for (auto id = it->second.rbegin(); id != it->second.rend(); ++id) {
    Write& write = *by_id_.at(*id);
    const bool is_over = write.ending && (!write.ending->accepted || now - write.ended.time > options_.keep);
    const bool has_nothing_to_give = wanted == Wanted::WithAnswer && write.ending && !write.ending->answer;
    const bool other_request = write.request_id != arrival.request_id && !is_mutant(Mutant::IdsIgnoredInJoin);
    if (is_over || has_nothing_to_give || other_request) continue;
    const bool orphan = write.sent && (write.undelivered || write.asker->gone.load(std::memory_order_acquire));
    if (wanted == Wanted::Unanswered && write.ending && !orphan) continue;
    if (orphan || !arrival.request_id.empty() || is_mutant(Mutant::LiveWritersJoined)) return &write;
  }
  return nullptr;
}

bool UnansweredWrites::knows(const Arrival& arrival, TimePoint now) {
  MutexLock lock(&mutex_);
  return earlier(arrival, Wanted::Any, now) != nullptr;
}

uint64_t UnansweredWrites::add(const Arrival& arrival) {
  MutexLock lock(&mutex_);
  return add_locked(arrival);
}

std::optional<uint64_t> UnansweredWrites::add_if_new(const Arrival& arrival, TimePoint now) {
  MutexLock lock(&mutex_);
  if (earlier(arrival, Wanted::Unanswered, now) != nullptr) return std::nullopt;
  return add_locked(arrival);
}

UnansweredWrites::Joined UnansweredWrites::join_or_add(const Arrival& arrival, Waiter* waiter, uint32_t bits, TimePoint now) {
  MutexLock lock(&mutex_);
  Write* const write = earlier(arrival, Wanted::WithAnswer, now);
  if (write == nullptr) return {add_locked(arrival), false};
  const bool is_asker = write->undelivered || write->asker->gone.load(std::memory_order_acquire);
  write->joiners.push_back({waiter, bits, is_asker});
  if (write->ending) waiter->signal(bits);
  if (is_asker) {
    write->asker = arrival.asker;
    write->undelivered = false;
  }
  return {write->id, true};
}

void UnansweredWrites::leave(uint64_t write, Waiter* waiter, With with) {
  MutexLock lock(&mutex_);
  Write* w = find_locked(write);
  if (w == nullptr) return;
  const auto joiner = std::find_if(w->joiners.begin(), w->joiners.end(), [&](const Joiner& j) { return j.waiter == waiter; });
  if (joiner == w->joiners.end()) return;
  if (joiner->is_asker && with == With::Nothing) w->undelivered = true;
  w->joiners.erase(joiner);
}

std::optional<UnansweredWrites::Ending> UnansweredWrites::ending(uint64_t write) const {
  MutexLock lock(&mutex_);
  const auto it = by_id_.find(write);
  return it == by_id_.end() ? Ending{} : it->second->ending;
}

void UnansweredWrites::resolve(const Hash128& resource, Moment asked) {
  MutexLock lock(&mutex_);
  for (auto it = in_order_.begin(); it != in_order_.end();) {
    const auto candidate = it++;
    const bool seen = candidate->ending && candidate->ended.order < asked.order && candidate->resource == resource;
    if (seen && candidate->request_id.empty() && candidate->joiners.empty()) forget(candidate);
  }
}

void UnansweredWrites::expire(TimePoint now) {
  MutexLock lock(&mutex_);
  expire_locked(now);
}

size_t UnansweredWrites::size() const {
  MutexLock lock(&mutex_);
  return in_order_.size();
}

}  // namespace armgate
