// The rules that come with armgate (conf/rules/*.json): free of faults, and doing what they are meant to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "rules/facts/fact_table.h"
#include "rules/file/rule_file.h"
#include "rules/plan.h"
#include "tests/support/shipped_rules.h"

namespace armgate::rules::shipped_rules_test {
namespace {

using arm::Method;
using Ids = std::vector<std::string>;

const Ruleset& shipped() {
  static const Ruleset rules = [] {
    FaultList faults;
    return Ruleset(shipped_rules(faults).rules);
  }();
  return rules;
}

const std::string kGroup = "/subscriptions/s/resourcegroups/g";
const std::string kMachine = kGroup + "/providers/microsoft.compute/virtualmachines/m";
const std::string kScaleSet = kGroup + "/providers/microsoft.compute/virtualmachinescalesets/v";
const std::string kNetwork = kGroup + "/providers/microsoft.network";
const std::string kVersion = "?api-version=2024-05-01";

struct Case {
  Method method;
  std::string target;
  PlanKind kind;
  bool guarded = false;
  Ids keys = {};
};

void expect_plans(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(to_text(c.method)) + " " + c.target);
    const auto plan = make_plan(shipped(), Mode::Protect, c.method, c.target);
    ASSERT_TRUE(plan.ok()) << plan.error().context;
    EXPECT_EQ(plan->kind, c.kind);
    EXPECT_EQ(plan->guarded && plan->rule->guard.kind != GuardKind::Auto, c.guarded);
    Ids keys;
    for (const LockKey& key : plan->keys) keys.push_back(key.id);
    EXPECT_EQ(keys, c.keys);
  }
}

TEST(ShippedRules, LoadWithoutAFault) {
  FaultList faults;
  const auto book = shipped_rules(faults);
  EXPECT_GE(book.rules.size(), 25u);
  EXPECT_GE(book.errors.size(), 20u);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
}

