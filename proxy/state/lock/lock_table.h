// lock_table.h – one writer at a time per key, waited for in the order of arrival, never blocking a thread.
//
// Why: ARM takes concurrent full PUTs on one resource and the later silently wins, or refuses the second with a passing 409;
// the lock makes the second wait until the first is really over (docs/decisions/0004).
//
// A claim names all its keys at once. It holds none of them while it waits, and is granted all of them together when on each
// key every holder and every claim before it is compatible with it. So there is no order of acquisition and no deadlock.
//
// Invariants
//   1. A key has one exclusive holder, or any number of shared ones. A holder may let its own client's next claims in.
//   2. No claim is granted before an earlier incompatible claim on any of its keys, unless that one yields or this one has a
//      higher priority.
//   3. A granted position becomes a lease or passes the grant on, however its owner ends.
//   4. A key without holders and waiters has no entry.
// Threads   any. A grant signals the claim's Waiter; a claim that has to wait signals those of the leases in its way.
// Limits    Options; a claim beyond them that would have to wait is refused at once.
// Cancel    destroying the QueuePosition leaves all queues.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cache_line.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "proxy/async/frame_pool.h"
#include "proxy/async/mutex.h"
#include "proxy/async/waiter.h"
#include "rules/plan.h"

namespace armgate {

class LockTable;

// The claimant, as people are shown it: in the queue view, in refusals and in alerts of expiry.
struct ClaimInfo {
  std::string client_label;
  std::string what;  // "PUT /subscriptions/..."
  TimePoint since{};
  Hash128 client{};
  bool inherited = false;     // an earlier process sent it
  bool is_reentrant = false;  // it may go along with what the same client has running (WriteLease::admit_own())
  std::string run_purpose{};  // no write, but a run lease (run_leases.h): what its run is for; empty: a write
  // Claims that go before those that came earlier: a client's turn and the write that takes it (turns.h), a run lease and the
  // writes that a held one admits (run_leases.h). Of the same kind the earlier goes first. The priority is the same at each of
  // a claim's keys: an order that differs from key to key could make two claims wait for each other.
  enum class Priority { None, Turn, InTurn, RunLease, InRunLease } priority = Priority::None;
  bool is_turn = false;  // no write, but its client's turn on `resource` (proxy/state/lock/turns)
  Hash128 resource{};    // key of what it writes; zero: not known
  Hash128 bytes{};  // the request's hash, by which a position that is kept for it is known (reservations.h); zero: it has none
};

// Which claims of its own client a lease admits: the reentrant ones, or all.
enum class Own { Reentrant, Any };

// What a write that has its keys is at, for people.
enum class WritePhase {
  Sent,   // about to be sent, or ARM has not answered
  Again,  // ARM was not ready for it, or not reached; it is looked at what to do, or waited for
  Runs,   // ARM took it, and its operation goes on
  Doubt,  // it may have taken effect, which is being found out
};

namespace internal {
struct Claim;
struct ClaimKey;
using ClaimKeys = std::vector<ClaimKey, PoolAllocator<ClaimKey>>;
using Claims = std::vector<std::shared_ptr<Claim>, PoolAllocator<std::shared_ptr<Claim>>>;
}  // namespace internal
class QueuePosition;

// Keeps a claim that stands in the tables of several processes: what its owner gives back goes through here, and happens when
// all of them are told (proxy/cluster).
class ClaimKeeper {
 public:
  virtual ~ClaimKeeper() = default;
  virtual uint64_t claim() const = 0;
  virtual void give_back(const std::vector<Hash128>& some) = 0;  // none named: all
  virtual void admit_own(Own which) = 0;
  virtual void yield() = 0;
};

// The right to write. Releases all its keys when destroyed.
class WriteLease {
 public:
  WriteLease() = default;
  WriteLease(WriteLease&& other) noexcept;
  WriteLease& operator=(WriteLease&& other) noexcept;
  ~WriteLease();

  bool held() const { return claim_ != nullptr; }
  void release();
  // Gives back only these of its keys. Only while nobody else uses the lease.
  void release(const std::vector<Hash128>& some);

  // Requires: held(), and no key given back. The position is granted.
  QueuePosition into_position() &&;
  // From now on these claims of the same client may hold its keys too, as far as nobody waits before them.
  void admit_own(Own which = Own::Reentrant);

