// canonical_value.h – a value as bytes that are the same for all values that count as the same.
//
// Why: arrays without keys are compared as one value, and what is in them counts as it does elsewhere: without what only the
// service writes, ids without case, null as absent. For the .cc files of this folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/body_facts.h"
#include "json/document.h"

namespace armgate::arm {

// ---- names of members: ids (the keys of identity.userAssignedIdentities) count without case, all others as they are ----

bool is_id(std::string_view text);
bool is_same_name(std::string_view a, std::string_view b);
// A total order in which the same names stand beside each other: negative, 0 if they are the same, or positive.
int compare_names(std::string_view a, std::string_view b);

// For hashed containers of names.
struct NameHash {
  size_t operator()(std::string_view name) const;
};
struct IsSameName {
  bool operator()(std::string_view a, std::string_view b) const { return is_same_name(a, b); }
};

// In the order of their names, so that the order of writing does not matter; without what only the service writes.
std::vector<JsonMember> writable_members(const simdjson::dom::object& object, const BodyPlace& place);

// Every part begins with its kind and carries its length, so that different values never give the same bytes.
std::string canonical_value(const simdjson::dom::element& element, const BodyPlace& place);

// Null and what is empty count as absent; an object without members does so in a map alone.
bool counts_as_absent(const simdjson::dom::element& element, const BodyPlace& place);

// A text as it counts at this place: ids without case, and what the facts say.
std::string canonical_text(std::string_view text, const BodyPlace& place);

// The same without making it.
bool same_text(std::string_view a, std::string_view b, const BodyPlace& place);

// Whether two plain values are the same: numbers by value, ids without case, texts as the facts say.
bool same_plain_value(const simdjson::dom::element& a, const simdjson::dom::element& b, const BodyPlace& place);

}  // namespace armgate::arm
