#include "sim/entity.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "sim/json_text.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 7> kServiceMembers{
    "id", "type", "etag", "eTag", "provisioningState", "resourceGuid", "systemData"};

bool is_service_member(std::string_view name) {
  for (const std::string_view member : kServiceMembers) {
    if (equal_ignoring_case(member, name)) return true;
  }
  return false;
}

void strip_service_members(Json& value) {
  for (auto it = value.begin(); it != value.end();) {
    it = is_service_member(it.key()) ? value.erase(it) : std::next(it);
  }
  if (const auto properties = value.find("properties"); properties != value.end() && properties->is_object()) {
    strip_service_members(*properties);
  }
}

const Json* children_of(const Json& content, const ResourceType& traits) {
  if (traits.child_member.empty()) return nullptr;
  const auto properties = content.find("properties");
  if (properties == content.end() || !properties->is_object()) return nullptr;
  const auto children = properties->find(std::string(traits.child_member));
  return children == properties->end() || !children->is_array() ? nullptr : &*children;
}

bool has_name(const Json& child, std::string_view name) {
  return child.is_object() && equal_ignoring_case(child.value("name", ""), name);
}

std::string_view bare_etag(std::string_view text) {
  text = trim(text);
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

Json writable_content(const Json& body, const ResourceType& traits) {
  Json content = body;
  strip_service_members(content);
  content.erase("name");
  if (children_of(content, traits) != nullptr) {
    for (Json& child : content["properties"][std::string(traits.child_member)]) {
      if (child.is_object()) strip_service_members(child);
    }
  }
  return content;
}

const Json* find_child(const Json& content, const ResourceType& traits, std::string_view name) {
  const Json* children = children_of(content, traits);
  if (children == nullptr) return nullptr;
  for (const Json& child : *children) {
    if (has_name(child, name)) return &child;
  }
  return nullptr;
}

Json with_child(Json content, const ResourceType& traits, const Json& child) {
  Json& properties = content["properties"];
  if (!properties.is_object()) properties = Json::object();
  Json& children = properties[std::string(traits.child_member)];
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

Json without_child(Json content, const ResourceType& traits, std::string_view name) {
  if (children_of(content, traits) == nullptr) return content;
  Json kept = Json::array();
  for (const Json& child : *children_of(content, traits)) {
    if (!has_name(child, name)) kept.push_back(child);
  }
  content["properties"][std::string(traits.child_member)] = std::move(kept);
  return content;
}

std::string version_of(const Json& content) {
  return Hasher(HashKey{1, 2}).hash(json_text(content)).hex().substr(0, 16);
}

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