  void set_phase(WritePhase phase);
  // Of what runs at ARM: that it did at this moment. Until somebody asks again nobody knows whether it still does.
  void note_seen(TimePoint when);
  // Since when ARM may be at it: the first byte of its last sending.
  void note_at_arm(TimePoint since);

  uint64_t kept_as() const;  // ClaimKeeper::claim(); 0: nobody keeps it
  bool is_over() const;      // its keys went back already, by whoever keeps it

  // True if somebody waits for one of its keys.
  bool has_waiter() const;
  // `waiter` gets `bits` whenever somebody begins to wait for one of its keys; null: nobody is told any more. It must outlive
  // that.
  void tell_when_wanted(Waiter* waiter, uint32_t bits);
  std::vector<Hash128> keys() const;  // those it still holds

 private:
  friend class QueuePosition;
  WriteLease(LockTable* table, std::shared_ptr<internal::Claim> claim) : table_(table), claim_(std::move(claim)) {}
  LockTable* table_ = nullptr;
  std::shared_ptr<internal::Claim> claim_;
};

// A position in the queues of all keys of a claim.
class QueuePosition {
 public:
  QueuePosition(QueuePosition&& other) noexcept = default;
  QueuePosition& operator=(QueuePosition&& other) noexcept;
  ~QueuePosition();

  bool granted() const;
  bool is_over() const;  // it went back already, by whoever keeps it: it will not be granted

  // The holder of what it waits for, for people; nothing if that is only reserved for a claim that waits as well.
  std::optional<ClaimInfo> holder() const;
  // Since when ARM may be at the newest of what it waits for, and never earlier than it is; what has its keys and was not sent
  // yet may be sent right now. Nothing: ARM is at none of it. Of another process' writes it is known when they were recorded
  // and when ARM had answered, so that one sent anew meanwhile counts from before until its answer is known.
  std::optional<TimePoint> newest_at_arm(TimePoint now) const;

  // Requires: granted(). The position is used up.
  WriteLease into_lease();

  // ---- a position whose owner is away (proxy/state/lock/reservations.h) ----
  bool is_for(const std::vector<rules::LockKey>& keys) const;
  std::vector<Hash128> keys() const;
  void become_write(ClaimInfo info);  // of a turn; its client and its place in the queues stay
  // The waiter that is signalled from now on; null: none.
  void set_waiter(Waiter* waiter, uint32_t bits);
  void set_away(bool away);  // for entries()
  // Lets others by, and gives back what was granted, without losing its position. From now on it is not granted any more; its
  // waiter is signalled instead each time it could be.
  void yield();
  void yield_here();
  // Takes its position again, and is granted if it is first.
  void rejoin();
  // Whether it is granted, or would be if it did not yield.
  bool is_next() const;
  uint64_t times_passed() const;
  uint64_t number() const;   // its own, in the order of arrival
  uint64_t kept_as() const;  // WriteLease::kept_as

  // ---- a claim that this position's owner keeps for another, who gets the position that is returned ----
  QueuePosition keep(std::shared_ptr<ClaimKeeper> keeper);
  void give_back_here(const std::vector<Hash128>& some);
  void end_here();  // all that it has left
  void admit_own_here(Own which);
  void set_phase_here(WritePhase phase);   // of what its owner, elsewhere, has sent
  void note_at_arm_here(TimePoint since);  // the same

 private:
  friend class LockTable;
  friend class WriteLease;
  QueuePosition(LockTable* table, std::shared_ptr<internal::Claim> claim) : table_(table), claim_(std::move(claim)) {}
  LockTable* table_;
  std::shared_ptr<internal::Claim> claim_;
};

// A position in the queues that comes later: nothing until then. To destroy it gives the position up.
using ComingPosition = std::function<std::optional<QueuePosition>()>;

class LockTable {
 public:
  struct Options {
    size_t waiters_per_key_max = 1'000;
    size_t waiters_max = 100'000;
  };
  struct Counts {
    size_t keys = 0;
    size_t waiting = 0;
  };

  LockTable(Options options, Hasher hasher);
  ~LockTable();

  // Joins the queues of all keys (at least one); duplicates count once, the stronger mode wins. `waiter` gets `bits` when
  // the claim is granted later; it must outlive the position. TooLarge when it would have to wait and a queue is full: nothing
  // was joined. `in_place_of`: the number of one that it is to stand behind, before all who came after that; 0: it comes now.
  Result<QueuePosition> join(const std::vector<rules::LockKey>& keys, ClaimInfo info, Waiter* waiter, uint32_t bits,
                             uint64_t in_place_of = 0);

