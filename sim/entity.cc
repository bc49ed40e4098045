#include "sim/entity.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/hash.h"
#include "base/text.h"
#include "json/tree.h"
#include "sim/json_text.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 7> kServiceMembers{"id",           "type",      "etag", "eTag", "provisioningState",
                                                          "resourceGuid", "systemData"};
// Among the properties of a resource or a child "id" and "type" may be the client's own.
constexpr std::array<std::string_view, 4> kServiceProperties{"etag", "eTag", "provisioningState", "resourceGuid"};
constexpr std::array<std::string_view, 2> kEmbellishments{"revision", "endpoint"};

void strip(Json& value, std::span<const std::string_view> members) {
  for (auto it = value.begin(); it != value.end();) {
    const bool stripped = std::any_of(members.begin(), members.end(),
                                      [&](std::string_view member) { return equal_ignoring_case(member, it.key()); });
    it = stripped ? value.erase(it) : std::next(it);
  }
}

void strip_service_members(Json& value) {
  strip(value, kServiceMembers);
  if (const auto properties = value.find("properties"); properties != value.end() && properties->is_object()) {
    strip(*properties, kServiceProperties);
  }
}

void strip_links(Json& value, std::string_view linked) {
  const auto properties = value.find("properties");
  if (!linked.empty() && properties != value.end() && properties->is_object()) properties->erase(std::string(linked));
}

const Json* children_of(const Json& content, const ChildKind& kind) {
  const auto properties = content.find("properties");
  if (properties == content.end() || !properties->is_object()) return nullptr;
  const auto children = properties->find(std::string(kind.member));
  return children == properties->end() || !children->is_array() ? nullptr : &*children;
}

bool has_name(const Json& child, std::string_view name) {
  return child.is_object() && equal_ignoring_case(child.value("name", ""), name);
}

// What a service makes of what it is given.
void finish(Json& properties) {
  if (!properties.is_object()) properties = Json::object();
  if (!properties.contains("tier")) properties["tier"] = "Basic";
  const auto items = properties.find("items");
  if (items == properties.end() || !items->is_array()) return;
  std::stable_sort(items->begin(), items->end(),
                   [](const Json& a, const Json& b) { return a.value("name", "") < b.value("name", ""); });
}

std::string_view bare_etag(std::string_view text) {
  text = trim(text);
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

void spell_identities(Json& content, const std::function<std::string(std::string_view)>& spelled) {
  const Json::json_pointer at("/identity/userAssignedIdentities");
  if (!content.is_object() || !content.contains(at) || !content[at].is_object()) return;
  Json identities = Json::object();
  for (const auto& item : content[at].items()) identities[spelled(item.key())] = item.value();
  content[at] = std::move(identities);
}

Json writable_content(const Json& body, const ResourceType& traits) {
  Json content = body;
  strip_service_members(content);
  content.erase("name");
  strip_links(content, traits.linked);
  for (const ChildKind& kind : traits.children) {
    if (children_of(content, kind) == nullptr) continue;
    for (Json& child : content["properties"][std::string(kind.member)]) {
      if (!child.is_object()) continue;
      if (kind.form == ChildKind::Form::Flat) strip(child, kServiceProperties);
      if (kind.form == ChildKind::Form::Wrapped) strip_service_members(child);
      if (kind.form == ChildKind::Form::Wrapped) strip_links(child, kind.linked);
    }
  }
  if (const auto properties = content.find("properties"); traits.embellished && properties != content.end()) {
    strip(*properties, kEmbellishments);
    if (properties->value("tier", Json()) == kDefaultTier) properties->erase("tier");
    if (const auto plan = properties->find("planId"); plan != properties->end() && plan->is_string())
      *plan = lower_text(plan->get<std::string>());
  }
  if (traits.finished) {
    finish(content["properties"]);
    spell_identities(content, lower_text);  // ids count without case
  }
  // A client that writes back what it was shown has the member even if nothing was ever in it: no other content.
  if (const auto properties = content.find("properties"); properties != content.end() && properties->empty())
    content.erase(properties);
  return content;
}

Json writable_child(const Json& body, const ResourceType& traits, const ChildKind& kind, std::string_view name) {
  Json child = writable_content(body, traits);
  strip_links(child, kind.linked);
  child["name"] = name;
  return child_in_parent(std::move(child), kind);
}

Snapshot snapshot_as_of(const Entity& entity, TimePoint then) {
  if (entity.created > then || entity.history.empty()) return {};
  const auto later = std::find_if(entity.history.begin(), entity.history.end(),
                                  [&](const Snapshot& snapshot) { return snapshot.since > then; });
  return later == entity.history.begin() ? entity.history.front() : *std::prev(later);
}

const Json* find_child(const Json& content, const ChildKind& kind, std::string_view name) {
  const Json* children = children_of(content, kind);
  if (children == nullptr) return nullptr;
  for (const Json& child : *children) {
    if (has_name(child, name)) return &child;
  }
  return nullptr;
}

Json with_child(Json content, const ChildKind& kind, const Json& child) {
  Json& properties = content["properties"];
  if (!properties.is_object()) properties = Json::object();
  Json& children = properties[std::string(kind.member)];
  if (!children.is_array()) children = Json::array();
  for (Json& existing : children) {
    if (has_name(existing, child.value("name", ""))) {
      existing = child;
      return content;
    }
  }
  children.push_back(child);
  return content;
}

Json without_child(Json content, const ChildKind& kind, std::string_view name) {
  if (children_of(content, kind) == nullptr) return content;
  Json kept = Json::array();
  for (const Json& child : *children_of(content, kind)) {
    if (!has_name(child, name)) kept.push_back(child);
  }
  content["properties"][std::string(kind.member)] = std::move(kept);
  return content;
}

Json child_in_parent(Json own, const ChildKind& kind) {
  if (kind.form == ChildKind::Form::Wrapped) return own;
  Json flat = own.contains("properties") && own["properties"].is_object() ? own["properties"] : Json::object();
  flat["name"] = own.value("name", "");
  return flat;
}

Json child_by_itself(Json in_parent, const ChildKind& kind) {
  if (kind.form == ChildKind::Form::Wrapped) return in_parent;
  Json own{{"name", in_parent.value("name", "")}};
  in_parent.erase("name");
  own["properties"] = std::move(in_parent);
  return own;
}

void complete_children(Json& content, const ResourceType& traits) {
  for (const ChildKind& kind : traits.children) {
    if (children_of(content, kind) == nullptr) content["properties"][std::string(kind.member)] = Json::array();
  }
}

std::string version_of(const Json& content) { return Hasher(HashKey{1, 2}).hash(json_text(content)).hex().substr(0, 16); }

bool etag_matches(std::string_view condition, std::string_view etag) {
  while (true) {
    const size_t comma = std::min(condition.find(','), condition.size());
    const std::string_view one = bare_etag(condition.substr(0, comma));
    if (one == "*" || one == bare_etag(etag)) return true;
    if (comma == condition.size()) return false;
    condition.remove_prefix(comma + 1);
  }
}

}  // namespace armgate::sim
