#include "proxy/state/lock_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"

namespace armgate {
namespace internal {

struct Claim {
  enum class State { Waiting, Granted, Over };
  struct Key {
    Hash128 hash;
    rules::LockMode mode = rules::LockMode::Exclusive;
    std::list<std::shared_ptr<Claim>>::iterator place;  // valid while Waiting
    bool given_back = false;                            // before the others
  };

  std::vector<Key> keys;  // sorted by hash; constant after construction but for `place` and `given_back`
  ClaimInfo info;
  // Changed only with the mutexes of all the claim's shards held; read with any one of them.
  State state = State::Waiting;
  Waiter* waiter = nullptr;
  uint32_t bits = 0;

  const Key* key(const Hash128& hash) const {
    for (const auto& k : keys) {
      if (k.hash == hash) return &k;
    }
    return nullptr;
  }
  rules::LockMode mode_on(const Hash128& hash) const {
    const Key* k = key(hash);
    GATE_CHECK(k != nullptr, "a claim stands in the queue of a key that it does not name");
    return k->mode;
  }
};

}  // namespace internal

namespace {

using internal::Claim;
using rules::compatible;

}  // namespace

// Locks every shard that a claim touches, in index order, so that two claims can never lock them crosswise.
class LockTable::ShardsLocked {
 public:
  ShardsLocked(LockTable& table, const Claim& claim) ABSL_NO_THREAD_SAFETY_ANALYSIS : table_(table) {
    for (const auto& key : claim.keys) touched_.set(key.hash.high % kShards);
    for (size_t i = 0; i < kShards; ++i) {
      if (touched_.test(i)) table_.shards_[i].mutex.Lock();
    }
  }
  ~ShardsLocked() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (size_t i = 0; i < kShards; ++i) {
      if (touched_.test(i)) table_.shards_[i].mutex.Unlock();
    }
  }
  ShardsLocked(const ShardsLocked&) = delete;
  ShardsLocked& operator=(const ShardsLocked&) = delete;

 private:
  LockTable& table_;
  std::bitset<kShards> touched_;
};

LockTable::LockTable(Options options, Hasher hasher) : options_(options), hasher_(hasher) {}
LockTable::~LockTable() = default;

LockTable::KeyState& LockTable::state_of(const Hash128& key) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return shard_of(key).keys[key];
}

// Requires: the claim's shards are locked.
bool LockTable::may_hold(const Claim& claim) {
  for (const auto& key : claim.keys) {
    const KeyState& state = state_of(key.hash);
    for (const auto& holder : state.holders) {
      if (!compatible(holder->mode_on(key.hash), key.mode)) return false;
    }
    for (const auto& before : state.waiting) {
      if (before.get() == &claim) break;
      if (!compatible(before->mode_on(key.hash), key.mode)) return false;
    }
  }
  return true;
}

// Requires: the claim's shards are locked and may_hold().
void LockTable::grant(const ClaimPtr& claim) {
  GATE_CHECK(claim->state == Claim::State::Waiting, "only a waiting claim is granted");
  for (auto& key : claim->keys) {
    KeyState& state = state_of(key.hash);
    state.waiting.erase(key.place);
    state.holders.push_back(claim);
  }
  claim->state = Claim::State::Granted;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

// The claims that a change on this key may have made grantable: the first, and those behind it that share with all before.
void LockTable::collect_first(const Hash128& key, std::vector<ClaimPtr>& out) {
  for (const auto& claim : state_of(key).waiting) {
    if (std::find(out.begin(), out.end(), claim) == out.end()) out.push_back(claim);
    if (claim->mode_on(key) == rules::LockMode::Exclusive) break;
  }
}

void LockTable::erase_if_idle(const Hash128& key) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  auto& keys = shard_of(key).keys;
  const auto it = keys.find(key);
  if (it != keys.end() && it->second.waiting.empty() && it->second.holders.empty()) keys.erase(it);
}

void LockTable::grant_any(const std::vector<ClaimPtr>& candidates) {
  for (const auto& claim : candidates) {
    ShardsLocked locked(*this, *claim);
    if (claim->state != Claim::State::Waiting || !may_hold(*claim)) continue;
    grant(claim);
    // Under the shards' mutexes, because the place's owner takes them too before its waiter may die.
    if (claim->waiter != nullptr) claim->waiter->signal(claim->bits);
  }
}

