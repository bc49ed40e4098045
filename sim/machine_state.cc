#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sim/answers.h"
#include "sim/machine.h"

namespace armgate::sim {

using Json = nlohmann::json;

Entity* SimArm::Machine::find_entity(std::string_view key) {
  const auto found = entities_.find(key);
  return found == entities_.end() ? nullptr : &found->second;
}

const Entity* SimArm::Machine::find_entity(std::string_view key) const {
  const auto found = entities_.find(key);
  return found == entities_.end() ? nullptr : &found->second;
}

Entity& SimArm::Machine::add_entity(const Call& call, const ResourceType& traits) {
  const Address& address = call.address;
  Entity entity;
  entity.key = address.root_key;
  entity.id = address.root_id;
  const bool is_group = address.kind == AddressKind::Group;
  entity.name = is_group ? address.group : address.name;
  entity.shown_type = traits.shown.empty() ? address.shown_type : std::string(traits.shown);
  entity.type = address.type;
  entity.traits = &traits;
  entity.subscription = address.subscription;
  if (!is_group) entity.group_key = address.group_key;
  entity.guid = make_guid(rng_);
  entity.created = call.now;
  return entities_.insert_or_assign(entity.key, std::move(entity)).first->second;
}

void SimArm::Machine::set_content(Entity& entity, Json content, TimePoint now) {
  entity.content = std::make_shared<const Json>(std::move(content));
  entity.version = version_of(*entity.content);
  move_etag(entity, now);
}

void SimArm::Machine::move_etag(Entity& entity, TimePoint now) {
  ++entity.writes;
  switch (entity.traits->etags) {
    case EtagForm::None:
      break;
    case EtagForm::Number:
      entity.etag = fmt::format("\"{}\"", entity.writes);
      break;
    case EtagForm::WeakGuid:
      entity.etag = fmt::format("W/\"{}\"", make_guid(rng_));
      break;
  }
  if (!entity.etag.empty()) judge_.remember(entity.key, entity.etag, entity.version);
  record(entity, now);
}

void SimArm::Machine::record(Entity& entity, TimePoint now) {
  if (options_.stale_read_chance <= 0) return;
  entity.history.push_back(Snapshot{now, entity.content, entity.version, entity.etag});
  while (entity.history.size() > 1 && entity.history[1].since <= now - options_.stale_by) entity.history.pop_front();
}

Duration SimArm::Machine::operation_length(const Call& call, const ResourceType& traits, std::string_view what) const {
  const std::string_view wanted = call.request.head.fields.get("x-sim-operation-ms");
  uint32_t milliseconds = 0;
  if (std::from_chars(wanted.data(), wanted.data() + wanted.size(), milliseconds).ec == std::errc()) {
    return std::chrono::milliseconds(milliseconds);
  }
  if (const auto own = options_.operation_by_type.find(std::string(what)); own != options_.operation_by_type.end()) {
    return own->second;
  }
  const auto of_type = options_.operation_by_type.find(std::string(traits.type));
  if (of_type != options_.operation_by_type.end()) return of_type->second;
  return traits.long_running ? options_.operation : Duration{};
}

// A group that does not exist, is not yet known everywhere, or is on its way out.
std::optional<arm::Response> SimArm::Machine::refuse_in_group(const Call& call) {
  const Entity* group = find_entity(call.address.group_key);
  if (group == nullptr || call.now < group->created + options_.group_lag) {
    ++counts_.group_not_found;
    return error_answer(404, "ResourceGroupNotFound",
                        fmt::format("Resource group '{}' could not be found.", call.address.group),
                        FailureCause::Gateway);
  }
  const bool reading = call.method() == arm::Method::Get || call.method() == arm::Method::Head;
  if (!reading && operations_.state_word(group->key, "", group->type) == "Deleting") {
    return error_answer(
        409, "ResourceGroupBeingDeleted",
        fmt::format("The resource group '{}' is in deprovisioning state and cannot perform this operation.",
                    call.address.group));
  }
  return std::nullopt;
}

std::optional<arm::Response> SimArm::Machine::refuse_precondition(const Call& call, const Entity* entity,
                                                                  const ResourceType& traits, const Json* current) {
  if (traits.etags == EtagForm::None) return std::nullopt;
  const std::string_view if_match = trim(call.request.head.fields.get("If-Match"));
  const std::string_view if_none_match = trim(call.request.head.fields.get("If-None-Match"));
  const std::string_view etag = current == nullptr ? std::string_view() : std::string_view(entity->etag);
  const bool must_exist = call.method() == arm::Method::Put;
  std::string_view given;
  if (!if_match.empty() && (current == nullptr ? must_exist : !etag_matches(if_match, etag))) given = if_match;
  if (!if_none_match.empty() && current != nullptr && etag_matches(if_none_match, etag)) given = if_none_match;
  if (given.empty()) return std::nullopt;
  const bool whole = call.address.kind == AddressKind::Resource;
  judge_.refused_412(call.address.root_key, whole && entity != nullptr ? entity->version : "-",
                     call.facts);
  const bool weak = traits.etags == EtagForm::WeakGuid;
  // Network shows what it was given in its own form even if it came bare (observed).
  const std::string shown = !weak || given.starts_with("W/") || given == "*" ? std::string(given)
                            : given.front() == '"'                           ? "W/" + std::string(given)
                                                                             : fmt::format("W/\"{}\"", given);
  return weak ? network_412(shown, etag, call.address.root_id) : compute_412(shown, etag);
}

arm::Response SimArm::Machine::busy_answer(const ResourceType& traits, const Operation& running) const {
  if (traits.etags == EtagForm::WeakGuid) {
    return error_answer(
        409, traits.conflict_code,
        fmt::format("Another operation on this or dependent resource is in progress. To retrieve status "
                    "of the operation use uri: {}.",
                    operations_.url_of(running)));
  }
  if (&traits == &group_type()) {
    return error_answer(409, traits.conflict_code,
                        "The resource group is in deprovisioning state and cannot perform this operation.");
  }
  return error_answer(
      409, traits.conflict_code,
      "The operation was interrupted by a conflicting concurrent write on the same entity. Please retry "
      "later.");
}

std::optional<arm::Response> SimArm::Machine::refuse_write(const Call& call, const Entity* entity,
                                                           const ResourceType& traits, const Json* current,
                                                           const std::string& lock_key) {
  Operation* running = operations_.running_on(lock_key);
  if (auto refused = refuse_precondition(call, entity, traits, current)) {
    if (running != nullptr) judge_.overlapped(lock_key, running->client, call.facts, Judge::Taken::No);
    return refused;
  }
  if (running == nullptr) return std::nullopt;
  // Nothing passes a deletion, and only Network lets a newer write cancel the running one.
  const bool supersedes = options_.exclusivity == Exclusivity::Supersede && traits.etags == EtagForm::WeakGuid;
  const bool refuses =
      running->kind == OperationOf::Delete || (options_.exclusivity != Exclusivity::Accept && !supersedes);
  judge_.overlapped(lock_key, running->client, call.facts, refuses ? Judge::Taken::No : Judge::Taken::Yes);
  if (refuses) return busy_answer(traits, *running);
  if (supersedes) operations_.cancel(*running, call.now);
  return std::nullopt;
}

Operation* SimArm::Machine::begin_operation(const Call& call, const Entity& entity, OperationOf kind,
                                            const std::string& lock_key, Duration length, Content before) {
  if (length <= Duration{}) return nullptr;
  Operation operation;
  operation.kind = kind;
  operation.entity_key = entity.key;
  operation.lock_key = lock_key;
  operation.child = lower_text(call.address.child_name);
  operation.client = call.facts.client;
  operation.write_key = call.facts.write_key;
  operation.start = call.now;
  operation.end = call.now + length;
  operation.before = std::move(before);
  operation.after = entity.content;
  const std::string_view result = call.request.head.fields.get("x-sim-operation-result");
  if (result == "Failed" || result == "Canceled") operation.result = result;
  const std::string_view provider =
      entity.traits == &group_type() ? "Microsoft.Resources" : std::string_view(call.address.provider);
  return &operations_.start(std::move(operation), provider, call.address.subscription);
}

}  // namespace armgate::sim
