#include "arm/http.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

constexpr std::array<std::pair<std::string_view, Method>, 8> kMethods{{
    {"GET", Method::Get},
    {"HEAD", Method::Head},
    {"PUT", Method::Put},
    {"PATCH", Method::Patch},
    {"POST", Method::Post},
    {"DELETE", Method::Delete},
    {"OPTIONS", Method::Options},
    {"CONNECT", Method::Connect},
}};

// For what is added to a parsed head: a precondition, or how the request went.
constexpr size_t kRoomToAdd = 256;
constexpr size_t kFieldsToAdd = 6;

}  // namespace

// Node's fetch sends `patch` as it was written, and ASP.NET compares methods without regard to case: such a write must not pass
// unguarded. For the others it does no harm, and the framing of answers depends on HEAD and CONNECT.
Method method_of(std::string_view token) {
  for (const auto& [text, method] : kMethods) {
    if (text == token) return method;
  }
  for (const auto& [text, method] : kMethods) {
    const bool may_change =
        method == Method::Put || method == Method::Patch || method == Method::Post || method == Method::Delete;
    if (may_change && equal_ignoring_case(text, token)) return method;
  }
  return Method::Other;
}

std::string_view to_text(Method method) {
  for (const auto& [text, known] : kMethods) {
    if (known == method) return text;
  }
  return "OTHER";
}

Headers::Headers(std::initializer_list<Field> fields) {
  places_.reserve(fields.size());
  for (const Field& field : fields) add(field.name, field.value);
}

// Lengths first: names are rarely equally long.
bool Headers::is_named(const FieldSpan& place, std::string_view name) const {
  return place.name_bytes == name.size() && equal_ignoring_case(name_at(place), name);
}

uint32_t Headers::append(std::string_view text) {
  const size_t at = text_.size();
  GATE_CHECK(text.size() <= std::numeric_limits<uint32_t>::max() - at, "heads are limited to far less");
  text_.append(text);
  return static_cast<uint32_t>(at);
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const FieldSpan& place : places_) {
    if (is_named(place, name)) return value_at(place);
  }
  return std::nullopt;
}

size_t Headers::count(std::string_view name) const {
  return static_cast<size_t>(
      std::count_if(places_.begin(), places_.end(), [&](const FieldSpan& place) { return is_named(place, name); }));
}

void Headers::take_lines(std::string_view lines, size_t fields) {
  places_.clear();
  places_.reserve(fields + kFieldsToAdd);
  text_.clear();
  text_.reserve(lines.size() + kRoomToAdd);
  append(lines);
}

void Headers::add_part(std::string_view lines, std::string_view name, std::string_view value) {
  const auto at = [&](std::string_view part) { return static_cast<size_t>(part.data() - lines.data()); };
  const size_t name_end = at(name) + name.size();
  const size_t value_end = at(value) + value.size();
  const bool is_line = name_end + 2 == at(value) && lines.substr(name_end, 2) == ": " && lines.substr(value_end, 2) == "\r\n";
  places_.push_back({static_cast<uint32_t>(at(name)), static_cast<uint32_t>(name.size()), static_cast<uint32_t>(at(value)),
                     static_cast<uint32_t>(value.size()), true, is_line});
}

void Headers::add(std::string_view name, std::string_view value) {
  const uint32_t name_at = append(name);
  const uint32_t value_at = append(value);
  places_.push_back({name_at, static_cast<uint32_t>(name.size()), value_at, static_cast<uint32_t>(value.size())});
}

void Headers::set(std::string_view name, std::string_view value) {
  const auto first =
      std::find_if(places_.begin(), places_.end(), [&](const FieldSpan& place) { return is_named(place, name); });
  if (first == places_.end()) return add(name, value);
  first->value = append(value);
  first->value_bytes = static_cast<uint32_t>(value.size());
  first->is_checked = false;
  first->is_line = false;
  places_.erase(std::remove_if(first + 1, places_.end(), [&](const FieldSpan& place) { return is_named(place, name); }),
                places_.end());
}

void Headers::remove(std::string_view name) {
  std::erase_if(places_, [&](const FieldSpan& place) { return is_named(place, name); });
}

// A path that begins with two slashes begins with one: to ARM they are the same, and some SDKs send both (docs/arm.md,
// "Resource ids").
std::string_view path_of(std::string_view target) {
  if (target.starts_with("//")) target.remove_prefix(1);
  return target.substr(0, target.find('?'));
}

std::string_view query_of(std::string_view target) {
  const size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
}

std::optional<std::string_view> query_parameter(std::string_view target, std::string_view name) {
  std::string_view rest = query_of(target);
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    const size_t equals = pair.find('=');
    if (equal_ignoring_case(pair.substr(0, equals), name)) {
      return equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace armgate::arm
