// resource_table.h – the history of every resource, shared by all clients (proxy/policy/history).
//
// Why one table: what one client changed is what another one's read may be missing, and what a third one's write must not undo.
// Everything that is known of a resource stands in one place, is asked there, and changes by events only.
//
// Invariants  forgetting makes armgate ask again or refuse once, never send what may be stale: a history that begins anew knows
//             that something may be missing (History::forgotten).
// Threads     any; 64 shards with a short mutex each. Nothing is awaited under one; parsed only what may lag behind a write.
// Limits      Options, an equal part for each shard. Over the bytes, bodies are dropped: first those of the resources that were
//             not touched for longest, and of the one that is being touched the oldest. Over the number, whole histories are.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>

#include "arm/resource_id.h"
#include "base/cache_line.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/policy/history.h"
#include "proxy/state/aged_map.h"

namespace armgate {

// Tells all replicas of a cluster what changes the table, in place of its being changed at once (proxy/cluster).
class ResourceSink {
 public:
  virtual ~ResourceSink() = default;
  virtual void tell(const Hash128& resource, policy::Event event) = 0;
};

// Resources are named by the keyed hash of their canonical id.
class ResourceTable {
 public:
  struct Options {
    size_t resources_max = 1'000'000;
    size_t body_bytes_max = 512u << 20;
    policy::HistoryLimits history;
  };

  ResourceTable(const Options& options, Hasher hasher) : options_(options), hasher_(hasher) {}

  const policy::HistoryLimits& limits() const { return options_.history; }

  // From now on changes go there, and come back by the functions that end in _here.
  void set_sink(ResourceSink* sink) { sink_ = sink; }

  void apply(const Hash128& resource, policy::Event event);
  void apply_here(const Hash128& resource, policy::Event event);
  // Clients may have been shown something up to that order that is not known here, of any resource.
  void forget_shown_until(uint64_t order);

  // What `question` makes of the resource's history, which it must not keep.
  template <class Question>
  auto ask(const Hash128& resource, Question question) const {
    const Shard& shard = shard_of(resource);
    MutexLock lock(&shard.mutex);
    if (const Slot* slot = shard.slots.find(resource)) return question(slot->history);
    policy::History none;
    none.forget_until(shard.horizon);
    none.forget_shown_until(shard.shown_horizon);
    return question(static_cast<const policy::History&>(none));
  }

  // The newest finished delete of the resource or of anything that contains it, or that may have been one of these.
  struct Deletion {
    uint64_t order = 0;  // 0: never
    Hash128 client{};    // whose it was; zero: not known
  };
  Deletion last_delete(const arm::ResourceId& resource) const;

  struct Counts {
    size_t resources = 0;
    size_t body_bytes = 0;
    uint64_t bodies_evicted = 0;
    uint64_t resources_evicted = 0;
  };
  Counts counts() const;

 private:
  struct Slot {
    policy::History history;
    size_t bytes = 0;
    std::list<Slot*>::iterator age_of_bodies;  // if it has bytes
  };
  struct Shard {
    mutable Mutex mutex;
    AgedMap<Hash128, Slot> slots ABSL_GUARDED_BY(mutex);
    std::list<Slot*> with_bodies ABSL_GUARDED_BY(mutex);  // those that have bytes, in the same order
    size_t bytes ABSL_GUARDED_BY(mutex) = 0;
    uint64_t horizon ABSL_GUARDED_BY(mutex) = 0;            // order: what was forgotten by the bound is not newer
    uint64_t shown_horizon ABSL_GUARDED_BY(mutex) = 0;      // the same of what clients were shown elsewhere
    uint64_t deletes_forgotten ABSL_GUARDED_BY(mutex) = 0;  // order of the newest delete among that
    uint64_t bodies_evicted ABSL_GUARDED_BY(mutex) = 0;
    uint64_t resources_evicted ABSL_GUARDED_BY(mutex) = 0;
  };
  static constexpr size_t kShards = 64;

  Slot& touch(Shard& shard, const Hash128& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void make_room(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void set_bytes(Shard& shard, Slot& slot, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void drop_bodies(Shard& shard, Slot& slot, size_t most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void keep_within_budget(Shard& shard, const Slot& touched) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  Shard& shard_of(const Hash128& key) { return shards_[key.high % kShards]; }
  const Shard& shard_of(const Hash128& key) const { return shards_[key.high % kShards]; }

  const Options options_;
  const Hasher hasher_;
  ResourceSink* sink_ = nullptr;
  std::array<Shard, kShards> shards_;
  std::atomic<bool> any_deleted_{false};  // until then no request pays for looking through its ancestors
};

}  // namespace armgate
