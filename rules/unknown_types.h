// unknown_types.h – types that a rule names and that are most likely misspelt: such a rule protects nothing, and says nothing.
#pragma once

#include <vector>

#include "rules/facts/fact_entry.h"
#include "rules/file/fault_list.h"
#include "rules/rule.h"

namespace armgate::rules {

// Warns of types of which neither facts nor rules of other files know, if one is known that is spelt nearly alike; of any such
// type if facts were imported, which know all. `facts` may be null.
FaultList warnings_about_types(const std::vector<Rule>& rules, const FactEntries& facts);

}  // namespace armgate::rules
