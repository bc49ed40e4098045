// type_name.h – how rule files write types of resources and api-versions. Each check puts the text into its canonical form and
// says what is wrong with it, as a TextCheck does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::rules {

// Of a type's name; and of an action's.
constexpr bool is_type_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// A type, or a pattern: "microsoft.network/*", "*".
std::optional<std::string> check_type(std::string& type);

// A type, or a pattern that names at least its provider.
std::optional<std::string> check_named_type(std::string& type);

// A type, no pattern.
std::optional<std::string> check_exact_type(std::string& type);

// A type, or "*" for the nearest ancestor.
std::optional<std::string> check_parent(std::string& type);

std::optional<std::string> check_api_version(std::string& version);

// Whether a resource of that type can stand above one of `types`. Within one provider namespace an ancestor's type begins the
// type; a resource of another namespace may be extended by anything, so nothing can be said about it here.
bool can_be_parent(std::string_view parent, const std::vector<std::string>& types);

}  // namespace armgate::rules
