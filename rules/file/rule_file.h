// rule_file.h – reads rule files (conf/rules/*.json: rules, facts of types, entries of the error table, and clients' queue
// timeout) and checks them as a whole.
//
// Why: a rule that silently does nothing is a lost update waiting to happen, so a misspelt key, type or method, a rule
// that can never match and a name given twice are all refused, with their line (promise P9, docs/design.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/facts/fact_entry.h"
#include "rules/file/error_table.h"
#include "rules/file/fault_list.h"
#include "rules/file/json_reader.h"
#include "rules/file/queue_timeouts.h"
#include "rules/file/rule_case.h"
#include "rules/rule.h"

namespace armgate::rules {

// What one file says, or several in the order in which they decide.
struct RuleBook {
  std::vector<Rule> rules;
  std::vector<FactEntry> facts;
  std::vector<ErrorRule> errors;
  std::vector<QueueTimeout> queue_timeouts;
  FaultList warnings;  // keys without effect (rules/idle_keys.h), of files without faults

  void add(RuleBook more);
};

// What one file says while it is being read.
struct RuleDraft {
  std::string schema;  // for editors
  RuleBook book;
  std::vector<RuleCase> cases;
};

// Everything that a rule file can say, bound to `draft`; `file` names it in messages.
SettingTable settings_of(RuleDraft& draft, const std::string& file);

// The same for editors; conf/schema/rules.schema.json is this text.
std::string rule_file_schema();

// Whether a file's cases are tried on its own rules and facts, or were.
enum class Cases { Try, AreTried };

// One file, which may be one of imported facts (rules/facts/imported_facts.h), in its order. Adds every fault; with a new
// fault, the result serves only check_names. In a file without other faults, no type of a rule may be wholly taken by an
// earlier rule. (An earlier file may take what a later one says: that is how shipped rules are overruled. The same goes for the
// entries of the error table.)
RuleBook read_rule_book(const std::string& file, std::string_view text, FaultList& faults, Cases cases = Cases::Try);

// Its rules alone.
inline std::vector<Rule> read_rules(const std::string& file, std::string_view text, FaultList& faults) {
  return read_rule_book(file, text, faults).rules;
}

// Checks the rules of all files together: no name is given twice.
void check_names(const std::vector<Rule>& rules, FaultList& faults);

// Everything that a rule can say, bound to `rule`.
SettingTable settings_of(Rule& rule);

}  // namespace armgate::rules
