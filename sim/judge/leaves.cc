#include "sim/judge/leaves.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "arm/url.h"
#include "base/text.h"
#include "json/tree.h"
#include "sim/entity.h"
#include "sim/json_text.h"
#include "sim/machine/address.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

constexpr const char* kElement = "here";  // no JSON: that there is an element of that name
constexpr std::string_view kIdentities = "/identity/userAssignedIdentities";

bool has_names(const Json& array) {
  return !array.empty() && std::all_of(array.begin(), array.end(), [](const Json& item) {
    return item.is_object() && item.contains("name") && item["name"].is_string();
  });
}

void collect(const Json& value, const std::string& at, Leaves& leaves) {
  if (value.is_object()) {
    if (at.starts_with(kIdentities) && at.size() > kIdentities.size()) leaves[at] = kElement;
    for (const auto& item : value.items()) collect(item.value(), fmt::format("{}/{}", at, item.key()), leaves);
  } else if (value.is_array() && has_names(value)) {
    for (const Json& item : value) {
      const std::string place = fmt::format("{}/{}", at, lower_text(item["name"].get<std::string>()));
      leaves[place] = kElement;
      collect(item, place, leaves);
    }
  } else if (!value.is_array() || !value.empty()) {
    leaves[at] = json_text(value);
  }
}

using Orders = std::map<std::string, std::vector<std::string>>;  // array -> names

void collect_orders(const Json& value, const std::string& at, Orders& orders) {
  if (value.is_object()) {
    for (const auto& item : value.items()) collect_orders(item.value(), fmt::format("{}/{}", at, item.key()), orders);
  } else if (value.is_array() && has_names(value)) {
    for (const Json& item : value) {
      const std::string name = lower_text(item["name"].get<std::string>());
      orders[at].push_back(name);
      collect_orders(item, fmt::format("{}/{}", at, name), orders);
    }
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

}  // namespace

std::set<std::string> differing(const Leaves& some, const Leaves& others) {
  std::set<std::string> places;
  for (const Leaves* leaves : {&some, &others}) {
    for (const auto& [at, value] : *leaves) {
      if (!same_at(at, some, others)) places.insert(at);
    }
  }
  return places;
}

Leaves leaves_of(const Json& content) {
  Leaves leaves;
  collect(content, {}, leaves);
  return leaves;
}

Leaves wanted_leaves(std::string_view target, std::string_view body) {
  const Address address = parse_id(arm::path_of(target));
  const bool is_group = address.kind == AddressKind::Group;
  const ResourceType& traits = is_group ? group_type() : resource_type(address.type);
  const Json content = json_value(body);
  if (!content.is_object()) return {};
  const bool is_child = address.kind == AddressKind::Child && address.child_kind != nullptr;
  return leaves_of(is_child ? writable_child(content, traits, *address.child_kind, address.child_name)
                            : writable_content(content, traits));
}

bool in_the_order_of(const Json& before, const Json& after) {
  Orders was, is;
  collect_orders(before, {}, was);
  collect_orders(after, {}, is);
  return std::all_of(is.begin(), is.end(), [&](const auto& array) {
    std::vector<std::string> kept = was[array.first];
    std::erase_if(kept, [&](const std::string& name) { return std::ranges::find(array.second, name) == array.second.end(); });
    return std::equal(kept.begin(), kept.end(), array.second.begin());
  });
}

std::string change_between(const Leaves& from, const Leaves& to) {
  std::string change;
  for (const std::string& at : differing(from, to)) {
    const std::string* value = find(to, at);
    change += fmt::format("{}={};", at, value == nullptr ? "absent" : *value);
  }
  return change;
}

namespace {

// A tag, or an element with a name, that one of the two lacks.
bool came_or_went(const std::string& at, const Leaves& before, const Leaves& after) {
  const std::string* was = find(before, at);
  const std::string* is = find(after, at);
  const std::string* one = was != nullptr ? was : is;
  return (was == nullptr || is == nullptr) && one != nullptr && (at.starts_with("/tags/") || *one == kElement);
}

bool looks_stale_against(const Leaves& state, const Leaves& wanted, const Leaves& there, bool changes_nothing) {
  bool lacks_as_old = false, has_newer = false;
  for (const std::string& at : differing(state, there)) {
    const bool is_old = same_at(at, wanted, state), is_there = find(wanted, at) != nullptr;
    const bool moved = find(state, at) != nullptr && find(there, at) != nullptr;
    if ((is_old && is_there) || (changes_nothing && moved)) return true;
    lacks_as_old |= is_old;
    has_newer |= came_or_went(at, state, there) && same_at(at, wanted, there);
  }
  return lacks_as_old && !has_newer;
}

}  // namespace

bool looks_stale(const Leaves& wanted, const Leaves& there, const std::vector<Leaves>& older) {
  const bool changes_nothing = differing(wanted, there).empty();
  return std::ranges::any_of(older,
                             [&](const Leaves& state) { return looks_stale_against(state, wanted, there, changes_nothing); });
}

}  // namespace armgate::sim
