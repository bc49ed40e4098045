// rule_documents.h – the rule files of one process as one text, from which another makes the same rules: replicas whose rules
// differ must know each other's (proxy/gateway/cluster).
//
// Threads   any; no state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/plan.h"
#include "rules/rule.h"

namespace armgate {

// `files`: their contents, in the order in which they decide. `unruled`: the most that a rule for any type may do.
std::shared_ptr<const rules::RuleSource> rule_source(const std::vector<std::string>& files, rules::Mode unruled);

// The rules of another process. BadInput: it is of another version of armgate, and cannot be read by this one.
Result<std::shared_ptr<const rules::Ruleset>> rules_of(const std::string& document);

// The rules for any type do that much at most.
void limit_unruled(rules::Mode most, std::vector<rules::Rule>& all);

}  // namespace armgate
