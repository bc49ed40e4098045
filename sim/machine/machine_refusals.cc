// Why a write is refused: its group, its precondition, or what runs already.
#include <fmt/format.h>

#include "base/text.h"
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

namespace armgate::sim {

using Json = nlohmann::json;

// A group that does not exist, is not yet known everywhere, or is on its way out; then the same of what it is below.
std::optional<arm::Response> SimArm::Machine::refuse_in_group(const Call& call) {
  const Address& address = call.address;
  if (address.group_key.empty()) return std::nullopt;
  const Entity* group = find_entity(address.group_key);
  if (group == nullptr || call.now < group->created + options_.group_lag) {
    ++counts_.group_not_found;
    return missing_group(address.group);
  }
  const bool reading = call.method() == arm::Method::Get || call.method() == arm::Method::Head;
  if (reading) return std::nullopt;
  if (operations_.state_word(*group, nullptr, "") == "Deleting") {
    return error_answer(
        409, "ResourceGroupBeingDeleted",
        fmt::format("The resource group '{}' is in deprovisioning state and cannot perform this operation.", address.group));
  }
  if (const Operation* moving = operations_.running_on(group->key + std::string(kMoving))) {
    return error_answer(409, "Conflict",
                        fmt::format("The resource group '{}' is locked while resources are moved; another operation is in "
                                    "progress ({}).",
                                    address.group, moving->id));
  }
  return std::nullopt;
}

std::optional<arm::Response> SimArm::Machine::refuse_precondition(const Call& call, const Entity* entity,
                                                                  const ResourceType& traits, const Json* current) {
  if (!knows_etags(call, traits)) return std::nullopt;
  const std::string_view if_match = trim(call.request.head.fields.get("If-Match"));
  const std::string_view if_none_match = trim(call.request.head.fields.get("If-None-Match"));
  const ChildKind* kind = call.address.child_kind;
  std::string etag;
  if (current != nullptr) etag = entity->etag;
  if (current != nullptr && kind != nullptr && kind->form == ChildKind::Form::Flat) {
    etag = entity->child_etags.at(lower_text(call.address.child_name));
  }
  const bool must_exist = call.method() == arm::Method::Put;
  std::string_view given;
  if (!if_match.empty() && (current == nullptr ? must_exist : !etag_matches(if_match, etag))) given = if_match;
  if (!if_none_match.empty() && current != nullptr && etag_matches(if_none_match, etag)) given = if_none_match;
  if (given.empty()) return std::nullopt;
  const bool whole = call.address.kind == AddressKind::Resource;
  judge_.refused_412(call.address.root_key, whole && entity != nullptr ? entity->version : "-", call.facts);
  if (traits.etags == EtagForm::EnvelopeGuid) return cluster_412(given, etag);
  const bool weak = traits.etags == EtagForm::WeakGuid;
  // Network shows what it was given in its own form even if it came bare (observed).
  const std::string shown = !weak || given.starts_with("W/") || given == "*" ? std::string(given)
                            : given.front() == '"'                           ? "W/" + std::string(given)
                                                                             : fmt::format("W/\"{}\"", given);
  return weak ? network_412(shown, etag, call.address.root_id) : compute_412(shown, etag);
}

arm::Response SimArm::Machine::busy_answer(const ResourceType& traits, const Operation& running) const {
  std::string message =
      "The operation was interrupted by a conflicting concurrent write on the same entity. Please retry later.";
  if (traits.conflict_code == "AnotherOperationInProgress") {
    message = fmt::format(
        "Another operation on this or dependent resource is in progress. To retrieve status of the "
        "operation use uri: {}.",
        operations_.url_of(running));
  } else if (&traits == &group_type()) {
    message = "The resource group is in deprovisioning state and cannot perform this operation.";
  } else if (traits.conflict_code == "OperationNotAllowed") {
    message = fmt::format(
        "Operation is not allowed: Another operation ({}) is in progress, please wait for it to finish "
        "before starting a new operation. See https://aka.ms/aks-pending-operation for more details",
        running.kind == OperationOf::Delete ? "Deleting" : "Updating");
  } else if (traits.conflict_code == "DeploymentActive") {
    message =
        "Unable to edit or replace deployment: previous deployment is still active (expiration time is in 7 days). "
        "Please see https://aka.ms/arm-deploy for usage details.";
  }
  return error_answer(409, traits.conflict_code, message);
}

std::optional<arm::Response> SimArm::Machine::refuse_write(const Call& call, const Entity* entity, const ResourceType& traits,
                                                           const Json* current, const std::vector<std::string>& lock_keys) {
  const std::string& lock_key = lock_keys.front();
  Operation* running = operations_.running_on(lock_key);
  if (auto refused = refuse_precondition(call, entity, traits, current)) {
    if (running != nullptr) judge_.overlapped(lock_key, running->client, call.facts, Judge::Taken::No);
    return refused;
  }
  if (running == nullptr) return std::nullopt;
  // Nothing passes a deletion, and only Network lets a newer write cancel the running one.
  const bool supersedes = options_.exclusivity == Exclusivity::Supersede && traits.etags == EtagForm::WeakGuid;
  const bool refuses = running->kind == OperationOf::Delete || (options_.exclusivity != Exclusivity::Accept && !supersedes);
  judge_.overlapped(lock_key, running->client, call.facts, refuses ? Judge::Taken::No : Judge::Taken::Yes);
  if (refuses) return busy_answer(traits, *running);
  if (supersedes) operations_.cancel(*running, call.now);
  return std::nullopt;
}

}  // namespace armgate::sim
