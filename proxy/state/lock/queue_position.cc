// queue_position.cc – a claim from its owner's side: the position in the queues, and the lease.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "proxy/state/lock/lock_internal.h"

namespace armgate {

using internal::Claim;
using internal::ClaimKey;

QueuePosition::~QueuePosition() {
  if (claim_) table_->give_back(claim_);
}

QueuePosition& QueuePosition::operator=(QueuePosition&& other) noexcept {
  if (this != &other) {
    if (claim_) table_->give_back(claim_);
    table_ = other.table_;
    claim_ = std::move(other.claim_);
  }
  return *this;
}

bool QueuePosition::granted() const {
  LockTable::ShardsLocked locked(*table_, *claim_);
  return claim_->state == Claim::State::Granted;
}

bool QueuePosition::is_over() const {
  LockTable::ShardsLocked locked(*table_, *claim_);
  return claim_->state == Claim::State::Over;
}

std::optional<ClaimInfo> QueuePosition::holder() const {
  LockTable::ShardsLocked locked(*table_, *claim_);
  for (const ClaimKey& key : claim_->keys) {
    for (const auto& other : table_->state_of(key.hash).holders) {
      if (other != claim_ && !rules::compatible(other->mode_on(key.hash), key.mode)) return other->info;
    }
  }
  return std::nullopt;
}

std::optional<TimePoint> QueuePosition::newest_at_arm(TimePoint now) const {
  LockTable::ShardsLocked locked(*table_, *claim_);
  std::optional<TimePoint> newest;
  for (const ClaimKey& key : claim_->keys) {
    for (const auto& other : table_->state_of(key.hash).holders) {
      const bool is_before = other != claim_ && !rules::compatible(other->mode_on(key.hash), key.mode);
      const bool is_write = !other->info.is_turn && other->info.run_purpose.empty();
      if (!is_before || !is_write || other->phase.load(std::memory_order_relaxed) == WritePhase::Again) continue;
      const TimePoint noted = other->at_arm.load(std::memory_order_relaxed);
      const TimePoint since = noted == TimePoint{} ? now : noted;
      newest = std::max(newest.value_or(since), since);
    }
  }
  return newest;
}

WriteLease QueuePosition::into_lease() {
  GATE_CHECK(granted(), "only a granted position becomes a lease");
  {
    LockTable::ShardsLocked locked(*table_, *claim_);
    claim_->waiter = nullptr;
  }
  return WriteLease(table_, std::exchange(claim_, nullptr));
}

bool QueuePosition::is_for(const std::vector<rules::LockKey>& keys) const {
  const auto wanted = table_->keys_of(keys);
  return std::equal(wanted.begin(), wanted.end(), claim_->keys.begin(), claim_->keys.end(),
                    [](const ClaimKey& a, const ClaimKey& b) { return a.hash == b.hash && a.mode == b.mode; });
}

std::vector<Hash128> QueuePosition::keys() const {
  std::vector<Hash128> keys;
  for (const ClaimKey& key : claim_->keys) keys.push_back(key.hash);
  return keys;
}

void QueuePosition::become_write(ClaimInfo info) {
  LockTable::ShardsLocked locked(*table_, *claim_);
  info.client = claim_->info.client;
  info.priority = claim_->info.priority;
  info.is_reentrant = claim_->info.is_reentrant;
  info.is_turn = false;
  claim_->info = std::move(info);
}

void QueuePosition::set_waiter(Waiter* waiter, uint32_t bits) {
  LockTable::ShardsLocked locked(*table_, *claim_);
  claim_->waiter = waiter;
  claim_->bits = bits;
}

void QueuePosition::set_away(bool away) {
  LockTable::ShardsLocked locked(*table_, *claim_);
  claim_->away = away;
}

void QueuePosition::yield() {
  const auto keeper = table_->keeper_of(*claim_);
  keeper ? keeper->yield() : table_->yield(claim_);
}

void QueuePosition::yield_here() { table_->yield(claim_); }

uint64_t QueuePosition::number() const { return claim_->number; }

uint64_t QueuePosition::kept_as() const {
  const auto keeper = table_->keeper_of(*claim_);
  return keeper ? keeper->claim() : 0;
}

void QueuePosition::rejoin() { table_->rejoin(claim_); }

bool QueuePosition::is_next() const {
  LockTable::ShardsLocked locked(*table_, *claim_);
  return claim_->state == Claim::State::Granted || table_->may_hold(*claim_);
}

QueuePosition QueuePosition::keep(std::shared_ptr<ClaimKeeper> keeper) {
  LockTable::ShardsLocked locked(*table_, *claim_);
  claim_->kept = true;
  claim_->keeper = std::move(keeper);
  return QueuePosition(table_, claim_);
}

void QueuePosition::give_back_here(const std::vector<Hash128>& some) { table_->give_back_here(claim_, some); }

void QueuePosition::end_here() { table_->end_here(claim_); }

void QueuePosition::admit_own_here(Own which) { table_->admit_own_here(claim_, which); }

uint64_t QueuePosition::times_passed() const { return claim_->passed.load(std::memory_order_relaxed); }

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

QueuePosition WriteLease::into_position() && {
  GATE_CHECK(claim_ != nullptr, "only a held lease becomes a position again");
  return QueuePosition(std::exchange(table_, nullptr), std::exchange(claim_, nullptr));
}

void WriteLease::admit_own(Own which) {
  if (claim_) table_->admit_own(claim_, which);
}

void WriteLease::set_phase(WritePhase phase) {
  if (claim_ != nullptr) claim_->phase.store(phase, std::memory_order_relaxed);
}

void QueuePosition::set_phase_here(WritePhase phase) { claim_->phase.store(phase, std::memory_order_relaxed); }

void WriteLease::note_seen(TimePoint when) {
  if (claim_ != nullptr) claim_->seen.store(when, std::memory_order_relaxed);
}

void WriteLease::note_at_arm(TimePoint since) {
  if (claim_ != nullptr) claim_->at_arm.store(since, std::memory_order_relaxed);
}

void QueuePosition::note_at_arm_here(TimePoint since) { claim_->at_arm.store(since, std::memory_order_relaxed); }

uint64_t WriteLease::kept_as() const {
  const auto keeper = claim_ != nullptr ? table_->keeper_of(*claim_) : nullptr;
  return keeper ? keeper->claim() : 0;
}

bool WriteLease::is_over() const {
  if (claim_ == nullptr) return true;
  LockTable::ShardsLocked locked(*table_, *claim_);
  return claim_->state == Claim::State::Over;
}

bool WriteLease::has_waiter() const {
  if (!claim_) return false;
  LockTable::ShardsLocked locked(*table_, *claim_);
  return std::any_of(claim_->keys.begin(), claim_->keys.end(),
                     [&](const ClaimKey& key) { return !key.given_back && !table_->state_of(key.hash).waiting.empty(); });
}

void WriteLease::tell_when_wanted(Waiter* waiter, uint32_t bits) {
  if (!claim_) return;
  LockTable::ShardsLocked locked(*table_, *claim_);
  claim_->when_wanted = waiter;
  claim_->wanted_bits = bits;
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
