// lock_internal.h – what a claim of the lock table is inside. Only for lock_table.cc, lock_view.cc and queue_position.cc.
#pragma once

#include <atomic>
#include <bit>
#include <list>
#include <memory>
#include <vector>

#include "base/check.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {
namespace internal {

struct ClaimKey {
  Hash128 hash;
  rules::LockMode mode = rules::LockMode::Exclusive;
  std::list<std::shared_ptr<Claim>>::iterator queued_at;  // valid while the claim waits
  bool given_back = false;                                // before the others
};

struct Claim {
  enum class State { Waiting, Granted, Over };

  ClaimKeys keys;       // sorted by hash; constant after construction but for `queued_at` and `given_back`
  uint64_t number = 0;  // in the order of arrival: queues are sorted by it
  ClaimInfo info;
  // Changed only with the mutexes of all the claim's shards held; read with any one of them.
  State state = State::Waiting;
  Waiter* waiter = nullptr;
  uint32_t bits = 0;
  Waiter* when_wanted = nullptr;  // of a lease: told when somebody begins to wait for one of its keys
  uint32_t wanted_bits = 0;
  bool yields = false;                  // waits for its owner to come back, and lets others by meanwhile
  bool away = false;                    // its owner has left and may come back; only for people
  std::optional<Own> admits_own;        // granted, and the same client may go along
  std::shared_ptr<ClaimKeeper> keeper;  // until its owner has given it back, or it is over
  bool kept = false;                    // it had one ever; before its owner got it. It leaves the queues by end_here() alone
  std::atomic<WritePhase> phase{WritePhase::Sent};
  std::atomic<TimePoint> seen{TimePoint{}};    // WriteLease::note_seen(); the epoch: never
  std::atomic<TimePoint> at_arm{TimePoint{}};  // WriteLease::note_at_arm(); the same
  // How often others went by. Each of them holds only its own shards, of which two may have none in common.
  std::atomic<uint64_t> passed{0};

  const ClaimKey* key(const Hash128& hash) const {
    for (const auto& k : keys) {
      if (k.hash == hash) return &k;
    }
    return nullptr;
  }
  rules::LockMode mode_on(const Hash128& hash) const {
    const ClaimKey* k = key(hash);
    GATE_CHECK(k != nullptr, "a claim stands in the queue of a key that it does not name");
    return k->mode;
  }
};

// Whether `claim` may hold the key beside a holder: both share it, or the holder lets its own client in.
inline bool go_together(const Claim& holder, const Claim& claim, const ClaimKey& key) {
  if (rules::compatible(holder.mode_on(key.hash), key.mode)) return true;
  if (!holder.admits_own || holder.info.client != claim.info.client) return false;
  return claim.info.is_reentrant || *holder.admits_own == Own::Any;
}

}  // namespace internal

// Locks every shard that a claim touches, in index order, so that two claims can never lock them crosswise.
class LockTable::ShardsLocked {
 public:
  ShardsLocked(LockTable& table, const internal::Claim& claim) ABSL_NO_THREAD_SAFETY_ANALYSIS : table_(table) {
    for (const auto& key : claim.keys) touched_ |= uint64_t{1} << (key.hash.high % kShards);
    for (uint64_t left = touched_; left != 0; left &= left - 1) table_.shards_[std::countr_zero(left)].mutex.Lock();
  }
  ~ShardsLocked() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (uint64_t left = touched_; left != 0; left &= left - 1) table_.shards_[std::countr_zero(left)].mutex.Unlock();
  }
  ShardsLocked(const ShardsLocked&) = delete;
  ShardsLocked& operator=(const ShardsLocked&) = delete;

 private:
  LockTable& table_;
  uint64_t touched_ = 0;  // a bit for each shard
  static_assert(kShards <= 64);
};

}  // namespace armgate
