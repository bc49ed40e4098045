#include "proxy/state/memory_store.h"

#include <algorithm>
#include <utility>

#include "proxy/async/thread_number.h"

namespace armgate {

void MemoryStore::begin(IntentId id, std::string_view method, std::string_view resource) {
  Shard& shard = shards_[thread_number() % kShards];
  MutexLock lock(&shard.mutex);
  shard.unfinished.insert_or_assign(id, Unfinished{std::string(method), std::string(resource)});
  if (shard.unfinished.size() > records_max_) shard.unfinished.erase(shard.unfinished.begin());
}

Task<Result<IntentId>> MemoryStore::record_intent(const IntentRecord& record) {
  const IntentId id = record.started.order;
  begin(id, record.method, record.resource);
  co_return id;
}

bool MemoryStore::forget(Shard& shard, IntentId id) {
  MutexLock lock(&shard.mutex);
  return shard.unfinished.erase(id) > 0;
}

void MemoryStore::record_outcome(IntentId id, const WriteOutcome&) {
  const bool was_own = forget(shards_[thread_number() % kShards], id);
  if (!was_own) std::any_of(shards_.begin(), shards_.end(), [&](Shard& shard) { return forget(shard, id); });
}

std::vector<Store::Unfinished> MemoryStore::unfinished() const {
  std::vector<std::pair<IntentId, Unfinished>> all;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    all.insert(all.end(), shard.unfinished.begin(), shard.unfinished.end());
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Unfinished> writes;
  for (auto& [id, write] : all) writes.push_back(std::move(write));
  return writes;
}

size_t MemoryStore::unfinished_count() const {
  size_t count = 0;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    count += shard.unfinished.size();
  }
  return count;
}

}  // namespace armgate
