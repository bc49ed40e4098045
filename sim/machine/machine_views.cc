#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "json/tree.h"
#include "sim/machine/machine.h"

namespace armgate::sim {

using Json = nlohmann::json;

Duration SimArm::Machine::lag_of(const Call& call) {
  const bool lags = options_.stale_read_chance > 0 && rng_.chance(options_.stale_read_chance);
  return std::max(call.behind, lags ? options_.stale_by : Duration{});
}

Snapshot SimArm::Machine::visible(const Call& call, const Entity& entity) {
  const Duration behind = lag_of(call);
  return seen_by(call, entity, behind > Duration{} ? snapshot_as_of(entity, call.now - behind) : snapshot_of(entity, call.now));
}

// A lagging replica also shows what is gone by now.
SimArm::Machine::View SimArm::Machine::view_of(const Call& call, std::string_view key) {
  const Entity* entity = find_entity(key);
  const Duration behind = lag_of(call);
  const TimePoint then = call.now - behind;
  const auto gone = removed_.find(key);
  if (behind > Duration{} && (entity == nullptr || entity->created > then) && gone != removed_.end() &&
      gone->second.at > then) {
    entity = &gone->second.entity;
  }
  if (entity == nullptr) return {nullptr, {}};
  return {entity, seen_by(call, *entity, behind > Duration{} ? snapshot_as_of(*entity, then) : snapshot_of(*entity, call.now))};
}

Snapshot SimArm::Machine::seen_by(const Call& call, const Entity& entity, Snapshot snapshot) const {
  if (knows_etags(call, *entity.traits)) return snapshot;
  snapshot.etag.clear();
  snapshot.child_etags.clear();
  return snapshot;
}

// Of links too, only the number changes: that is all that somebody who compares them can see.
void SimArm::Machine::show_links(Json& body, std::string_view linked, int links) {
  if (linked.empty() || links == 0) return;
  Json& shown = body["properties"][std::string(linked)] = Json::array();
  for (int i = 0; i < links; ++i)
    shown.push_back({{"id", fmt::format("{}/providers/Microsoft.Network/networkInterfaces/nic{}", body.value("id", ""), i)}});
}

Json SimArm::Machine::listed(const Entity& entity, const Snapshot& seen) const {
  Json item = shown(entity, seen);
  if (options_.list_items == ListItems::Whole) return item;
  for (const char* member : {"etag", "eTag", "location"}) item.erase(member);
  item["properties"].erase("provisioningState");
  return item;
}

// A lagging replica has not heard of the operation either that brought the content it lacks.
std::string SimArm::Machine::state_shown(const Entity& entity, const ChildKind* kind, std::string_view child,
                                         const Snapshot& seen) const {
  if (seen.version != entity.version) return "Succeeded";
  const std::string word = operations_.state_word(entity, kind, lower_text(child));
  const bool succeeded = options_.state_shown == StateShown::Succeeded || entity.traits->update_shown == UpdateShown::Succeeded;
  const auto bad = entity.ended_badly.find(lower_text(child));
  if (word.empty() && bad != entity.ended_badly.end()) return bad->second;
  if (word.empty() && kind == nullptr && entity.failed) return "Failed";
  return word.empty() || (succeeded && word != "Deleting") ? "Succeeded" : word;
}

Json SimArm::Machine::shown_child(const Entity& entity, const ChildKind& kind, const Json& child, const Snapshot& seen) const {
  Json body = child_by_itself(child, kind);
  const std::string name = child.value("name", "");
  body["id"] = fmt::format("{}/{}/{}", entity.id, kind.shown, name);
  body["type"] = fmt::format("{}/{}", entity.shown_type, kind.shown);
  if (!body["properties"].is_object()) body["properties"] = Json::object();
  body["properties"]["provisioningState"] = state_shown(entity, &kind, name, seen);
  if (kind.form == ChildKind::Form::Wrapped) {
    if (!seen.etag.empty()) body["etag"] = seen.etag;
    show_links(body, kind.linked, seen.links);
  } else if (const auto own = seen.child_etags.find(lower_text(name)); own != seen.child_etags.end()) {
    body["properties"]["eTag"] = own->second;
  }
  return body;
}

namespace {

// Of an id in lower case.
std::string with_group_in_camel_case(std::string_view id) {
  std::string spelled(id);
  constexpr std::string_view kGroups = "/resourcegroups/";
  if (const size_t at = spelled.find(kGroups); at != spelled.npos) spelled.replace(at, kGroups.size(), "/resourceGroups/");
  return spelled;
}

}  // namespace

Json SimArm::Machine::shown(const Entity& entity, const Snapshot& seen) const {
  Json body = *seen.content;
  body["id"] = entity.id;
  body["name"] = entity.name;
  body["type"] = entity.shown_type;
  if (!seen.etag.empty()) body[entity.traits->etags == EtagForm::EnvelopeGuid ? "eTag" : "etag"] = seen.etag;
  Json& properties = body["properties"];
  if (!properties.is_object()) properties = Json::object();
  properties["provisioningState"] = state_shown(entity, nullptr, "", seen);
  if (entity.traits->etags == EtagForm::WeakGuid) properties["resourceGuid"] = entity.guid;
  if (!entity.traits->hidden.empty()) properties.erase(std::string(entity.traits->hidden));
  if (entity.traits->embellished) {
    properties["revision"] = seen.version;
    properties["endpoint"] = fmt::format("https://{}.example.net/", entity.name);
    if (!properties.contains("tier")) properties["tier"] = kDefaultTier;
  }
  if (entity.traits->finished && !seen.version.empty() && seen.version.back() % 2 == 1)
    spell_identities(body, with_group_in_camel_case);
  show_links(body, entity.traits->linked, seen.links);
  for (const ChildKind& kind : entity.traits->children) {
    Json children = Json::array();
    if (const auto given = properties.find(std::string(kind.member)); given != properties.end() && given->is_array()) {
      for (const Json& child : *given) {
        Json item = shown_child(entity, kind, child, seen);
        if (kind.form == ChildKind::Form::Flat) item = child_in_parent(std::move(item), kind);
        children.push_back(std::move(item));
      }
    }
    properties[std::string(kind.member)] = std::move(children);
  }
  return body;
}

}  // namespace armgate::sim
