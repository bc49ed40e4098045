// What make_plan decides for a request, as tables: one request per line.
#include "rules/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rules/file/rule_file.h"

namespace armgate::rules::plan_test {
namespace {

using arm::Method;

Ruleset ruleset_of(std::string_view json) {
  FaultList faults;
  auto rules = read_rules("test.json", json, faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
  return Ruleset(std::move(rules));
}

const Ruleset& sample() {
  static const Ruleset rules = ruleset_of(R"({"rules": [
    {"name": "vm", "match": {"types": ["Microsoft.Compute/virtualMachines"], "api_version": {"from": "2024-03-01"},
                             "actions": ["restart"]},
     "guard": {"kind": "etag"}},
    {"name": "vm-old", "match": {"types": ["Microsoft.Compute/virtualMachines"]}},
    {"name": "subnet", "match": {"types": ["Microsoft.Network/virtualNetworks/subnets"]},
     "guard": {"kind": "etag", "methods": ["PUT", "DELETE"]},
     "lock": {"parents": ["Microsoft.Network/virtualNetworks"]}},
    {"name": "nothing-for-ddos", "match": {"types": ["Microsoft.Network/ddosProtectionPlans"]}, "mode": "off"},
    {"name": "network", "match": {"types": ["Microsoft.Network/*"]}, "guard": {"kind": "etag"}},
    {"name": "group", "match": {"types": ["Microsoft.Resources/resourceGroups"]}},
    {"name": "tags", "match": {"types": ["Microsoft.Resources/tags"]}, "lock": {"parents": ["*"]}}
  ]})");
  return rules;
}

const std::string kGroup = "/subscriptions/S1/resourceGroups/G1";
const std::string kNetwork = kGroup + "/providers/Microsoft.Network";
const std::string kMachine = kGroup + "/providers/Microsoft.Compute/virtualMachines/m";
const std::string kNew = "?api-version=2024-03-01";

struct Case {
  Method method;
  std::string target;
  PlanKind kind;
  std::string rule = {};  // "": none
  bool guarded = false;
};

void expect_plans(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(to_text(c.method)) + " " + c.target);
    const auto plan = make_plan(sample(), Mode::Protect, c.method, c.target);
    ASSERT_TRUE(plan.ok()) << plan.error().context;
    EXPECT_EQ(plan->kind, c.kind);
    EXPECT_EQ(plan->rule ? plan->rule->name : "", c.rule);
    EXPECT_EQ(plan->guarded && plan->rule->guard.kind == GuardKind::Etag, c.guarded);
    EXPECT_EQ(plan->keys.empty(), c.kind != PlanKind::Write);
  }
}

TEST(Plan, MethodDecidesBetweenPassReadAndWrite) {
  expect_plans({
      {Method::Get, kMachine + kNew, PlanKind::Read, "vm"},
      {Method::Head, kMachine + kNew, PlanKind::Pass},
      {Method::Options, kMachine + kNew, PlanKind::Pass},
      {Method::Other, kMachine + kNew, PlanKind::Pass},
      {Method::Put, kMachine + kNew, PlanKind::Write, "vm", true},
      {Method::Patch, kMachine + kNew, PlanKind::Write, "vm"},
      {Method::Delete, kMachine + kNew, PlanKind::Write, "vm"},
      {Method::Get, kGroup + "/providers/Microsoft.Compute/virtualMachines" + kNew, PlanKind::Read, "vm"},
      {Method::Get, "/subscriptions/S1/providers/Microsoft.Compute/virtualMachines" + kNew, PlanKind::Read, "vm"},
      {Method::Put, kGroup + kNew, PlanKind::Write, "group"},
      {Method::Get, kGroup + kNew, PlanKind::Read, "group"},
      {Method::Delete, kGroup + kNew, PlanKind::Write, "group"},
  });
}

TEST(Plan, ActionIsAWriteOnlyIfItsRuleNamesIt) {
  expect_plans({
      {Method::Post, kMachine + "/restart" + kNew, PlanKind::Write, "vm"},
      {Method::Post, kMachine + "/Restart" + kNew, PlanKind::Write, "vm"},
      {Method::Post, kMachine + "/deallocate" + kNew, PlanKind::Pass},
      {Method::Post, kMachine + "/restart?api-version=2023-09-01", PlanKind::Pass},
      {Method::Post, kMachine + "/listSecrets" + kNew, PlanKind::Pass},
      {Method::Post, kGroup + "/exportTemplate" + kNew, PlanKind::Pass},
  });
}

TEST(Plan, ApiVersionChoosesTheRule) {
  expect_plans({
      {Method::Put, kMachine + "?api-version=2024-03-01", PlanKind::Write, "vm", true},
      {Method::Put, kMachine + "?api-version=2024-03-01-preview", PlanKind::Write, "vm", true},
      {Method::Put, kMachine + "?api-version=2025-04-01", PlanKind::Write, "vm", true},
      {Method::Put, kMachine + "?API-VERSION=2024-07-01", PlanKind::Write, "vm", true},
      {Method::Put, kMachine + "?api-version=2024-02-29", PlanKind::Write, "vm-old"},
      {Method::Put, kMachine + "?api-version=2023-09-01", PlanKind::Write, "vm-old"},
      {Method::Put, kMachine, PlanKind::Write, "vm-old"},
  });
}

