#include "proxy/state/observed_writes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace armgate {
namespace {

bool excludes(const rules::LockKey& a, const rules::LockKey& b) { return a.id == b.id && !rules::compatible(a.mode, b.mode); }

bool exclude_each_other(const std::vector<rules::LockKey>& some, const std::vector<rules::LockKey>& others) {
  return std::any_of(some.begin(), some.end(), [&](const rules::LockKey& key) {
    return std::any_of(others.begin(), others.end(), [&](const rules::LockKey& other) { return excludes(key, other); });
  });
}

// As the locks have it (go_together() in proxy/state/lock).
bool goes_along(const ObservedWrites::Write& write, const ObservedWrites::Write& running) {
  return write.is_reentrant && running.taken && running.admits_own && running.client == write.client;
}

}  // namespace

ObservedWrites::Begun ObservedWrites::begin(Write write, const std::vector<rules::LockKey>& keys, Sending sending) {
  MutexLock lock(&mutex_);
  Begun begun;
  std::set<uint64_t> candidates;  // ids ascend with arrival
  for (const auto& key : keys) {
    const auto found = by_key_.find(key.id);
    if (found != by_key_.end()) candidates.insert(found->second.begin(), found->second.end());
  }
  std::vector<uint64_t> before;
  for (const uint64_t id : candidates) {
    const Unfinished& other = unfinished_.at(id);
    const bool is_own = sending == Sending::Again && other.write.request == write.request;
    if (is_own || goes_along(write, other.write) || !exclude_each_other(keys, other.keys)) continue;
    before.push_back(id);
    begun.before.push_back(other.write);
  }
  if (unfinished_.size() >= options_.writes_max || waiting_.size() >= options_.writes_max) return begun;
  begun.id = next_id_++;
  write.id = begun.id;
  for (const uint64_t id : before) unfinished_.at(id).waited_for_by.push_back(begun.id);
  if (!before.empty()) waiting_.emplace(begun.id, Waiting{write, keys, before.size()});
  for (const auto& key : keys) by_key_[key.id].push_back(begun.id);
  unfinished_.emplace(begun.id, Unfinished{std::move(write), keys, {}});
  return begun;
}

void ObservedWrites::forget_key(const std::string& key, uint64_t id) {
  const auto queue = by_key_.find(key);
  std::erase(queue->second, id);
  if (queue->second.empty()) by_key_.erase(queue);
}

void ObservedWrites::note_free(uint64_t later, const Write& ended, End how, std::vector<Wait>& over) {
  const auto waiting = waiting_.find(later);
  if (waiting == waiting_.end()) return;
  const bool last = --waiting->second.left == 0;
  if (last && how == End::Seen) over.push_back({std::move(waiting->second.write), ended});
  if (last || how == End::Unseen) waiting_.erase(waiting);
}

std::vector<ObservedWrites::Wait> ObservedWrites::taken(uint64_t id, const std::vector<std::string>& let_go) {
  MutexLock lock(&mutex_);
  std::vector<Wait> over;
  const auto found = unfinished_.find(id);
  if (found == unfinished_.end()) return over;
  Unfinished& write = found->second;
  write.write.taken = true;
  if (let_go.empty()) return over;
  std::erase_if(write.keys, [&](const rules::LockKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (std::find(let_go.begin(), let_go.end(), key.id) == let_go.end()) return false;
    forget_key(key.id, id);
    return true;
  });
  std::erase_if(write.waited_for_by, [&](uint64_t later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto waiting = waiting_.find(later);
    if (waiting == waiting_.end() || exclude_each_other(write.keys, waiting->second.keys)) return false;
    note_free(later, write.write, End::Seen, over);
    return true;
  });
  return over;
}

std::vector<ObservedWrites::Wait> ObservedWrites::end(uint64_t id, End how) {
  MutexLock lock(&mutex_);
  std::vector<Wait> over;
  const auto found = unfinished_.find(id);
  if (found == unfinished_.end()) return over;
  const Unfinished ended = std::move(found->second);
  unfinished_.erase(found);
  for (const auto& key : ended.keys) forget_key(key.id, id);
  for (const uint64_t later : ended.waited_for_by) note_free(later, ended.write, how, over);
  return over;
}

size_t ObservedWrites::size() const {
  MutexLock lock(&mutex_);
  return unfinished_.size() + waiting_.size();
}

}  // namespace armgate
