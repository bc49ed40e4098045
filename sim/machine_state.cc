#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sim/answers.h"
#include "sim/machine.h"

namespace armgate::sim {

using Json = nlohmann::json;

namespace {

// What a lagging replica may still show.
constexpr Duration kHistoryKept = std::chrono::seconds(60);
constexpr size_t kHistoryMax = 256;

}  // namespace

bool SimArm::Machine::knows_etags(const Call& call, const ResourceType& traits) const {
  if (traits.etags == EtagForm::None || !options_.has_etags) return false;
  const auto version = arm::query_parameter(call.request.head.target, "api-version");
  return traits.etags_since.empty() || version.value_or("") >= traits.etags_since;
}

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
  entity.parent_key = address.parent_key;
  entity.guid = make_guid(rng_);
  entity.created = call.now;
  return entities_.insert_or_assign(entity.key, std::move(entity)).first->second;
}

void SimArm::Machine::set_content(Entity& entity, Json content, TimePoint now, std::string_view by) {
  entity.content = std::make_shared<const Json>(std::move(content));
  entity.version = version_of(*entity.content);
  log_state(entity, now, by);
  move_etag(entity, now);
}

void SimArm::Machine::log_state(Entity& entity, TimePoint now, std::string_view by) {
  if (options_.keep_states) entity.state = states_.add(entity.key, now, entity.content, by);
}

void SimArm::Machine::move_etag(Entity& entity, TimePoint now) {
  ++entity.writes;
  switch (entity.traits->etags) {
    case EtagForm::None: break;
    case EtagForm::Number: entity.etag = fmt::format("\"{}\"", entity.writes); break;
    case EtagForm::WeakGuid: entity.etag = fmt::format("W/\"{}\"", make_guid(rng_)); break;
    case EtagForm::QuotedGuid: entity.etag = fmt::format("\"{}\"", make_guid(rng_)); break;
    case EtagForm::BareGuid:
    case EtagForm::EnvelopeGuid: entity.etag = make_guid(rng_); break;
  }
  if (!entity.etag.empty()) judge_.remember(entity.key, entity.etag, entity.version);
  for (const ChildKind& kind : entity.traits->children) {
    if (kind.form != ChildKind::Form::Flat) continue;
    const Json::json_pointer children("/properties/" + std::string(kind.member));
    for (const Json& child : entity.content->value(children, Json::array())) {
      move_child_etag(entity, kind, child.value("name", ""));
    }
  }
  record(entity, now);
}

void SimArm::Machine::move_child_etag(Entity& entity, const ChildKind& kind, std::string_view name) {
  const std::string key = lower_text(name);
  std::string& etag = entity.child_etags[key];
  etag = make_guid(rng_);
  const Json* child = find_child(*entity.content, kind, name);
  if (child == nullptr) return;
  judge_.remember(fmt::format("{}/{}/{}", entity.key, kind.type, key), etag, version_of(*child));
}

// A child with an ETag of its own leaves its parent's where it is.
void SimArm::Machine::set_child(Entity& entity, const ChildKind& kind, std::string_view name, Json content, TimePoint now,
                                std::string_view by) {
  if (kind.form != ChildKind::Form::Flat) return set_content(entity, std::move(content), now, by);
  entity.content = std::make_shared<const Json>(std::move(content));
  entity.version = version_of(*entity.content);
  log_state(entity, now, by);
  if (!entity.etag.empty()) judge_.remember(entity.key, entity.etag, entity.version);
  move_child_etag(entity, kind, name);
  record(entity, now);
}

void SimArm::Machine::record(Entity& entity, TimePoint now) {
  auto& history = entity.history;
  history.push_back(snapshot_of(entity, now));
  const TimePoint oldest = now - std::max<Duration>(options_.stale_by, kHistoryKept);
  while (history.size() > 1 && (history[1].since <= oldest || history.size() > kHistoryMax)) history.pop_front();
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

Operation* SimArm::Machine::begin_operation(const Call& call, const Entity& entity, OperationOf kind,
                                            std::vector<std::string> lock_keys, Duration length, Content before) {
  if (length <= Duration{}) return nullptr;
  Operation operation;
  operation.kind = kind;
  operation.entity_key = entity.key;
  operation.lock_keys = std::move(lock_keys);
  operation.child_kind = call.address.child_kind;
  operation.child = lower_text(call.address.child_name);
  operation.client = call.facts.client;
  operation.write_key = call.facts.write_key;
  operation.start = call.now;
  operation.end = call.now + length;
  operation.before = std::move(before);
  operation.after = entity.content;
  const std::string_view result = call.request.head.fields.get("x-sim-operation-result");
  if (result == "Failed" || result == "Canceled") operation.result = result;
  return &operations_.start(std::move(operation), entity.traits->urls, call.address);
}

}  // namespace armgate::sim
