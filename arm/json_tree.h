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

// Where in the document an object stands, as far as it matters to which of its members are the service's. Tags: a map of texts
// whose names are the client's own words, "createdAt" among them, and which a PUT replaces as a whole.
enum class Place { Resource, Tags };

// The same as tags are the labels of an agent pool's nodes and the metadata of a DNS record set.
inline Place place_below(Place place, std::string_view member) {
  const bool is_map = equal_ignoring_case(member, "tags") || equal_ignoring_case(member, "nodeLabels") ||
                      equal_ignoring_case(member, "metadata");
  return place == Place::Tags || is_map ? Place::Tags : Place::Resource;
}

struct JsonTree {
  enum class Kind { Object, Array, Text, Number, Flag, Null };
  Kind kind = Kind::Null;
  std::string text;                                       // Text; numbers and flags in one spelling for each value
  std::vector<std::pair<std::string, JsonTree>> members;  // Object, sorted by name
  std::vector<JsonTree> items;                            // Array

  // Defined below, where JsonTree is complete: clang's standard library asks for that as soon as they are.
  JsonTree();
  explicit JsonTree(Kind of);
  JsonTree(const JsonTree&);
  JsonTree(JsonTree&&) noexcept;
  JsonTree& operator=(const JsonTree&);
  JsonTree& operator=(JsonTree&&) noexcept;
  ~JsonTree();

  // Null counts as left out: providers answer one for the other.
  const JsonTree* find(std::string_view name) const;
};

inline JsonTree::JsonTree() = default;
inline JsonTree::JsonTree(Kind of) : kind(of) {}
inline JsonTree::JsonTree(const JsonTree&) = default;
inline JsonTree::JsonTree(JsonTree&&) noexcept = default;
inline JsonTree& JsonTree::operator=(const JsonTree&) = default;
inline JsonTree& JsonTree::operator=(JsonTree&&) noexcept = default;
inline JsonTree::~JsonTree() = default;

std::optional<JsonTree> read_tree(std::string_view json, const BodyFacts& facts, size_t nodes_max);

}  // namespace armgate::arm
