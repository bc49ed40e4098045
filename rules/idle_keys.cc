#include "rules/idle_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace armgate::rules {
namespace {

// What keys of an entry need of its other keys.
template <class Entry>
struct KeyNeed {
  std::vector<std::string_view> keys;  // below the entry
  bool (*is_met)(const Entry& entry);
  std::string_view
      remedy;  // why they have no effect, and what to add: the rest of a sentence that begins with "has no effect "
};

bool remembers(const Rule& rule) { return is_remembered(rule.guard.kind); }
bool follows_operations(const Rule& rule) { return rule.lease.until != LeaseUntil::Request; }

constexpr std::string_view kComparesNothing =
    "while \"guard.kind\" is \"none\", which compares nothing; give \"kind\" another value, or remove this key";

const std::vector<KeyNeed<Rule>> kNeedsOfRules{
    {{"/guard/methods", "/guard/merge", "/guard/patch"}, remembers, kComparesNothing},
    {{"/guard/creates"},
     [](const Rule& rule) {
       return rule.guard.creates == CreateGuard::None ||
              std::ranges::find(rule.guard.methods, arm::OperationKind::Put) != rule.guard.methods.end();
     },
     "while \"guard.methods\" lacks \"PUT\", the only method that creates; add \"PUT\" there, or remove this key"},
    {{"/shown/every"},
     [](const Rule& rule) { return rule.shown.consecutive > 0; },
     "while \"shown.consecutive\" is 0, which reads nothing; add \"consecutive\", 3 for example, beside it, or remove this key"},
    {{"/reentrant"},
     [](const Rule& rule) { return rule.reentrant == Reentrant::Nobody || follows_operations(rule); },
     "while \"lease.until\" is \"request\": no write waits for a running operation, so that none has to pass one; give \"until\" "
     "another value, or remove this key"},
    {{"/retry/busy/base", "/retry/busy/factor", "/retry/busy/max", "/retry/busy/deadline"},
     [](const Rule& rule) { return rule.busy.attempts > 1; },
     "while \"retry.busy.attempts\" is 1, which sends nothing again; give \"attempts\" 2 or more, or remove this key"},
    {{"/retry/operation/base", "/retry/operation/factor", "/retry/operation/max", "/retry/operation/deadline",
      "/retry/operation/polled_within"},
     [](const Rule& rule) { return rule.late.is_on(); },
     "while \"retry.operation.attempts\" is 1, which sends nothing again; add \"attempts\", 2 or more, beside it, or remove this key"},
    {{"/retry/operation/attempts"},
     [](const Rule& rule) { return !rule.late.is_on() || follows_operations(rule); },
     "while \"lease.until\" is \"request\": no operation is followed, so that none is seen to fail; give \"until\" another value, or "
     "remove this key"},
    {{"/retry/operation/attempts"},
     [](const Rule& rule) { return !rule.late.is_on() || remembers(rule); },
     "while \"guard.kind\" is \"none\": what the write was built from is not known, so that nothing is sent again; give \"kind\" "
     "another value, or remove this key"},
    {{"/breaker/probe_every"},
     [](const Rule& rule) { return rule.breaker.mode != Mode::Off; },
     "while \"breaker.mode\" is \"off\", which keeps no write away; add \"mode\", \"observe\" or \"protect\", beside it, or remove "
     "this key"},
    {{"/breaker/mode"},
     [](const Rule& rule) { return rule.breaker.mode == Mode::Off || follows_operations(rule); },
     "while \"lease.until\" is \"request\": no operation is followed, so that no failure counts; give \"until\" another value, or "
     "remove this key"},
};

const std::vector<KeyNeed<ErrorRule>> kNeedsOfErrors{
    {{"/evidence", "/visibility/every", "/visibility/tries", "/visibility/window"},
     [](const ErrorRule& rule) { return rule.kind == ErrorClass::Propagation; },
     "with this \"class\": only \"propagation\" waits until something can be seen; write \"class\": \"propagation\" if that is meant, "
     "or remove this key"},
    {{"/evidence", "/visibility/every", "/visibility/window"},
     [](const ErrorRule& rule) { return rule.kind != ErrorClass::Propagation || rule.visibility.tries > 1; },
     "while \"visibility.tries\" is 0 or 1, which waits for nothing; give \"tries\" 2 or more, or remove this key"},
    {{"/header/if_absent"},
     [](const ErrorRule& rule) { return !rule.header_name.empty(); },
     "without \"header.name\", which says what field may be absent; add \"name\" beside it, or remove this key"},
};

template <class Entry>
void warn(const std::vector<KeyNeed<Entry>>& needs, const Entry& entry, std::string_view whose, const std::string& pointer,
          const JsonPositions& positions, FaultList& warnings) {
  for (const KeyNeed<Entry>& need : needs) {
    if (need.is_met(entry)) continue;
    for (const std::string_view key : need.keys) {
      std::string place = pointer + std::string(key);
      if (!positions.name_of(place)) continue;
      const int line = positions.line_of(place);
      warnings.push_back({entry.place.file, line, std::move(place), fmt::format("{}has no effect {}", whose, need.remedy)});
    }
  }
}

}  // namespace

void warn_of_idle_keys(const Rule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& warnings) {
  warn(kNeedsOfRules, rule, fmt::format("of rule \"{}\": ", rule.name), pointer, positions, warnings);
}

void warn_of_idle_keys(const ErrorRule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& warnings) {
  warn(kNeedsOfErrors, rule, "", pointer, positions, warnings);
}

}  // namespace armgate::rules
