// Clusters whose system pool cannot get its network, as Azure/ARO-HCP PR 5397 describes them: every write of the pool's scale
// set fails with NetworkingInternalOperationError, the provider tries again for days, and the cluster stays Updating until
// somebody aborts that. Only the activity log tells, for the scale set is the provider's own business.
//
//   POST /__sim/wedges {"cluster": ID, "pool": NAME, "now": SECONDS_SINCE_1970, "started_s": 2700, "failures": 12, "every_s":
//   60,
//                       "on_delete": "ends", "hangs" or "fails"}
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "base/text.h"
#include "base/utc.h"
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

Json event_of(const std::string& time, const std::string& resource, std::string_view operation, std::string_view status) {
  return {{"eventTimestamp", time},
          {"resourceId", resource},
          {"correlationId", fmt::format("{}-{}", status, time)},
          {"operationName", {{"value", operation}}},
          {"status", {{"value", status}}},
          {"properties", Json::object()}};
}

// The text between NAME and the next quote in "NAME'text'"; nothing if it is not there.
std::optional<std::string> quoted_after(std::string_view filter, std::string_view name) {
  const size_t at = filter.find(name);
  if (at == filter.npos) return std::nullopt;
  const size_t from = at + name.size();
  const size_t end = filter.find('\'', from);
  if (end == filter.npos) return std::nullopt;
  return std::string(filter.substr(from, end - from));
}

std::string group_of(const std::string& resource) {
  const auto segments = path_segments(resource);
  return segments.size() > 3 ? lower_text(segments[3]) : std::string();
}

}  // namespace

arm::Response SimArm::Machine::add_wedge(std::string_view json, TimePoint now) {
  const Json wanted = Json::parse(json, nullptr, false);
  const bool complete = wanted.is_object() && wanted.contains("cluster") && wanted.contains("pool") && wanted.contains("now");
  Entity* cluster = complete ? find_entity(lower_text(wanted["cluster"].get<std::string>())) : nullptr;
  const std::string pool = complete ? wanted["pool"].get<std::string>() : "";
  const ChildKind* kind =
      cluster != nullptr && !cluster->traits->children.empty() ? &cluster->traits->children.front() : nullptr;
  if (kind == nullptr || find_child(*cluster->content, *kind, pool) == nullptr) {
    return error_answer(400, "BadWedge", "The body must name a cluster that exists, a pool of it, and now.");
  }
  cluster->wedge = Wedge{lower_text(pool)};
  const std::string on_delete = wanted.value("on_delete", "ends");
  if (on_delete == "hangs")
    cluster->wedge->on_delete = Wedge::OnDelete::Hangs;
  else if (on_delete == "fails")
    cluster->wedge->on_delete = Wedge::OnDelete::Fails;
  else if (on_delete != "ends")
    return error_answer(400, "BadWedge", "on_delete is ends, hangs or fails.");
  const auto now_s = wanted["now"].get<int64_t>();
  const auto ago = [&](int64_t seconds) { return utc_text(WallTime(std::chrono::seconds(now_s - seconds))); };
  if (const int64_t started = wanted.value("started_s", int64_t{2700}); started > 0) {
    Operation runs;
    runs.entity_key = cluster->key;
    runs.lock_keys = {cluster->key};
    runs.start = now;
    runs.end = now + kHangs;
    operations_.start(std::move(runs), cluster->traits->urls, parse_id(cluster->id));
    activity_log_.push_back(event_of(ago(started), cluster->id, "Microsoft.ContainerService/managedClusters/write", "Started"));
  } else {
    cluster->ended_badly[cluster->wedge->pool] = "Failed";
  }
  const std::string nodes = cluster->content->value(Json::json_pointer("/properties/nodeResourceGroup"), "nodes");
  const std::string scale_set = fmt::format(
      "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-{}-12345678-vmss",
      cluster->subscription, nodes, pool);
  const auto every = wanted.value("every_s", int64_t{60});
  for (auto left = wanted.value("failures", int64_t{12}); left > 0; --left) {
    Json failed = event_of(ago(left * every), scale_set, "Microsoft.Compute/virtualMachineScaleSets/write", "Failed");
    failed["properties"]["statusMessage"] =
        R"({"status":"Failed","error":{"code":"NetworkingInternalOperationError","message":"An unexpected error occurred while processing the network profile of the VM."}})";
    activity_log_.push_back(std::move(failed));
  }
  return plain_answer(204);
}

// Only the filter that Azure Monitor documents for a group is understood.
arm::Response SimArm::Machine::read_activity_log(const Call& call) const {
  const auto decoded = path_segments(arm::query_parameter(call.request.head.target, "$filter").value_or(""));
  const std::string filter = decoded.size() == 1 ? decoded.front() : std::string();
  const auto from = quoted_after(filter, "eventTimestamp ge '");
  const auto until = quoted_after(filter, "eventTimestamp le '");
  const auto group = quoted_after(filter, "resourceGroupName eq '");
  if (!from || !until || !group) {
    return error_answer(400, "BadRequest", "The filter needs eventTimestamp ge, eventTimestamp le and resourceGroupName eq.");
  }
  std::vector<Json> events;
  for (auto event = activity_log_.rbegin(); event != activity_log_.rend(); ++event) {
    const std::string time = (*event)["eventTimestamp"].get<std::string>();
    const bool fits =
        time >= *from && time <= *until && group_of((*event)["resourceId"].get<std::string>()) == lower_text(*group);
    if (fits) events.push_back(*event);
  }
  return page_of(call, std::move(events));
}

std::vector<ClusterPool> SimArm::Machine::pools() const {
  std::vector<ClusterPool> found;
  for (const auto& [key, entity] : entities_) {
    if (entity.type != "microsoft.containerservice/managedclusters") continue;
    const Json properties = entity.content->value("properties", Json::object());
    for (const Json& pool : properties.value("agentPoolProfiles", Json::array())) {
      const std::string name = pool.value("name", "");
      found.push_back({name, pool.value("mode", ""), properties.value("currentKubernetesVersion", ""),
                       pool.value("count", int64_t{1}), !entity.wedge || entity.wedge->pool != lower_text(name)});
    }
  }
  return found;
}

void SimArm::Machine::note_aborted(Entity& entity) {
  if (!entity.wedge) return;
  entity.ended_badly[""] = "Canceled";
  entity.ended_badly[entity.wedge->pool] = "Failed";
}

}  // namespace armgate::sim
