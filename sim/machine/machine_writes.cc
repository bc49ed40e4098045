#include <fmt/format.h>

#include "base/text.h"
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

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
  if (auto refused = refuse_without_parent(call)) return *refused;
  Entity* entity = find_entity(call.address.root_key);
  const Json* current = entity == nullptr ? nullptr : entity->content.get();
  const std::vector<std::string> lock_keys = lock_keys_of(call, traits);
  if (auto refused = refuse_write(call, entity, traits, current, lock_keys)) return *refused;
  if (auto refused = refuse_references(call, traits)) return *refused;
  if (call.method() == arm::Method::Put) return put_resource(call, entity, traits, lock_keys);
  if (entity == nullptr) {
    return call.method() == arm::Method::Delete ? plain_answer(204) : missing_resource(call.address);
  }
  return call.method() == arm::Method::Patch ? patch_resource(call, *entity) : delete_anything(call, *entity, lock_keys);
}

arm::Response SimArm::Machine::put_resource(Call& call, Entity* entity, const ResourceType& traits,
                                            const std::vector<std::string>& lock_keys) {
  const bool creates = entity == nullptr;
  const bool placed = traits.placed && call.address.parent_key.empty();
  if (creates && placed && !call.body->contains("location")) {
    return error_answer(400, "LocationRequired", "The location property is required for this definition.");
  }
  Entity& target = creates ? add_entity(call, traits) : *entity;
  const Content before = target.content;
  Json content = writable_content(*call.body, traits);
  complete_children(content, traits);
  if (!creates && placed && !content.contains("location")) content["location"] = before->value("location", Json());
  if (!creates) {
    const auto effect = judge_.check_effect(target.key, *before, content, call.facts);
    judge_.check_base(target.key, target.version, call.facts, effect);
  }
  judge_.changed(target.key, traits, creates ? Json() : *before, content, call.facts);
  judge_.applied(call.facts);
  set_content(target, std::move(content), call.now, call.facts.client);
  const OperationOf kind = creates ? OperationOf::Create : OperationOf::Update;
  const Operation* operation =
      begin_operation(call, target, kind, lock_keys, operation_length(call, traits, target.type), before);
  if (traits.put_answer == PutAnswer::Accepted && operation != nullptr) {
    arm::Response answer = plain_answer(202);
    operations_.announce(*operation, answer.head.fields);
    return answer;
  }
  arm::Response answer = answer_write(call, creates ? traits.created_status : 200, target, operation);
  if (traits.put_answer == PutAnswer::RelativeLocation) answer.head.fields.add("Location", target.id);
  return answer;
}

arm::Response SimArm::Machine::patch_resource(Call& call, Entity& entity) {
  const Content before = entity.content;
  Json content = patched(*before, *call.body, *entity.traits);
  judge_.changed(entity.key, *entity.traits, *before, content, call.facts);
  judge_.applied(call.facts);
  set_content(entity, std::move(content), call.now, call.facts.client);
  // Network's PATCH is of tags only and synchronous.
  const Operation* operation = nullptr;
  if (entity.traits->etags != EtagForm::WeakGuid) {
    operation = begin_operation(call, entity, OperationOf::Update, {entity.key},
                                operation_length(call, *entity.traits, entity.type), before);
  }
  return answer_write(call, 200, entity, operation);
}

arm::Response SimArm::Machine::write_child(Call& call) {
  if (auto refused = refuse_in_group(call)) return *refused;
  const Address& address = call.address;
  Entity* parent = find_entity(address.root_key);
  if (parent == nullptr) {
    if (call.method() == arm::Method::Delete) return plain_answer(204);
    return missing_parent(call.request.head.method_token, address.shown_type, address.shown_child_type, address.root_id);
  }
  const ResourceType& traits = *parent->traits;
  const std::vector<std::string> lock_keys{address.child_kind->lock == ChildLock::Shared ? parent->key : child_key(address)};
  const Json* current = find_child(*parent->content, *address.child_kind, address.child_name);
  if (auto refused = refuse_write(call, parent, traits, current, lock_keys)) return *refused;
  if (call.method() == arm::Method::Patch) {
    return error_answer(405, "MethodNotAllowed", "Sub-resources are replaced with PUT.");
  }
  if (call.method() == arm::Method::Put) return put_child(call, *parent, current, lock_keys);
  return current == nullptr ? plain_answer(204) : delete_anything(call, *parent, lock_keys);
}

