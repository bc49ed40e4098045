// json_select.h – the strings that JSON pointers with "*" select in a text, for example every subnet id of a network interface.
//
// Why: a body may name the resources that its write must not run against. It is read once for all pointers and nothing of it is
// kept.
// Limits   texts nested deeper than kSelectDepthMax select nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::arm {

inline constexpr size_t kSelectDepthMax = 256;

// The reference tokens of a pointer (RFC 6901 §3), or nothing for what is none: "/a/*/b" -> {"a", "*", "b"}.
std::vector<std::string> pointer_tokens(std::string_view pointer);

// For each pointer, given by its tokens, the strings it selects, in the text's order. "*" is every element of an array or every
// member of an object; names are compared without case, as ARM does. Nothing for a text that is no JSON.
std::vector<std::vector<std::string>> select_strings(std::string_view json,
                                                     const std::vector<std::vector<std::string>>& pointers);

}  // namespace armgate::arm
