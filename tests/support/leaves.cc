#include "tests/support/leaves.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "arm/url.h"
#include "base/text.h"
#include "sim/address.h"
#include "sim/entity.h"
#include "sim/json_text.h"

namespace armgate::world {
namespace {

using Json = nlohmann::json;

bool has_names(const Json& array) {
  return !array.empty() && std::all_of(array.begin(), array.end(), [](const Json& item) {
    return item.is_object() && item.contains("name") && item["name"].is_string();
  });
}

void collect(const Json& value, const std::string& at, Leaves& leaves) {
  if (value.is_object()) {
    for (const auto& item : value.items()) collect(item.value(), fmt::format("{}/{}", at, item.key()), leaves);
  } else if (value.is_array() && has_names(value)) {
    for (const Json& item : value) {
      const std::string place = fmt::format("{}/{}", at, lower_text(item["name"].get<std::string>()));
      leaves[place] = "here";
      collect(item, place, leaves);
    }
  } else if (!value.is_array() || !value.empty()) {
    leaves[at] = sim::json_text(value);
  }
}

const std::string* find(const Leaves& leaves, const std::string& at) {
  const auto found = leaves.find(at);
  return found == leaves.end() ? nullptr : &found->second;
}

bool same_at(const std::string& at, const Leaves& some, const Leaves& others) {
  const std::string* one = find(some, at);
  const std::string* other = find(others, at);
  return one == nullptr || other == nullptr ? one == other : *one == *other;
}

std::set<std::string> differing(const Leaves& some, const Leaves& others) {
  std::set<std::string> places;
  for (const Leaves* leaves : {&some, &others}) {
    for (const auto& [at, value] : *leaves) {
      if (!same_at(at, some, others)) places.insert(at);
    }
  }
  return places;
}

}  // namespace

Leaves leaves_of(const Json& content) {
  Leaves leaves;
  collect(content, {}, leaves);
  return leaves;
}

Leaves wanted_leaves(std::string_view target, std::string_view body) {
  const sim::Address address = sim::parse_id(arm::path_of(target));
  const bool is_group = address.kind == sim::AddressKind::Group;
  const sim::ResourceType& traits = is_group ? sim::group_type() : sim::resource_type(address.type);
  const Json content = sim::json_value(body);
  if (!content.is_object()) return {};
  const bool is_child = address.kind == sim::AddressKind::Child && address.child_kind != nullptr;
  return leaves_of(is_child ? sim::writable_child(content, traits, *address.child_kind, address.child_name)
                            : sim::writable_content(content, traits));
}

std::string change_between(const Leaves& from, const Leaves& to) {
  std::string change;
  for (const std::string& at : differing(from, to)) {
    const std::string* value = find(to, at);
    change += fmt::format("{}={};", at, value == nullptr ? "absent" : *value);
  }
  return change;
}

bool looks_stale(const Leaves& wanted, const Leaves& there, const std::vector<Leaves>& older) {
  const bool changes_nothing = differing(wanted, there).empty();
  for (const Leaves& state : older) {
    for (const std::string& at : differing(state, there)) {
      const bool moved = find(state, at) != nullptr && find(there, at) != nullptr;
      if (same_at(at, wanted, state) || (changes_nothing && moved)) return true;
    }
  }
  return false;
}

}  // namespace armgate::world
