// body_settings.h – what a rule file says about the bodies of its types: the keys below "body".
//
// Why: which members only the service writes and how the elements of an array are told apart decides whether a write is in conflict.
// A fact that holds nowhere would do so silently, so everything is checked that can be without a body.
#pragma once

#include <string>

#include "rules/fault_list.h"
#include "rules/json_reader.h"
#include "rules/rule.h"

namespace armgate::rules {

// The keys, to be put below a rule's others.
SettingTable body_settings(arm::DeclaredFacts& facts);

// A JSON pointer in which "*" is every element or member, as rule files write it.
std::optional<std::string> check_pointer(std::string& pointer);

// Complains of keys where there can be none, of those that are missing, and of pointers that stand twice. `pointer` is the rule's.
void check_body(const Rule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& faults);

}  // namespace armgate::rules
