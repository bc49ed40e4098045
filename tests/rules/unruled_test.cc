// What the shipped rules make of requests by the shape of their paths alone: types that no rule names are protected by the last, most
// general rule, and what is no resource passes as it came. Shapes, not types: one line for each way in which ids are built.
#include <gtest/gtest.h>

#include "rules/plan.h"
#include "tests/support/shipped_rules.h"

namespace armgate::rules::unruled_test {
namespace {

using arm::Method;

constexpr std::string_view kRule = "unruled";

const Ruleset& shipped() {
  static const Ruleset rules = [] {
    FaultList faults;
    RuleBook book = shipped_rules(faults);
    EXPECT_TRUE(faults.empty()) << to_text(faults.empty() ? Fault{} : faults.front());
    return Ruleset(std::move(book.rules));
  }();
  return rules;
}

const std::string kSubscription = "/subscriptions/S";
const std::string kGroup = kSubscription + "/resourceGroups/G";
const std::string kProvider = kGroup + "/providers/Microsoft.Example";
const std::string kWidget = kProvider + "/widgets/w";
const std::string kVersion = "?api-version=2024-01-01";

// Resources: the path, and the one key that a write to it takes.
TEST(Unruled, AWriteToAResourceOfAnyShapeTakesItsOwnKeyAndNoOther) {
  const std::string widget = "/subscriptions/s/resourcegroups/g/providers/microsoft.example/widgets/w";
  const struct {
    std::string path;
    std::string key;
  } cases[] = {
      {kWidget, widget},
      {kWidget + "/", widget},
      {"/SUBSCRIPTIONS/S/resourcegroups/g/PROVIDERS/MICROSOFT.EXAMPLE/WIDGETS/W", widget},
      {kWidget + "/parts/p/screws/1", widget + "/parts/p/screws/1"},
      {kWidget + "/settings/default", widget + "/settings/default"},
      {kWidget + "/providers/Microsoft.Other/things/t", widget + "/providers/microsoft.other/things/t"},
      {kWidget + "/providers/Microsoft.Other/things/t/providers/Microsoft.Third/marks/m",
       widget + "/providers/microsoft.other/things/t/providers/microsoft.third/marks/m"},
      {kGroup + "/providers/Microsoft.Other/things/t", "/subscriptions/s/resourcegroups/g/providers/microsoft.other/things/t"},
      {kSubscription + "/providers/Microsoft.Other/things/t", "/subscriptions/s/providers/microsoft.other/things/t"},
      {kSubscription + "/providers/Microsoft.Other/locations/west/things/t",
       "/subscriptions/s/providers/microsoft.other/locations/west/things/t"},
      {"/providers/Microsoft.Management/managementGroups/m", "/providers/microsoft.management/managementgroups/m"},
      {"/providers/Microsoft.Management/managementGroups/m/providers/Microsoft.Policy/things/t",
       "/providers/microsoft.management/managementgroups/m/providers/microsoft.policy/things/t"},
      {"/providers/Microsoft.Billing/billingAccounts/a:b_2019-05-31/billingProfiles/p",
       "/providers/microsoft.billing/billingaccounts/a:b_2019-05-31/billingprofiles/p"},
      {kProvider + "/widgets/a%20b", "/subscriptions/s/resourcegroups/g/providers/microsoft.example/widgets/a b"},
      // An API's operations are resources, whatever they are called.
      {kProvider + "/service/a/apis/b/operations/get",
       "/subscriptions/s/resourcegroups/g/providers/microsoft.example/service/a/apis/b/operations/get"},
  };
  for (const auto& c : cases) {
    for (const Method method : {Method::Put, Method::Patch, Method::Delete}) {
      SCOPED_TRACE(std::string(to_text(method)) + " " + c.path);
      const auto plan = make_plan(shipped(), Mode::Protect, method, c.path + kVersion);
      ASSERT_TRUE(plan.ok()) << plan.error().context;
      ASSERT_EQ(plan->kind, PlanKind::Write);
      EXPECT_EQ(plan->rule->name, kRule);
      EXPECT_EQ(plan->rule->lease.until, LeaseUntil::Operation);
      EXPECT_EQ(plan->guarded, method == Method::Put);
      EXPECT_EQ(plan->keys, std::vector<LockKey>{{c.key}});
    }
  }
}

TEST(Unruled, WhatIsNoResourcePassesAsItCame) {
  const std::string locations = kSubscription + "/providers/Microsoft.Example/locations/west";
  const struct {
    Method method;
    std::string path;
  } cases[] = {
      {Method::Put, "/"},
      {Method::Put, "/providers/Microsoft.Example"},
      {Method::Put, kSubscription},
      {Method::Patch, kSubscription},
      {Method::Delete, kSubscription},
      {Method::Put, kSubscription + "/tagNames/t"},
      {Method::Put, kSubscription + "/tagNames/t/tagValues/v"},
      {Method::Delete, kSubscription + "/operationresults/abc"},
      {Method::Get, kSubscription + "/operationresults/abc"},
      {Method::Get, kSubscription + "/resources"},
      {Method::Get, kGroup + "/resources"},
      {Method::Put, kGroup + "/things/t"},
      {Method::Put, kProvider},
      {Method::Put, kProvider + "/widgets"},
      {Method::Patch, kWidget + "/parts"},
      {Method::Delete, kWidget + "/parts"},
      // What is asked about while an operation runs, in all the ways in which providers spell it.
      {Method::Get, locations + "/operations/o"},
      {Method::Delete, locations + "/operations/o"},
      {Method::Get, locations + "/operationResults/o"},
      {Method::Get, locations + "/operationStatuses/o"},
      {Method::Get, locations + "/operationsStatus/o"},
      {Method::Get, locations + "/asyncoperations/o"},
      {Method::Get, kWidget + "/operationResults/o"},
      {Method::Get, kProvider + "/widgetOperationStatuses/o"},
      // Actions.
      {Method::Post, "/batch"},
      {Method::Post, kSubscription + "/providers/Microsoft.Example/register"},
      {Method::Post, kSubscription + "/resourceGroups/G/moveIt"},
      {Method::Post, kWidget + "/restart"},
      {Method::Post, kWidget + "/listKeys"},
      {Method::Head, kWidget},
      {Method::Options, kWidget},
      // Other services behind the path of a resource, and orders.
      {Method::Put, kGroup + "/providers/Microsoft.Web/sites/s/hostruntime/admin/host/h"},
      {Method::Put, kGroup + "/providers/Microsoft.Web/sites/s/slots/x/hostruntime/webhooks"},
      {Method::Put, kGroup + "/providers/Microsoft.Web/connections/c/extensions/proxy/any/thing"},
      {Method::Put, kGroup + "/providers/Microsoft.Web/sites/s/extensions/zipdeploy"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(to_text(c.method)) + " " + c.path);
    const auto plan = make_plan(shipped(), Mode::Protect, c.method, c.path + kVersion);
    ASSERT_TRUE(plan.ok()) << plan.error().context;
    EXPECT_EQ(plan->kind, PlanKind::Pass);
    EXPECT_EQ(plan->rule, nullptr);
  }
}

// Refused with and without the rule: a path that could be read in two ways may name a resource that is protected.
TEST(Unruled, AnAmbiguousPathIsRefusedAsBefore) {
  for (const char* path : {"///widgets", "/widgets//w", "/widgets/w//parts/p", "/widgets/a%2Fb"}) {
    const auto plan = make_plan(shipped(), Mode::Protect, Method::Put, kProvider + path + kVersion);
    EXPECT_FALSE(plan.ok()) << path;
  }
}

TEST(Unruled, ReadsAndListsAreRememberedAsBases) {
  for (const std::string& path : {kWidget, kProvider + "/widgets", kSubscription + "/providers/Microsoft.Example/widgets"}) {
    const auto plan = make_plan(shipped(), Mode::Protect, Method::Get, path + kVersion);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->kind, PlanKind::Read) << path;
    EXPECT_EQ(plan->rule->name, kRule);
  }
}

// A type is never named by this rule as long as another one is for it, at whatever api-version and in whatever order they were read.
TEST(Unruled, RulesForTypesKeepWinning) {
  for (const auto& rule : shipped().rules()) {
    for (const std::string& type : rule->match.types) {
      if (is_for_any_type(rule->match)) continue;
      const std::string exact = type.ends_with('*') ? type.substr(0, type.size() - 1) + "x" : type;
      const auto found = shipped().find(exact, rule->match.api_version_from);
      ASSERT_NE(found, nullptr) << type;
      EXPECT_NE(found->name, kRule) << type;
    }
  }
}

}  // namespace
}  // namespace armgate::rules::unruled_test
