#include "arm/json_select.h"

#include <simdjson.h>

#include <algorithm>
#include <span>

#include "arm/json_scan.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;
using Tokens = std::span<const std::string>;

// As deep as the pointer is long.
void collect(const dom::element& value, Tokens tokens, std::vector<std::string>& found) {
  if (tokens.empty()) {
    std::string_view text;
    if (!value.get(text)) found.emplace_back(text);
    return;
  }
  const Tokens rest = tokens.subspan(1);
  dom::object object;
  if (!value.get(object)) {
    if (tokens.front() == "*") {
      for (const auto member : object) collect(member.value, rest, found);
    } else {
      dom::element member;
      if (!object.at_key_case_insensitive(tokens.front()).get(member)) collect(member, rest, found);
    }
    return;
  }
  dom::array array;
  if (tokens.front() != "*" || value.get(array)) return;
  for (const dom::element element : array) collect(element, rest, found);
}

// The longest name that the pointer goes through; empty if it goes through none that tells anything.
std::string_view telling_name(Tokens tokens) {
  std::string_view telling;
  for (const std::string_view token : tokens) {
    const bool is_name = std::all_of(token.begin(), token.end(), [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; });
    if (is_name && token != "properties" && token.size() > telling.size()) telling = token;
  }
  return telling;
}

// Whether the text has, for any of the pointers, its telling name. Most texts refer to nothing.
bool may_select(std::string_view json, const std::vector<std::vector<std::string>>& pointers) {
  std::vector<std::string_view> names;
  names.reserve(pointers.size());
  for (const auto& tokens : pointers) {
    names.push_back(telling_name(tokens));
    if (names.back().empty()) return true;
  }
  return may_have_member(json, names);
}

}  // namespace

std::vector<std::string> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return {};
    pointer.remove_prefix(1);
    std::string& token = tokens.emplace_back();
    for (; !pointer.empty() && pointer.front() != '/'; pointer.remove_prefix(1)) {
      const bool escaped = pointer.front() == '~';
      if (escaped && (pointer.size() < 2 || (pointer[1] != '0' && pointer[1] != '1'))) return {};
      token += escaped ? (pointer[1] == '0' ? '~' : '/') : pointer.front();
      if (escaped) pointer.remove_prefix(1);
    }
    if (token.empty()) return {};
  }
  return tokens;
}

std::vector<std::vector<std::string>> select_strings(std::string_view json,
                                                     const std::vector<std::vector<std::string>>& pointers) {
  std::vector<std::vector<std::string>> found(pointers.size());
  json = without_byte_order_mark(json);
  if (json.empty() || !may_select(json, pointers)) return found;
  dom::parser parser;
  dom::element top;
  if (parser.allocate(json.size(), kSelectDepthMax) || parser.parse(json.data(), json.size()).get(top)) return found;
  for (size_t i = 0; i < pointers.size(); ++i) collect(top, pointers[i], found[i]);
  return found;
}

}  // namespace armgate::arm
