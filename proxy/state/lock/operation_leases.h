// operation_leases.h – leases that live on after their write was answered, until its long-running operation ends.
//
// Why: "answered" is not "finished" (docs/design.md, "Operations"). The lease moves here, is found again when the client's own
// polls pass by, and is released when the operation is terminal, or with an alert when it is too old.
//
// Invariants
//   1. An operation lease ends once: whoever calls finish() first gets true and with it the duty to release.
//   2. The token of an operation lease is kept only while it is open.
// Threads   any.
// Limits    those of the lock table: an operation lease has a write's lease on its keys, which few writers
//           have at a time (its own client's, or those that share it).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "arm/long_running.h"
#include "arm/resource_id.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/async/waiter.h"
#include "proxy/seams/store.h"
#include "proxy/state/lock/lock_table.h"
#include "proxy/state/planned.h"

namespace armgate {

class OwnedOperation;

// Whether ARM took the leased write, or nobody knows.
enum class LeasedBecause { Accepted, InDoubt };

// What an operation lease is about; constant after it was opened.
struct LeasedWrite {
  LeasedBecause because = LeasedBecause::Accepted;
  IntentId intent = 0;       // its record in the journal; 0: none
  bool inherited = false;    // of an earlier process: no token came with it
  bool runs_unseen = false;  // perhaps: ARM's answer, which may have named an operation, did not arrive
  bool is_on_its_way =
      false;  // perhaps: nothing shows that ARM has it, nor keeps it from taking effect whatever others do meanwhile
  Planned planned{};
  arm::Method method = arm::Method::Put;
  std::string host;             // to be asked for the resource
  std::string resource_target;  // the write's own target, with its api-version
  arm::Tracking tracking;
  Hash128 client{};
  Hash128 request_hash{};
  std::string client_label;
  TimePoint opened{};
  Duration ran_before{};  // in earlier processes, by the wall clock: for people only
  Duration interval{};    // between polls, as ARM's answer to the write asked; zero if it did not
  Duration max{};
  Duration cap{};
  std::shared_ptr<OwnedOperation> owned{};  // what its client polls in place of ARM's operation; null: that
  std::vector<std::string>
      must_be_provisioned{};  // targets that have to be in a final state, after the operation's end, before it is over

  const arm::ResourceId& resource() const { return planned.plan->target.resource; }
};

class OperationLease {
 public:
  static constexpr uint32_t kWake = 1;

  OperationLease(LeasedWrite write, WriteLease lease, std::string authorization, const Executor& executor);

  const LeasedWrite& write() const { return write_; }
  const std::vector<Hash128>& keys() const { return keys_; }  // the lease's
  Waiter& waiter() { return waiter_; }                        // of its watcher; woken, too, when somebody begins to wait
  bool has_waiter() const;                                    // somebody waits for one of its keys
  bool is_open() const;
  bool has_lost_its_keys() const;  // in a cluster: another has seen its end, and given them back

  // The newest token of its client; one that is lent, if it has none or ARM does not take its client's any more; empty if there
  // is neither.
  std::string authorization() const;
  void renew_token(std::string_view authorization);
  // ARM would not tell the bearer of this token.
  void distrust(std::string_view authorization);
  // The lender of a token takes it back when the request that it came with is over (promise P8, docs/design.md).
  bool lend_credentials(const void* lender, std::string_view authorization);
  void take_back(const void* lender);

  // What is known of how its operation goes, from whoever asked.
  struct Pace {
    TimePoint seen_running{};  // the epoch: never
    Duration named{};          // what ARM asked to be left between two looks; zero: nothing
    TimePoint end_expected{};  // when ARM last took a request to end it; the epoch: never
  };
  Pace pace() const;
  void note_running(TimePoint now);
  void note_named(Duration between_looks);
  void note_end_expected(TimePoint now);

  // When somebody last asked how it goes; the epoch if nobody did.
  TimePoint last_asked() const { return last_asked_.load(std::memory_order_relaxed); }
  void note_asked(TimePoint now) { last_asked_.store(now, std::memory_order_relaxed); }

  // The operation has ended, but not all that must be in a final state is. The first call counts.
  void note_operation_end(arm::Progress last);
  std::optional<arm::Progress> operation_end() const;