TEST(Plan, FirstRuleInTheFileDecides) {
  expect_plans({
      {Method::Put, kNetwork + "/virtualNetworks/v" + kNew, PlanKind::Write, "network", true},
      {Method::Put, kNetwork + "/virtualNetworks/v/subnets/a" + kNew, PlanKind::Write, "subnet", true},
      {Method::Delete, kNetwork + "/virtualNetworks/v/subnets/a" + kNew, PlanKind::Write, "subnet", true},
      {Method::Delete, kNetwork + "/virtualNetworks/v" + kNew, PlanKind::Write, "network"},
      {Method::Put, kNetwork + "/a/b/c/d/e/f" + kNew, PlanKind::Write, "network", true},
      {Method::Put, kNetwork + "/ddosProtectionPlans/d" + kNew, PlanKind::Pass},
      {Method::Get, kNetwork + "/ddosProtectionPlans/d" + kNew, PlanKind::Pass},
      {Method::Put, kGroup + "/providers/Microsoft.NetworkCloud/clusters/c" + kNew, PlanKind::Pass},
      {Method::Put, kGroup + "/providers/Microsoft.Storage/storageAccounts/a" + kNew, PlanKind::Pass},
  });
}

TEST(Plan, WhatIsNoResourcePasses) {
  expect_plans({
      {Method::Get, "/", PlanKind::Pass},
      {Method::Get, "/providers?api-version=2021-04-01", PlanKind::Pass},
      {Method::Post, "/batch?api-version=2020-06-01", PlanKind::Pass},
      {Method::Get, "/metadata/endpoints?api-version=2022-09-01", PlanKind::Pass},
  });
}

std::vector<std::string> key_ids(std::string_view target, Method method = Method::Put) {
  const auto plan = make_plan(sample(), Mode::Protect, method, target);
  std::vector<std::string> ids;
  if (!plan.ok()) return ids;
  for (const LockKey& key : plan->keys) {
    EXPECT_EQ(key.mode, LockMode::Exclusive);
    ids.push_back(key.id);
  }
  return ids;
}

TEST(Plan, WriteLocksItselfAndTheParentsOfItsRule) {
  using Ids = std::vector<std::string>;
  const std::string network = "/subscriptions/s1/resourcegroups/g1/providers/microsoft.network/virtualnetworks/v";
  const std::string machine = "/subscriptions/s1/resourcegroups/g1/providers/microsoft.compute/virtualmachines/m";
  EXPECT_EQ(key_ids(kNetwork + "/virtualNetworks/V" + kNew), Ids{network});
  EXPECT_EQ(key_ids(kNetwork + "/virtualNetworks/V/subnets/A" + kNew), (Ids{network, network + "/subnets/a"}));
  EXPECT_EQ(key_ids(kMachine + "/restart" + kNew, Method::Post), Ids{machine});
  EXPECT_EQ(key_ids(kGroup + kNew), Ids{"/subscriptions/s1/resourcegroups/g1"});
  EXPECT_EQ(key_ids(kMachine + "/providers/Microsoft.Resources/tags/default" + kNew, Method::Patch),
            (Ids{machine, machine + "/providers/microsoft.resources/tags/default"}));
}

TEST(Plan, OneResourceInManySpellingsHasOneKey) {
  const auto keys = key_ids(kMachine + kNew);
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(key_ids("/SUBSCRIPTIONS/s1/resourcegroups/G1/PROVIDERS/microsoft.compute/VIRTUALMACHINES/M" + kNew), keys);
  EXPECT_EQ(key_ids(kMachine + "/" + kNew), keys);
  EXPECT_EQ(key_ids("/subscriptions/S1/resourceGroups/G1/providers/Microsoft.Compute/virtualMachines/%6d" + kNew), keys);
}

TEST(Plan, OffPassesEverything) {
  for (const Method method : {Method::Get, Method::Put, Method::Delete}) {
    const auto plan = make_plan(sample(), Mode::Off, method, kMachine + kNew);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->kind, PlanKind::Pass);
    EXPECT_EQ(plan->rule, nullptr);
    EXPECT_EQ(plan->target.resource.type, "microsoft.compute/virtualmachines");
  }
}

TEST(Plan, ObservePlansAsProtectDoesAndSaysSo) {
  const auto plan = make_plan(sample(), Mode::Observe, Method::Put, kMachine + kNew);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->kind, PlanKind::Write);
  EXPECT_EQ(plan->mode, Mode::Observe);
  EXPECT_EQ(plan->keys, make_plan(sample(), Mode::Protect, Method::Put, kMachine + kNew)->keys);
  const auto ambiguous = make_plan(sample(), Mode::Observe, Method::Put, kNetwork + "/virtualNetworks/../x" + kNew);
  ASSERT_TRUE(ambiguous.ok());
  EXPECT_EQ(ambiguous->kind, PlanKind::Pass);
}

