// overlap.h – rules that get into each other's way: what an earlier one takes from a later one, and what contradicts.
//
// Why: the first rule that matches decides, over all files. Within a file, a rule that can never match is a fault; across files
// it is how shipped rules are overruled, so it is a warning.
#pragma once

#include <vector>

#include "rules/file/error_table.h"
#include "rules/file/fault_list.h"
#include "rules/rule.h"

namespace armgate::rules {

// What an operator should look at, of all files together in their order:
//   - a rule of which earlier ones take everything;
//   - two rules that share some api-versions of a type, neither all of the other's, and decide differently about them;
//   - a rule that locks a parent whose own writes another rule lets pass.
FaultList warnings_about(const std::vector<Rule>& rules);

// The same of "errors": an entry all of whose answers earlier ones take.
FaultList warnings_about(const std::vector<ErrorRule>& errors);

}  // namespace armgate::rules
