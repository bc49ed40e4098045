// rule.h – what an operator can say about a type of resource. Rule files (conf/rules/*.json) are read into these values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body_facts.h"
#include "arm/json_select.h"
#include "arm/operation.h"
#include "base/time.h"

namespace armgate::rules {

// What armgate may do about a request, the least first. Of two that are asked for, the later one holds.
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

// Where a rule file says something, for messages to people.
struct Place {
  std::string file;
  int line = 0;
};

// What a rule applies to.
struct Match {
  std::vector<std::string> types;  // canonical types, "microsoft.network/*" matches every depth below,
                                   // "*" every type
  std::string api_version_from;    // inclusive, compared as text (dates sort); empty: no bound
  std::string api_version_to;
  std::vector<std::string> actions;  // POST actions that are writes here, lower case ("restart")
};

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

struct Guard {
  GuardKind kind = GuardKind::Auto;
  EtagCovers etag_covers = EtagCovers::Everything;
  std::vector<arm::OperationKind> methods{arm::OperationKind::Put};
  CreateGuard creates = CreateGuard::None;
};

// What is known about the bodies of its types.
struct Body {
  arm::DeclaredFacts declared;                                              // as the rule says it
  std::shared_ptr<const arm::BodyFacts> facts = arm::BodyFacts::generic();  // and what follows from it
};

enum class LockMode { Exclusive, Shared };

// Whether two may hold one key at the same time.
inline bool compatible(LockMode a, LockMode b) { return a == LockMode::Shared && b == LockMode::Shared; }

enum class HoldUntil {
  Request,
  Operation,
  Provisioned,  // and then until the resource, and the parents that its rule locks, say that they are at rest
};

// Who may write to a resource while an accepted write to it still runs.
enum class Reenter {
  Nobody,
  Holder,  // with PUT and PATCH the client whose PUT or PATCH runs, as long as nobody else waits
};

// Resources that a body names and that must not change under the write (rules/references.h).
struct Reference {
  std::string pointer;               // where the ids stand: a JSON pointer in which "*" is every element
  std::vector<std::string> types;    // of the resources that count; empty: all
  std::vector<std::string> parents;  // types of their ancestors that are locked as well
  LockMode mode = LockMode::Shared;
  HoldUntil until = HoldUntil::Request;
};

struct Lock {
  std::vector<std::string> parents;  // types of ancestors that are locked too, exclusively; "*": the nearest
                                     // ancestor, whatever its type
  std::vector<Reference> references;
  arm::StringSelection referred;  // the pointers of the references, in their order
};

struct Hold {
  HoldUntil until = HoldUntil::Operation;
  Duration max = std::chrono::minutes(60);  // released loudly at this age ...
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

enum class BlindAfterWait { Refuse, Send };

struct Rule {
  std::string name;
  Place place;
  Match match;
  std::optional<Mode> mode;
  Guard guard;
  Body body;
  Lock lock;
  Shown shown;
  Hold hold;
  Reenter reenter = Reenter::Nobody;
  Backoff busy;
  BlindAfterWait blind_after_wait = BlindAfterWait::Refuse;
};

}  // namespace armgate::rules
