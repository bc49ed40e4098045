#include "proxy/state/lock/turns.h"

#include <algorithm>
#include <utility>

namespace armgate {

Turn::Turn(QueuePosition position, const Executor& executor) : waiter_(executor), position_(std::move(position)) {
  MutexLock lock(&mutex_);
  position_->set_waiter(&waiter_, kGranted);
}

bool Turn::granted() const {
  MutexLock lock(&mutex_);
  return position_ && position_->granted();
}

bool Turn::over() const {
  MutexLock lock(&mutex_);
  return !position_ || position_->is_over();
}

void Turn::note_read() {
  {
    MutexLock lock(&mutex_);
    if (has_read_ || !position_ || !position_->granted()) return;
    has_read_ = true;
  }
  waiter_.signal(kRead);
}

bool Turn::has_read() const {
  MutexLock lock(&mutex_);
  return has_read_;
}

void Turn::end() { take_position(); }

std::optional<QueuePosition> Turn::take_position() {
  std::optional<QueuePosition> position;
  {
    MutexLock lock(&mutex_);
    position.swap(position_);
    if (position) position->set_waiter(nullptr, 0);
  }
  waiter_.signal(kOver);
  return position;
}

std::shared_ptr<Turn> Turns::give(const Hash128& resource, const Hash128& client, QueuePosition position,
                                  const Executor& executor) {
  auto turn = std::make_shared<Turn>(std::move(position), executor);
  {
    MutexLock lock(&mutex_);
    auto& given = by_resource_[resource];
    const bool has_one = std::any_of(given.begin(), given.end(), [&](const Given& g) { return g.client == client; });
    if (!has_one && count_.load(std::memory_order_relaxed) < options_.turns_max) {
      given.push_back({client, turn});
      count_.fetch_add(1, std::memory_order_release);
      return turn;
    }
    if (given.empty()) by_resource_.erase(resource);
  }
  turn->end();
  return nullptr;
}

void Turns::note_read(const Hash128& resource, const Hash128& client) {
  if (count_.load(std::memory_order_acquire) == 0) return;
  std::shared_ptr<Turn> turn;
  {
    MutexLock lock(&mutex_);
    const auto at = by_resource_.find(resource);
    if (at == by_resource_.end()) return;
    for (const Given& given : at->second) {
      if (given.client == client) turn = given.turn;
    }
  }
  if (turn) turn->note_read();
}

std::shared_ptr<Turn> Turns::take(const Hash128& resource, const Hash128& client) {
  if (count_.load(std::memory_order_acquire) == 0) return nullptr;
  MutexLock lock(&mutex_);
  const auto at = by_resource_.find(resource);
  if (at == by_resource_.end()) return nullptr;
  const auto given = std::find_if(at->second.begin(), at->second.end(), [&](const Given& g) { return g.client == client; });
  if (given == at->second.end()) return nullptr;
  auto turn = std::move(given->turn);
  at->second.erase(given);
  if (at->second.empty()) by_resource_.erase(at);
  count_.fetch_sub(1, std::memory_order_release);
  return turn;
}

void Turns::end(const Hash128& resource, const std::shared_ptr<Turn>& turn) {
  {
    MutexLock lock(&mutex_);
    const auto at = by_resource_.find(resource);
    if (at != by_resource_.end()) {
      const size_t gone = std::erase_if(at->second, [&](const Given& g) { return g.turn == turn; });
      count_.fetch_sub(gone, std::memory_order_release);
      if (at->second.empty()) by_resource_.erase(at);
    }
  }
  turn->end();
}

size_t Turns::size() const { return count_.load(std::memory_order_relaxed); }

}  // namespace armgate
