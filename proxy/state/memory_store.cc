#include "proxy/state/memory_store.h"

#include <algorithm>

#include "proxy/async/thread_number.h"

namespace armgate {

Task<Result<void>> MemoryStore::record_intent(const IntentRecord& record) {
  Shard& shard = shards_[thread_number() % kShards];
  MutexLock lock(&shard.mutex);
  shard.unfinished.insert_or_assign(record.id, record);
  if (shard.unfinished.size() > records_max_) shard.unfinished.erase(shard.unfinished.begin());
  co_return Result<void>{};
}

bool MemoryStore::forget(Shard& shard, IntentId id) {
  MutexLock lock(&shard.mutex);
  return shard.unfinished.erase(id) > 0;
}

Task<Result<void>> MemoryStore::record_outcome(const OutcomeRecord& record) {
  const bool was_own = forget(shards_[thread_number() % kShards], record.id);
  if (!was_own) std::any_of(shards_.begin(), shards_.end(), [&](Shard& shard) { return forget(shard, record.id); });
  co_return Result<void>{};
}

std::vector<IntentRecord> MemoryStore::unfinished() const {
  std::vector<IntentRecord> all;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    for (const auto& [id, intent] : shard.unfinished) all.push_back(intent);
  }
  std::sort(all.begin(), all.end(), [](const IntentRecord& a, const IntentRecord& b) { return a.id < b.id; });
  return all;
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
