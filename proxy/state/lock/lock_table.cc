#include "proxy/state/lock/lock_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "proxy/state/lock/lock_internal.h"

namespace armgate {
namespace {

using internal::Claim;
using internal::ClaimKey;
using internal::go_together;
using rules::compatible;

// Whether `before` keeps who stands behind it from the key.
bool goes_first(const Claim& before, const ClaimKey& key) {
  return !before.yields && !compatible(before.mode_on(key.hash), key.mode);
}

}  // namespace

LockTable::LockTable(Options options, Hasher hasher) : options_(options), hasher_(hasher) {}
LockTable::~LockTable() = default;

LockTable::KeyState& LockTable::state_of(const Hash128& key) ABSL_NO_THREAD_SAFETY_ANALYSIS { return shard_of(key).keys[key]; }

// Requires: the claim's shards are locked.
bool LockTable::may_hold(const Claim& claim) {
  for (const auto& key : claim.keys) {
    const KeyState& state = state_of(key.hash);
    for (const auto& holder : state.holders) {
      if (!go_together(*holder, claim, key)) return false;
    }
    for (const auto& before : state.waiting) {
      if (before.get() == &claim) break;
      if (goes_first(*before, key)) return false;
    }
  }
  return true;
}

// Requires: the claim's shards are locked and may_hold(). A claim that has just come stands in no queue yet.
void LockTable::grant(const ClaimPtr& claim, Queued queued) {
  GATE_CHECK(claim->state == Claim::State::Waiting, "only a waiting claim is granted");
  for (auto& key : claim->keys) {
    KeyState& state = state_of(key.hash);
    for (const auto& before : state.waiting) {
      if (before == claim) break;
      before->passed.fetch_add(1, std::memory_order_relaxed);
    }
    if (queued == Queued::Yes) state.waiting.erase(key.queued_at);
    state.holders.push_back(claim);
  }
  claim->state = Claim::State::Granted;
  if (queued == Queued::Yes) waiting_.fetch_sub(1, std::memory_order_relaxed);
}

// The claims that a change on this key may have made grantable: the first, and those behind it that share with all before.
void LockTable::collect_first(const Hash128& key, std::vector<ClaimPtr>& out) {
  for (const auto& claim : state_of(key).waiting) {
    if (std::find(out.begin(), out.end(), claim) == out.end()) out.push_back(claim);
    if (claim->mode_on(key) == rules::LockMode::Exclusive && !claim->yields) break;
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
    if (!claim->yields) grant(claim, Queued::Yes);
    // Under the shards' mutexes, because the position's owner takes them too before its waiter may die.
    if (claim->waiter != nullptr) claim->waiter->signal(claim->bits);
  }
}

internal::ClaimKeys LockTable::keys_of(const std::vector<rules::LockKey>& named) const {
  internal::ClaimKeys keys;
  for (const auto& key : named) {
    const Hash128 hash = hasher_.hash(key.id);
    const auto same = std::find_if(keys.begin(), keys.end(), [&hash](const ClaimKey& k) { return k.hash == hash; });
    if (same == keys.end()) {
      keys.push_back(ClaimKey{hash, key.mode, {}, false});
    } else if (key.mode == rules::LockMode::Exclusive) {
      same->mode = rules::LockMode::Exclusive;
    }
  }
  std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
  return keys;
}

// Requires: the claim's shards are locked. Queues are sorted by priority, then by the claims' numbers.
void LockTable::enqueue(const ClaimPtr& claim) {
  for (auto& key : claim->keys) {
    KeyState& state = state_of(key.hash);
    for (const auto& holder : state.holders) {
      if (holder->when_wanted != nullptr) holder->when_wanted->signal(holder->wanted_bits);
    }
    auto& waiting = state.waiting;
    auto at = waiting.end();
    const auto goes_before = [&](const Claim& other) {
      return std::pair(claim->info.priority, other.number) > std::pair(other.info.priority, claim->number);
    };
    while (at != waiting.begin() && goes_before(**std::prev(at))) --at;
    if (is_mutant(Mutant::LastComeFirstServed)) at = waiting.begin();
    key.queued_at = waiting.insert(at, claim);
  }
  claim->state = Claim::State::Waiting;
  waiting_.fetch_add(1, std::memory_order_relaxed);
}

Result<QueuePosition> LockTable::join(const std::vector<rules::LockKey>& keys, ClaimInfo info, Waiter* waiter, uint32_t bits,
                                      uint64_t in_place_of) {
  GATE_CHECK(!keys.empty(), "a claim names at least one key");
  auto claim = make_pooled<Claim>();
  claim->keys = keys_of(keys);
  claim->info = std::move(info);
  claim->waiter = waiter;
  claim->bits = bits;
  ShardsLocked locked(*this, *claim);
  const bool at_once = may_hold(*claim);  // then it waits in no queue, however full
  // A run lease is one of few (RunLeases::Options), and goes before all that wait.
  const bool is_bounded = claim->info.priority != ClaimInfo::Priority::RunLease;
  const bool table_full = waiting_.load(std::memory_order_relaxed) >= options_.waiters_max;
  for (const auto& key : claim->keys) {
    const size_t waiting = state_of(key.hash).waiting.size();
    if (!at_once && is_bounded && (table_full || waiting >= options_.waiters_per_key_max)) {
      for (const auto& k : claim->keys) erase_if_idle(k.hash);
      return gateway_error(ErrorKind::TooLarge,
                           fmt::format("{} writes wait for this resource already and {} in all; the limits are {} and {}.",
                                       waiting, waiting_.load(), options_.waiters_per_key_max, options_.waiters_max));
    }
  }
  claim->number = in_place_of != 0 ? in_place_of : next_number_.fetch_add(1, std::memory_order_relaxed);
  if (at_once)
    grant(claim, Queued::No);
  else
    enqueue(claim);
  const bool has_priority = claim->info.priority != ClaimInfo::Priority::None;
  if (!at_once && has_priority && may_hold(*claim)) grant(claim, Queued::Yes);
  return QueuePosition(this, std::move(claim));
}

void LockTable::leave_queues(const ClaimPtr& claim, std::vector<ClaimPtr>& now_first) {
  for (auto& key : claim->keys) {
    if (key.given_back) continue;
    KeyState& state = state_of(key.hash);
    if (claim->state == Claim::State::Waiting) {
      state.waiting.erase(key.queued_at);
    } else {
      std::erase(state.holders, claim);
    }
    collect_first(key.hash, now_first);
    erase_if_idle(key.hash);
  }
  if (claim->state == Claim::State::Waiting) waiting_.fetch_sub(1, std::memory_order_relaxed);
  claim->state = Claim::State::Over;
  claim->waiter = claim->when_wanted = nullptr;
}

std::shared_ptr<ClaimKeeper> LockTable::keeper_of(const Claim& claim) {
  if (!claim.kept) return nullptr;
  ShardsLocked locked(*this, claim);
  return claim.keeper;
}

// Its waiter may die from now on.
std::shared_ptr<ClaimKeeper> LockTable::take_keeper(Claim& claim) {
  ShardsLocked locked(*this, claim);
  claim.waiter = nullptr;
  return std::exchange(claim.keeper, nullptr);
}

void LockTable::end_here(const ClaimPtr& claim) {
  std::vector<ClaimPtr> now_first;
  {
    ShardsLocked locked(*this, *claim);
    claim->keeper = nullptr;
    if (claim->state != Claim::State::Over) leave_queues(claim, now_first);
    claim->kept = true;  // to give it back again does nothing
  }
  grant_any(now_first);
}

void LockTable::give_back(const ClaimPtr& claim) {
  if (claim->kept) {
    if (const auto keeper = take_keeper(*claim)) keeper->give_back({});
    return;
  }
  std::vector<ClaimPtr> now_first;
  {
    ShardsLocked locked(*this, *claim);
    GATE_CHECK(claim->state != Claim::State::Over, "a claim is given back once");
    leave_queues(claim, now_first);
  }
  grant_any(now_first);
}

void LockTable::give_back(const ClaimPtr& claim, const std::vector<Hash128>& some) {
  if (some.empty()) return;
  const auto keeper = keeper_of(*claim);
  keeper ? keeper->give_back(some) : give_back_here(claim, some);
}

void LockTable::give_back_here(const ClaimPtr& claim, const std::vector<Hash128>& some) {
  std::vector<ClaimPtr> now_first;
  {
    ShardsLocked locked(*this, *claim);
    if (claim->kept && claim->state == Claim::State::Over) return;
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

void LockTable::yield(const ClaimPtr& claim) {
  std::vector<ClaimPtr> now_first;
  {
    ShardsLocked locked(*this, *claim);
    if (claim->state == Claim::State::Granted) {
      for (auto& key : claim->keys) std::erase(state_of(key.hash).holders, claim);
      enqueue(claim);
    }
    claim->yields = true;
    for (const auto& key : claim->keys) collect_first(key.hash, now_first);
  }
  std::erase(now_first, claim);  // its owner has just let it pass
  if (!is_mutant(Mutant::GrantLostOnCancel)) grant_any(now_first);
}

void LockTable::rejoin(const ClaimPtr& claim) {
  ShardsLocked locked(*this, *claim);
  claim->yields = false;
  if (claim->state == Claim::State::Waiting && may_hold(*claim)) grant(claim, Queued::Yes);
}

void LockTable::admit_own(const ClaimPtr& claim, Own which) {
  const auto keeper = keeper_of(*claim);
  keeper ? keeper->admit_own(which) : admit_own_here(claim, which);
}

void LockTable::admit_own_here(const ClaimPtr& claim, Own which) {
  std::vector<ClaimPtr> now_first;
  {
    ShardsLocked locked(*this, *claim);
    if (claim->state == Claim::State::Over) return;
    claim->admits_own = which;
    for (const auto& key : claim->keys) {
      if (!key.given_back) collect_first(key.hash, now_first);
    }
  }
  grant_any(now_first);
}

}  // namespace armgate
