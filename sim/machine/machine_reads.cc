#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

Json subscription_json(std::string_view id) {
  return Json{{"id", fmt::format("/subscriptions/{}", id)},
              {"subscriptionId", id},
              {"displayName", "Simulated"},
              {"state", "Enabled"},
              {"tenantId", "22222222-2222-2222-2222-222222222222"}};
}

Json provider_json(std::string_view subscription, std::string_view name) {
  Json types = Json::array();
  for (const char* type : {"virtualMachineScaleSets", "virtualMachines", "networkSecurityGroups", "virtualNetworks",
                           "storageAccounts", "resourceGroups", "tags"}) {
    types.push_back({{"resourceType", type},
                     {"locations", {"West Europe"}},
                     {"apiVersions", {"2025-05-01", "2025-04-01", "2024-07-01", "2021-04-01"}}});
  }
  return Json{{"id", fmt::format("/subscriptions/{}/providers/{}", subscription, name)},
              {"namespace", name},
              {"registrationState", "Registered"},
              {"resourceTypes", types}};
}

// A time of day that depends on nothing but the simulated time.
std::string shown_time(TimePoint time) {
  const int64_t milliseconds = whole_milliseconds(time.time_since_epoch());
  return fmt::format("2026-01-{:02}T{:02}:{:02}:{:02}.{:03}Z", 1 + milliseconds / 86'400'000 % 28,
                     milliseconds / 3'600'000 % 24, milliseconds / 60'000 % 60, milliseconds / 1000 % 60, milliseconds % 1000);
}

Json operation_error(const Operation& operation) {
  if (operation.result == "Canceled") {
    return Json{{"code", "Canceled"},
                {"message", "Operation was canceled."},
                {"details", Json::array({{{"code", "CanceledAndSupersededDueToAnotherOperation"},
                                          {"message", "Operation was canceled and superseded by another one."}}})}};
  }
  const std::string& code = operation.error_code;
  return Json{{"code", code.empty() ? "InternalOperationError" : code}, {"message", "This operation was chosen to fail."}};
}

}  // namespace

arm::Response SimArm::Machine::read(Call& call) {
  switch (call.address.kind) {
    case AddressKind::Operation: return read_operation(call);
    case AddressKind::Subscriptions:
    case AddressKind::Subscription:
    case AddressKind::Providers:
    case AddressKind::Provider: return read_subscriptions(call);
    case AddressKind::Groups:
    case AddressKind::List: return list(call);
    case AddressKind::Children: return list_children(call);
    case AddressKind::Tags: return tags(call);
    case AddressKind::ActivityLog: return read_activity_log(call);
    case AddressKind::Group:
    case AddressKind::Resource:
    case AddressKind::Child: return read_entity(call);
    default: return error_answer(404, "NotFound", "The simulated ARM knows nothing at this address.");
  }
}

arm::Response SimArm::Machine::read_entity(const Call& call) {
  const Address& address = call.address;
  const bool is_group = address.kind == AddressKind::Group;
  if (!is_group) {
    if (auto refused = refuse_in_group(call)) return *refused;
  }
  const auto [entity, seen] = view_of(call, address.root_key);
  const bool by_post = entity != nullptr && entity->traits->listed;
  if (by_post && call.method() != arm::Method::Post)
    return error_answer(405, "MethodNotAllowed", "It is shown by POST to its list.");
  if (call.seen != nullptr && call.method() != arm::Method::Head)
    call.seen->push_back({address_key(address), entity != nullptr ? seen.state : states_.last(address.root_key)});
  if (call.method() == arm::Method::Head) return plain_answer(seen.content ? 204 : 404);
  if (!seen.content && is_group) {
    ++counts_.group_not_found;
    return missing_group(address.group);
  }
  if (!seen.content) return missing_resource(address);
  const bool is_child = address.kind == AddressKind::Child;
  const Json* child = is_child ? find_child(*seen.content, *address.child_kind, address.child_name) : nullptr;
  if (is_child && child == nullptr) {
    return error_answer(404, "NotFound",
                        fmt::format("Resource {}/{}/{} not found.", entity->id, address.shown_child_type, address.child_name));
  }
  arm::Response answer =
      json_answer(200, is_child ? shown_child(*entity, *address.child_kind, *child, seen) : shown(*entity, seen));
  const bool in_header = entity->traits->etags != EtagForm::EnvelopeGuid;
  if (!seen.etag.empty() && in_header) answer.head.fields.add("ETag", seen.etag);
  answer.head.fields.add("x-sim-version", is_child ? version_of(*child) : seen.version);
  return answer;
}

