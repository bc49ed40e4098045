#include "proxy/state/lock/reservations.h"

#include <algorithm>
#include <utility>

namespace armgate {

Reservation::Reservation(QueuePosition position, const Executor& executor)
    : waiter_(executor), keys_(position.keys()), claim_(position.kept_as()), position_(std::move(position)) {
  MutexLock lock(&mutex_);
  position_->set_waiter(&waiter_, kGranted);
  position_->set_away(true);
}

Reservation::State Reservation::state() const {
  MutexLock lock(&mutex_);
  if (!position_) return State::Gone;
  // In a cluster it yields when the log has it.
  if (position_->granted() && !yields_) return State::Claimable;
  return position_->is_next() ? State::Passing : State::InLine;  // only who yields is not granted in its turn
}

uint64_t Reservation::times_passed() const {
  MutexLock lock(&mutex_);
  return position_ ? position_->times_passed() : 0;
}

void Reservation::yield() {
  MutexLock lock(&mutex_);
  if (position_ && !std::exchange(yields_, true)) position_->yield();
}

std::optional<QueuePosition> Reservation::take_position() {
  std::optional<QueuePosition> position;
  {
    MutexLock lock(&mutex_);
    position.swap(position_);
    if (position) {
      position->set_waiter(nullptr, 0);
      position->set_away(false);
    }
  }
  waiter_.signal(kGone);
  return position;
}

void Reservations::erase(Queues::iterator queue, Queue::iterator kept) {
  queue->second.erase(kept);
  if (queue->second.empty()) by_resource_.erase(queue);
  any_.store(!by_resource_.empty(), std::memory_order_release);
}

std::vector<std::shared_ptr<Reservation>> Reservations::drop(Queue& queue, const Hash128& client, const Away& newer) const {
  std::vector<std::shared_ptr<Reservation>> over;
  const auto is_its = [&client](const Kept& kept) { return kept.client == client; };
  for (Kept& kept : queue) {
    if (!is_its(kept)) continue;
    kept.passed_over += std::max(newer.now - std::max(kept.counted_to, newer.arrived), Duration{});
    kept.counted_to = std::max(kept.counted_to, newer.now);
    if (kept.passed_over >= options_.ttl) over.push_back(std::move(kept.reservation));
  }
  std::erase_if(queue, [](const Kept& kept) { return kept.reservation == nullptr; });
  if (static_cast<size_t>(std::count_if(queue.begin(), queue.end(), is_its)) >= options_.per_resource_max) {
    const auto oldest = std::find_if(queue.begin(), queue.end(), is_its);
    over.push_back(std::move(oldest->reservation));
    queue.erase(oldest);
  }
  return over;
}

std::shared_ptr<Reservation> Reservations::keep(const Holder& holder, const Away& away, QueuePosition position,
                                                const Executor& executor) {
  auto reservation = std::make_shared<Reservation>(std::move(position), executor);
  std::vector<std::shared_ptr<Reservation>> over;
  {
    MutexLock lock(&mutex_);
    Queue& queue = by_resource_[holder.resource];
    over = drop(queue, holder.client, away);
    queue.push_back({holder.client, away.request_hash, away.now, reservation, Duration{}, away.now});
    any_.store(true, std::memory_order_release);
  }
  for (const auto& one : over) one->take_position();
  return reservation;
}

std::optional<QueuePosition> Reservations::take(const Holder& holder, const Hash128& bytes,
                                                const std::vector<rules::LockKey>& keys) {
  if (!any_.load(std::memory_order_acquire)) return std::nullopt;
  std::shared_ptr<Reservation> found;
  {
    MutexLock lock(&mutex_);
    const auto queue = by_resource_.find(holder.resource);
    if (queue == by_resource_.end()) return std::nullopt;
    const auto oldest = std::find_if(queue->second.begin(), queue->second.end(), [&](const Kept& kept) {
      return kept.client == holder.client && kept.request_hash == bytes;
    });
    if (oldest == queue->second.end()) return std::nullopt;
    found = std::move(oldest->reservation);
    erase(queue, oldest);
  }
  auto position = found->take_position();
  if (position && !position->is_for(keys)) return std::nullopt;
  return position;
}

// Seldom: those that let others by have no moment of their own any more.
void Reservations::let_others_by(const std::vector<Hash128>& keys, TimePoint since) {
  if (!any_.load(std::memory_order_acquire)) return;
  const auto waits_for_one = [&keys](const Reservation& reservation) {
    const auto& its = reservation.keys();
    return std::find_first_of(its.begin(), its.end(), keys.begin(), keys.end()) != its.end();
  };
  std::vector<std::shared_ptr<Reservation>> away;
  {
    MutexLock lock(&mutex_);
    for (const auto& [resource, queue] : by_resource_) {
      for (const Kept& kept : queue) {
        if (kept.since <= since && waits_for_one(*kept.reservation)) away.push_back(kept.reservation);
      }
    }
  }
  for (const auto& reservation : away) reservation->yield();
}

template <class Is>
std::shared_ptr<Reservation> Reservations::remove(const Hash128& resource, Is is_it) {
  MutexLock lock(&mutex_);
  const auto queue = by_resource_.find(resource);
  if (queue == by_resource_.end()) return nullptr;
  const auto kept = std::ranges::find_if(queue->second, [&](const Kept& one) { return is_it(*one.reservation); });
  if (kept == queue->second.end()) return nullptr;
  auto removed = std::move(kept->reservation);
  erase(queue, kept);
  return removed;
}

void Reservations::end(const Hash128& resource, const std::shared_ptr<Reservation>& reservation) {
  remove(resource, [&](const Reservation& one) { return &one == reservation.get(); });
  reservation->take_position();
}

void Reservations::end(const Hash128& resource, uint64_t claim) {
  const auto ended = remove(resource, [claim](const Reservation& one) { return one.claim() == claim; });
  if (ended) ended->take_position();
}

size_t Reservations::size() const {
  MutexLock lock(&mutex_);
  size_t count = 0;
  for (const auto& [resource, queue] : by_resource_) count += queue.size();
  return count;
}

}  // namespace armgate
