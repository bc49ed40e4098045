// tree.h – JSON as a tree that is read and changed, for what is small and our own: configuration, rule files, what the service
// and the commands tell. For bodies of others that pass by: scan.h, select.h, document.h.
//
// Why: the library's header costs a unit seconds; through this one it can be seen who pays, and exchanged for all at once.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "json/tree_fwd.h"

namespace armgate {

inline constexpr int kOneLine = -1;

// Whether letters beyond ASCII are escaped: for terminals and logs, of which nobody knows what they make of them.
enum class JsonLetters { Escaped, AsTheyAre };

// The tree as text, `indent` blanks for each level. Never throws: bytes that are no UTF-8 become U+FFFD.
template <class Tree>
std::string dump_json(const Tree& tree, int indent = kOneLine, JsonLetters letters = JsonLetters::Escaped) {
  return tree.dump(indent, ' ', letters == JsonLetters::Escaped, Tree::error_handler_t::replace);
}

}  // namespace armgate
