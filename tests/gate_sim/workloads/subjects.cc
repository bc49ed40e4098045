#include "tests/gate_sim/workloads/subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/tree.h"
#include "sim/json_text.h"

namespace armgate::world {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kGroup = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg";
constexpr std::string_view kCompute = "?api-version=2025-04-01";
constexpr std::string_view kNetwork = "?api-version=2025-05-01";
constexpr std::string_view kContainers = "?api-version=2025-05-01";

Subject make(std::string_view type, std::string_view name, std::string_view version, Json body, ChangeKind change) {
  body["location"] = "westeurope";
  return {fmt::format("{}/providers/{}/{}{}", kGroup, type, name, version), body.dump(), change};
}

// Where the members of a kind of change are; null for tags.
const char* array_of(ChangeKind change) {
  switch (change) {
    case ChangeKind::AddRule:
    case ChangeKind::EditRule: return "securityRules";
    case ChangeKind::EditItem: return "items";
    case ChangeKind::AddSubnet: return "subnets";
    default: return nullptr;
  }
}

std::string raised(const Json& count) {
  return std::to_string((count.is_string() ? std::stoll(count.get<std::string>()) : 0) + 1);
}

}  // namespace

Subject scale_set(std::string_view name, ChangeKind change) {
  return make("Microsoft.Compute/virtualMachineScaleSets", name, kCompute,
              Json{{"sku", {{"name", "Standard_D2s_v5"}, {"capacity", 1}}}, {"tags", Json::object()}}, change);
}

Subject virtual_machine(std::string_view name) {
  return make("Microsoft.Compute/virtualMachines", name, kCompute, Json{{"tags", Json::object()}}, ChangeKind::AddTag);
}

Subject security_group(std::string_view name, ChangeKind change) {
  return make("Microsoft.Network/networkSecurityGroups", name, kNetwork,
              Json{{"properties", {{"securityRules", Json::array()}}}, {"tags", Json::object()}}, change);
}

Subject network(std::string_view name, ChangeKind change) {
  return make("Microsoft.Network/virtualNetworks", name, kNetwork,
              Json{{"properties", {{"subnets", Json::array()}}}, {"tags", Json::object()}}, change);
}

Subject subnet(std::string_view in_network, std::string_view name) {
  Subject subject = network(in_network, ChangeKind::MarkChild);
  subject.target =
      fmt::format("{}/providers/Microsoft.Network/virtualNetworks/{}/subnets/{}{}", kGroup, in_network, name, kNetwork);
  subject.initial = Json{{"name", name}, {"properties", {{"addressPrefix", "10.0.0.0/24"}}}}.dump();
  return subject;
}

Subject security_rule(std::string_view in_group, std::string_view name) {
  Subject subject;
  subject.target = fmt::format("{}/providers/Microsoft.Network/networkSecurityGroups/{}/securityRules/{}{}", kGroup, in_group,
                               name, kNetwork);
  subject.initial = Json{{"name", name}, {"properties", {{"priority", 100}}}}.dump();
  return subject;
}

Subject cluster(std::string_view name) {
  const Json pools = Json::array({{{"name", "system"}, {"count", 1}}, {{"name", "user"}, {"count", 1}}});
  return make("Microsoft.ContainerService/managedClusters", name, kContainers,
              Json{{"properties", {{"agentPoolProfiles", pools}}}, {"tags", Json::object()}}, ChangeKind::AddTag);
}

Subject pool(std::string_view in_cluster, std::string_view name) {
  Subject subject;
  subject.target = fmt::format("{}/providers/Microsoft.ContainerService/managedClusters/{}/agentPools/{}{}", kGroup, in_cluster,
                               name, kContainers);
  subject.change = ChangeKind::RaisePool;
  return subject;
}

Subject storage_account(std::string_view name) {
  return make("Microsoft.Storage/storageAccounts", name, "?api-version=2023-01-01", Json{{"tags", Json::object()}},
              ChangeKind::AddTag);
}

Subject shelf(std::string_view name, ChangeKind change) {
  return make(
      "Microsoft.Example/shelves", name, "?api-version=2024-01-01",
      Json{{"properties", {{"planId", "/subscriptions/S/Plans/P"}, {"items", Json::array()}}}, {"tags", Json::object()}},
      change);
}

Subject safe(std::string_view name) {
  return make("Microsoft.Example/safes", name, "?api-version=2024-01-01",
              Json{{"properties", {{"secret", "s"}}}, {"tags", Json::object()}}, ChangeKind::AddTagAndSecret);
}

