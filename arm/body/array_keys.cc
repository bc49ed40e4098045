#include "arm/body/array_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "arm/body/canonical_value.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

// x-ms-identifiers of the providers' specifications, which hold for every array of that name that armgate has met.
struct KnownKey {
  std::string_view array;  // in lower case
  std::array<std::string_view, 3> key;
  size_t count;
  bool is_ordered = false;
};
constexpr std::array<KnownKey, 15> kKnownKeys{{
    {"aaaarecords", {"ipv6Address"}, 1},
    {"accesspolicies", {"tenantId", "objectId", "applicationId"}, 3},
    {"applicationsecuritygroups", {"id"}, 1},
    {"arecords", {"ipv4Address"}, 1},
    {"caarecords", {"flags", "tag", "value"}, 3},
    {"datadisks", {"lun"}, 1},
    {"initcontainers", {"name"}, 1, true},  // run one after the other
    {"iprules", {"value"}, 1},
    {"mxrecords", {"preference", "exchange"}, 2},
    {"nsrecords", {"nsdname"}, 1},
    {"pathrules", {"name"}, 1, true},  // the first that fits is taken
    {"ptrrecords", {"ptrdname"}, 1},
    {"resourceaccessrules", {"tenantId", "resourceId"}, 2},
    {"srvrecords", {"target", "port", "priority"}, 3},
    {"virtualnetworkrules", {"id"}, 1},
}};

// Two rules of one priority and direction are refused (learn.microsoft.com: "Azure network security groups overview",
// priority).
constexpr std::string_view kSecurityRules = "securityRules";
constexpr std::array<std::string_view, 2> kUniqueInSecurityRules{"/properties/priority", "/properties/direction"};

// A plain value as text; nothing if it is none.
std::optional<std::string> plain_text(const dom::element& element) {
  std::string_view text;
  bool flag = false;
  if (element.is_null()) return std::string();
  if (!element.get(text)) return std::string(text);
  if (!element.get(flag)) return flag ? "true" : "false";
  if (element.is_number()) return std::visit([](auto value) { return fmt::format("{}", value); }, number_of(element));
  return std::nullopt;
}

// One part of an element's key, empty if it is not there; nothing if it is no plain value.
std::optional<std::string> part_of(const dom::element& element, std::string_view part) {
  dom::object object;
  dom::element value;
  if (element.get(object) || object.at_key_case_insensitive(part).get(value)) return std::string();
  return plain_text(value);
}

// As it counts at its place ("West US" is westus), without case; nothing if the element has none.
std::optional<std::string> key_of(const dom::element& element, const ArrayKey& key, const BodyPlace& place) {
  std::string text;
  for (const auto part : key) {
    const auto value = part_of(element, part);
    if (!value) return std::nullopt;
    text += lower_text(canonical_text(*value, place.member(part)));
    text += '\n';
  }
  return text.size() > key.size() ? std::optional(std::move(text)) : std::nullopt;
}

// False if an element has no key, or another one of its array has the same.
bool split(std::span<const ColumnArray> arrays, const BodyPlace& place, KeyedElements& result) {
  auto& elements = result.elements;
  elements.clear();
  for (const auto& [column, array] : arrays) {
    uint32_t index = 0;
    for (const dom::element element : array) {
      auto key = key_of(element, result.key, place);
      if (!key) return false;
      elements.push_back({*std::move(key), column, index++, element});
    }
  }
  std::sort(elements.begin(), elements.end(), [](const KeyedElement& a, const KeyedElement& b) {
    const int order = a.key.compare(b.key);
    return order != 0 ? order < 0 : a.column < b.column;
  });
  const auto is_twin = [](const KeyedElement& a, const KeyedElement& b) { return a.column == b.column && a.key == b.key; };
  return std::adjacent_find(elements.begin(), elements.end(), is_twin) == elements.end();
}

}  // namespace

std::optional<KeyedElements> keyed_elements(std::span<const ColumnArray> arrays, std::string_view name,
                                            const BodyPlace& place) {
  KeyedElements result;
  const ArrayFact* declared = place.array();
  if (declared == nullptr && place.is_in_document()) return std::nullopt;  // its order may count
  const auto known = std::find_if(kKnownKeys.begin(), kKnownKeys.end(),
                                  [&](const KnownKey& one) { return equal_ignoring_case(one.array, name); });
  std::vector<ArrayKey> candidates;
  if (declared != nullptr) {
    result.is_ordered = declared->kind == ArrayKind::Ordered;
    candidates.emplace_back(declared->key.begin(), declared->key.end());
  } else if (known != kKnownKeys.end()) {
    result.is_ordered = known->is_ordered;
    candidates.emplace_back(known->key.begin(), known->key.begin() + known->count);
  } else {
    candidates = {{"name"}, {"id"}};
  }
  for (ArrayKey& candidate : candidates) {
    result.key = std::move(candidate);
    if (split(arrays, place.element(), result)) return result;
  }
  return std::nullopt;
}

std::vector<std::string> unique_members(std::string_view name, const ArrayFact* declared) {
  if (declared != nullptr && !declared->unique.empty()) return declared->unique;
  if (!equal_ignoring_case(name, kSecurityRules)) return {};
  return {kUniqueInSecurityRules.begin(), kUniqueInSecurityRules.end()};
}

std::string key_text(const ArrayKey& key, const dom::element& element) {
  std::string text = "[";
  for (const auto part : key) {
    const auto value = part_of(element, part);
    if (value && !value->empty()) text += fmt::format("{}{}={}", text.size() > 1 ? "," : "", part, *value);
  }
  return text + "]";
}

}  // namespace armgate::arm
