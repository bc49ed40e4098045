// reservations.h – positions in the queue that are kept for clients who were sent away (docs/design.md, "Queue reservations").
//
// Why: a client that is told to come back, or gave up waiting, must not be overtaken by whoever asks at the right moment: under
// load it would never be first. So its position stays, and its next sending of the same bytes stands on it again.
//
// A reservation that is first in line reserves its keys for a moment. If its client does not come, it lets others by, keeps its
// position, and its time to live runs while it could have been granted; then it is over. Nothing is ever sent for a
// reservation. All clients that are away and wait for one of the same keys have that one moment to come back in: a crowd that
// vanished must not hold up others once for each. A reservation is not kept for long either for a client that came back without
// these bytes: while it waits in vain with newer writes, the TTL of its older reservations of the resource runs too.
//
// Invariants
//   1. A reservation is used once.
//   2. What a reservation keeps is free again after the claim timeout, and its position after the time to live, at the latest
//      at its
//     greatest age.
// Threads   any. A reservation's waiter is its keeper's (proxy/request/queue/reservation.h).
// Limits    Options; reservations also count in the queues of the lock table.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/async/waiter.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {

class Reservation {
 public:
  static constexpr uint32_t kGranted = 1;
  static constexpr uint32_t kGone = 2;

  enum class State {
    InLine,     // others come first
    Claimable,  // it is first in line, and nobody else gets the keys
    Passing,    // it is first in line, and others may go by
    Gone,       // taken by its client, or over
  };

  Reservation(QueuePosition position, const Executor& executor);

  Waiter& waiter() { return waiter_; }
  const std::vector<Hash128>& keys() const { return keys_; }
  uint64_t claim() const { return claim_; }  // QueuePosition::kept_as
  State state() const;
  uint64_t times_passed() const;
  // From now on others may go by. Once is enough.
  void yield();
  // Nothing if it is gone already.
  std::optional<QueuePosition> take_position();

 private:
  Waiter waiter_;
  const std::vector<Hash128> keys_;
  const uint64_t claim_;
  mutable Mutex mutex_;
  std::optional<QueuePosition> position_ ABSL_GUARDED_BY(mutex_);
  bool yields_ ABSL_GUARDED_BY(mutex_) = false;
};

class Reservations {
 public:
  struct Options {
    // How long its client may stay away while it could go on, or come with other writes; 0: no reservations.
    Duration ttl = std::chrono::minutes(1);
    Duration claim_timeout = std::chrono::seconds(5);  // how long others wait for it at most
    Duration age_max = std::chrono::minutes(30);
    size_t per_resource_max = 16;  // of one client; then the oldest is over
  };
  explicit Reservations(Options options) : options_(options) {}

  const Options& options() const { return options_; }

  struct Holder {
    Hash128 client{};
    Hash128 resource{};
  };

  // What will come again.
  struct Away {
    Hash128 request_hash{};
    TimePoint arrived{};  // this time
    TimePoint now{};
  };
  std::shared_ptr<Reservation> keep(const Holder& holder, const Away& away, QueuePosition position, const Executor& executor);

  // The position of the oldest reservation for these bytes, if it is one for these keys. One for other keys is over.
  std::optional<QueuePosition> take(const Holder& holder, const Hash128& bytes, const std::vector<rules::LockKey>& keys);

  // The moment of one for these keys that began at `since` is over: whoever was away then, and waits for one of them, lets
  // others by.
  void let_others_by(const std::vector<Hash128>& keys, TimePoint since);

  // Its keeper gives it up.
  void end(const Hash128& resource, const std::shared_ptr<Reservation>& reservation);
  // In a cluster: the one that is this claim was used, at any replica, or is over.
  void end(const Hash128& resource, uint64_t claim);

  size_t size() const;

 private:
  struct Kept {
    Hash128 client{};
    Hash128 request_hash{};
    TimePoint since{};
    std::shared_ptr<Reservation> reservation;
    Duration passed_over{};  // for how long its client stood in line with newer writes
    TimePoint counted_to{};  // so far
  };
  using Queue = std::vector<Kept>;  // oldest first
  using Queues = absl::flat_hash_map<Hash128, Queue>;

  // Those whose client has something else to write by now, and those beyond the limit for one more.
  std::vector<std::shared_ptr<Reservation>> drop(Queue& queue, const Hash128& client, const Away& newer) const;
  // Null: it is not there any more.
  template <class Is>
  std::shared_ptr<Reservation> remove(const Hash128& resource, Is is_it);
  void erase(Queues::iterator queue, Queue::iterator kept) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  std::atomic<bool> any_{false};  // nearly never: then a write passes without the mutex
  mutable Mutex mutex_;
  Queues by_resource_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
