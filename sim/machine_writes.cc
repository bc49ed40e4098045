#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sim/answers.h"
#include "sim/machine.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

// POST that only reads; never an operation.
bool is_read_action(std::string_view action) {
  for (const std::string_view prefix : {"list", "get", "check", "validate", "whatif", "export"}) {
    if (action.starts_with(prefix)) return true;
  }
  return false;
}

// Tags are replaced as a whole, everything else is a merge patch (RFC 7396).
Json patched(const Json& content, const Json& patch, const ResourceType& traits) {
  Json result = content;
  Json change = writable_content(patch, traits);
  if (change.contains("tags")) {
    result["tags"] = change["tags"].is_null() ? Json::object() : change["tags"];
    change.erase("tags");
  }
  result.merge_patch(change);
  return result;
}

}  // namespace

arm::Response SimArm::Machine::write_resource(Call& call) {
  if (auto refused = refuse_in_group(call)) return *refused;
  const ResourceType& traits = resource_type(call.address.type);
  Entity* entity = find_entity(call.address.root_key);
  const Json* current = entity == nullptr ? nullptr : entity->content.get();
  if (auto refused = refuse_write(call, entity, traits, current, call.address.root_key)) return *refused;
  if (call.method() == arm::Method::Put) return put_resource(call, entity, traits);
  if (entity == nullptr) {
    return call.method() == arm::Method::Delete ? plain_answer(204) : missing_resource(call.address);
  }
  return call.method() == arm::Method::Patch ? patch_resource(call, *entity)
                                             : delete_anything(call, *entity, entity->key);
}

arm::Response SimArm::Machine::put_resource(Call& call, Entity* entity, const ResourceType& traits) {
  if (entity == nullptr && !call.body->contains("location")) {
    return error_answer(400, "LocationRequired", "The location property is required for this definition.");
  }
  const bool creates = entity == nullptr;
  if (!creates) judge_.check_base(entity->key, entity->version, call.facts);
  Entity& target = creates ? add_entity(call, traits) : *entity;
  const Content before = target.content;
  Json content = writable_content(*call.body, traits);
  if (!creates && !content.contains("location")) content["location"] = before->value("location", Json());
  judge_.changed(target.key, traits, creates ? Json() : *before, content, call.facts);
  judge_.applied(call.facts);
  set_content(target, std::move(content), call.now);
  const OperationOf kind = creates ? OperationOf::Create : OperationOf::Update;
  const Operation* operation =
      begin_operation(call, target, kind, target.key, operation_length(call, traits, traits.type), before);
  if (traits.put_answer == PutAnswer::Accepted && operation != nullptr) {
    arm::Response answer = plain_answer(202);
    operations_.announce(*operation, answer.head.fields);
    return answer;
  }
  return answer_write(call, creates ? 201 : 200, shown(target, *target.content, target.etag), target, operation);
}

arm::Response SimArm::Machine::patch_resource(Call& call, Entity& entity) {
  const Content before = entity.content;
  Json content = patched(*before, *call.body, *entity.traits);
  judge_.changed(entity.key, *entity.traits, *before, content, call.facts);
  judge_.applied(call.facts);
  set_content(entity, std::move(content), call.now);
  // Network's PATCH is of tags only and synchronous.
  const Operation* operation = nullptr;
  if (entity.traits->etags != EtagForm::WeakGuid) {
    operation = begin_operation(call, entity, OperationOf::Update, entity.key,
                                operation_length(call, *entity.traits, entity.type), before);
  }
  return answer_write(call, 200, shown(entity, *entity.content, entity.etag), entity, operation);
}

