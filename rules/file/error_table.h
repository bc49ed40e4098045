// error_table.h – which of ARM's error answers mean what, as data (conf/rules/errors.json; docs/design.md, "Retries").
//
// Why: 409 is a passing conflict, a quota, a registration or a name that is taken, and 429 is throttling or a conflict. Only
// the code tells, sometimes only the message, and providers invent new ones faster than programs are released.
// Limits   of a message the first kMessageScanMax bytes are looked at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arm/arm_error.h"
#include "arm/http.h"
#include "base/time.h"
#include "rules/file/json_reader.h"
#include "rules/rule.h"

namespace armgate::rules {

// What the answer means for the write that got it.
enum class ErrorClass {
  Final,        // the client's business, as everything that no entry names
  Busy,         // refused before effect because another operation runs: wait, look, send again
  Dependency,   // the same, because a resource that it refers to is being worked on
  Superseded,   // somebody's later write took its place: at most once more, and only if nothing has changed
  Propagation,  // something that it needs was created a moment ago and is not known everywhere
};

// What armgate must have seen come into being, so that the answer is believed to be about a moment and not about a mistake.
enum class Evidence {
  Group,       // the resource group
  Parent,      // a resource above this one
  Named,       // a resource that the message names
  Referenced,  // a resource that the request's body names where the rule has references
  Principal,   // a principal that the request's body names
  Role,        // a role assignment for whoever sends, at the resource or above it
};

// How it is waited for.
struct Visibility {
  Evidence evidence = Evidence::Group;
  Duration every = std::chrono::seconds(5);    // between tries; the first come sooner
  int tries = 12;                              // so many, `every` apart, take as long as all of it may
  Duration window = std::chrono::minutes(10);  // how long after it came into being the wait is believed
};

// The pause after that many sendings (1: the first): half a second, doubled each time up to `every`, because most of it is over
// in no time. Nothing: the time that `tries` at this distance take is over.
std::optional<Duration> pause_after(const Visibility& visibility, int sendings);

// Whether the client sent a precondition of its own.
enum class OwnPrecondition { Absent, Present };

// One entry of the table. All of it must hold.
struct ErrorRule {
  SourceLine place;
  ErrorClass kind = ErrorClass::Final;
  std::vector<int> statuses;             // any of them
  std::vector<std::string> codes;        // any of them, wherever the body has codes, without case
  std::vector<std::string> message_any;  // parts of the messages, without case; any of them; empty: whatever it says
  std::vector<std::string> message_all;  // all of them
  std::string header_name;               // empty: whatever the fields say
  std::string header_value;              // without case
  enum class IfAbsent { Matches, MatchesNot } header_absent = IfAbsent::MatchesNot;
  Visibility visibility;  // of Propagation
  enum class ForClients { All, WithoutPrecondition } clients = ForClients::All;
};

class ErrorTable {
 public:
  static constexpr size_t kMessageScanMax = 16 * 1024;

  ErrorTable() = default;
  explicit ErrorTable(std::vector<ErrorRule> rules) : rules_(std::move(rules)) {}

  // The first entry that applies; null if none does.
  const ErrorRule* find(const arm::ResponseHead& head, const arm::ArmError& error, OwnPrecondition own) const;

  // The same for the error of an operation that failed after ARM had taken its write: told in the body of a poll, whose status
  // and fields say nothing about it.
  const ErrorRule* find_late(const arm::ArmError& error) const;

  const std::vector<ErrorRule>& rules() const { return rules_; }

 private:
  std::vector<ErrorRule> rules_;
};

// Everything that an entry can say, bound to `rule`.
SettingTable settings_of(ErrorRule& rule);

// What no single key of an entry can say: complains of what would never have an effect or would have too much.
void check_error_rule(const ErrorRule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& faults);

}  // namespace armgate::rules