TEST(Plan, OfTheModesOfServiceAndRuleTheOneThatDoesLessHolds) {
  const auto mode_of = [](Mode service, std::optional<Mode> own) {
    Rule rule;
    rule.match.types = {"microsoft.compute/virtualmachines"};
    rule.mode = own;
    return make_plan(Ruleset({rule}), service, Method::Put, kMachine + kNew)->mode;
  };
  EXPECT_EQ(mode_of(Mode::Protect, std::nullopt), Mode::Protect);
  EXPECT_EQ(mode_of(Mode::Protect, Mode::Observe), Mode::Observe);
  EXPECT_EQ(mode_of(Mode::Observe, Mode::Protect), Mode::Observe);
  EXPECT_EQ(mode_of(Mode::Observe, Mode::Off), Mode::Off);
  EXPECT_EQ(mode_of(Mode::Off, Mode::Protect), Mode::Off);
}

TEST(Plan, AmbiguousTargetIsRefusedUnlessItOnlyReadsOrEverythingIsOff) {
  for (const std::string& target :
       {kNetwork + "/virtualNetworks/a%2fb", kNetwork + "/virtualNetworks/../x", kNetwork + "/virtualNetworks/%zz"}) {
    SCOPED_TRACE(target);
    const auto plan = make_plan(sample(), Mode::Protect, Method::Put, target + kNew);
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().kind, ErrorKind::BadInput);
    const auto read = make_plan(sample(), Mode::Protect, Method::Get, target + kNew);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->kind, PlanKind::Pass);
    const auto off = make_plan(sample(), Mode::Off, Method::Put, target + kNew);
    ASSERT_TRUE(off.ok());
    EXPECT_EQ(off->kind, PlanKind::Pass);
  }
}

TEST(Ruleset, PatternsAreFoundByTheirPlaceInTheFileNotByTheirLengthButAnyTypeComesLast) {
  const auto rules = ruleset_of(R"({"rules": [
    {"name": "rest-of-old", "match": {"types": ["*"], "api_version": {"to": "2018-01-01"}}},
    {"name": "deep", "match": {"types": ["a.b/c/*"], "api_version": {"to": "2020-01-01"}}},
    {"name": "any-of-ab", "match": {"types": ["a.b/*"]}},
    {"name": "rest", "match": {"types": ["*"]}}]})");
  const auto name = [&](std::string_view type, std::string_view version) {
    const auto rule = rules.find(type, version);
    return rule ? rule->name : "none";
  };
  EXPECT_EQ(name("a.b/c/d", "2020-01-01"), "deep");
  EXPECT_EQ(name("a.b/c/d", "2020-01-02"), "any-of-ab");
  EXPECT_EQ(name("a.b/c", "2019-01-01"), "any-of-ab");
  EXPECT_EQ(name("a.b/c/d", "2017-01-01"), "deep") << "whatever stands before it";
  EXPECT_EQ(name("a.bc/c", "2019-01-01"), "rest");
  EXPECT_EQ(name("a.bc/c", "2017-01-01"), "rest-of-old");
  EXPECT_EQ(name("microsoft.resources/subscriptions", "2019-01-01"), "none");
  EXPECT_EQ(name("", "2019-01-01"), "none");
}

TEST(Ruleset, AgreesWithALinearSearchOverManyRules) {
  // The obviously correct way to find the first rule, against the index, over every pair of type and version.
  std::vector<Rule> rules;
  const std::vector<std::string> types{"a/x", "a/*", "a/x/y", "a/x/*", "b/x", "*"};
  const std::vector<std::string> bounds{"", "1", "2"};
  for (size_t i = 0; i < 200; ++i) {
    Rule rule;
    rule.name = std::to_string(i);
    rule.match.types = {types[(i * 7 + i / 5) % (types.size() - (i < 150))]};
    rule.match.api_version_from = bounds[(199 - i) * 3 / 200];
    rule.match.api_version_to = bounds[(i / 3) % 3];
    rules.push_back(rule);
  }
  const Ruleset indexed(rules);
  for (const std::string type : {"a/x", "a/x/y", "a/z", "b/x", "b/y", "c/x/y/z"}) {
    for (const std::string version : {"", "1", "15", "2", "3"}) {
      std::string expected = "none";
      auto in_order = rules;
      std::stable_partition(in_order.begin(), in_order.end(), [](const Rule& rule) { return rule.match.types[0] != "*"; });
      for (const Rule& rule : in_order) {
        const std::string& pattern = rule.match.types[0];
        const bool type_fits =
            pattern.ends_with('*') ? type.starts_with(pattern.substr(0, pattern.size() - 1)) : type == pattern;
        const bool version_fits = version >= rule.match.api_version_from &&
                                  (rule.match.api_version_to.empty() || version <= rule.match.api_version_to);
        if (!type_fits || !version_fits) continue;
        expected = rule.name;
        break;
      }
      const auto found = indexed.find(type, version);
      EXPECT_EQ(found ? found->name : "none", expected) << type << " " << version;
    }
  }
}

}  // namespace
}  // namespace armgate::rules::plan_test