  // With what error the operation ended, from whoever was told. The first one counts.
  void note_error(arm::ErrorCodes error);
  arm::ErrorCodes error() const;

  // Ends the operation lease: true for the first caller, whose `last` is kept for the watcher. The lease is still held then.
  bool finish(arm::Progress last);
  std::optional<arm::Progress> finished() const;
  void release();
  WriteLease take_lease();  // of one that is finished
  uint64_t claim() const;   // WriteLease::kept_as

 private:
  const LeasedWrite write_;
  const std::vector<Hash128> keys_;
  Waiter waiter_;
  std::atomic<TimePoint> last_asked_{TimePoint{}};
  mutable Mutex mutex_;
  Pace pace_ ABSL_GUARDED_BY(mutex_);
  WriteLease lease_ ABSL_GUARDED_BY(mutex_);
  std::string authorization_ ABSL_GUARDED_BY(mutex_);
  bool is_distrusted_ ABSL_GUARDED_BY(mutex_) = false;  // authorization_
  struct Lent {
    const void* lender;
    std::string authorization;
  };
  std::vector<Lent> lent_ ABSL_GUARDED_BY(mutex_);
  std::optional<arm::Progress> operation_end_ ABSL_GUARDED_BY(mutex_);
  std::optional<arm::Progress> finished_ ABSL_GUARDED_BY(mutex_);
  arm::ErrorCodes error_ ABSL_GUARDED_BY(mutex_);
};

class OperationLeases {
 public:
  explicit OperationLeases(Hasher hasher) : hasher_(hasher) {}

  void add(const std::shared_ptr<OperationLease>& op_lease);
  void close(const std::shared_ptr<OperationLease>& op_lease);

  // Operation leases whose end a GET of this URL can tell, and how.
  struct Match {
    std::shared_ptr<OperationLease> op_lease;
    arm::TrackedBy by = arm::TrackedBy::Nothing;
  };
  // `resource` is the key of the resource that the URL names; zero: it names none.
  std::vector<Match> find(std::string_view host, std::string_view target, const Hash128& resource) const;

  std::vector<std::shared_ptr<OperationLease>> on_key(const Hash128& key) const;
  // Whether one is about the resource, also if it keeps nobody away (mode observe).
  bool runs_on(const Hash128& resource) const;

  // What somebody who waits lends to those that are waited for, until it is destroyed. It must not outlive the table.
  class CredentialLoan {
   public:
    CredentialLoan() = default;
    CredentialLoan(CredentialLoan&&) = delete;
    ~CredentialLoan();

   private:
    friend class OperationLeases;
    OperationLeases* table_ = nullptr;
    std::string authorization_;
    std::vector<Hash128> keys_;
    std::vector<std::shared_ptr<OperationLease>> taken_by_;
  };
  // To those that have these keys, also those that are opened meanwhile: without a good token of their own they look with this
  // one.
  void lend_credentials(const std::vector<Hash128>& keys, std::string_view authorization, CredentialLoan& loan);

  // The client came by with a token: its operation leases use it from now on.
  void renew_token(const Hash128& client, std::string_view authorization) const;

  size_t size() const { return count_.load(std::memory_order_relaxed); }
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  using Index = absl::flat_hash_map<Hash128, std::vector<std::shared_ptr<OperationLease>>>;
  std::vector<Hash128> url_keys(const OperationLease& op_lease) const;
  Hash128 url_key(std::string_view host, std::string_view target) const;
  static void drop(Index& index, const Hash128& key, const std::shared_ptr<OperationLease>& op_lease);
  void end(CredentialLoan& loan);

  const Hasher hasher_;
  std::atomic<size_t> count_{0};
  mutable Mutex mutex_;
  Index by_url_ ABSL_GUARDED_BY(mutex_);
  Index by_resource_ ABSL_GUARDED_BY(mutex_);
  Index by_key_ ABSL_GUARDED_BY(mutex_);
  Index by_client_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Hash128, std::vector<CredentialLoan*>> lenders_
      ABSL_GUARDED_BY(mutex_);  // by the keys that they wait for
};

}  // namespace armgate
