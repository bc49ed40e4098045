#include "arm/http.h"

#include <algorithm>
#include <array>
#include <utility>

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

}  // namespace

Method method_of(std::string_view token) {
  for (const auto& [text, method] : kMethods) {
    if (text == token) return method;
  }
  return Method::Other;
}

std::string_view to_text(Method method) {
  for (const auto& [text, known] : kMethods) {
    if (known == method) return text;
  }
  return "OTHER";
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& field : fields_) {
    if (equal_ignoring_case(field.name, name)) return std::string_view(field.value);
  }
  return std::nullopt;
}

size_t Headers::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    return equal_ignoring_case(field.name, name);
  }));
}

void Headers::add(std::string_view name, std::string_view value) {
  fields_.push_back(Field{std::string(name), std::string(value)});
}

void Headers::add_checked(std::string_view name, std::string_view value) {
  fields_.push_back(Field{std::string(name), std::string(value), true});
}

void Headers::set(std::string_view name, std::string_view value) {
  bool placed = false;
  for (auto it = fields_.begin(); it != fields_.end();) {
    if (!equal_ignoring_case(it->name, name)) {
      ++it;
    } else if (!placed) {
      it->value = std::string(value);
      it->is_checked = false;
      placed = true;
      ++it;
    } else {
      it = fields_.erase(it);
    }
  }
  if (!placed) add(name, value);
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const Field& field) { return equal_ignoring_case(field.name, name); });
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

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
