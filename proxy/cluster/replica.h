// replica.h – this process as one of several: what it tells the others, and what it makes of what all of them told.
//
// Why one log: histories, ledgers and the lock table are functions of events in order. If every replica applies the same events
// in the same order, a write is granted its keys by all of them or by none, and whoever is granted them knows all that was told
// before (docs/decisions/0019).
//
// Invariants
//   1. Nothing changes the shared tables before it stands in the log: post() only queues.
//   2. After flush() everything that was told before, by anybody, has been applied here.
//   3. A dead replica's claims end. What it sent may be at ARM: the keys of sent writes go to the replica that reported its
//      death.
// Threads   any; apply() and next_batch() the log's alone. No table is called under a mutex of its own.
// Limits    Options: what waits for the log.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/async/mutex.h"
#include "proxy/async/task.h"
#include "proxy/cluster/event.h"
#include "proxy/cluster/positions.h"
#include "proxy/seams/client_link.h"
#include "proxy/seams/clock.h"
#include "proxy/seams/upstream.h"
#include "proxy/state/client_table.h"
#include "proxy/state/lock/lock_table.h"
#include "proxy/state/lock/reservations.h"
#include "proxy/state/lock/turns.h"
#include "proxy/state/memory_store.h"
#include "proxy/state/operation/operation_results.h"
#include "proxy/state/operation/owned_operations.h"
#include "proxy/state/resource_table.h"

namespace armgate {
class RemoteOperations;
}  // namespace armgate

namespace armgate::cluster {

class ToldBodies;

// The log's rows in the order of moments (base/time.h): each has room for its events and for what happens here until the next.
inline constexpr unsigned kOrderBits = 24;
inline uint64_t order_in(uint64_t row, uint64_t event) { return (row << kOrderBits) + event; }
inline uint64_t last_order_in(uint64_t row) { return row == 0 ? 0 : order_in(row + 1, 0) - 1; }

// What one replica told at once.
struct Row {
  uint64_t number = 0;
  EngineTime begun = 0;
  ReplicaId author = 0;
  uint64_t batch = 0;           // the author's own number
  std::vector<ReplicaId> dead;  // who was found dead when it was written
  bool reads_missing = false;   // somebody may have delivered reads that are not in the log
  std::string events;
};

// A write whose sender is dead, and its keys. Every replica looks for its end, with what tokens come to it; whoever sees it
// first gives the keys back for all.
struct AdoptedWrite {
  IntentId intent = 0;
  JournaledWrite write;
  WriteLease lease;
  bool is_heir = false;  // one of them tells what else there is to tell, if nobody has
};

class Replica final : public Teller {
 public:
  struct Options {
    ReplicaId id = 0;
    Duration membership_lease = std::chrono::seconds(10);  // for so long the others wait for its next word
    Duration quiet{};                                      // for so long after a death they leave what was under way alone
    size_t queue_max = 10'000;                             // events that wait for the log, and
    size_t queue_bytes_max = 64u << 20;  // their bodies; beyond, reads are not told, but that some are missing;
                                         // and beyond twice as much no write begins
    HashKey hash_key{};                  // of the cluster; by it bodies are known
    size_t hashed_least = 256;           // bytes of a body from which on it is told by its hash
  };
  struct Tables {
    Clock& clock;
    ResourceTable& resources;
    ClientTable& clients;
    LockTable& locks;
    OperationResults& results;
    OwnedOperations& owned;
    RemoteOperations& remote_operations;
    Turns& turns;
    Reservations& reservations;
    std::function<void(uint64_t order)> pass;                            // of the clock: moments from now on come after it
    std::function<void(AdoptedWrite)> adopt{};                           // called on the log's thread, as all of these
    std::function<void(const std::vector<Hash128>& keys)> waited_for{};  // somebody elsewhere waits for them now
    std::function<void(const std::vector<Hash128>& keys)> ended{};       // what was adopted had them, and is over
    std::function<void(const Imported&, uint64_t order)> imported{};     // a journal's writes stand in the log up to there
    std::function<void(const UnlockAsked&)> unlock{};                    // another's operator asks for it
    std::function<void(const AbortTaken&)> abort_taken{};                // ARM took an abort that came through another replica
    std::function<void(const EndTold&)> end_told{};
    std::function<void(const OwnedPolled&)> owned_polled{};  // a poll that came to another replica
    MemoryStore* history = nullptr;                          // gets every replica's writes; null: nobody asks
    // The members that a write changed, one a line; nothing: not known. None: they are not named.
    std::function<std::optional<std::string>(const AskedChange& change)> name_members{};
  };
  explicit Replica(Options options);
  ~Replica() override;
  // Before anything is posted or applied.
  void use(Tables tables) { tables_ = std::make_unique<const Tables>(std::move(tables)); }

  ReplicaId id() const { return options_.id; }
  const Options& options() const { return options_; }

