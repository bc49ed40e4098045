#include "tests/support/checkers/checkers_sick.h"

#include <fmt/format.h>

#include <algorithm>

#include "arm/url.h"
#include "json/tree.h"

namespace armgate::world {

void SickChecker::written(const std::string& resource, const arm::Response& answer, TimePoint now) {
  if (!arm::is_success(answer.head.status)) return;
  bool runs = false;
  for (const char* field : {"Azure-AsyncOperation", "Location"}) {
    const auto url = arm::parse_url(answer.head.fields.get(field));
    if (!url) continue;
    resource_of_.emplace(url->target, resource);
    runs = true;
  }
  const bool is_done = answer.body.find("\"provisioningState\":\"Succeeded\"") != answer.body.npos;
  if (!runs && is_done) ends_[resource].push_back({now, false});
}

void SickChecker::read(const std::string& target, const arm::Response& answer, TimePoint now) {
  const auto operation = resource_of_.find(target);
  if (operation == resource_of_.end() || !arm::is_success(answer.head.status)) return;
  const auto body = nlohmann::json::parse(answer.body, nullptr, false);
  const std::string status = body.is_object() ? body.value("status", "") : "";
  if ((status != "Failed" && status != "Succeeded") || !ended_.insert(target).second) return;
  ends_[operation->second].push_back({now, status == "Failed"});
}

std::optional<std::string> SickChecker::refused(const std::string& resource, arm::Method method, TimePoint arrived) const {
  if (method == arm::Method::Delete) return "a DELETE was kept from a sick resource";
  const auto found = ends_.find(resource);
  size_t most = 0;
  for (size_t last = 0; found != ends_.end() && last < found->second.size(); ++last) {
    const auto& ends = found->second;
    const bool is_next_before = last + 1 < ends.size() && ends[last + 1].seen <= arrived;
    if (is_next_before) continue;
    const TimePoint at = std::max(ends[last].seen, arrived);
    size_t counting = 0;
    for (size_t i = last + 1; i > 0 && ends[i - 1].failed; --i) counting += ends[i - 1].seen > at - options_.window ? 1 : 0;
    most = std::max(most, counting);
  }
  if (most >= options_.failures) return std::nullopt;
  return fmt::format("a write was kept from a resource of which {} operations had failed since its last success, not {}", most,
                     options_.failures);
}

}  // namespace armgate::world
