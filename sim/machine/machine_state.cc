#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

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
  entity.ended_badly.erase("");
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
  entity.ended_badly.erase(lower_text(name));
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
  if (call.fault != nullptr && call.fault->kind == Fault::Kind::FailsLater) {
    operation.result = "Failed";
    operation.error_code = call.fault->code;
    operation.partly = call.fault->partly;
  }
  return &operations_.start(std::move(operation), entity.traits->urls, call.address);
}

}  // namespace armgate::sim
