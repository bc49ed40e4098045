// rule_case.h – what a rule file says its rules make of certain requests, and its facts of their bodies, tried whenever the
// file is read.
//
// Why: a rule is right only if it does to real requests what its author meant, and a fact only if it hides what the service
// changes and nothing that a client does. Cases say that beside them, and a change that breaks one is refused before it
// protects the wrong thing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/facts/fact_entry.h"
#include "rules/file/json_reader.h"
#include "rules/rule.h"

namespace armgate::rules {

// What is left out is not checked.
struct RuleCase {
  SourceLine place;
  std::string request;               // "PUT /subscriptions/...?api-version=..."
  std::string shown;                 // JSON: a state of the resource, which `body` is compared with; may be empty
  std::string body;                  // JSON; may be empty
  std::vector<std::string> changed;  // with `shown`: where the two differ, and nowhere else
  std::string rule;                  // the name of the rule that decides; empty: the request passes untouched
  std::optional<GuardKind> guard;    // None also if the method is not guarded
  std::vector<std::string> locks;    // canonical ids, "shared " before those; empty: not checked
  std::optional<LeaseUntil> lease;
};

SettingTable settings_of(RuleCase& one);

// Adds a fault for every case that `rules` and `facts` do not fulfil.
void check_cases(const std::vector<Rule>& rules, const std::vector<FactEntry>& facts, const std::vector<RuleCase>& cases,
                 const JsonPositions& positions, FaultList& faults);

}  // namespace armgate::rules
