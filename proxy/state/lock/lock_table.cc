#include "proxy/state/lock/lock_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "proxy/state/lock/lock_internal.h"

namespace armgate {
namespace {

using internal::Claim;
using internal::ClaimKey;
using rules::compatible;

// Whether `claim` may hold the key beside a holder: both share it, or the holder lets its own client in.
bool go_together(const Claim& holder, const Claim& claim, const ClaimKey& key) {
  if (compatible(holder.mode_on(key.hash), key.mode)) return true;
  if (!holder.lets_own_in || holder.info.client != claim.info.client) return false;
  return claim.info.is_reentrant || *holder.lets_own_in == Own::Any;
}

// Whether `before` keeps who stands behind it from the key.
bool goes_first(const Claim& before, const ClaimKey& key) {
  return !before.yields && !compatible(before.mode_on(key.hash), key.mode);
}

using State = LockTable::Entry::State;

State shown_state(const Claim& claim, State state) { return claim.away || claim.yields ? State::Away : state; }

// A claim at one of its keys, for people.
struct Standing {
  std::shared_ptr<Claim> claim;
  State state = State::Waits;
  size_t ahead = 0;
  uint64_t behind = 0;
};

// Those in a queue so far that let nobody by.
class Line {
 public:
  void add(const Claim& claim, const ClaimKey& key) {
    if (claim.yields) return;
    for (InTheWay* of : {&of_exclusive_, key.mode == rules::LockMode::Exclusive ? &of_shared_ : nullptr}) {
      if (of == nullptr) continue;
      if (of->count++ == 0) of->first = claim.number;
    }
  }
  struct InTheWay {
    size_t count = 0;
    uint64_t first = 0;
  };
  const InTheWay& of(rules::LockMode mode) const { return mode == rules::LockMode::Shared ? of_shared_ : of_exclusive_; }

 private:
  InTheWay of_exclusive_;
  InTheWay of_shared_;
};

Standing in_the_way(const internal::Claims& holders, const Line& line, const std::shared_ptr<Claim>& claim,
                    const ClaimKey& key) {
  Standing standing{claim, shown_state(*claim, State::Waits)};
  for (const auto& holder : holders) {
    if (go_together(*holder, *claim, key)) continue;
    if (standing.ahead++ == 0) standing.behind = holder->number;
  }
  const auto& before = line.of(key.mode);
  if (standing.ahead == 0) standing.behind = before.first;
  standing.ahead += before.count;
  return standing;
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

// Requires: the claim's shards are locked and may_hold(). Who has just come stands in no queue yet.
void LockTable::grant(const ClaimPtr& claim, Queued queued) {
  GATE_CHECK(claim->state == Claim::State::Waiting, "only a waiting claim is granted");
  for (auto& key : claim->keys) {
    KeyState& state = state_of(key.hash);
    for (const auto& before : state.waiting) {
      if (before == claim) break;
      before->passed.fetch_add(1, std::memory_order_relaxed);
    }
    if (queued == Queued::Yes) state.waiting.erase(key.place);
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
    auto place = waiting.end();
    const auto goes_before = [&](const Claim& other) {
      return std::pair(claim->info.priority, other.number) > std::pair(other.info.priority, claim->number);
    };
    while (place != waiting.begin() && goes_before(**std::prev(place))) --place;
    if (is_mutant(Mutant::LastComeFirstServed)) place = waiting.begin();
    key.place = waiting.insert(place, claim);
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
  const bool table_full = waiting_.load(std::memory_order_relaxed) >= options_.waiters_max;
  for (const auto& key : claim->keys) {
    const size_t waiting = state_of(key.hash).waiting.size();
    if (!at_once && (table_full || waiting >= options_.waiters_per_key_max)) {
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
      state.waiting.erase(key.place);
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
  keeper ? keeper->admit_own(which) : let_own_in_here(claim, which);
}

void LockTable::let_own_in_here(const ClaimPtr& claim, Own which) {
  std::vector<ClaimPtr> now_first;
  {
    ShardsLocked locked(*this, *claim);
    if (claim->state == Claim::State::Over) return;
    claim->lets_own_in = which;
    for (const auto& key : claim->keys) {
      if (!key.given_back) collect_first(key.hash, now_first);
    }
  }
  grant_any(now_first);
}

LockTable::Counts LockTable::counts() const {
  Counts counts{0, waiting_.load(std::memory_order_relaxed)};
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    counts.keys += shard.keys.size();
  }
  return counts;
}

size_t LockTable::count_holders(const Hash128& key, const std::function<bool(const Claim&)>& counts) const {
  const Shard& shard = shards_[key.high % kShards];
  MutexLock lock(&shard.mutex);
  const auto it = shard.keys.find(key);
  if (it == shard.keys.end()) return 0;
  return static_cast<size_t>(std::ranges::count_if(it->second.holders, [&](const ClaimPtr& claim) { return counts(*claim); }));
}

size_t LockTable::holders(const Hash128& key) const {
  return count_holders(key, [](const Claim& claim) { return !claim.away; });
}

size_t LockTable::holders_elsewhere(const Hash128& key) const {
  return count_holders(key, [](const Claim& claim) { return !claim.kept && !claim.info.is_turn; });
}

bool LockTable::is_in_run_of(const Hash128& client, const Hash128& key) const {
  return count_holders(key, [&](const Claim& claim) { return !claim.info.run.empty() && claim.info.client == client; }) > 0;
}

LockTable::Entries LockTable::entries(size_t most) const {
  std::vector<Standing> found;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    for (const auto& [hash, state] : shard.keys) {
      for (const auto& claim : state.holders) found.push_back({claim, shown_state(*claim, State::Holds)});
      Line line;
      for (const auto& claim : state.waiting) {
        const ClaimKey& key = *claim->key(hash);
        found.push_back(in_the_way(state.holders, line, claim, key));
        line.add(*claim, key);
      }
    }
  }
  // A claim stands at each of its keys, and may have been granted between two of them.
  std::sort(found.begin(), found.end(), [](const Standing& a, const Standing& b) {
    return std::tuple(a.claim, a.state, b.ahead) < std::tuple(b.claim, b.state, a.ahead);
  });
  const auto same_claim = [](const Standing& a, const Standing& b) { return a.claim == b.claim; };
  found.erase(std::unique(found.begin(), found.end(), same_claim), found.end());
  const auto shown = found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size()));
  std::partial_sort(found.begin(), shown, found.end(),
                    [](const Standing& a, const Standing& b) { return a.claim->info.since < b.claim->info.since; });
  Entries entries;
  for (auto it = found.begin(); it != shown; ++it) {
    const TimePoint seen = it->claim->seen.load(std::memory_order_relaxed);
    entries.oldest.push_back({it->claim->info, it->state, it->claim->phase.load(std::memory_order_relaxed),
                              seen == TimePoint{} ? std::nullopt : std::optional(seen), it->claim->number, it->ahead,
                              it->behind});
  }
  entries.others = static_cast<size_t>(found.end() - shown);
  return entries;
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
    return claim->state == Claim::State::Waiting && !claim->yields && may_hold(*claim);
  }));
}

}  // namespace armgate