arm::Response SimArm::Machine::write_child(Call& call) {
  if (auto refused = refuse_in_group(call)) return *refused;
  const Address& address = call.address;
  Entity* parent = find_entity(address.root_key);
  if (parent == nullptr || parent->traits->child_type != address.child_type) {
    if (call.method() == arm::Method::Delete) return plain_answer(204);
    return error_answer(
        404, "ParentResourceNotFound",
        fmt::format("Failed to perform '{}' on resource(s) of type '{}/{}', because the parent resource "
                    "'{}' could not be found.",
                    call.request.head.method_token, address.shown_type, address.shown_child_type, address.root_id),
        FailureCause::Gateway);
  }
  const ResourceType& traits = *parent->traits;
  const std::string lock_key = traits.child_lock == ChildLock::Shared ? parent->key : child_key(address);
  const Json* current = find_child(*parent->content, traits, address.child_name);
  if (auto refused = refuse_write(call, parent, traits, current, lock_key)) return *refused;
  if (call.method() == arm::Method::Patch) {
    return error_answer(405, "MethodNotAllowed", "Sub-resources are replaced with PUT.");
  }
  if (call.method() == arm::Method::Delete) {
    return current == nullptr ? plain_answer(204) : delete_anything(call, *parent, lock_key);
  }
  const bool creates = current == nullptr;
  if (!creates) judge_.check_base(lock_key, version_of(*current), call.facts);
  Json child = writable_content(*call.body, traits);
  child["name"] = creates ? Json(address.child_name) : (*current)["name"];
  const Content before = parent->content;
  Json content = with_child(*before, traits, child);
  judge_.changed(parent->key, traits, *before, content, call.facts);
  judge_.applied(call.facts);
  set_content(*parent, std::move(content), call.now);
  const Operation* operation =
      begin_operation(call, *parent, creates ? OperationOf::Create : OperationOf::Update, lock_key,
                      operation_length(call, traits, address.type + "/" + address.child_type), before);
  return answer_write(call, creates ? 201 : 200, shown_child(*parent, child, parent->etag), *parent, operation);
}

// A synchronous deletion has the effects of an operation that ends at once.
arm::Response SimArm::Machine::delete_anything(Call& call, Entity& entity, const std::string& lock_key) {
  const Address& address = call.address;
  judge_.applied(call.facts);
  const std::string what = address.child_type.empty() ? address.type : address.type + "/" + address.child_type;
  const Operation* operation = begin_operation(call, entity, OperationOf::Delete, lock_key,
                                               operation_length(call, *entity.traits, what), nullptr);
  if (operation == nullptr) {
    Operation done;
    done.kind = OperationOf::Delete;
    done.entity_key = entity.key;
    done.child = lower_text(address.child_name);
    finish(done, call.now);
    return plain_answer(200);
  }
  move_etag(entity, call.now);
  arm::Response answer = plain_answer(202);
  operations_.announce(*operation, answer.head.fields);
  return answer;
}

arm::Response SimArm::Machine::act(Call& call) {
  const Address& address = call.address;
  if (address.kind == AddressKind::Provider) {
    return json_answer(200, Json{{"namespace", address.provider}, {"registrationState", "Registered"}});
  }
  if (address.kind != AddressKind::Action) {
    return error_answer(404, "NotFound", "The simulated ARM knows no action at this address.");
  }
  const bool on_group = address.type.empty();
  if (auto refused = refuse_in_group(call)) return *refused;
  Entity* entity = find_entity(address.root_key);
  if (entity == nullptr) return missing_resource(address);
  if (on_group || is_read_action(address.action) || !address.child_type.empty())
    return json_answer(200, Json::object());
  if (auto refused = refuse_write(call, entity, *entity->traits, entity->content.get(), entity->key)) return *refused;
  judge_.action_applied(address.action, call.facts);
  const Operation* operation =
      begin_operation(call, *entity, OperationOf::Action, entity->key,
                      operation_length(call, *entity->traits, address.type + "/" + address.action), nullptr);
  arm::Response answer = plain_answer(operation == nullptr ? 200 : 202);
  if (operation != nullptr) operations_.announce(*operation, answer.head.fields);
  return answer;
}

arm::Response SimArm::Machine::answer_write(const Call& call, int status, Json body, const Entity& entity,
                                            const Operation* operation) const {
  const bool child = call.address.kind == AddressKind::Child;
  const Json* current = child ? find_child(*entity.content, *entity.traits, call.address.child_name) : nullptr;
  arm::Response answer = json_answer(status, body);
  // Compute shows the ETag of a write in the header too, Network only in the body (observed).
  if (entity.traits->etags == EtagForm::Number) answer.head.fields.add("ETag", entity.etag);
  answer.head.fields.add("x-sim-version", current != nullptr ? version_of(*current) : entity.version);
  if (operation == nullptr) return answer;
  const bool silent = options_.update_announced == UpdateAnnounced::StateOnly && status == 200;
  if (!silent) operations_.announce(*operation, answer.head.fields);
  return answer;
}

}  // namespace armgate::sim
