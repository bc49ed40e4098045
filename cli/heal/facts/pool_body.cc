#include "cli/heal/facts/pool_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "base/text.h"
#include "cli/heal/facts/cluster.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

using Json = nlohmann::json;

// Only the service writes these (Azure/ARO-HCP PR 5397, agentPoolForCreate; the last two: go-azure-sdk, 2025-10-01).
constexpr std::string_view kServices[] = {"provisioningState",
                                          "currentOrchestratorVersion",
                                          "nodeImageVersion",
                                          "powerState",
                                          "creationData",
                                          "eTag",
                                          "status",
                                          "virtualMachineNodesStatus"};
// What a create may carry (agentPools of 2025-10-01).
constexpr std::string_view kCarried[] = {"count",
                                         "vmSize",
                                         "osDiskSizeGB",
                                         "osDiskType",
                                         "kubeletDiskType",
                                         "workloadRuntime",
                                         "messageOfTheDay",
                                         "vnetSubnetID",
                                         "podSubnetID",
                                         "podIPAllocationMode",
                                         "maxPods",
                                         "osType",
                                         "osSKU",
                                         "maxCount",
                                         "minCount",
                                         "enableAutoScaling",
                                         "scaleDownMode",
                                         "type",
                                         "mode",
                                         "orchestratorVersion",
                                         "upgradeSettings",
                                         "availabilityZones",
                                         "enableNodePublicIP",
                                         "nodePublicIPPrefixID",
                                         "scaleSetPriority",
                                         "scaleSetEvictionPolicy",
                                         "spotMaxPrice",
                                         "tags",
                                         "nodeLabels",
                                         "nodeTaints",
                                         "proximityPlacementGroupID",
                                         "kubeletConfig",
                                         "linuxOSConfig",
                                         "enableEncryptionAtHost",
                                         "enableUltraSSD",
                                         "enableFIPS",
                                         "gpuInstanceProfile",
                                         "capacityReservationGroupID",
                                         "hostGroupID",
                                         "networkProfile",
                                         "windowsProfile",
                                         "securityProfile",
                                         "gpuProfile",
                                         "localDNSProfile"};
constexpr std::string_view kManagedTag = "aks-managed-";  // the service's own tags; compared with case

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Json* member(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> text_in(const Json& object, std::string_view name) {
  const Json* const value = member(object, name);
  return value != nullptr && value->is_string() && !value->get_ref<const std::string&>().empty()
             ? std::optional(value->get<std::string>())
             : std::nullopt;
}

std::optional<int64_t> positive_in(const Json& object, std::string_view name) {
  const Json* const value = member(object, name);
  return value != nullptr && value->is_number_integer() && value->get<int64_t>() > 0 ? std::optional(value->get<int64_t>())
                                                                                     : std::nullopt;
}

// Why the pool cannot be made anew as it is.
std::vector<std::string> faults_of(const Json& properties, std::string_view version) {
  std::vector<std::string> faults;
  for (const char* needed : {"vmSize", "vnetSubnetID"}) {
    if (!text_in(properties, needed)) faults.push_back(fmt::format("/properties/{} is missing", needed));
  }
  if (!positive_in(properties, "osDiskSizeGB")) faults.emplace_back("/properties/osDiskSizeGB is missing or not above 0");
  if (version.empty()) faults.emplace_back("the cluster does not say its currentKubernetesVersion");
  if (const auto type = text_in(properties, "type"); type && *type != "VirtualMachineScaleSets") {
    faults.push_back(fmt::format("/properties/type is {}: only pools of scale sets are known", *type));
  }
  if (const Json* const data = member(properties, "creationData"); data != nullptr && data->is_object()) {
    if (const auto source = text_in(*data, "sourceResourceId")) {
      faults.push_back(fmt::format("/properties/creationData: it was made from {}, which may be gone", *source));
    }
  }
  if (const Json* const power = member(properties, "powerState"); power != nullptr && power->is_object()) {
    if (const auto code = text_in(*power, "code"); code && *code != "Running") {
      faults.push_back(fmt::format("/properties/powerState/code is {}: made anew, it would run", *code));
    }
  }
  for (const auto& [name, value] : properties.items()) {
    if (value.is_null() || is_in(kServices, name) || is_in(kCarried, name)) continue;
    faults.push_back(fmt::format("/properties/{}: whether a create may carry it is not known", name));
  }
  return faults;
}

// Of a pool with properties; what was left out is added to `left_out`.
Json without_the_services(Json pool, std::vector<std::string>& left_out) {
  for (const char* name : {"id", "name", "type"}) {
    if (pool.erase(name) > 0) left_out.push_back(fmt::format("/{}", name));
  }
  Json& properties = pool["properties"];
  for (const std::string_view name : kServices) {
    if (properties.erase(std::string(name)) > 0) left_out.push_back(fmt::format("/properties/{}", name));
  }
  if (properties.contains("tags") && properties["tags"].is_object()) {
    Json kept = Json::object();
    for (const auto& [name, value] : properties["tags"].items()) {
      if (name.starts_with(kManagedTag)) {
        left_out.push_back(fmt::format("/properties/tags/{}", name));
      } else {
        kept[name] = value;
      }
    }
    properties["tags"] = std::move(kept);
  }
  return pool;
}

Json stand_in_of(const Json& again, const StandIn& wanted, int64_t count) {
  Json body = again;
  Json& properties = body["properties"];
  for (const char* name : {"minCount", "maxCount", "enableAutoScaling"}) properties.erase(name);
  properties["mode"] = "System";
  properties["count"] = count;
  if (!properties.contains("tags") || !properties["tags"].is_object()) properties["tags"] = Json::object();
  properties["tags"][std::string(kPurposeTag)] = kStandInPurpose;
  properties["tags"][std::string(kSourceTag)] = wanted.source;
  properties["tags"][std::string(kRunTag)] = wanted.run;
  return body;
}

bool same_value(const Json& wanted, const Json& there) {
  if (wanted.is_string() && there.is_string()) {
    const auto& a = wanted.get_ref<const std::string&>();
    const auto& b = there.get_ref<const std::string&>();
    return a.starts_with("/subscriptions/") ? equal_ignoring_case(a, b) : a == b;
  }
  return wanted == there;
}

// Empty is what a pool is that says nothing of it.
bool says_nothing(const Json& value) { return value.is_null() || (value.is_structured() && value.empty()); }

bool holds(const Json& array, const Json& item) {
  return std::any_of(array.begin(), array.end(), [&](const Json& other) { return same_value(item, other); });
}

void compare(const Json& wanted, const Json* there, const std::string& place, std::vector<std::string>& missing) {
  if (says_nothing(wanted)) return;
  if (there == nullptr) {
    missing.push_back(fmt::format("{} is missing; it was {}", place, wanted.dump()));
  } else if (wanted.is_object() && there->is_object()) {
    for (const auto& [name, value] : wanted.items())
      compare(value, member(*there, name), fmt::format("{}/{}", place, name), missing);
  } else if (wanted.is_array() && there->is_array()) {
    for (const Json& item : wanted) {
      if (!holds(*there, item)) missing.push_back(fmt::format("{} lacks {}", place, item.dump()));
    }
  } else if (!same_value(wanted, *there)) {
    missing.push_back(fmt::format("{} is {}; it was {}", place, there->dump(), wanted.dump()));
  }
}

// What `there` has and `before` has not. A value that differs is compare()'s to tell.
void find_added(const Json& there, const Json* before, const std::string& place, std::vector<std::string>& added) {
  if (says_nothing(there)) return;
  if (before == nullptr) {
    added.push_back(fmt::format("{} is new: {}", place, there.dump()));
  } else if (there.is_object() && before->is_object()) {
    for (const auto& [name, value] : there.items())
      find_added(value, member(*before, name), fmt::format("{}/{}", place, name), added);
  } else if (there.is_array() && before->is_array()) {
    for (const Json& item : there) {
      if (!holds(*before, item)) added.push_back(fmt::format("{} has gained {}", place, item.dump()));
    }
  }
}

}  // namespace

