// json_tree.h – a resource's JSON as plain values, without the members that only the service writes.
//
// Why: comparing several states at once walks them side by side and by key, which a parsed text that must outlive its parser
// does not allow. The reader is in content.cc, beside the other users of its rules on what can be read and what counts.
// Limits: a text that same_writable_content() cannot read gives no tree, nor does one of more than `nodes_max` values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arm/content.h"
#include "base/text.h"

namespace armgate::arm {

// Where in the document an object stands, as far as it matters to which of its members are the service's.
enum class Place { Resource, Tags };

// The names inside "tags" are the client's own words, "createdAt" among them.
inline Place place_below(Place place, std::string_view member) {
  return place == Place::Tags || equal_ignoring_case(member, "tags") ? Place::Tags : Place::Resource;
}

struct JsonTree {
  enum class Kind { Object, Array, Text, Number, Flag, Null };
  Kind kind = Kind::Null;
  std::string text;                                        // Text; numbers and flags in one spelling for each value
  std::vector<std::pair<std::string, JsonTree>> members;   // Object, sorted by name
  std::vector<JsonTree> items;                             // Array

  // Null counts as left out: providers answer one for the other.
  const JsonTree* find(std::string_view name) const;
};

std::optional<JsonTree> read_tree(std::string_view json, const ReadOnlyMembers& read_only, size_t nodes_max);

}  // namespace armgate::arm
