// rule.h – what an operator can say about a type of resource. Rule files (conf/rules/*.json) are read into these values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/body_facts.h"
#include "arm/operation.h"
#include "base/time.h"
#include "json/select.h"
#include "rules/facts/type_facts.h"

namespace armgate::rules {

// What armgate may do about a request, from most to least. Of two that are asked for, the later one in this list holds.
enum class Mode {
  Protect,
  Observe,  // says what it would have done, and does nothing
  Off,      // neither
};
std::string_view to_text(Mode mode);

// How a full write is kept from overwriting a state that its sender never saw.
enum class GuardKind {
  None,    // what clients were shown is not remembered: such a write is unconditional
  Auto,    // as Verify; where the client may write but not read, unconditional
  Etag,    // ARM compares: the ETag of what it was built from goes along as If-Match
  Verify,  // armgate compares: under the lock the resource is read. One GET more, and atomic only among armgate's own clients
};

// Whether what clients are shown of a type is remembered, to be the base of their writes.
inline bool is_remembered(GuardKind kind) { return kind != GuardKind::None; }

// Whether If-Match may go along. Whether a type heeds it, or takes it for an error, is known of those alone of which a rule
// says so.
inline bool sends_etags(GuardKind kind) { return kind == GuardKind::Etag || kind == GuardKind::Verify; }

// Where a rule file says something, for messages to people.
struct SourceLine {
  std::string file;
  int line = 0;
};

// What a rule applies to.
struct Match {
  std::vector<std::string> types;  // canonical types, "microsoft.network/*" matches every depth below,
                                   // "*" every type that no other pattern of any rule matches
  std::string api_version_from;    // inclusive, compared as text (dates sort); empty: no bound
  std::string api_version_to;
  std::vector<std::string> actions;  // POST actions that are writes here, lower case ("restart")
};

// The pattern for all that nothing else is for. Where it stands in the files does not matter.
inline constexpr std::string_view kAnyType = "*";
inline bool is_for_any_type(const Match& match) { return match.types.size() == 1 && match.types.front() == kAnyType; }

// What a create carries: a full PUT whose client was told that the resource does not exist.
enum class CreateGuard {
  None,
  IfNoneMatch,  // "If-None-Match: *": it may not replace what somebody has created meanwhile. Only for types that honour it
};

// What a resource's ETag moves with.
enum class EtagCovers {
  Everything,
  OwnMembers,  // not with children that stand in its body: what is there is compared as well
};

// What is done with a full write whose changes, and those that others made meanwhile, touch different places. Of several that
// are asked for, the last one holds.
enum class Merging {
  On,    // both stay: members, and elements of arrays whose keys are known
  Maps,  // tags, labels and metadata alone
  Off,   // it is refused as stale
};
std::string_view to_text(Merging merging);

// What a PATCH is, of which a client may have read something.
enum class Patches {
  Compare,  // maps and arrays in it, and values that it repeats, may be copies of an older state
  Send,     // an order, whatever is there
};

// What becomes of a client's "If-Match: *", which asks only that something is there.
enum class Star {
  Keep,        // a precondition of its own, as any other
  Strengthen,  // the ETag of what the write was built from takes its place, if that is known
};

struct Guard {
  GuardKind kind = GuardKind::Auto;
  EtagCovers etag_covers = EtagCovers::Everything;
  Star star = Star::Keep;
  std::vector<arm::OperationKind> methods{arm::OperationKind::Put};
  CreateGuard creates = CreateGuard::None;
  Merging merging = Merging::On;
  Patches patches = Patches::Compare;
};

// What a rule says about the bodies of its types, above all that "facts" say.
struct Body {
  arm::DeclaredFacts declared;  // as the rule says it
  TypeFacts facts;              // and what follows from it alone; with the facts of its types: rules/facts/fact_table.h
};

enum class LockMode { Exclusive, Shared };

// Whether two may hold one key at the same time.
inline bool compatible(LockMode a, LockMode b) { return a == LockMode::Shared && b == LockMode::Shared; }

enum class LeaseUntil {
  Request,
  Operation,
  Provisioned,  // and then until the resource, and the parents that its rule locks, say that they are in a final state
};

// The clients that may write to a resource while an accepted write to it still runs.
enum class Reentrant {
  Nobody,
  Holder,  // with PUT and PATCH the client whose PUT or PATCH runs, as long as nobody else waits
};

// Resources that a body names and that must not change under the write (rules/references.h).
struct Reference {
  std::string pointer;               // where the ids stand: a JSON pointer in which "*" is every element
  std::vector<std::string> types;    // of the resources that count; empty: all
  std::vector<std::string> parents;  // types of their ancestors that are locked as well
  LockMode mode = LockMode::Shared;
  LeaseUntil until = LeaseUntil::Request;
};

struct Lock {
  std::vector<std::string> parents;  // types of ancestors that are locked too, exclusively; "*": the nearest
                                     // ancestor, whatever its type
  std::vector<Reference> references;
  StringSelection referred;  // the pointers of the references, in their order
};

struct LeaseTerm {
  LeaseUntil until = LeaseUntil::Operation;
  Duration max = std::chrono::minutes(60);  // released with an alert at this age ...
  Duration cap = std::chrono::hours(6);     // ... unless polls keep saying that it runs, up to this
};

// When the answer to a PUT that made something goes to its client. One front end that shows it proves little about the next.
struct Shown {
  int consecutive = 0;  // reads in a row that must find it; 0: the answer goes at once
  Duration every = std::chrono::seconds(5);
};

// Full-jitter exponential backoff: the n-th delay is uniform in [0, min(max, base * factor^(n-1))].
struct Backoff {
  Duration base = std::chrono::seconds(1);
  double factor = 2.0;
  Duration max = std::chrono::seconds(20);
  int attempts = 20;  // sendings in all, the first included
  Duration deadline = std::chrono::minutes(10);
};

// Sends a write again whose operation has failed after ARM had taken it (docs/decisions/0016).
struct LateRetry {
  Backoff backoff{std::chrono::seconds(5), 2.0, std::chrono::minutes(1), 1, std::chrono::minutes(10)};
  Duration polled_within = std::chrono::minutes(2);  // only for a client that has polled the operation so lately

  bool is_on() const { return backoff.attempts > 1; }
};

// Keeps writes from a resource whose operations keep failing.
struct Breaker {
  Mode mode = Mode::Off;                           // Observe: only tells
  Duration probe_every = std::chrono::minutes(5);  // one write goes, to see whether it is over
};

// Which requests are one.
struct Once {
  Duration window{};  // the same PUT or action, for so long after ARM accepted it; zero: each is a request of its own
};

enum class UnconditionalAfterWait { Refuse, Send };

struct Rule {
  std::string name;
  SourceLine place;
  Match match;
  std::optional<Mode> mode;
  bool mode_by_option = false;  // the configuration's "unruled", not its file, says so
  Guard guard;
  Body body;
  Lock lock;
  Shown shown;
  LeaseTerm lease;
  Reentrant reentrant = Reentrant::Nobody;
  Backoff busy;
  LateRetry late;
  Breaker breaker;
  Once once;
  UnconditionalAfterWait unconditional_after_wait = UnconditionalAfterWait::Refuse;
};

}  // namespace armgate::rules
