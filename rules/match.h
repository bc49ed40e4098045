// match.h – which types and api-versions a rule is for, and what two of them share.
#pragma once

#include <string_view>

#include "rules/rule.h"

namespace armgate::rules {

// True if a rule for `pattern` applies to everything that a rule for `type` (itself a type or a pattern) applies to.
bool covers_type(std::string_view pattern, std::string_view type);

// True if a rule for `pattern` leaves nothing of `type` to a later rule: "*" takes from no other pattern.
bool takes_type(std::string_view pattern, std::string_view type);

// True if every api-version of `narrow` is one of `wide`.
bool covers_versions(const Match& wide, const Match& narrow);

// True if the api-version is one of those that it is for.
bool covers_version(const Match& match, std::string_view api_version);

// True if some api-version is one of both.
bool share_versions(const Match& a, const Match& b);

}  // namespace armgate::rules
