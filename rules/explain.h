// explain.h – says in words what the rules make of a request, and who decided it: for `armgate explain`.
//
// Why: the answer must come from the plan itself. A description that is derived from anything else would one day be wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/plan.h"

namespace armgate::rules {

// One line of the answer.
struct Fact {
  std::string name;  // "lock keys"
  std::string value;
  std::string decided_by;  // "rule \"network\" at conf/rules/network.json:53", "the configuration"; empty: the request itself
};

// "rule \"network\" at conf/rules/network.json:53"
std::string words_for(const Rule& rule);

// What is said about bodies, in words; `by` says it.
void add_body(std::vector<Fact>& facts, const arm::DeclaredFacts& body, const std::string& by);

// "etag: carries the ETag of the state it was built from"
std::string_view words_for(GuardKind kind);

// What make_plan() makes of it. `merging`: the most that the configuration and the client's entry in it allow. BadInput as
// there.
Result<std::vector<Fact>> explain_plan(const Ruleset& rules, Mode mode, arm::Method method, std::string_view target,
                                       Merging merging = Merging::On);

}  // namespace armgate::rules
