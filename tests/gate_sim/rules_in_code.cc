#include "tests/gate_sim/rules_in_code.h"

namespace armgate::world {
namespace {

rules::Rule guarded(std::string name, std::string type) {
  rules::Rule rule;
  rule.name = std::move(name);
  rule.match.types = {std::move(type)};
  rule.guard.kind = rules::GuardKind::Etag;
  return rule;
}

}  // namespace

std::vector<rules::Rule> simulated_rules() {
  std::vector<rules::Rule> all;
  all.push_back(guarded("scale sets", "microsoft.compute/virtualmachinescalesets"));
  all.back().match.actions = {"restart", "start", "deallocate", "reimage"};
  all.push_back(guarded("machines", "microsoft.compute/virtualmachines"));
  all.back().match.actions = {"restart", "start", "deallocate"};
  all.push_back(guarded("subnets", "microsoft.network/virtualnetworks/subnets"));
  all.back().lock.parents = {"microsoft.network/virtualnetworks"};
  all.push_back(guarded("networks", "microsoft.network/virtualnetworks"));
  all.push_back(guarded("security groups", "microsoft.network/networksecuritygroups"));
  rules::Rule others;
  others.name = "everything else";
  others.match.types = {"microsoft.resources/resourcegroups", "microsoft.storage/storageaccounts"};
  all.push_back(others);
  rules::Rule tags;
  tags.name = "tags";
  tags.match.types = {"microsoft.resources/tags"};
  tags.lock.parents = {"*"};
  all.push_back(tags);
  return all;
}

}  // namespace armgate::world