arm::Response SimArm::Machine::read_operation(const Call& call) {
  const auto [match, operation] = operations_.find(call.address.name, call.request.head.target, call.now);
  if (match == Operations::Match::Unknown) {
    return error_answer(404, "NotFound", "The operation does not exist.", FailureCause::Gateway);
  }
  if (match == Operations::Match::Forged) {
    ++counts_.bad_signatures;
    return error_answer(403, "AuthorizationFailed", "The signature of the operation URL does not match its bytes.");
  }
  const bool failed = operation->ended && operation->result != "Succeeded";
  const std::string& word = operation->result == "Succeeded"  ? options_.success_word
                            : operation->result == "Canceled" ? options_.cancel_word
                                                              : operation->result;
  if (match == Operations::Match::Status) {
    // Polls are most of what a run asks for, and lists of pairs are copied twice.
    Json body;
    body["id"] = arm::path_of(operation->status_target);
    body["name"] = operation->id;
    body["status"] = operation->ended ? word : "InProgress";
    body["startTime"] = shown_time(operation->start);
    if (operation->ended) body["endTime"] = shown_time(operation->end);
    if (failed) body["error"] = operation_error(*operation);
    arm::Response answer = json_answer(200, body);
    if (!operation->ended) say_retry_after(options_.retry_after, answer.head.fields);
    return answer;
  }
  if (!operation->ended) {
    arm::Response answer = plain_answer(202);
    operations_.announce(*operation, answer.head.fields);
    return answer;
  }
  if (failed && options_.location_failure == FailureShown::Ok) {
    return json_answer(200, Json{{"status", word}, {"error", operation_error(*operation)}});
  }
  if (failed) return json_answer(409, Json{{"error", operation_error(*operation)}});
  const Entity* entity = find_entity(operation->entity_key);
  const bool has_result = operation->kind == OperationOf::Create || operation->kind == OperationOf::Update;
  if (has_result && entity != nullptr) {
    const Snapshot seen = visible(call, *entity);
    return json_answer(200, shown(*entity, seen.content ? seen : seen_by(call, *entity, snapshot_of(*entity, call.now))));
  }
  return plain_answer(operation->kind == OperationOf::Delete ? 204 : 200);
}

arm::Response SimArm::Machine::read_subscriptions(const Call& call) const {
  const Address& address = call.address;
  switch (address.kind) {
    case AddressKind::Subscriptions:
      return json_answer(200, Json{{"value", {subscription_json("11111111-1111-1111-1111-111111111111")}}});
    case AddressKind::Subscription: return json_answer(200, subscription_json(address.subscription));
    case AddressKind::Providers: {
      Json providers = Json::array();
      for (const char* name : {"Microsoft.Compute", "Microsoft.Network", "Microsoft.Resources", "Microsoft.Storage"}) {
        providers.push_back(provider_json(address.subscription, name));
      }
      return json_answer(200, Json{{"value", providers}});
    }
    default: return json_answer(200, provider_json(address.subscription, address.provider));
  }
}

arm::Response SimArm::Machine::list(const Call& call) {
  const Address& address = call.address;
  const bool groups = address.kind == AddressKind::Groups;
  if (!address.group_key.empty()) {
    if (auto refused = refuse_in_group(call)) return *refused;
  }
  std::vector<Json> items;
  for (const auto& [key, entity] : entities_) {
    const bool is_group = entity.traits == &group_type();
    if (!equal_ignoring_case(entity.subscription, address.subscription) || is_group != groups) continue;
    if (!address.group_key.empty() && entity.group_key != address.group_key) continue;
    if (!address.type.empty() && entity.type != address.type) continue;
    if (!entity.parent_key.empty()) continue;
    const Snapshot seen = visible(call, entity);
    if (!seen.content) continue;
    items.push_back(listed(entity, seen));
    if (call.seen != nullptr) call.seen->push_back({entity.key, seen.state});
    // The list of everything in a group shows only the envelope.
    if (!groups && address.type.empty()) items.back().erase("properties");
  }
  return page_of(call, std::move(items));
}

arm::Response SimArm::Machine::list_children(const Call& call) {
  if (auto refused = refuse_in_group(call)) return *refused;
  const auto [entity, seen] = view_of(call, call.address.root_key);
  if (!seen.content) return missing_resource(call.address);
  std::vector<Json> items;
  if (call.address.child_kind != nullptr) {
    Json body = shown(*entity, seen);
    for (Json& child : body["properties"][std::string(call.address.child_kind->member)]) {
      const std::string name = lower_text(child.value("name", ""));
      if (call.seen != nullptr)
        call.seen->push_back({fmt::format("{}/{}/{}", entity->key, call.address.child_type, name), seen.state});
      items.push_back(child_by_itself(std::move(child), *call.address.child_kind));
    }
    return page_of(call, std::move(items));
  }
  const std::string below = fmt::format("{}/{}/", entity->key, call.address.child_type);
  for (auto it = entities_.lower_bound(below); it != entities_.end() && it->first.starts_with(below); ++it) {
    const bool deeper = it->first.find('/', below.size()) != std::string::npos;
    const Snapshot child = deeper ? Snapshot{} : visible(call, it->second);
    if (!child.content) continue;
    items.push_back(listed(it->second, child));
    if (call.seen != nullptr) call.seen->push_back({it->first, child.state});
  }
  return page_of(call, std::move(items));
}

arm::Response SimArm::Machine::page_of(const Call& call, std::vector<Json> items) const {
  const std::string& target = call.request.head.target;
  const auto plain = arm::query_parameter(target, "$skiptoken");
  const std::string_view token = plain ? *plain : arm::query_parameter(target, "%24skiptoken").value_or("");
  size_t skip = 0;
  std::from_chars(token.data(), token.data() + token.size(), skip);
  Json page{{"value", Json::array()}};
  const size_t end = std::min(items.size(), skip + options_.page_items);
  for (size_t i = std::min(skip, end); i < end; ++i) page["value"].push_back(std::move(items[i]));
  if (end < items.size()) {
    page["nextLink"] = fmt::format("{}{}?api-version={}&%24skiptoken={}", options_.origin, arm::path_of(target),
                                   arm::query_parameter(target, "api-version").value_or(""), end);
    if (const auto filter = arm::query_parameter(target, "$filter")) {
      page["nextLink"] = fmt::format("{}&$filter={}", page["nextLink"].get<std::string>(), *filter);
    }
  }
  return json_answer(200, page);
}

}  // namespace armgate::sim
