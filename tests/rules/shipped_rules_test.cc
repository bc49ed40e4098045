// The rules that come with armgate (conf/rules/*.json): free of faults, and doing what they are meant to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/source_tree.h"
#include "rules/plan.h"
#include "rules/rule_file.h"

namespace armgate::rules {
namespace {

using arm::Method;
using Ids = std::vector<std::string>;

RuleBook load_from(const std::string& directory, FaultList& faults) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  RuleBook book;
  for (const auto& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    book.add(read_rule_book(file.filename().string(), text.str(), faults));
  }
  check_names(book.rules, faults);
  return book;
}

RuleBook load_shipped(FaultList& faults) { return load_from(source_path("conf/rules"), faults); }

const Ruleset& shipped() {
  static const Ruleset rules = [] {
    FaultList faults;
    return Ruleset(load_shipped(faults).rules);
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
  const auto book = load_shipped(faults);
  EXPECT_GE(book.rules.size(), 25u);
  EXPECT_GE(book.errors.size(), 20u);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
}

TEST(ShippedRules, OptionalOnesLoadBesideThemWithoutAFault) {
  FaultList faults;
  RuleBook book = load_from(source_path("conf/rules/optional"), faults);
  EXPECT_GE(book.rules.size(), 30u);
  book.add(load_shipped(faults));
  check_names(book.rules, faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
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
      {Method::Put, kGroup + "/providers/microsoft.search/searchservices/a" + kVersion, PlanKind::Pass},
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
}  // namespace armgate::rules