arm::Response SimArm::Machine::put_child(Call& call, Entity& parent, const Json* current,
                                         const std::vector<std::string>& lock_keys) {
  const Address& address = call.address;
  const ChildKind& kind = *address.child_kind;
  const ResourceType& traits = *parent.traits;
  const bool creates = current == nullptr;
  const std::string name = creates ? address.child_name : current->value("name", "");
  const Json child = writable_child(*call.body, traits, kind, name);
  const Content before = parent.content;
  Json content = with_child(*before, kind, child);
  WriteFacts seen_from_parent = call.facts;
  if (call.facts.changes) {
    const std::string place = fmt::format("/properties/{}/{}", kind.member, lower_text(name));
    seen_from_parent.changes = below(place, *call.facts.changes);
  }
  const auto effect = judge_.check_effect(parent.key, *before, content, seen_from_parent);
  if (!creates) judge_.check_base(child_key(address), version_of(*current), call.facts, effect);
  judge_.changed(parent.key, traits, *before, content, call.facts);
  judge_.applied(call.facts);
  set_child(parent, kind, address.child_name, std::move(content), call.now, call.facts.client);
  const Operation* operation = begin_operation(call, parent, creates ? OperationOf::Create : OperationOf::Update, lock_keys,
                                               operation_length(call, traits, address.type + "/" + address.child_type), before);
  return answer_write(call, creates ? 201 : 200, parent, operation);
}

// A synchronous deletion has the effects of an operation that ends at once.
arm::Response SimArm::Machine::delete_anything(Call& call, Entity& entity, const std::vector<std::string>& lock_keys) {
  const Address& address = call.address;
  judge_.applied(call.facts);
  const std::string what = address.child_type.empty() ? address.type : address.type + "/" + address.child_type;
  const bool is_wedged = entity.wedge && !address.child_type.empty() && entity.wedge->pool == lower_text(address.child_name);
  const auto ending = is_wedged ? entity.wedge->on_delete : Wedge::OnDelete::Ends;
  const Duration length = ending == Wedge::OnDelete::Hangs ? kHangs : operation_length(call, *entity.traits, what);
  Operation* operation = begin_operation(call, entity, OperationOf::Delete, lock_keys, length, nullptr);
  if (operation != nullptr && ending == Wedge::OnDelete::Fails) operation->result = "Failed";
  if (operation == nullptr) {
    Operation done;
    done.kind = OperationOf::Delete;
    done.entity_key = entity.key;
    done.child_kind = address.child_kind;
    done.child = lower_text(address.child_name);
    done.client = call.facts.client;
    finish(done, call.now);
    return plain_answer(200);
  }
  move_etag(entity, call.now);
  arm::Response answer = plain_answer(entity.traits->delete_answer == DeleteAnswer::Ok ? 200 : 202);
  operations_.announce(*operation, answer.head.fields);
  return answer;
}

arm::Response SimArm::Machine::answer_write(const Call& call, int status, const Entity& entity,
                                            const Operation* operation) const {
  const Snapshot seen = seen_by(call, entity, snapshot_of(entity, call.now));
  const ChildKind* kind = call.address.kind == AddressKind::Child ? call.address.child_kind : nullptr;
  const Json* child = kind != nullptr ? find_child(*entity.content, *kind, call.address.child_name) : nullptr;
  arm::Response answer = json_answer(status, child != nullptr ? shown_child(entity, *kind, *child, seen) : shown(entity, seen));
  // Compute and the DNS families show the ETag of a write in the header too, Network only in the body (observed).
  const EtagForm form = entity.traits->etags;
  const bool in_header = form != EtagForm::WeakGuid && form != EtagForm::EnvelopeGuid && !seen.etag.empty();
  if (in_header) answer.head.fields.add("ETag", seen.etag);
  answer.head.fields.add("x-sim-version", child != nullptr ? version_of(*child) : entity.version);
  if (operation == nullptr) return answer;
  const bool silent = status == 200 && (options_.update_announced == UpdateAnnounced::StateOnly ||
                                        entity.traits->update_shown == UpdateShown::Silently);
  if (!silent) operations_.announce(*operation, answer.head.fields);
  return answer;
}

}  // namespace armgate::sim
