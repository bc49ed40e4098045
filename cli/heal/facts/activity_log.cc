#include "cli/heal/facts/activity_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/text.h"
#include "base/utc.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kScaleSetWrite = "Microsoft.Compute/virtualMachineScaleSets/write";
constexpr std::string_view kOfClusters = "microsoft.containerservice/managedclusters/";

std::string text_at(const Json& object, std::string_view member) {
  const auto found = object.is_object() ? object.find(member) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string value_of(const Json& event, std::string_view member) {
  const auto found = event.find(member);
  return found != event.end() ? text_at(*found, "value") : std::string();
}

// The message is JSON in a text.
std::string code_in(const Json& event) {
  const auto properties = event.find("properties");
  if (properties == event.end()) return {};
  const Json message = Json::parse(text_at(*properties, "statusMessage"), nullptr, false);
  if (!message.is_object() || !message.contains("error")) return {};
  return text_at(message["error"], "code");
}

bool is_of_cluster(const LogEvent& event, std::string_view cluster_id) {
  const std::string_view resource = event.resource;
  const bool is_at_or_under = equal_ignoring_case(resource.substr(0, cluster_id.size()), cluster_id) &&
                              (resource.size() == cluster_id.size() || resource[cluster_id.size()] == '/');
  return is_at_or_under && equal_ignoring_case(std::string_view(event.operation).substr(0, kOfClusters.size()), kOfClusters);
}

// Case does not count in names and resources.
std::string key_of(const LogEvent& event) {
  return fmt::format("{} {} {}", event.correlation, lower_text(event.operation), lower_text(event.resource));
}

}  // namespace

Result<LogPage> read_log_page(std::string_view json) {
  const auto unreadable = [](std::string_view why) {
    return upstream_error(ErrorKind::BadInput, Sent::Answered, fmt::format("the activity log cannot be read: {}", why));
  };
  const Json body = Json::parse(json, nullptr, false);
  if (!body.is_object() || !body.contains("value") || !body["value"].is_array()) return unreadable("there is no list");
  LogPage page;
  for (const Json& item : body["value"]) {
    if (!item.is_object()) return unreadable("an event is no object");
    const auto at = parse_utc(text_at(item, "eventTimestamp"));
    if (!at) return unreadable("an event has no time");
    page.events.push_back({*at, text_at(item, "resourceId"), value_of(item, "operationName"), value_of(item, "status"),
                           code_in(item), text_at(item, "correlationId")});
  }
  page.next = text_at(body, "nextLink");
  return page;
}

std::string log_target(std::string_view subscription, std::string_view group, WallTime from, WallTime until) {
  return fmt::format(
      "/subscriptions/{}/providers/Microsoft.Insights/eventtypes/management/values?api-version=2015-04-01&$filter="
      "eventTimestamp%20ge%20'{}'%20and%20eventTimestamp%20le%20'{}'%20and%20resourceGroupName%20eq%20'{}'",
      subscription, utc_text(from), utc_text(until), group);
}

size_t storm_failures(const std::vector<LogEvent>& events, std::string_view pool) {
  const std::string scale_set = fmt::format("/virtualmachinescalesets/aks-{}-", pool);
  return static_cast<size_t>(std::count_if(events.begin(), events.end(), [&](const LogEvent& event) {
    return event.status == "Failed" && equal_ignoring_case(event.operation, kScaleSetWrite) &&
           contains_ignoring_case(event.resource, scale_set) && event.code == kStormCode;
  }));
}

std::optional<WallTime> latest_start(const std::vector<LogEvent>& events, std::string_view cluster_id) {
  std::map<std::string, WallTime> ends;  // the last of each
  for (const LogEvent& event : events) {
    const bool is_end = event.status == "Succeeded" || event.status == "Failed" || event.status == "Canceled";
    if (!is_end || !is_of_cluster(event, cluster_id)) continue;
    WallTime& end = ends.try_emplace(key_of(event), event.at).first->second;
    end = std::max(end, event.at);
  }
  std::optional<WallTime> latest;
  for (const LogEvent& event : events) {
    if (event.status != "Started" || !is_of_cluster(event, cluster_id)) continue;
    const auto end = ends.find(key_of(event));
    const bool has_ended = end != ends.end() && end->second >= event.at;
    if (!has_ended && (!latest || event.at > *latest)) latest = event.at;
  }
  return latest;
}

}  // namespace armgate::heal
