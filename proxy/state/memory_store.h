// memory_store.h – the Store that keeps its records in memory: no promise survives the process.
//
// What has an outcome is forgotten: nobody asks for it.
// Threads   any; each has a shard, because every write comes by twice.
// Limits    records_max in each shard; the oldest are forgotten.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "base/cache_line.h"
#include "proxy/async/mutex.h"
#include "proxy/seams/store.h"

namespace armgate {

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(size_t records_max = 10'000) : records_max_(records_max) {}

  Task<Result<IntentId>> record_intent(const IntentRecord& record) override;
  void record_outcome(IntentId id, const WriteOutcome& outcome) override;
  void record_end(IntentId, WallTime, EndSeen) override {}

  std::vector<Unfinished> unfinished() const override;
  size_t unfinished_count() const override;

  // For a store that keeps more than this one.
  void begin(IntentId id, std::string_view method, std::string_view resource);

 private:
  struct alignas(kCacheLineBytes) Shard {
    mutable Mutex mutex;
    std::map<IntentId, Unfinished> unfinished ABSL_GUARDED_BY(mutex);
  };
  static constexpr size_t kShards = 32;
  static bool forget(Shard& shard, IntentId id);

  const size_t records_max_;
  std::array<Shard, kShards> shards_;
};

}  // namespace armgate
