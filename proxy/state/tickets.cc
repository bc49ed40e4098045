#include "proxy/state/tickets.h"

#include <algorithm>
#include <utility>

namespace armgate {

Ticket::Ticket(LockPlace place, const Executor& executor) : waiter_(executor), place_(std::move(place)) {
  MutexLock lock(&mutex_);
  place_->wake(&waiter_, kTurn);
}

Ticket::Standing Ticket::standing() const {
  MutexLock lock(&mutex_);
  if (!place_) return Standing::Gone;
  if (place_->granted()) return Standing::Reserved;
  return place_->is_its_turn() ? Standing::Passing : Standing::InLine;  // only who yields is not granted in its turn
}

uint64_t Ticket::times_passed() const {
  MutexLock lock(&mutex_);
  return place_ ? place_->times_passed() : 0;
}

void Ticket::yield() {
  MutexLock lock(&mutex_);
  if (place_) place_->yield();
}

std::optional<LockPlace> Ticket::take() {
  std::optional<LockPlace> place;
  {
    MutexLock lock(&mutex_);
    place.swap(place_);
    if (place) place->wake(nullptr, 0);
  }
  waiter_.signal(kGone);
  return place;
}

std::shared_ptr<Ticket> Tickets::keep(const Hash128& holder, const Hash128& bytes, LockPlace place, const Executor& executor) {
  auto ticket = std::make_shared<Ticket>(std::move(place), executor);
  std::shared_ptr<Ticket> too_many;
  {
    MutexLock lock(&mutex_);
    Queue& queue = by_holder_[holder];
    if (queue.size() >= options_.per_resource_max) {
      too_many = std::move(queue.front().ticket);
      queue.erase(queue.begin());
    }
    queue.push_back({bytes, ticket});
  }
  if (too_many) too_many->take();
  return ticket;
}

std::optional<LockPlace> Tickets::take(const Hash128& holder, const Hash128& bytes, const std::vector<rules::LockKey>& keys) {
  std::shared_ptr<Ticket> found;
  {
    MutexLock lock(&mutex_);
    const auto queue = by_holder_.find(holder);
    if (queue == by_holder_.end()) return std::nullopt;
    const auto oldest = std::find_if(queue->second.begin(), queue->second.end(),
                                     [&bytes](const Kept& kept) { return kept.bytes == bytes; });
    if (oldest == queue->second.end()) return std::nullopt;
    found = std::move(oldest->ticket);
    queue->second.erase(oldest);
    if (queue->second.empty()) by_holder_.erase(queue);
  }
  auto place = found->take();
  if (place && !place->is_for(keys)) return std::nullopt;
  return place;
}

void Tickets::end(const Hash128& holder, const std::shared_ptr<Ticket>& ticket) {
  {
    MutexLock lock(&mutex_);
    const auto queue = by_holder_.find(holder);
    if (queue != by_holder_.end()) {
      std::erase_if(queue->second, [&ticket](const Kept& kept) { return kept.ticket == ticket; });
      if (queue->second.empty()) by_holder_.erase(queue);
    }
  }
  ticket->take();
}

size_t Tickets::size() const {
  MutexLock lock(&mutex_);
  size_t count = 0;
  for (const auto& [holder, queue] : by_holder_) count += queue.size();
  return count;
}

}  // namespace armgate
