#include "rules/patience_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace armgate::rules {
namespace {

std::optional<std::string> check_part(std::string& part) {
  if (part.size() >= 3 && part.size() <= 200) return std::nullopt;
  return "is not a part of a User-Agent of 3 to 200 characters, such as \"azsdk-net-\"";
}

}  // namespace

const PatienceRule* PatienceTable::find(std::string_view user_agent) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(), [user_agent](const PatienceRule& rule) {
    return contains_ignoring_case(user_agent, rule.user_agent);
  });
  return found == rules_.end() ? nullptr : &*found;
}

SettingTable settings_of(PatienceRule& rule) {
  return {
      {"/user_agent", Text{&rule.user_agent, check_part}, "a part of the User-Agent field, compared without case",
       Need::Required},
      {"/wait_max", TimeSpan{&rule.wait_max, std::chrono::milliseconds(0), std::chrono::hours(24)},
       "how long a write of such a client may wait before it is told to come back", Need::Required},
  };
}

void check_order(const std::vector<PatienceRule>& rules, FaultList& faults) {
  for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
    const auto earlier = std::find_if(rules.begin(), rule, [&rule](const PatienceRule& other) {
      return contains_ignoring_case(rule->user_agent, other.user_agent);
    });
    if (earlier == rule) continue;
    faults.push_back({rule->place.file, rule->place.line, "",
                      fmt::format("no User-Agent gets to \"{}\": \"{}\" on line {} takes it first", rule->user_agent,
                                  earlier->user_agent, earlier->place.line)});
  }
}

}  // namespace armgate::rules
