// explain_type.h – says in words what is known about a type, from where, and how a write to it is protected: for `armgate
// types`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/explain.h"
#include "rules/plan.h"

namespace armgate::rules {

// "declared"
std::string_view to_text(FactStrength strength);

// What is known about one type at the newest api-version.
struct TypeSummary {
  std::string type;  // canonical, or a pattern that a rule or facts name
  FactStrength strength = FactStrength::Generic;
  size_t read_only = 0, write_only = 0, kept = 0, maps = 0, arrays = 0, same = 0;
  std::string rule;   // empty: none
  std::string guard;  // "etag"
};

// Every type that facts or rules name, by name.
std::vector<TypeSummary> summaries_of(const Ruleset& rules);

// Everything about one type, at all api-versions. One that nobody has heard of has what holds for all.
std::vector<Fact> explain_type(const Ruleset& rules, std::string_view type);

}  // namespace armgate::rules
