// run_leases.h – the resources that one client keeps for a run, several writes that belong together (docs/decisions/0015).
//
// Why: a repair deletes and makes anew what others write to as well; between two of its writes nobody may come in. So the run
// asks for a lease before its first write, renews it while it works, and gives it back. Everybody else queues, as behind a
// write.
//
// A lease is a claim of the lock table that goes before all that wait. It is *waiting* while an operation that began before it
// still runs: from then on nobody else begins one. It is *held* once that has ended: then its client's own writes pass, before
// everybody.
//
// Of several processes each gives its own, and all of them let its client's writes in. What the lock table has of the others'
// leases counts like its own. Two that were asked for at the same moment through two processes may both stand there: the later
// one ends by itself. So does the earlier one if both are one client's on the same resources: its run was killed, and has come
// again.
//
// Invariants
//   1. A resource is in one lease at most, but for those moments.
//   2. A lease that is not renewed within `ttl` is over at the next expire(), and ends with its process.
// Threads   any; one short mutex.
// Limits    Options; beyond them a lease is refused.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/state/lock/lock_table.h"
#include "proxy/state/lock/operation_leases.h"
#include "rules/plan.h"

namespace armgate {

class RunLeases {
 public:
  struct Options {
    Duration ttl = std::chrono::seconds(60);
    size_t leases_max = 100;
    size_t resources_max = 64;  // of one lease
  };
  // A lease at one moment.
  struct Lease {
    std::string id;
    std::string client;   // the name whose writes it lets in
    std::string purpose;  // for people
    bool held = false;
    std::string behind;                    // what it waits for, for people; empty if it is held
    std::optional<Duration> behind_age{};  // since ARM may be at the newest of it; nothing: ARM is at none of it
    Duration age{};
    std::string resources;  // for people: the ids
    std::string over;       // why it ended by itself, for people
  };

  using Claim = std::function<ComingPosition(const std::vector<rules::LockKey>& keys, ClaimInfo info)>;

  // `locks` must outlive this.
  RunLeases(Options options, LockTable& locks, Hasher hasher) : options_(options), locks_(locks), hasher_(hasher) {}

  // From now on positions come from there, and others than this process' own leases let writes in. Before the first call of any
  // other.
  void claim_through(Claim claim) { claim_ = std::move(claim); }

  const Options& options() const { return options_; }

  // `resources` are canonical ids, at least one. BadInput if one of them is in another client's lease, TooLarge beyond the
  // limits. A client that has a lease on all of them gets that under a new id: its process was killed, and came again.
  Result<Lease> take(const std::vector<std::string>& resources, const Hash128& client, std::string_view client_label,
                     std::string_view purpose, TimePoint now);
  // Nothing: it is over, or never was. A client that then asks anew is told who has it.
  std::optional<Lease> renew(std::string_view id, TimePoint now);
  std::optional<Lease> release(std::string_view id, TimePoint now);
  // Ends the lease that has this resource, whoever's it is.
  std::optional<Lease> release_on(const Hash128& resource, TimePoint now);
  // Ends those that were not renewed in time. Gives these, and which others ended by themselves since the last time.
  std::vector<Lease> expire(TimePoint now);

  // The client came by with a token: the operations that its lease waits for are asked about with it, as with that of a write
  // that waits.
  void lend_credentials(const Hash128& client, std::string_view authorization, OperationLeases& op_leases);

  // Whether one of the keys is in a held lease of this client, whichever process gave it.
  bool lets_in(const Hash128& client, const std::vector<rules::LockKey>& keys) const;

 private:
  struct Kept {
    std::vector<Hash128> resources;  // sorted
    std::string ids;                 // of these
    Hash128 client{};
    std::string client_label;
    std::string purpose;
    TimePoint since{};
    TimePoint until{};
    uint64_t number = 0;                                      // of its claim, once there is one
    ComingPosition coming{};                                  // until there is one
    std::optional<QueuePosition> position;                    // until it is held
    std::unique_ptr<OperationLeases::CredentialLoan> loan{};  // until it is held
    WriteLease lease;
  };
  using Leases = std::map<std::string, Kept, std::less<>>;

  std::string next_id(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Lease hand_over(Leases::iterator found, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<Error> taken_by_another(const std::vector<std::string>& ids, const std::vector<Hash128>& wanted,
                                        const Hash128& client, TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<std::string> why_over(const Kept& kept) const;
  void end_lost(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void hold_if_granted(Kept& kept);
  static Lease shown(const std::string& id, const Kept& kept, TimePoint now);
  std::optional<Lease> end(Leases::iterator found, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  LockTable& locks_;
  const Hasher hasher_;
  Claim claim_;                   // null: positions come from the lock table at once
  std::atomic<size_t> count_{0};  // nearly always none: then a write passes without the mutex
  mutable Mutex mutex_;
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  Leases leases_ ABSL_GUARDED_BY(mutex_);
  std::vector<Lease> lost_ ABSL_GUARDED_BY(mutex_);  // for the next expire()
};

}  // namespace armgate