  Hash128 key_of(std::string_view canonical_id) const { return hasher_.hash(canonical_id); }
  // How many writes have it; those that are away are not among them.
  size_t holders(const Hash128& key) const;
  // Whether other processes have it, or one of their run leases waits for it: of which nobody here is the owner.
  bool is_kept_elsewhere(const Hash128& key) const;
  // Whether a run lease of this client's (ClaimInfo::run_purpose) has it.
  bool is_in_run_lease_of(const Hash128& client, const Hash128& key) const;
  // The run leases on a key, held or waiting, whichever process gave them.
  struct RunLease {
    ClaimInfo info;
    std::vector<Hash128> keys;  // sorted
    uint64_t number = 0;        // its own, in the order of arrival
    bool is_elsewhere = false;  // of several processes: nobody here is its owner
  };
  std::vector<RunLease> run_leases_on(const Hash128& key) const;
  Counts counts() const;
  // The claims that hold a key or wait for it, the earliest first, and how many more there are. Looks at every key: for people
  // who ask.
  struct Entry {
    enum class State { Holds, Waits, Away };  // Away: it is reserved for a client that comes again
    ClaimInfo info;
    State state = State::Waits;
    WritePhase phase = WritePhase::Sent;  // for Holds
    std::optional<TimePoint> seen{};      // the same, as of this moment; nothing: it is so now
    uint64_t number = 0;                  // its own, in the order of arrival
    // The claims in its way, at the key where there are most: how many, and the first of them (0: none).
    size_t ahead = 0;
    uint64_t behind = 0;
  };
  struct Entries {
    std::vector<Entry> oldest;
    size_t others = 0;
    size_t hold = 0, wait = 0, away = 0;  // how many of all there are in each state
  };
  Entries entries(size_t most) const;
  // How many claims wait although nothing stands in their way: none, whenever no call of this table is under way. For tests.
  size_t grantable();

 private:
  friend class WriteLease;
  friend class QueuePosition;
  using ClaimPtr = std::shared_ptr<internal::Claim>;

  struct KeyState {
    std::list<ClaimPtr> waiting;  // by priority, then in order of arrival
    internal::Claims holders;
  };
  struct Shard {
    mutable Mutex mutex;
    absl::flat_hash_map<Hash128, KeyState> keys ABSL_GUARDED_BY(mutex);
  };
  static constexpr size_t kShards = 64;
  class ShardsLocked;  // all shards of a claim, locked in index order

  Shard& shard_of(const Hash128& key) { return shards_[key.high % kShards]; }
  KeyState& state_of(const Hash128& key);
  bool may_hold(const internal::Claim& claim);
  internal::ClaimKeys keys_of(const std::vector<rules::LockKey>& named) const;
  enum class Queued { Yes, No };
  void grant(const ClaimPtr& claim, Queued queued);
  void enqueue(const ClaimPtr& claim);
  void yield(const ClaimPtr& claim);
  void rejoin(const ClaimPtr& claim);
  void admit_own(const ClaimPtr& claim, Own which);
  void give_back_here(const ClaimPtr& claim, const std::vector<Hash128>& some);
  void admit_own_here(const ClaimPtr& claim, Own which);
  void end_here(const ClaimPtr& claim);
  std::shared_ptr<ClaimKeeper> keeper_of(const internal::Claim& claim);
  std::shared_ptr<ClaimKeeper> take_keeper(internal::Claim& claim);
  void leave_queues(const ClaimPtr& claim, std::vector<ClaimPtr>& now_first);
  void give_back(const ClaimPtr& claim);
  void give_back(const ClaimPtr& claim, const std::vector<Hash128>& some);
  void grant_any(const std::vector<ClaimPtr>& candidates);
  void collect_first(const Hash128& key, std::vector<ClaimPtr>& out);
  void erase_if_idle(const Hash128& key);
  size_t count_holders(const Hash128& key, const std::function<bool(const internal::Claim&)>& counts) const;

  const Options options_;
  const Hasher hasher_;
  std::array<Shard, kShards> shards_;
  alignas(kCacheLineBytes) std::atomic<uint64_t> next_number_{1};
  alignas(kCacheLineBytes) std::atomic<size_t> waiting_{0};
};

}  // namespace armgate