Result<PoolBodies> pool_bodies(std::string_view pool, std::string_view version, const StandIn& stand_in) {
  const Json read = Json::parse(pool, nullptr, false);
  const bool has_properties = read.is_object() && read.contains("properties") && read["properties"].is_object();
  if (!has_properties) return client_error(ErrorKind::BadInput, "the pool has no properties");
  const auto faults = faults_of(read["properties"], version);
  if (!faults.empty()) {
    return client_error(ErrorKind::BadInput, fmt::format("the pool cannot be made anew as it is, so it is not touched: {}",
                                                         fmt::join(faults, "; ")));
  }
  PoolBodies bodies;
  Json again = without_the_services(read, bodies.left_out);
  Json& properties = again["properties"];
  bodies.version = version;
  bodies.version_now = text_in(read["properties"], "currentOrchestratorVersion")
                           .value_or(text_in(properties, "orchestratorVersion").value_or(std::string()));
  properties["orchestratorVersion"] = version;
  bodies.vm_size = *text_in(properties, "vmSize");
  const int64_t as_many = positive_in(properties, "count").value_or(positive_in(properties, "minCount").value_or(1));
  bodies.stand_in_count = stand_in.count > 0 ? stand_in.count : as_many;
  bodies.again = again.dump();
  bodies.stand_in = stand_in_of(again, stand_in, bodies.stand_in_count).dump();
  return bodies;
}

std::vector<std::string> missing_of(std::string_view again, std::string_view pool) {
  const Json wanted = Json::parse(again, nullptr, false);
  const Json there = Json::parse(pool, nullptr, false);
  std::vector<std::string> missing;
  if (!wanted.is_object() || !there.is_object()) return {"the pool cannot be read"};
  Json counted = wanted["properties"];
  for (const char* name : {"count", "orchestratorVersion"}) counted.erase(name);
  compare(counted, member(there, "properties"), "/properties", missing);
  return missing;
}

std::vector<std::string> added_to(std::string_view again, std::string_view pool) {
  const Json before = Json::parse(again, nullptr, false);
  const Json read = Json::parse(pool, nullptr, false);
  const Json* const properties = member(read, "properties");
  const Json* const were = member(before, "properties");
  if (were == nullptr || properties == nullptr || !properties->is_object()) return {"the pool cannot be read"};
  std::vector<std::string> added;
  std::vector<std::string> left_out;
  Json there = without_the_services(read, left_out)["properties"];
  there.erase("orchestratorVersion");
  find_added(there, were, "/properties", added);
  const Json* const count = member(there, "count");
  const Json* const was = member(*were, "count");
  if (count != nullptr && was != nullptr && *count != *was) {
    added.push_back(fmt::format("/properties/count is {}; it was {}", count->dump(), was->dump()));
  }
  return added;
}

}  // namespace armgate::heal