TEST(ShippedRules, OptionalOnesLoadBesideThemWithoutAFault) {
  FaultList faults;
  RuleBook book = rules_in("conf/rules/optional", faults);
  EXPECT_GE(book.rules.size(), 30u);
  book.add(shipped_rules(faults));
  check_names(book.rules, faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
}

TEST(ShippedRules, FactsOfAllFilesAgreeAndStandInNoRule) {
  FaultList faults;
  RuleBook book = shipped_rules(faults);
  book.add(rules_in("conf/rules/optional", faults));
  std::set<std::string> types;
  for (const FactEntry& entry : book.facts) types.insert(entry.match.types.begin(), entry.match.types.end());
  EXPECT_GE(types.size(), 200u);
  for (const Fault& fault : warnings_about(book.facts)) ADD_FAILURE() << to_text(fault);
  for (const Rule& rule : book.rules) EXPECT_TRUE(rule.body.declared.empty()) << rule.name << ": put it into facts-*.json";
}

TEST(ShippedRules, FactsHoldByTypeAndApiVersionWhateverRuleDecides) {
  FaultList faults;
  const FactTable table(share(shipped_rules(faults).facts));
  const auto at = [&](const char* type, const char* version, const std::vector<std::string>& path) {
    arm::BodyPlace place = table.find(type, version, nullptr).body->top();
    for (const std::string& name : path) place = name == "*" ? place.element() : place.member(name);
    return place;
  };
  const char* const network = "microsoft.network/virtualnetworks";
  EXPECT_FALSE(at(network, "2023-09-01", {"properties", "subnets"}).kept());
  EXPECT_TRUE(at(network, "2023-11-01", {"properties", "subnets"}).kept());
  for (const char* version : {"2023-06-01", "2023-09-01"}) {
    EXPECT_TRUE(at(network, version, {"properties", "subnets", "*", "properties", "ipConfigurations"}).read_only());
  }
  EXPECT_TRUE(at("microsoft.network/virtualnetworks/subnets", "", {"properties", "ipConfigurations"}).read_only());
  EXPECT_FALSE(at("microsoft.network/networkinterfaces", "", {"properties", "ipConfigurations"}).read_only());
  const char* const cluster = "microsoft.containerservice/managedclusters";
  EXPECT_TRUE(at(cluster, "2019-02-01", {"properties", "nodeResourceGroup"}).read_only());
  EXPECT_FALSE(at(cluster, "2024-10-01", {"properties", "nodeResourceGroup"}).read_only());
  EXPECT_TRUE(at(cluster, "2024-10-01", {"properties", "nodeResourceGroup"}).kept());
  for (const char* version : {"2022-08-01", "2024-07-01"}) {  // without and with ETags
    const auto machine = at("microsoft.compute/virtualmachines", version, {"properties"});
    EXPECT_TRUE(machine.member("instanceView").read_only());
    EXPECT_TRUE(machine.member("osProfile").member("adminPassword").write_only());
    EXPECT_TRUE(machine.member("osProfile").member("adminPassword").kept());
    EXPECT_EQ(machine.member("storageProfile").member("dataDisks").array()->key.front(), "lun");
  }
  EXPECT_TRUE(table.find("microsoft.network/applicationsecuritygroups", "", nullptr).known());
  EXPECT_FALSE(table.find("microsoft.example/widgets", "", nullptr).known());
}

TEST(ShippedRules, ComputeIsGuardedFromTheFirstApiVersionWithETags) {
  const std::string instance = kScaleSet + "/virtualmachines/0";
  expect_plans({
      {Method::Put, kScaleSet + "?api-version=2024-03-01", PlanKind::Write, true, {kScaleSet}},
      {Method::Put, kScaleSet + "?api-version=2025-04-01", PlanKind::Write, true, {kScaleSet}},
      {Method::Put, kScaleSet + "?api-version=2023-09-01", PlanKind::Write, false, {kScaleSet}},
      {Method::Put, kScaleSet, PlanKind::Write, false, {kScaleSet}},
      {Method::Put, kMachine + "?api-version=2024-03-01", PlanKind::Write, true, {kMachine}},
      {Method::Put, kMachine + "?api-version=2023-09-01", PlanKind::Write, false, {kMachine}},
      {Method::Put, instance + "?api-version=2024-03-01", PlanKind::Write, true, {instance}},
      {Method::Put, instance + "?api-version=2023-09-01", PlanKind::Write, false, {instance}},
      // A PATCH or a DELETE is an intention, not a copy: queued, never guarded.
      {Method::Patch, kScaleSet + kVersion, PlanKind::Write, false, {kScaleSet}},
      {Method::Delete, kScaleSet + kVersion, PlanKind::Write, false, {kScaleSet}},
      {Method::Get, kScaleSet + kVersion, PlanKind::Read},
      {Method::Get, kScaleSet + "/virtualmachines" + kVersion, PlanKind::Read},
  });
}

TEST(ShippedRules, PowerActionsQueueAndWhatEndsOrReadsPasses) {
  std::vector<Case> cases;
  for (const char* action : {"start", "restart", "powerOff", "deallocate", "reimage", "reimageAll", "redeploy"}) {
    for (const char* version : {"?api-version=2024-05-01", "?api-version=2022-08-01"}) {
      cases.push_back({Method::Post, kMachine + "/" + action + version, PlanKind::Write, false, {kMachine}});
      cases.push_back({Method::Post, kScaleSet + "/" + action + version, PlanKind::Write, false, {kScaleSet}});
    }
  }
  for (const char* action : {"abort", "cancel", "abortLatestOperation", "listKeys", "getInstanceView", "checkName", "validate",
                             "capture", "generalize"}) {
    cases.push_back({Method::Post, kMachine + "/" + action + kVersion, PlanKind::Pass});
  }
  expect_plans(cases);
}

TEST(ShippedRules, ChildLocksTheParentThatTakesOneChangeAtATime) {
  const struct {
    const char* parent;
    const char* child;
  } cases[] = {
      {"virtualnetworks", "subnets"},
      {"virtualnetworks", "virtualnetworkpeerings"},
      {"routetables", "routes"},
      {"loadbalancers", "backendaddresspools"},
      {"loadbalancers", "inboundnatrules"},
      {"firewallpolicies", "rulecollectiongroups"},
      {"virtualhubs", "hubroutetables"},
      {"vpngateways", "vpnconnections"},
      {"vpnserverconfigurations", "configurationpolicygroups"},
      {"expressroutecircuits", "peerings"},
      {"expressrouteports", "authorizations"},
  };
  for (const auto& c : cases) {
    const std::string parent = kNetwork + "/" + c.parent + "/p";
    const std::string child = parent + "/" + c.child + "/c";
    expect_plans({
        {Method::Put, child + kVersion, PlanKind::Write, true, {parent, child}},
        {Method::Delete, child + kVersion, PlanKind::Write, false, {parent, child}},
        {Method::Put, parent + kVersion, PlanKind::Write, true, {parent}},
    });
  }
}

TEST(ShippedRules, SecurityRuleLocksOnlyItself) {
  const std::string nsg = kNetwork + "/networksecuritygroups/n";
  const std::string rule = nsg + "/securityrules/r";
  expect_plans({
      {Method::Put, rule + kVersion, PlanKind::Write, true, {rule}},
      {Method::Delete, rule + kVersion, PlanKind::Write, false, {rule}},
      {Method::Put, nsg + kVersion, PlanKind::Write, true, {nsg}},
  });
}

TEST(ShippedRules, GroupLocksOnlyItselfAndNothingBelowLocksIt) {
  expect_plans({
      {Method::Put, kGroup + kVersion, PlanKind::Write, true, {kGroup}},
      {Method::Patch, kGroup + kVersion, PlanKind::Write, false, {kGroup}},
      {Method::Delete, kGroup + kVersion, PlanKind::Write, false, {kGroup}},
      {Method::Get, kGroup + kVersion, PlanKind::Read},
      {Method::Post, kGroup + "/exportTemplate" + kVersion, PlanKind::Pass},
      {Method::Put,
       kGroup + "/providers/microsoft.search/searchservices/a" + kVersion,
       PlanKind::Write,
       false,
       {kGroup + "/providers/microsoft.search/searchservices/a"}},
      {Method::Post, kGroup + "/moveResources" + kVersion, PlanKind::Write, false, {kGroup}},
  });
  for (const auto& rule : shipped().rules()) {
    if (rule->name == "tags" || rule->name == "security-pricings") continue;
    EXPECT_TRUE(std::none_of(rule->lock.parents.begin(), rule->lock.parents.end(), [](const std::string& parent) {
      return parent == "*" || parent == "microsoft.resources/resourcegroups";
    })) << rule->name;
  }
}

TEST(ShippedRules, WhatHasNoETagIsVerifiedAndItsTagsLockWhatTheyTag) {
  const std::string account = kGroup + "/providers/microsoft.storage/storageaccounts/a";
  const std::string vault = kGroup + "/providers/microsoft.keyvault/vaults/v";
  const std::string tags = "/providers/microsoft.resources/tags/default";
  expect_plans({
      {Method::Put, account + kVersion, PlanKind::Write, true, {account}},
      {Method::Patch, account + kVersion, PlanKind::Write, false, {account}},
      {Method::Put, vault + kVersion, PlanKind::Write, true, {vault}},
      {Method::Get, vault + kVersion, PlanKind::Read},
      {Method::Post, account + "/listKeys" + kVersion, PlanKind::Pass},
      {Method::Put, vault + tags + kVersion, PlanKind::Write, true, {vault, vault + tags}},
      {Method::Put, kGroup + tags + kVersion, PlanKind::Write, true, {kGroup, kGroup + tags}},
      {Method::Patch, kMachine + tags + kVersion, PlanKind::Write, false, {kMachine, kMachine + tags}},
  });
  for (const std::string& target : {account, vault, kGroup, kGroup + tags}) {
    const auto plan = make_plan(shipped(), Mode::Protect, Method::Put, target + kVersion);
    ASSERT_TRUE(plan.ok() && plan->rule);
    EXPECT_EQ(plan->rule->guard.kind, GuardKind::Verify) << target;
  }
}

}  // namespace
}  // namespace armgate::rules::shipped_rules_test
