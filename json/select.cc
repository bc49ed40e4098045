#include "json/select.h"

#include <simdjson.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "json/scan.h"

namespace armgate {
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

struct StringSelection::Parts {
  std::vector<std::vector<std::string>> pointers;  // their tokens
  std::vector<std::string_view> telling;  // of each a name without which it selects nothing; none: one of them has none
};

StringSelection::StringSelection(const std::vector<std::string>& pointers) {
  if (pointers.empty()) return;
  const auto parts = std::make_shared<Parts>();
  for (const std::string& pointer : pointers) parts->pointers.push_back(pointer_tokens(pointer));
  for (const auto& tokens : parts->pointers) parts->telling.push_back(telling_name(tokens));
  const bool all_tell =
      std::none_of(parts->telling.begin(), parts->telling.end(), [](std::string_view n) { return n.empty(); });
  if (!all_tell) parts->telling.clear();
  parts_ = parts;
}

std::vector<std::vector<std::string>> StringSelection::in(std::string_view json) const {
  json = without_byte_order_mark(json);
  if (parts_ == nullptr || json.empty()) return {};
  const auto& [pointers, telling] = *parts_;
  if (!telling.empty() && !may_have_member(json, telling)) return {};  // most texts refer to nothing
  dom::parser parser;
  dom::element top;
  if (parser.allocate(json.size(), kSelectDepthMax) || parser.parse(json.data(), json.size()).get(top)) return {};
  std::vector<std::vector<std::string>> found(pointers.size());
  for (size_t i = 0; i < pointers.size(); ++i) collect(top, pointers[i], found[i]);
  const bool any = std::any_of(found.begin(), found.end(), [](const auto& strings) { return !strings.empty(); });
  if (!any) found.clear();
  return found;
}

}  // namespace armgate