  // ---- what it tells ----
  void post(Event event) override;
  // False: so much waits for the log that nothing is to begin that tells of itself. What has begun may still be told.
  bool takes_more() const;
  // An event in the log that tells nothing: all before it is known when it stands there.
  void mark() { post(Finished{}); }
  using Teller::tell;
  void tell(SendingEvent event) override;

  // When all that was posted stands in the log: the order of its row, at which all that comes there was told after the call.
  // `until`: nothing, it may stand there later.
  Task<std::optional<uint64_t>> flush(const Executor& executor, TimePoint until);

  struct ClaimAnswer {
    QueuePosition position;
    bool in_turn = false;       // it took its client's turn, wherever that was given
    bool was_reserved = false;  // it was kept for it, wherever its client was sent away
  };
  // The position in the queues of all replicas; nothing if the log is not reached in time.
  Task<std::optional<ClaimAnswer>> claim(const std::vector<rules::LockKey>& keys, ClaimInfo info, Waiter* waiter, uint32_t bits,
                                         const Executor& executor, TimePoint until);
  // The same for whoever looks now and then: gives the position once, when it is there. To destroy it gives the position up.
  ComingPosition claim_to_poll(const std::vector<rules::LockKey>& keys, ClaimInfo info);
  // The id of an intent that stands in the log. Not in time: it may be there later, and counts as not sent then.
  Task<std::optional<IntentId>> intend(Intended intended, const Executor& executor, TimePoint until);
  // Whether a write that was judged at that order is the probe (OperationResults::probe). Nothing: that is not known in time.
  Task<std::optional<bool>> probe(const Hash128& resource, uint64_t judged, const Executor& executor, TimePoint until);

  // ---- whether it is one of them ----
  // False when the others may take it for dead soon, or it for certain cannot tell them anything.
  bool may_send() const { return tables_->clock.exact_now() < sends_until_.load(std::memory_order_relaxed); }
  // What one of them sends, which is done when the others look for what came of it; it begins only while it may_send().
  SendLimits limits_of_one(TimePoint deadline) const;
  // The others take it for dead by now, or nobody can tell anybody anything.
  bool is_apart() const { return tables_->clock.now() >= apart_from(); }
  TimePoint apart_from() const { return apart_from_.load(std::memory_order_relaxed); }
  // This process ends, as the others took it for dead: nothing is sent or shown any more, and nobody waits for the log.
  void give_up();
  // The log took something that was sent at `asked`, and said so at `answered`.
  void confirm(TimePoint asked, TimePoint answered);

  // The order of a moment: what was in the log before it for certain comes before.
  uint64_t surely_before(TimePoint when, uint64_t order) const;
  Positions& positions() { return positions_; }

  // ---- the log ----
  struct Batch {
    uint64_t number = 0;
    std::string events;
    bool reads_missing = false;  // some that were delivered, or are about to be
  };
  // What is to be told; the same again until apply() has seen it. Nothing: there is nothing.
  std::optional<Batch> next_batch();
  bool has_posts() const;
  // Rows in their order. False: it cannot be read, of another version.
  bool apply(const Row& row);
  uint64_t applied() const { return applied_.load(std::memory_order_acquire); }
  // Rows from that one on are needed by who begins later, however old they are.
  uint64_t oldest_needed() const { return oldest_needed_.load(std::memory_order_relaxed); }
  // Replicas that made claims which are still there, whoever has adopted them.
  std::vector<ReplicaId> claimants() const;
  // Looks who has left meanwhile of those that wait for an answer.
  void look_at_askers();
  // Where the log was cut off: nothing before is known.
  void begin_at(uint64_t number);
  // Called with that whenever something was posted.
  void on_post(std::function<void()> wake) { wake_ = std::move(wake); }

  // Before the tables die, and when nothing is told or heard any more.
  void let_go() { claims_.clear(); }

  struct Counts {
    size_t claims = 0;
    size_t waiting = 0;  // for the log
  };
  Counts counts() const;

 private:
  class Keeper;
  struct Pending;
  using TurnOf = std::pair<Hash128, Hash128>;                 // resource and client
  using ReservedFor = std::tuple<Hash128, Hash128, Hash128>;  // and the bytes
  struct KeptClaim {
    ReplicaId author = 0;
    uint64_t row = 0;
    QueuePosition position;
    TurnOf turn{};  // zero: it is none
    ReservedFor reserved_for{};
    bool is_adopted = false;
  };
  struct OpenIntent {
    ReplicaId author = 0;
    uint64_t row = 0;
    ClaimId claim = 0;
    bool is_imported = false;
    JournaledWrite write;
  };
  // At another replica.
  struct RunningSending {
    ReplicaId author = 0;
    uint64_t asking = 0;
    Hash128 resource{};
    bool sent = false;  // an action that no rule names has no intent
  };
  struct Asker {
    SendingLedger::Asking asking{};
    Hash128 client{};
    std::shared_ptr<const Presence> presence;
  };

