// bases.h – the states that a write may have been built from, among all that its client was shown.
//
// Why: which one it was is not to be seen on the wire, and a client may be several actors. So armgate does not guess one: it
// names all that it may have been, and a write goes if they all lead to the same (proxy/policy/verdict). docs/bases.md tells
// the rules. Pure: questions to a History, answered with copies that outlive it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/policy/history.h"

namespace armgate::policy {

// How many actors a client may be.
enum class Actors {
  Single,   // declared: one that builds each write on the newest it was shown
  Unknown,  // as Single, unless the write looks stale; then as Many
  Many,     // each write may be built on any state that was shown and not replaced for think_max
};

std::string_view to_text(Actors actors);
std::optional<Actors> parse_actors(std::string_view text);

// What tells which states are possible. The names appear in x-armgate-guard and in the log.
enum class BaseRule {
  OwnPrecondition,  // the client sent its own; nothing is touched
  BodyEtag,         // the body carries the ETag of what it was built from
  RequestId,        // reads came under the write's x-ms-client-request-id
  Newest,           // the newest that the client was shown
  AnyShown,         // all that it was shown lately
  Create,           // it was told that there is no such resource
  Unconditional,    // it was shown nothing, or only old answers to writes of its own
  Forgotten,        // what it was shown may be forgotten
};
std::string_view to_text(BaseRule rule);

// One state that a write may be built from, kept apart from the history so that forgetting cannot change it.
struct BaseState {
  uint64_t entry = 0;
  bool absent = false;
  bool gone = false;        // it lies before an absence: nothing that is there now comes from it,
  bool deleted = false;     // that was a delete; else a read has shown it, which may have been wrong
  bool is_partial = false;  // what it lacks is not known
  std::string etag;
  std::string api_version;
  std::string target;
  SharedBody body;
  SharedBody sent;           // if it is the answer to a write of this very client: what that asked for
  uint64_t known_since = 0;  // order: the state is at least as new as this
  // The client was shown this state last, by a read that may have lagged. It did not if this is what is there now.
  bool is_last_read = false;

  // Whether it was known before the resource was gone at that order.
  bool lies_before(uint64_t absence) const { return !absent && entry != 0 && entry < absence; }
};

struct WriteFacts {
  Hash128 client{};
  Actors actors = Actors::Unknown;
  Hash128 request_hash{};
  Moment arrived;  // the first byte of its first sending: what was shown later is not what that was built from
  // Order: the client may also have known states that were shown after `arrived` and before this, as several processes know of
  // each other's deliveries a moment late; 0: there are none.
  uint64_t arrived_by = 0;
  Moment repeated{};  // the first byte of this sending, if no earlier one had an effect; order 0: it is the first
  std::string_view request_id;
  std::string_view body_etag;
  std::string_view api_version;
  uint64_t deleted = 0;  // order of the newest delete of the resource or of what contains it
  Hash128 deleted_by{};
  TimePoint known_from{};        // since when this process knows what happens
  uint64_t former = 0;           // order: what the journal of an earlier process tells is not newer
  bool pages_forgotten = false;  // list pages that its client was shown may be missing
};

// What its client asked for in a write that was merged, and may go on from.
struct MergedBase {
  BaseState asked;
  SharedBody base;
  SharedBody sent;
};

struct Bases {
  BaseRule rule = BaseRule::Unconditional;
  // Newest first, and then what was merged. `possible`: unless the write looks stale. `if_stale`: if it does; empty where that
  // makes no difference.
  std::vector<BaseState> possible;
  std::vector<BaseState> if_stale;
  std::vector<MergedBase> merged;  // not among them yet: add_merged()
  bool has_read = false;           // its client was shown one of them otherwise than by the answer to a write of its own
  size_t either_of = 0;            // the client knows the first so many of `possible`: the write is built on whichever is there
  bool knows_merges = false;       // the write shows that its client knows of all that was ever merged into its writes
  bool takes_back = false;         // it lacks what was merged into one of these
  bool may_merge = true;           // false: its client takes back what is merged into its writes, or takes no note of it
  uint64_t arrived = 0;            // order of the write's first byte

  // Order: nothing that it may have been built from is older; of Create: of when the client was told so.
  uint64_t known_since() const;
  // True if exactly one state is possible.
  bool is_certain() const { return possible.size() == 1 && if_stale.empty(); }
};

// Whether another request was carried out while this one was on its way.
bool was_overtaken(const History& history, const WriteFacts& write);

// Whether a guarded write of BaseRule::Forgotten may undo something: another request was carried out, perhaps unseen by its
// client.
bool is_refused_if_forgotten(const History& history, const WriteFacts& write);

// Never for a write with a precondition of the client's own.
Bases possible_bases(const History& history, const HistoryLimits& limits, const WriteFacts& write);

}  // namespace armgate::policy
