#include "tests/gate_sim/workloads/world_rules.h"

#include "base/check.h"
#include "tests/support/shipped_rules.h"

namespace armgate::world {
namespace {

// What an operator would say of the simulated ARM's example types.
constexpr std::string_view kExampleTypes = R"({"rules": [
  {"name": "shelves", "match": {"types": ["Microsoft.Example/shelves"]}, "guard": {"kind": "etag"},
   "body": {"read_only": ["/properties/revision", "/properties/endpoint"],
            "arrays": [{"pointer": "/properties/items", "key": ["name"]}]}},
  {"name": "safes", "match": {"types": ["Microsoft.Example/safes"]}, "guard": {"kind": "etag"},
   "body": {"write_only": ["/properties/secret"]}}]})";

const rules::RuleBook& shipped() {
  static const rules::RuleBook book = [] {
    rules::FaultList faults;
    rules::RuleBook all = shipped_rules(faults);
    all.add(rules::read_rule_book("example", kExampleTypes, faults));
    GATE_CHECK(faults.empty() && !all.rules.empty() && !all.errors.empty(), "the shipped rule files cannot be read");
    return all;
  }();
  return book;
}

}  // namespace

const std::vector<rules::Rule>& world_rules() { return shipped().rules; }

const std::vector<rules::ErrorRule>& world_errors() { return shipped().errors; }

const rules::FactEntries& world_facts() {
  static const rules::FactEntries facts = rules::share(shipped().facts);
  return facts;
}

std::vector<rules::Rule> varied_rules(Rng& rng) {
  std::vector<rules::Rule> all = world_rules();
  for (rules::Rule& rule : all) {
    const bool has_parents = !rule.lock.parents.empty();
    // Nothing but its key stands between a pool and a write of the cluster that repeats it: the cluster's ETag is another. Nor between
    // tags and what they tag, or a subnet and its network, where those have no ETag.
    const bool must_stay = rule.name.starts_with("aks-pools") || rule.name == "tags" || rule.name == "subnets";
    if (has_parents && rng.chance(0.4) && !must_stay) rule.lock.parents.clear();
    if (!has_parents && rng.chance(0.3)) rule.lock.parents = {"*"};
    if (rng.chance(0.3)) rule.lease.max = std::chrono::minutes(10 + rng.below(50));
    if (rng.chance(0.3)) rule.busy.attempts = 2 + static_cast<int>(rng.below(20));
  }
  return all;
}

std::vector<rules::Rule> fewer_rules(Rng& rng) {
  std::vector<rules::Rule> some = varied_rules(rng);
  const double missing = rng.unit();
  std::erase_if(some, [&](const rules::Rule&) { return rng.chance(missing); });
  return some;
}

}  // namespace armgate::world
