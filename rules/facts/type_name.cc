#include "rules/facts/type_name.h"

#include <algorithm>

#include "base/text.h"
#include "rules/match.h"

namespace armgate::rules {
namespace {

// "namespace/type[/type...]" in lower case.
bool is_type(std::string_view text) {
  if (text.find('/') == text.npos || text.front() == '/' || text.back() == '/') return false;
  if (text.find("//") != text.npos) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_type_character(c) || c == '/'; });
}

}  // namespace

std::optional<std::string> check_type(std::string& type) {
  type = lower_text(type);
  const std::string_view plain = type.ends_with("/*") ? std::string_view(type).substr(0, type.size() - 2) : type;
  const bool is_pattern = plain.size() != type.size();
  if (type == "*" || is_type(plain)) return std::nullopt;
  if (is_pattern && !plain.empty() && std::all_of(plain.begin(), plain.end(), is_type_character)) return std::nullopt;
  return "is not a resource type such as \"Microsoft.Network/virtualNetworks\" or a pattern such as "
         "\"Microsoft.Network/*\"";
}

std::optional<std::string> check_parent(std::string& type) {
  type = lower_text(type);
  if (type == "*" || is_type(type)) return std::nullopt;
  return "is not a resource type such as \"Microsoft.Network/virtualNetworks\" (\"*\": the nearest ancestor)";
}

std::optional<std::string> check_exact_type(std::string& type) {
  type = lower_text(type);
  if (is_type(type)) return std::nullopt;
  return "is not a resource type such as \"Microsoft.Network/virtualNetworks\"";
}

std::optional<std::string> check_api_version(std::string& version) {
  version = lower_text(version);
  constexpr std::string_view kForm = "0000-00-00";
  bool dated = version.size() >= kForm.size();
  for (size_t i = 0; dated && i < kForm.size(); ++i) {
    dated = kForm[i] == '-' ? version[i] == '-' : version[i] >= '0' && version[i] <= '9';
  }
  if (dated && (version.size() == kForm.size() || version[kForm.size()] == '-')) return std::nullopt;
  return "is not an api-version such as \"2024-03-01\" or \"2024-03-01-preview\"";
}

std::optional<std::string> check_named_type(std::string& type) {
  if (type == "*") return "is every type; name a provider, such as \"Microsoft.Network/*\"";
  return check_type(type);
}

bool can_be_parent(std::string_view parent, const std::vector<std::string>& types) {
  if (parent == "*") return true;
  const auto provider = parent.substr(0, parent.find('/') + 1);
  bool same_provider = false;
  for (const std::string& type : types) {
    if (type.starts_with(std::string(parent) + "/") || (type.ends_with('*') && covers_type(type, parent))) return true;
    same_provider = same_provider || type.starts_with(provider);
  }
  return !same_provider;
}

}  // namespace armgate::rules
