// lock_view.cc – what the lock table tells of who has its keys and who waits.
#include <algorithm>
#include <tuple>
#include <utility>

#include "proxy/state/lock/lock_internal.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {
namespace {

using internal::Claim;
using internal::ClaimKey;
using internal::go_together;
using State = LockTable::Entry::State;

State shown_state(const Claim& claim, State state) { return claim.away || claim.yields ? State::Away : state; }

// Nobody here is its owner.
bool is_elsewhere(const Claim& claim) { return !claim.kept && !claim.info.is_turn; }

// A run lease sends nothing: it is held, whichever process gave it.
WritePhase shown_phase(const Claim& claim) {
  return claim.info.run_purpose.empty() ? claim.phase.load(std::memory_order_relaxed) : WritePhase::Runs;
}

// A claim at one of its keys, for people.
struct ShownClaim {
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

ShownClaim in_the_way(const internal::Claims& holders, const Line& line, const std::shared_ptr<Claim>& claim,
                      const ClaimKey& key) {
  ShownClaim shown{claim, shown_state(*claim, State::Waits)};
  for (const auto& holder : holders) {
    if (go_together(*holder, *claim, key)) continue;
    if (shown.ahead++ == 0) shown.behind = holder->number;
  }
  const auto& before = line.of(key.mode);
  if (shown.ahead == 0) shown.behind = before.first;
  shown.ahead += before.count;
  return shown;
}

}  // namespace

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
  return count_holders(key, [](const Claim& claim) { return !claim.away && !claim.info.is_turn; });
}

bool LockTable::is_kept_elsewhere(const Hash128& key) const {
  return count_holders(key, is_elsewhere) > 0 || std::ranges::any_of(run_leases_on(key), &RunLease::is_elsewhere);
}

bool LockTable::is_in_run_lease_of(const Hash128& client, const Hash128& key) const {
  return count_holders(key,
                       [&](const Claim& claim) { return !claim.info.run_purpose.empty() && claim.info.client == client; }) > 0;
}

std::vector<LockTable::RunLease> LockTable::run_leases_on(const Hash128& key) const {
  std::vector<RunLease> leases;
  const Shard& shard = shards_[key.high % kShards];
  MutexLock lock(&shard.mutex);
  const auto it = shard.keys.find(key);
  if (it == shard.keys.end()) return leases;
  const auto add_leases = [&leases](const auto& claims) {
    for (const ClaimPtr& claim : claims) {
      if (claim->info.run_purpose.empty()) continue;
      RunLease& lease = leases.emplace_back(RunLease{claim->info, {}, claim->number, is_elsewhere(*claim)});
      for (const ClaimKey& named : claim->keys) lease.keys.push_back(named.hash);
    }
  };
  add_leases(it->second.holders);
  add_leases(it->second.waiting);
  return leases;
}

LockTable::Entries LockTable::entries(size_t most) const {
  std::vector<ShownClaim> found;
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
  std::sort(found.begin(), found.end(), [](const ShownClaim& a, const ShownClaim& b) {
    return std::tuple(a.claim, a.state, b.ahead) < std::tuple(b.claim, b.state, a.ahead);
  });
  const auto same_claim = [](const ShownClaim& a, const ShownClaim& b) { return a.claim == b.claim; };
  found.erase(std::unique(found.begin(), found.end(), same_claim), found.end());
  const auto shown = found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size()));
  std::partial_sort(found.begin(), shown, found.end(),
                    [](const ShownClaim& a, const ShownClaim& b) { return a.claim->info.since < b.claim->info.since; });
  Entries entries;
  for (auto it = found.begin(); it != shown; ++it) {
    const TimePoint seen = it->claim->seen.load(std::memory_order_relaxed);
    entries.oldest.push_back({it->claim->info, it->state, shown_phase(*it->claim),
                              seen == TimePoint{} ? std::nullopt : std::optional(seen), it->claim->number, it->ahead,
                              it->behind});
  }
  entries.others = static_cast<size_t>(found.end() - shown);
  for (const ShownClaim& claim : found) {
    ++(claim.state == State::Holds ? entries.hold : claim.state == State::Waits ? entries.wait : entries.away);
  }
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
