#include "rules/match.h"

#include <string>

namespace armgate::rules {

bool covers_type(std::string_view pattern, std::string_view type) {
  if (pattern == type) return true;
  return pattern.ends_with('*') && type.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool takes_type(std::string_view pattern, std::string_view type) {
  return pattern == kAnyType ? type == kAnyType : covers_type(pattern, type);
}

bool covers_versions(const Match& wide, const Match& narrow) {
  const bool from =
      wide.api_version_from.empty() || (!narrow.api_version_from.empty() && wide.api_version_from <= narrow.api_version_from);
  const bool to =
      wide.api_version_to.empty() || (!narrow.api_version_to.empty() && narrow.api_version_to <= wide.api_version_to);
  return from && to;
}

bool covers_version(const Match& match, std::string_view api_version) {
  if (!match.api_version_from.empty() && api_version < match.api_version_from) return false;
  return match.api_version_to.empty() || api_version <= match.api_version_to;
}

bool share_versions(const Match& a, const Match& b) {
  const bool a_ends_before = !a.api_version_to.empty() && a.api_version_to < b.api_version_from;
  const bool b_ends_before = !b.api_version_to.empty() && b.api_version_to < a.api_version_from;
  return !a_ends_before && !b_ends_before;
}

}  // namespace armgate::rules
