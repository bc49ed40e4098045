// event.h – what the replicas of a cluster tell each other through their log (docs/decisions/0019): all that changes the shared
// tables.
//
// Why events and not tables: a history, a ledger and a lock table are functions of what happened, in order. Every replica
// applies the same events in the same order and so knows the same, without asking anybody.
//
// Invariants  no token is in any of them. What a replica must know again when its own event comes back stands behind a pointer
//             that stays in the process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/waiter.h"
#include "proxy/policy/history.h"
#include "proxy/seams/store.h"
#include "proxy/state/client_state.h"
#include "proxy/state/lock/lock_table.h"
#include "proxy/state/operation/operation_results.h"
#include "proxy/state/operation/owned_operations.h"
#include "proxy/state/resource_table.h"
#include "proxy/state/sending_event.h"
#include "rules/plan.h"

namespace armgate::cluster {

using ReplicaId = uint32_t;  // one life of a replica; given by the engine, never given twice
using ClaimId = uint64_t;    // unique in the cluster

// Something about a resource (proxy/policy/history). Its moment is the log's.
struct Told {
  Hash128 resource{};
  policy::Event event;
};

// For so long after a body was told as a whole its hash may stand for it.
inline constexpr Duration kToldByHashMax = std::chrono::minutes(30);

// The same of a state whose body stands in the log already (told_bodies.h).
struct ShownAgain {
  Hash128 resource{};
  policy::StateShown shown;     // without it
  Hash128 body{};               // what it is known by
  policy::SharedBody itself{};  // stays in the process
};

// A list page that is about to be delivered to a client; without a body: it is not kept.
struct PageShown {
  Hash128 client{};
  ListAnswer page;
};

struct PageShownAgain {
  Hash128 client{};
  ListAnswer page;
  Hash128 body{};
  policy::SharedBody itself{};
};

// The connection that a page was written to was reset. `shown` is the order that its own replica had given it.
struct PageLost {
  Hash128 client{};
  uint64_t shown = 0;
};

// A write asks for its keys, and stands behind all who asked before; before them if its client has its turn, which it takes;
// where it stood, if its position is reserved. Or a turn (ClaimInfo::is_turn) does.
struct Claimed {
  // The write that waits for that; stays in the process.
  struct Asked {
    Waiter* waiter = nullptr;
    std::optional<QueuePosition> position{};
    bool in_turn = false;       // it took its client's turn
    bool was_reserved = false;  // its position was kept for it
  };
  ClaimId claim = 0;
  std::vector<rules::LockKey> keys;
  ClaimInfo info;
  std::shared_ptr<Asked> asked{};
  uint32_t bits = 0;  // for the waiter
};

// Keys are given back: some, or (none named) all of them.
struct Released {
  ClaimId claim = 0;
  std::vector<Hash128> some;
};

// Its client was sent away, or left, before anything was sent: the position is kept for when it sends the same again, to any
// replica.
struct Reserved {
  ClaimId claim = 0;
};

// It lets others by.
struct Yielded {
  ClaimId claim = 0;
};

// The same client's next writes may go along with a claim.
struct OwnAdmitted {
  ClaimId claim = 0;
  Own which = Own::Reentrant;
};

// A write is about to be sent. Its id says where it stands in the log.
struct Intended {
  ClaimId claim = 0;
  JournaledWrite write;
  bool is_imported = false;                     // from a journal: it is told already what it may have changed
  std::shared_ptr<std::atomic<IntentId>> id{};  // stays in the process; kNotSent: nobody waits for it any more
};
inline constexpr IntentId kNotSent = ~IntentId{0};

struct Settled {
  IntentId intent = 0;
  WriteOutcome outcome;
  std::optional<std::string> touched{};  // the members that it changed (JournaledWrite::touched); named before it is told
};

struct Finished {
  IntentId intent = 0;
  WallTime when{};
  EndSeen seen = EndSeen::No;
  OperationResult result{};
};

// The answer to a write was given again.
struct Replayed {
  IntentId intent = 0;
};

// How what an accepted write began has ended (OperationResults::Ended). Of several who saw that of one write the first in the
// log counts.
struct ResultSeen {
  Hash128 resource{};
  std::string id;
  std::string type;
  std::string method;
  std::string client;
  Hash128 request_hash{};
  IntentId intent = 0;  // 0: of a write that was only observed
  OperationResult result{};
  TimePoint at{};  // zero: now
  WallTime when{};
};

// A resource was seen with that provisioningState.
struct StateSeen {
  Hash128 resource{};
  std::string id;
  std::string state;
  WallTime when{};
};

// A write to a sick resource asks to be the one that goes all the same. It is if none has gone since it looked.
struct Probing {
  Hash128 resource{};
  uint64_t judged = 0;                          // the order at which it looked
  std::shared_ptr<std::atomic<bool>> is_won{};  // stays in the process
};

// An operator takes a resource back (request/operation/unlock): each lets go of what it has there.
struct UnlockAsked {
  Hash128 key{};
  std::string who;  // for the log
};

// ARM took a request to end what runs on a resource (abort, cancel): not by all replicas that follow something there.
struct AbortTaken {
  Hash128 key{};
};

// A client was told by ARM, at an operation's URL, how that has ended; but not by the replica that follows it.
struct EndTold {
  std::string host;
  std::string target;
  int status = 0;
  std::string body;
};

// A client with this identity polls an operation URL of armgate's own, but not at the replica that may send its write again.
struct OwnedPolled {
  Hash128 operation{};
  Hash128 principal{};
};

// The write behind that URL will not be sent again: what ARM says of its operation is how it ended.
struct OwnedLeft {
  Hash128 operation{};
};

// The writes of a journal stand in the log, from the beginning up to here (request/cluster/import_journal.h).
struct Imported {
  std::optional<WallTime> since{};  // PreviousProcess::since
};

using Event = std::variant<Told, PageShown, PageLost, Claimed, Released, OwnAdmitted, Intended, Settled, Finished, SendingEvent,
                           Replayed, ResultSeen, StateSeen, Probing, Imported, UnlockAsked, EndTold, OwnedPolled, OwnedLeft,
                           Reserved, Yielded, AbortTaken, ShownAgain, PageShownAgain>;

// Sends each change of the shared tables to the log, as the event that stands for it.
class Teller : public ResourceSink, public SendingSink, public ResultSink, public OwnedSink {
 public:
  virtual void post(Event event) = 0;

  void tell(const Hash128& resource, policy::Event event) override { post(Told{resource, std::move(event)}); }
  void tell(SendingEvent event) override { post(std::move(event)); }
  void tell_result(const OperationResults::Ended& ended, OperationResults::Time when) override {
    post(ResultSeen{ended.resource, std::string(ended.id), std::string(ended.type), std::string(ended.method),
                    std::string(ended.client), ended.request_hash, ended.intent, ended.result, when.at, when.wall});
  }
  void tell_state(const Hash128& resource, std::string_view id, std::string_view state, WallTime when) override {
    post(StateSeen{resource, std::string(id), std::string(state), when});
  }
  void tell_probe(const Hash128& resource, uint64_t judged) override { post(Probing{resource, judged}); }
  void tell_owned_poll(const Hash128& operation, const Hash128& principal) override { post(OwnedPolled{operation, principal}); }
  void tell_owned_left(const Hash128& operation) override { post(OwnedLeft{operation}); }
};

}  // namespace armgate::cluster
