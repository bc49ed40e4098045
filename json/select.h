// select.h – the strings that JSON pointers with "*" select in a text, for example every subnet id of a network interface.
//
// Why: a body may name the resources that its write must not run against. It is read once for all pointers and nothing of it is
// kept.
// Limits   texts nested deeper than kSelectDepthMax select nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace armgate {

inline constexpr size_t kSelectDepthMax = 256;

// The reference tokens of a pointer (RFC 6901 §3), or nothing for what is none: "/a/*/b" -> {"a", "*", "b"}.
std::vector<std::string> pointer_tokens(std::string_view pointer);

// Pointers that are taken apart once, for many texts. Copies share what came of it. Threads: immutable.
class StringSelection {
 public:
  StringSelection() = default;
  explicit StringSelection(const std::vector<std::string>& pointers);

  // For each pointer the strings it selects, in the text's order; nothing at all, not even for a pointer, if none selects any.
  // "*" is every element of an array or every member of an object; names are compared without case, as ARM does. A text that is
  // no JSON has none.
  std::vector<std::vector<std::string>> in(std::string_view json) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;  // null: no pointers
};

}  // namespace armgate
