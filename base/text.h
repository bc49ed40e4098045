// text.h – ASCII text helpers. ASCII only on purpose: HTTP and ARM names are ASCII, and locale must not matter.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/eight_bytes.h"

namespace armgate {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

inline std::string lower_text(std::string_view text) {
  std::string result(text);
  size_t at = 0;
  for (; at + 8 <= result.size(); at += 8) {
    eight_bytes::store(eight_bytes::lowered(eight_bytes::load(result.data() + at)), result.data() + at);
  }
  for (; at < result.size(); ++at) result[at] = lower(result[at]);
  return result;
}

inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto same_eight = [&](size_t at) {
    return eight_bytes::lowered(eight_bytes::load(a.data() + at)) == eight_bytes::lowered(eight_bytes::load(b.data() + at));
  };
  if (a.size() < 8) {
    return std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
  }
  for (size_t at = 0; at + 8 < a.size(); at += 8) {
    if (!same_eight(at)) return false;
  }
  return same_eight(a.size() - 8);  // some of it for the second time
}

inline bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

inline bool contains_ignoring_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char x, char y) { return lower(x) == lower(y); }) !=
         text.end();
}

// Without leading and trailing spaces and tabs (the OWS of RFC 9110 §5.6.3).
inline std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Whether a host name is the domain's own or one below it. Both in lower case.
inline bool is_at_or_below(std::string_view name, std::string_view domain) {
  if (!name.ends_with(domain)) return false;
  return name.size() == domain.size() || name[name.size() - domain.size() - 1] == '.';
}

// For a terminal: each character that could steer one (U+0080 to U+009F too), turn the direction of what follows, or not be
// seen at all becomes "?". Other UTF-8 stays.
std::string printable(std::string_view text);

// The same for a column of a table: what is longer than that many bytes is cut, and ends in an ellipsis.
std::string printable_cell(std::string_view text, size_t bytes_max = 64);

}  // namespace armgate
