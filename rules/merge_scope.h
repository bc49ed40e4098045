// merge_scope.h – which of a write's changes may be merged with what others changed.
#pragma once

#include <optional>

#include "arm/body/merge.h"
#include "rules/plan.h"

namespace armgate::rules {

// `merging`: the most careful of what configuration, client and rule say. Nothing: the write has to be built on what is there.
inline std::optional<arm::MergeScope> merge_scope(const Plan& plan, Merging merging) {
  if (merging == Merging::Off) return std::nullopt;
  if (merging == Merging::Maps) return arm::MergeScope::Maps;
  // What was imported knows no keys of arrays.
  const bool keys_known = plan.facts().strength == FactStrength::Declared;
  return keys_known ? arm::MergeScope::All : arm::MergeScope::Leaves;
}

}  // namespace armgate::rules
