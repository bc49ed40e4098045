#include <fmt/format.h>

#include "base/text.h"
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

// POST that only reads; never an operation.
bool is_read_action(std::string_view action) {
  for (const std::string_view prefix : {"list", "get", "check", "validate", "whatif", "exporttemplate"}) {
    if (action.starts_with(prefix)) return true;
  }
  return false;
}

// What clients look for in the answer of a POST that reads.
Json read_result(const std::string& action) {
  if (action == "listkeys") {
    return Json{{"keys", Json::array({{{"keyName", "key1"}, {"value", "c2ltdWxhdGVk"}, {"permissions", "FULL"}}})}};
  }
  if (action.starts_with("listcluster")) {
    return Json{{"kubeconfigs", Json::array({{{"name", "simulated"}, {"value", "c2ltdWxhdGVk"}}})}};
  }
  return Json::object();
}

}  // namespace

arm::Response SimArm::Machine::act(Call& call) {
  const Address& address = call.address;
  if (address.kind == AddressKind::Provider) {
    return json_answer(200, Json{{"namespace", address.provider}, {"registrationState", "Registered"}});
  }
  if (address.kind != AddressKind::Action) {
    return error_answer(404, "NotFound", "The simulated ARM knows no action at this address.");
  }
  if (auto refused = refuse_in_group(call)) return *refused;
  Entity* entity = find_entity(address.root_key);
  if (entity == nullptr) return missing_resource(address);
  if (entity->traits->listed && address.action == "list") return read_entity(call);
  if (is_read_action(address.action)) return json_answer(200, read_result(address.action));
  if (address.action == "abort" || address.action == "cancel") return abort_operation(call, *entity);
  if (address.action == "moveresources" && address.type.empty()) return move_resources(call, *entity);
  if (address.type.empty() || !address.child_type.empty()) return json_answer(200, Json::object());
  return act_on(call, *entity);
}

arm::Response SimArm::Machine::act_on(Call& call, Entity& entity) {
  if (auto refused = refuse_write(call, &entity, *entity.traits, entity.content.get(), {entity.key})) return *refused;
  judge_.action_applied(call.address.action, call.facts);
  const Operation* operation =
      begin_operation(call, entity, OperationOf::Action, {entity.key},
                      operation_length(call, *entity.traits, call.address.type + "/" + call.address.action), nullptr);
  arm::Response answer = plain_answer(operation == nullptr ? 200 : 202);
  if (operation != nullptr) operations_.announce(*operation, answer.head.fields);
  return answer;
}

// Ends what runs on the resource, whose old content comes back. It waits for nobody and excludes nobody.
arm::Response SimArm::Machine::abort_operation(Call& call, Entity& entity) {
  judge_.action_applied(call.address.action, call.facts);
  Operation* running = operations_.running_on(entity.key);
  if (running == nullptr) return plain_answer(204);
  operations_.cancel(*running, call.now);
  finish(*running, call.now);
  note_aborted(entity);
  Operation* operation =
      begin_operation(call, entity, OperationOf::Action, {entity.key + std::string(kAborting)},
                      operation_length(call, *entity.traits, call.address.type + "/" + call.address.action), nullptr);
  if (operation == nullptr) return plain_answer(204);
  operation->aborts = true;
  arm::Response answer = plain_answer(202);
  operations_.announce(*operation, answer.head.fields);
  return answer;
}

// Excludes every write below both groups while it runs (docs/arm.md, "What ARM does with a second write").
arm::Response SimArm::Machine::move_resources(Call& call, Entity& group) {
  const Json::json_pointer target_place("/targetResourceGroup");
  const Json::json_pointer resources_place("/resources");
  const bool complete = call.body != nullptr && call.body->contains(target_place) && (*call.body)[target_place].is_string() &&
                        call.body->contains(resources_place) && (*call.body)[resources_place].is_array();
  if (!complete) return error_answer(400, "InvalidRequestContent", "A move needs resources and targetResourceGroup.");
  const Entity* target = find_entity(lower_text((*call.body)[target_place].get<std::string>()));
  if (target == nullptr) return error_answer(404, "ResourceGroupNotFound", "The target group does not exist.");
  std::vector<std::string> moved;
  for (const Json& id : (*call.body)[resources_place]) {
    const std::string key = id.is_string() ? lower_text(id.get<std::string>()) : "";
    const Entity* resource = find_entity(key);
    if (resource == nullptr || resource->group_key != group.key || !resource->parent_key.empty()) {
      return error_answer(400, "ResourceMoveFailed", fmt::format("'{}' cannot be moved from here.", id.dump()));
    }
    moved.push_back(key);
  }
  judge_.action_applied(call.address.action, call.facts);
  Operation at_once;
  at_once.entity_key = group.key;
  at_once.moved = moved;
  at_once.moved_to = target->id;
  Operation* operation =
      begin_operation(call, group, OperationOf::Action, {group.key + std::string(kMoving), target->key + std::string(kMoving)},
                      operation_length(call, group_type(), group_type().type), nullptr);
  if (operation == nullptr) {
    finish_move(at_once, call.now);
    return plain_answer(204);
  }
  operation->moved = std::move(at_once.moved);
  operation->moved_to = std::move(at_once.moved_to);
  arm::Response answer = plain_answer(202);
  operations_.announce(*operation, answer.head.fields);
  return answer;
}

void SimArm::Machine::finish_move(const Operation& operation, TimePoint now) {
  const Entity* target = find_entity(lower_text(operation.moved_to));
  if (target == nullptr) return;
  const std::string target_key = target->key;
  for (const std::string& key : operation.moved) {
    std::vector<std::string> all{key};
    const std::string below = key + "/";
    for (auto it = entities_.lower_bound(below); it != entities_.end() && it->first.starts_with(below); ++it) {
      all.push_back(it->first);
    }
    for (const std::string& one : all) {
      auto node = entities_.extract(one);
      if (node.empty()) continue;
      Entity& entity = node.mapped();
      judge_.removed(one);
      if (options_.keep_states) states_.add(one, now, nullptr, {});
      const size_t old_group = entity.group_key.size();
      entity.id = operation.moved_to + entity.id.substr(old_group);
      entity.key = lower_text(entity.id);
      if (!entity.parent_key.empty()) entity.parent_key = target_key + entity.parent_key.substr(old_group);
      entity.group_key = target_key;
      node.key() = entity.key;
      Entity& moved = entities_.insert(std::move(node)).position->second;
      log_state(moved, now, {});
      move_etag(moved, now);
    }
  }
}

}  // namespace armgate::sim