std::string file_body(const Subject& subject, int version) {
  Json body{{"location", "westeurope"}, {"tags", {{"file", std::to_string(version)}}}};
  if (subject.target.find("/shelves/") == std::string::npos) {
    body["sku"] = {{"name", "Standard_D2s_v5"}, {"capacity", 1}};
  } else {
    const Json item{{"name", "of-file"}, {"version", version}};
    body["properties"] = {{"planId", "/subscriptions/S/Plans/P"}, {"items", Json::array({item})}};
  }
  return sim::json_text(body);
}

Subject group(std::string_view name) {
  Subject subject;
  subject.target =
      fmt::format("/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/{}?api-version=2021-04-01", name);
  subject.initial = Json{{"location", "westeurope"}, {"tags", Json::object()}}.dump();
  return subject;
}

Subject at_version(Subject subject, std::string_view api_version) {
  subject.target = fmt::format("{}?api-version={}", arm::path_of(subject.target), api_version);
  return subject;
}

std::string group_target() { return fmt::format("{}?api-version=2021-04-01", kGroup); }

std::string tags_target(const Subject& subject) {
  return fmt::format("{}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01", arm::path_of(subject.target));
}

std::string list_target(const Subject& subject) {
  const std::string path(arm::path_of(subject.target));
  return fmt::format("{}?{}", path.substr(0, path.rfind('/')), arm::query_of(subject.target));
}

namespace {

// Puts in what is not there, and takes out what is.
void toggle(Json& state, ChangeKind change, const std::string& member, arm::Headers& fields) {
  if (change == ChangeKind::ToggleCapacity) {
    Json& capacity = state["sku"]["capacity"];
    const int step = capacity.get<int>() == 1 ? 1 : -1;
    capacity = capacity.get<int>() + step;
    fields.set("x-sim-increments", fmt::format("/sku/capacity:{}", step));
  } else if (state["tags"].erase(member) > 0) {
    fields.set("x-sim-deletes", member);
  } else {
    state["tags"][member] = "here";
  }
}

// The same with an identity. Half of the clients write ids as they spell them themselves, the others as they were shown.
void toggle_identity(Json& state, const std::string& member, arm::Headers& fields) {
  const auto id_of = [](std::string_view name) {
    return fmt::format("{}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{}", kGroup, name);
  };
  Json& identities = state["identity"]["userAssignedIdentities"];
  Json after = Json::object();
  bool was_there = false;
  if (identities.is_object()) {
    for (const auto& item : identities.items()) {
      const bool is_own = equal_ignoring_case(item.key(), id_of(member));
      was_there |= is_own;
      const std::string own_spelling = id_of(item.key().substr(item.key().rfind('/') + 1));
      if (!is_own) after[member.back() % 2 == 0 ? own_spelling : item.key()] = item.value();
    }
  }
  if (was_there)
    fields.set("x-sim-deletes", member);
  else
    after[id_of(member)] = Json::object();
  identities = std::move(after);
}

// One more, and the first ones go.
void rotate(Json& tags, size_t most, const std::string& member, arm::Headers& fields) {
  tags.erase(member);
  if (tags.size() >= most) {
    fields.set("x-sim-deletes", tags.begin().key());
    tags.erase(tags.begin());
  }
  tags[member] = "here";
}

// Adds the element with a copied ETag, as who clones another does; changes it; removes it.
void edit(Json& state, const char* array, const std::string& member, arm::Headers& fields) {
  Json& elements = state["properties"][array];
  if (!elements.is_array()) elements = Json::array();
  const auto at = std::find_if(elements.begin(), elements.end(),
                               [&](const Json& one) { return equal_ignoring_case(one.value("name", ""), member); });
  if (at == elements.end()) {
    Json element{{"name", member}, {"properties", {{"v", 1}}}};
    if (state.contains("etag") && array == std::string_view("securityRules")) element["etag"] = state["etag"];
    elements.insert(elements.begin(), std::move(element));
  } else if ((*at)["properties"].value("v", 0) == 1) {
    (*at)["properties"]["v"] = 2;
  } else {
    fields.set("x-sim-deletes", member);
    elements.erase(at);
  }
}

}  // namespace

