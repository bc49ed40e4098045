// idle_keys.h – keys of a rule file that are good by themselves and that another key of the same entry leaves without effect.
//
// Why: an operator who writes "breaker.probe_every" means a breaker, and there is none without "breaker.mode". Nothing is
// inherited from entry to entry (docs/rules.md, "Who decides"), so that one entry, with the defaults of what it leaves out,
// tells.
// Limits   a rule's "mode" counts for nothing here: "off" for a while is how people look what a rule does.
#pragma once

#include <string>

#include "rules/file/error_table.h"
#include "rules/file/fault_list.h"
#include "rules/file/json_positions.h"
#include "rules/rule.h"

namespace armgate::rules {

// Warns of each such key that the entry at `pointer` of its file has written.
void warn_of_idle_keys(const Rule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& warnings);
void warn_of_idle_keys(const ErrorRule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& warnings);

}  // namespace armgate::rules