Result<LockPlace> LockTable::join(const std::vector<rules::LockKey>& keys, ClaimInfo info, Waiter* waiter,
                                  uint32_t bits) {
  GATE_CHECK(!keys.empty(), "a claim names at least one key");
  auto claim = std::make_shared<Claim>();
  for (const auto& key : keys) {
    const Hash128 hash = hasher_.hash(key.id);
    const auto same = std::find_if(claim->keys.begin(), claim->keys.end(), [&](const Claim::Key& k) {
      return k.hash == hash;
    });
    if (same == claim->keys.end()) {
      claim->keys.push_back(Claim::Key{hash, key.mode, {}, false});
    } else if (key.mode == rules::LockMode::Exclusive) {
      same->mode = rules::LockMode::Exclusive;
    }
  }
  std::sort(claim->keys.begin(), claim->keys.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
  claim->info = std::move(info);
  claim->waiter = waiter;
  claim->bits = bits;

  ShardsLocked locked(*this, *claim);
  const bool at_once = may_hold(*claim);  // then it waits in no queue, however full
  const bool table_full = waiting_.load(std::memory_order_relaxed) >= options_.waiters_max;
  for (const auto& key : claim->keys) {
    const size_t waiting = state_of(key.hash).waiting.size();
    if (!at_once && (table_full || waiting >= options_.waiters_per_key_max)) {
      for (const auto& k : claim->keys) erase_if_idle(k.hash);
      return gateway_error(ErrorKind::TooLarge,
                           fmt::format("{} writes wait for this resource already and {} in all; the limits are {} and {}",
                                       waiting, waiting_.load(), options_.waiters_per_key_max, options_.waiters_max));
    }
  }
  for (auto& key : claim->keys) {
    KeyState& state = state_of(key.hash);
    const auto place = is_mutant(Mutant::LastComeFirstServed) ? state.waiting.begin() : state.waiting.end();
    key.place = state.waiting.insert(place, claim);
  }
  waiting_.fetch_add(1, std::memory_order_relaxed);
  if (at_once) grant(claim);
  return LockPlace(this, std::move(claim));
}

void LockTable::leave_queues(const ClaimPtr& claim, std::vector<ClaimPtr>& now_first) {
  for (auto& key : claim->keys) {
    if (key.given_back) continue;
    KeyState& state = state_of(key.hash);
    if (claim->state == Claim::State::Waiting) {
      state.waiting.erase(key.place);
    } else {
      std::erase(state.holders, claim);
    }
    collect_first(key.hash, now_first);
    erase_if_idle(key.hash);
  }
  if (claim->state == Claim::State::Waiting) waiting_.fetch_sub(1, std::memory_order_relaxed);
  claim->state = Claim::State::Over;
  claim->waiter = nullptr;
}

void LockTable::give_back(const ClaimPtr& claim) {
  std::vector<ClaimPtr> now_first;
  {
    ShardsLocked locked(*this, *claim);
    GATE_CHECK(claim->state != Claim::State::Over, "a claim is given back once");
    const bool not_taken = claim->state == Claim::State::Granted && claim->waiter != nullptr;
    leave_queues(claim, now_first);
    if (is_mutant(Mutant::GrantLostOnCancel) && not_taken) now_first.clear();
  }
  grant_any(now_first);
}

void LockTable::give_back(const ClaimPtr& claim, const std::vector<Hash128>& some) {
  std::vector<ClaimPtr> now_first;
  {
    ShardsLocked locked(*this, *claim);
    GATE_CHECK(claim->state == Claim::State::Granted, "only what was granted is given back in part");
    for (auto& key : claim->keys) {
      if (key.given_back || std::find(some.begin(), some.end(), key.hash) == some.end()) continue;
      key.given_back = true;
      std::erase(state_of(key.hash).holders, claim);
      collect_first(key.hash, now_first);
      erase_if_idle(key.hash);
    }
  }
  grant_any(now_first);
}

LockTable::Counts LockTable::counts() const {
  Counts counts;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    counts.keys += shard.keys.size();
  }
  counts.waiting = waiting_.load(std::memory_order_relaxed);
  return counts;
}

size_t LockTable::grantable() {
  if (waiting_.load(std::memory_order_relaxed) == 0) return 0;
  std::vector<ClaimPtr> waiting;
  for (auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    for (const auto& [key, state] : shard.keys) waiting.insert(waiting.end(), state.waiting.begin(), state.waiting.end());
  }
  std::sort(waiting.begin(), waiting.end());
  waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
  return static_cast<size_t>(std::count_if(waiting.begin(), waiting.end(), [this](const ClaimPtr& claim) {
    ShardsLocked locked(*this, *claim);
    return claim->state == Claim::State::Waiting && may_hold(*claim);
  }));
}

LockPlace::~LockPlace() {
  if (claim_) table_->give_back(claim_);
}

bool LockPlace::granted() const {
  LockTable::ShardsLocked locked(*table_, *claim_);
  return claim_->state == Claim::State::Granted;
}

WriteLease LockPlace::take() {
  GATE_CHECK(granted(), "only a granted place becomes a lease");
  {
    LockTable::ShardsLocked locked(*table_, *claim_);
    claim_->waiter = nullptr;
  }
  return WriteLease(table_, std::exchange(claim_, nullptr));
}

WriteLease::WriteLease(WriteLease&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)), claim_(std::exchange(other.claim_, nullptr)) {}

WriteLease& WriteLease::operator=(WriteLease&& other) noexcept {
  if (this != &other) {
    release();
    table_ = std::exchange(other.table_, nullptr);
    claim_ = std::exchange(other.claim_, nullptr);
  }
  return *this;
}

WriteLease::~WriteLease() { release(); }

void WriteLease::release() {
  if (const auto claim = std::exchange(claim_, nullptr)) table_->give_back(claim);
}

void WriteLease::release(const std::vector<Hash128>& some) {
  if (claim_) table_->give_back(claim_, some);
}

bool WriteLease::is_wanted() const {
  if (!claim_) return false;
  LockTable::ShardsLocked locked(*table_, *claim_);
  return std::any_of(claim_->keys.begin(), claim_->keys.end(), [&](const Claim::Key& key) {
    return !key.given_back && !table_->state_of(key.hash).waiting.empty();
  });
}

std::vector<Hash128> WriteLease::keys() const {
  std::vector<Hash128> keys;
  if (!claim_) return keys;
  LockTable::ShardsLocked locked(*table_, *claim_);
  for (const auto& key : claim_->keys) {
    if (!key.given_back) keys.push_back(key.hash);
  }
  return keys;
}

}  // namespace armgate
