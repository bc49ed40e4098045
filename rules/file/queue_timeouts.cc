#include "rules/file/queue_timeouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"

namespace armgate::rules {
namespace {

std::optional<std::string> check_part(std::string& part) {
  if (part.size() >= 3 && part.size() <= 200) return std::nullopt;
  return "is not a part of a User-Agent of 3 to 200 characters, such as \"azsdk-net-\"";
}

}  // namespace

QueueTimeouts::QueueTimeouts(std::vector<QueueTimeout> rules) : rules_(std::move(rules)) {
  for (const QueueTimeout& rule : rules_) lowered_.push_back(lower_text(rule.user_agent));
}

const QueueTimeout* QueueTimeouts::find(std::string_view user_agent) const {
  const std::string lowered = lower_text(user_agent);
  const auto found =
      std::find_if(lowered_.begin(), lowered_.end(), [&](const std::string& part) { return lowered.find(part) != part.npos; });
  return found == lowered_.end() ? nullptr : &rules_[static_cast<size_t>(found - lowered_.begin())];
}

SettingTable settings_of(QueueTimeout& rule) {
  return {
      {"/user_agent", Text{&rule.user_agent, check_part}, "a part of the User-Agent field, compared without case",
       Need::Required},
      {"/wait_max", TimeSpan{&rule.wait_max, std::chrono::milliseconds(0), std::chrono::hours(24)},
       "how long a write of such a client may wait before it is told to come back", Need::Required},
  };
}

void check_order(const std::vector<QueueTimeout>& rules, FaultList& faults) {
  std::unordered_map<std::string, const QueueTimeout*> before;
  std::set<size_t> sizes;  // of those
  for (const QueueTimeout& rule : rules) {
    const std::string agent = lower_text(rule.user_agent);
    const QueueTimeout* earlier = nullptr;
    for (const size_t size : sizes) {
      for (size_t at = 0; at + size <= agent.size(); ++at) {
        const auto found = before.find(agent.substr(at, size));
        if (found != before.end() && (earlier == nullptr || found->second < earlier)) earlier = found->second;
      }
    }
    if (before.try_emplace(agent, &rule).second) sizes.insert(agent.size());
    if (earlier == nullptr) continue;
    faults.push_back({rule.place.file, rule.place.line, "",
                      fmt::format("no User-Agent gets to \"{}\": \"{}\" on line {} takes it first", rule.user_agent,
                                  earlier->user_agent, earlier->place.line)});
  }
}

}  // namespace armgate::rules