std::string with_change(std::string_view body, ChangeKind change, const std::string& member, BodyEtag etag,
                        arm::Headers& fields) {
  Json state = sim::json_value(body);
  if (change == ChangeKind::EditRule || change == ChangeKind::EditItem) edit(state, array_of(change), member, fields);
  if (change == ChangeKind::ToggleIdentity) toggle_identity(state, member, fields);
  if (etag == BodyEtag::Dropped) state.erase("etag");
  if (change == ChangeKind::MarkChild) {
    state["properties"]["marks"][member] = "here";
    return state.dump();
  }
  if (change == ChangeKind::RaisePool) {
    state["properties"]["count"] = state["properties"]["count"].get<int>() + 1;
    const int place = state.value("name", "") == "system" ? 0 : 1;
    fields.set("x-sim-increments", fmt::format("/properties/agentPoolProfiles/{}/count:1", place));
    return state.dump();
  }
  if (!state.contains("tags") || !state["tags"].is_object()) state["tags"] = Json::object();
  switch (change) {
    case ChangeKind::AddTagAndSecret: state["properties"]["secret"] = "s"; [[fallthrough]];
    case ChangeKind::AddTag: state["tags"][member] = "here"; break;
    case ChangeKind::CountInTag:
      state["tags"]["count"] = raised(state["tags"].value("count", Json()));
      fields.set("x-sim-increments", "/tags/count:1");
      break;
    case ChangeKind::TagAndRaiseCapacity: state["tags"][member] = "here"; [[fallthrough]];
    case ChangeKind::RaiseCapacity:
      state["sku"]["capacity"] = state["sku"]["capacity"].get<int>() + 1;
      fields.set("x-sim-increments", "/sku/capacity:1");
      break;
    case ChangeKind::AddRule:
    case ChangeKind::AddSubnet:
      state["properties"][array_of(change)].push_back({{"name", member}, {"properties", {{"priority", 100}}}});
      break;
    case ChangeKind::ReplaceTag: rotate(state["tags"], 1, member, fields); break;
    case ChangeKind::RotateTags: rotate(state["tags"], 3, member, fields); break;
    case ChangeKind::ToggleTag:
    case ChangeKind::ToggleCapacity: toggle(state, change, member, fields); break;
    case ChangeKind::EditRule:
    case ChangeKind::EditItem:
    case ChangeKind::ToggleIdentity:
    case ChangeKind::RaisePool:
    case ChangeKind::MarkChild: break;  // above
  }
  return sim::json_text(state);
}

bool has_member(std::string_view body, ChangeKind change, const std::string& member) {
  const Json state = sim::json_value(body);
  if (!state.is_object()) return false;
  if (const char* array = array_of(change)) {
    const auto members = state.value("properties", Json::object()).value(array, Json::array());
    for (const Json& item : members) {
      if (equal_ignoring_case(item.value("name", ""), member)) return true;
    }
    return false;
  }
  if (change == ChangeKind::MarkChild) {
    return state.value("properties", Json::object()).value("marks", Json::object()).contains(member);
  }
  const bool adds_tag = change == ChangeKind::AddTag || change == ChangeKind::AddTagAndSecret ||
                        change == ChangeKind::TagAndRaiseCapacity || change == ChangeKind::ReplaceTag ||
                        change == ChangeKind::RotateTags;
  return adds_tag && state.value("tags", Json::object()).contains(member);
}

std::string item_of(std::string_view page, const Subject& subject) {
  const Json list = sim::json_value(page);
  if (!list.is_object() || !list.contains("value")) return {};
  for (const Json& item : list["value"]) {
    if (equal_ignoring_case(item.value("id", ""), arm::path_of(subject.target))) return sim::json_text(item);
  }
  return {};
}

std::string parent_target(const Subject& subject) {
  const std::string_view path = arm::path_of(subject.target);
  const std::string_view collection = path.substr(0, path.rfind('/'));
  return fmt::format("{}?{}", collection.substr(0, collection.rfind('/')), arm::query_of(subject.target));
}

std::string child_in(std::string_view parent, const Subject& subject) {
  const Json whole = sim::json_value(parent);
  if (!whole.is_object()) return {};
  const std::string_view path = arm::path_of(subject.target);
  const std::string_view collection = path.substr(0, path.rfind('/'));
  const std::string segment(collection.substr(collection.rfind('/') + 1));
  const Json children = whole.value("properties", Json::object()).value(segment, Json::array());
  for (const Json& child : children) {
    if (equal_ignoring_case(child.value("id", ""), path)) return sim::json_text(child);
  }
  return {};
}

std::string etag_in(std::string_view body) {
  const Json state = sim::json_value(body);
  return state.is_object() ? state.value("etag", "") : std::string();
}

std::string provisioning_state(std::string_view body) {
  const Json state = sim::json_value(body);
  if (!state.is_object()) return {};
  return state.value("properties", Json::object()).value("provisioningState", "");
}

}  // namespace armgate::world