  void apply(ReplicaId author, Event event, uint64_t row, Moment moment);
  void on(ReplicaId author, Told event, uint64_t row, Moment moment);
  void on(ReplicaId author, PageShown event, uint64_t row, Moment moment);
  void on(ReplicaId author, ShownAgain event, uint64_t row, Moment moment);
  void on(ReplicaId author, PageShownAgain event, uint64_t row, Moment moment);
  void on(ReplicaId author, PageLost event, uint64_t row, Moment moment);
  void on(ReplicaId author, Claimed event, uint64_t row, Moment moment);
  void on(ReplicaId author, Released event, uint64_t row, Moment moment);
  void on(ReplicaId author, OwnAdmitted event, uint64_t row, Moment moment);
  void on(ReplicaId author, Intended event, uint64_t row, Moment moment);
  void on(ReplicaId author, Settled event, uint64_t row, Moment moment);
  void on(ReplicaId author, Finished event, uint64_t row, Moment moment);
  void on(ReplicaId author, SendingEvent event, uint64_t row, Moment moment);
  void on(ReplicaId author, Replayed event, uint64_t row, Moment moment);
  void on(ReplicaId author, ResultSeen event, uint64_t row, Moment moment);
  void on(ReplicaId author, StateSeen event, uint64_t row, Moment moment);
  void on(ReplicaId author, Probing event, uint64_t row, Moment moment);
  void on(ReplicaId author, Imported event, uint64_t row, Moment moment);
  void on(ReplicaId author, UnlockAsked event, uint64_t row, Moment moment);
  void on(ReplicaId author, EndTold event, uint64_t row, Moment moment);
  void on(ReplicaId author, OwnedPolled event, uint64_t row, Moment moment);
  void on(ReplicaId author, OwnedLeft event, uint64_t row, Moment moment);
  void on(ReplicaId author, Reserved event, uint64_t row, Moment moment);
  void on(ReplicaId author, Yielded event, uint64_t row, Moment moment);
  void on(ReplicaId author, AbortTaken event, uint64_t row, Moment moment);
  std::optional<ClaimId> find_reserved(const ReservedFor& what, const std::vector<rules::LockKey>& keys);
  void follow_elsewhere(OpenIntent& intent, const WriteOutcome& outcome);
  void end_intent(const Finished& event);
  void name_changes();
  void tell_hashes();
  void apply_state(ReplicaId author, const Hash128& resource, policy::Event event, Moment moment);
  void apply_page(ReplicaId author, const Hash128& client, ListAnswer page, Moment moment);
  Claimed new_claim(const std::vector<rules::LockKey>& keys, ClaimInfo info);
  void end_claim(ClaimId id);
  bool has_begun(const TurnOf& turn) const;
  void end_turn(const TurnOf& turn);
  void apply_tombstone(ReplicaId dead, ReplicaId heir, Moment moment);
  const std::shared_ptr<Presence>& askers_at(ReplicaId author);
  QueuePosition kept_for(ClaimId claim, QueuePosition& position);
  void note_order(ReplicaId author, uint64_t given, uint64_t order);
  uint64_t order_of(ReplicaId author, uint64_t given) const;
  void wake_flushed(uint64_t row);

  const Options options_;
  std::unique_ptr<const Tables> tables_;
  Positions positions_;
  std::function<void()> wake_;
  std::atomic<uint64_t> applied_{0};
  std::atomic<TimePoint> sends_until_{TimePoint::min()};
  std::atomic<TimePoint> apart_from_{TimePoint::min()};
  std::atomic<uint64_t> next_claim_{1};
  std::atomic<uint64_t> oldest_needed_{0};
  std::atomic<size_t> claims_count_{0};
  std::atomic<bool> given_up_{false};

  mutable Mutex mutex_;
  std::deque<Event> queue_ ABSL_GUARDED_BY(mutex_);
  size_t queue_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool reads_missing_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t posted_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t logged_ ABSL_GUARDED_BY(mutex_) = 0;  // of these
  std::list<std::shared_ptr<Pending>> pending_ ABSL_GUARDED_BY(mutex_);
  std::vector<Asker> askers_ ABSL_GUARDED_BY(mutex_);
  Mutex asked_mutex_;  // of Claimed::Asked

  // The log's own.
  std::vector<Event> told_;  // the batch under way
  bool told_missing_ = false;
  uint64_t batch_ = 0;
  const std::unique_ptr<ToldBodies> bodies_;
  absl::flat_hash_map<ClaimId, KeptClaim> claims_;
  absl::flat_hash_map<TurnOf, ClaimId> turns_;    // those of the claims that are turns
  std::multimap<ReservedFor, ClaimId> reserved_;  // those whose clients are away, the oldest first
  std::map<IntentId, OpenIntent> intents_;
  using SendingId = std::pair<Hash128, uint64_t>;  // of a client's ledger, whose numbers are its own
  absl::flat_hash_map<SendingId, RunningSending> running_;
  absl::flat_hash_map<ReplicaId, std::shared_ptr<Presence>> askers_at_;  // of all whose requests came to another
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, uint64_t> orders_;  // author and what it had given -> the log's
  std::deque<std::pair<uint64_t, uint64_t>> ordered_;                    // the oldest first
};

}  // namespace armgate::cluster
