// Rules that are replaced while writes are under way: what a plan locks before, meanwhile and after.
#include "proxy/state/rules_in_force.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace armgate {
namespace {

constexpr std::string_view kSubnet =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/a?api-version=2023-09-01";
constexpr std::string_view kNetworkId = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n";

const Hasher kRulesHasher(HashKey{1, 2});

enum class Parents { None, Network };

std::shared_ptr<const rules::Ruleset> subnets_with(Parents parents) {
  rules::Rule rule;
  rule.match.types = {"microsoft.network/virtualnetworks/subnets"};
  if (parents == Parents::Network) rule.lock.parents = {"microsoft.network/virtualnetworks"};
  return std::make_shared<const rules::Ruleset>(std::vector{rule});
}

std::shared_ptr<const rules::Ruleset> no_rules() { return std::make_shared<const rules::Ruleset>(std::vector<rules::Rule>{}); }

Planned plan_of(RulesInForce& rules, arm::Method method = arm::Method::Put) {
  auto plan = rules.make_plan(method, kSubnet);
  EXPECT_TRUE(plan.ok());
  return *std::move(plan);
}

bool locks_network(const Planned& planned) {
  int times = 0;
  for (const auto& key : planned.plan->keys) times += key.id == kNetworkId ? 1 : 0;
  EXPECT_LE(times, 1);
  return times == 1;
}

// `unfinished` locks the network, which newer rules do not.
void expect_key_until_gone(RulesInForce& rules, std::optional<Planned> unfinished) {
  EXPECT_TRUE(locks_network(*unfinished));
  rules.replace(subnets_with(Parents::None), rules::Mode::Protect);
  EXPECT_EQ(rules.draining(), 1u);
  EXPECT_TRUE(locks_network(plan_of(rules)));
  unfinished.reset();
  EXPECT_EQ(rules.draining(), 0u);
  EXPECT_FALSE(locks_network(plan_of(rules)));
}

TEST(RulesInForce, ADroppedKeyIsTakenUntilTheLastPlanThatHadItIsGone) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  expect_key_until_gone(rules, plan_of(rules));
}

TEST(RulesInForce, ANewPlanKeepsOnlyItsOwnRulesAlive) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  std::optional<Planned> old = plan_of(rules);
  rules.replace(subnets_with(Parents::None), rules::Mode::Protect);
  const Planned both = plan_of(rules);
  old.reset();
  EXPECT_EQ(rules.draining(), 0u) << "or an unbroken chain of writes would keep the old rules for ever";
}

TEST(RulesInForce, BodiesAreReadByOldRulesTooWhileTheirWritesRun) {
  const auto referring_to = [](const char* pointer) {
    rules::Rule rule;
    rule.match.types = {"microsoft.network/virtualnetworks/subnets"};
    rule.lock.references.emplace_back().pointer = pointer;
    return std::make_shared<const rules::Ruleset>(std::vector{rule});
  };
  RulesInForce rules(referring_to("/old"), rules::Mode::Protect, kRulesHasher);
  std::optional<Planned> unfinished = plan_of(rules);
  rules.replace(referring_to("/new"), rules::Mode::Protect);
  const auto both = plan_of(rules).plan->referring;
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0]->lock.references[0].pointer, "/new");
  EXPECT_EQ(both[1]->lock.references[0].pointer, "/old");
  unfinished.reset();
  EXPECT_EQ(plan_of(rules).plan->referring.size(), 1u);
}

TEST(RulesInForce, WhatNoRuleTouchesAnyMoreStillWaitsForTheOldWrites) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  std::optional<Planned> old = plan_of(rules);
  rules.replace(no_rules(), rules::Mode::Protect);
  EXPECT_EQ(plan_of(rules).plan->kind, rules::PlanKind::Write);
  EXPECT_EQ(plan_of(rules, arm::Method::Get).plan->kind, rules::PlanKind::Pass);
  old.reset();
  EXPECT_EQ(plan_of(rules).plan->kind, rules::PlanKind::Pass);
}

TEST(RulesInForce, AnAddedKeyIsTakenAtOnceAndRulesWithoutWritesDoNotDrain) {
  RulesInForce rules(subnets_with(Parents::None), rules::Mode::Protect, kRulesHasher);
  rules.replace(subnets_with(Parents::Network), rules::Mode::Protect);
  EXPECT_EQ(rules.draining(), 0u);
  EXPECT_TRUE(locks_network(plan_of(rules)));
}

TEST(RulesInForce, SeveralOldRulesCountAtOnce) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  const Planned first = plan_of(rules);
  rules.replace(subnets_with(Parents::None), rules::Mode::Protect);
  const Planned second = plan_of(rules);
  rules.replace(no_rules(), rules::Mode::Protect);
  EXPECT_EQ(rules.draining(), 2u);
  EXPECT_TRUE(locks_network(plan_of(rules)));
}

TEST(RulesInForce, TheModeHoldsForPlansFromNowOnAndThoseUnderWayKeepTheirs) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  const Planned before = plan_of(rules);
  rules.replace(subnets_with(Parents::Network), rules::Mode::Observe);
  EXPECT_EQ(rules.mode(), rules::Mode::Observe);
  EXPECT_EQ(plan_of(rules).plan->mode, rules::Mode::Observe);
  EXPECT_EQ(plan_of(rules).plan->kind, rules::PlanKind::Write);
  EXPECT_EQ(before.plan->mode, rules::Mode::Protect);
}

TEST(RulesInForce, WhatIsSwitchedOffPassesAtOnceWhateverIsUnfinished) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  const Planned unfinished = plan_of(rules);
  rules.replace(subnets_with(Parents::Network), rules::Mode::Off);
  EXPECT_EQ(plan_of(rules).plan->kind, rules::PlanKind::Pass);

  rules::Rule off;
  off.match.types = {"microsoft.network/virtualnetworks/subnets"};
  off.mode = rules::Mode::Off;
  rules.replace(std::make_shared<const rules::Ruleset>(std::vector{off}), rules::Mode::Protect);
  EXPECT_EQ(plan_of(rules).plan->kind, rules::PlanKind::Pass);
}

TEST(RulesInForce, APlanOfAnotherThreadKeepsItsRulesToo) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  std::optional<Planned> unfinished;
  std::thread([&] { unfinished = plan_of(rules); }).join();
  const Planned own = plan_of(rules, arm::Method::Get);  // keeps nothing
  expect_key_until_gone(rules, std::move(unfinished));
}

TEST(RulesInForce, WhileOnesPlanIsUnfinishedNobodyPassesItBy) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  std::atomic<bool> over{false};
  std::atomic<int> checks{0};
  std::vector<std::thread> planners;
  planners.reserve(3);
  for (int i = 0; i < 3; ++i) {
    planners.emplace_back([&] {
      while (!over) {
        const Planned unfinished = plan_of(rules);
        if (unfinished.plan->rule->lock.parents.empty()) continue;
        EXPECT_TRUE(locks_network(plan_of(rules)));
        ++checks;
      }
    });
  }
  while (checks < 100) std::this_thread::yield();
  for (int i = 0; i < 2000; ++i) {
    rules.replace(subnets_with(i % 2 == 0 ? Parents::None : Parents::Network), rules::Mode::Protect);
  }
  over = true;
  for (auto& planner : planners) planner.join();
  EXPECT_EQ(rules.draining(), 0u);
}

TEST(RulesInForce, ThePlanOfTheSameRequestIsNotMadeAgain) {
  RulesInForce rules(subnets_with(Parents::Network), rules::Mode::Protect, kRulesHasher);
  const Planned first = plan_of(rules);
  const Planned again = plan_of(rules);
  EXPECT_EQ(first.plan, again.plan);
  EXPECT_EQ(again.plan->resource_key, kRulesHasher.hash(again.plan->target.resource.id));
  ASSERT_EQ(again.plan->lock_keys.size(), again.plan->keys.size());
  for (size_t i = 0; i < again.plan->keys.size(); ++i) {
    EXPECT_EQ(again.plan->lock_keys[i], kRulesHasher.hash(again.plan->keys[i].id));
  }
  EXPECT_EQ(first.made_under, again.made_under);
  EXPECT_NE(again.made_under, nullptr);
  const Planned read = plan_of(rules, arm::Method::Get);
  EXPECT_EQ(read.plan->kind, rules::PlanKind::Read);
  EXPECT_EQ(read.made_under, nullptr) << "or who reads would keep rules that are to go";
  EXPECT_EQ(plan_of(rules, arm::Method::Get).plan, read.plan);
}

TEST(RulesInForce, AnotherVersionOfTheSameResourceIsPlannedForItself) {
  RulesInForce rules(subnets_with(Parents::None), rules::Mode::Protect, kRulesHasher);
  const Planned first = plan_of(rules);
  const std::string other = std::string(kSubnet.substr(0, kSubnet.find('?'))) + "?api-version=2024-01-01";
  const auto planned = rules.make_plan(arm::Method::Put, other);
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->plan->target.api_version, "2024-01-01");
  EXPECT_EQ(planned->plan->resource_key, first.plan->resource_key);
}

TEST(RulesInForce, ManyDifferentRequestsAreEachPlannedForThemselves) {
  RulesInForce rules(subnets_with(Parents::None), rules::Mode::Protect, kRulesHasher);
  const auto target = [](int i) {
    return "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/x" + std::to_string(i);
  };
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2000; ++i) {
      const auto planned = rules.make_plan(arm::Method::Put, target(i));
      ASSERT_TRUE(planned.ok());
      EXPECT_TRUE(planned->plan->target.resource.id.ends_with("/subnets/x" + std::to_string(i)));
    }
  }
}

TEST(RulesInForce, SignedUrlsAreNotKept) {
  RulesInForce rules(subnets_with(Parents::None), rules::Mode::Protect, kRulesHasher);
  const std::string target = std::string(kSubnet) + "&s=" + std::string(600, 'x');
  const auto first = rules.make_plan(arm::Method::Get, target);
  const auto again = rules.make_plan(arm::Method::Get, target);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(again->plan->kind, rules::PlanKind::Read);
  EXPECT_NE(first->plan, again->plan);
}

TEST(RulesInForce, ATargetThatCanBeReadInTwoWaysIsRefusedAsEver) {
  RulesInForce rules(subnets_with(Parents::None), rules::Mode::Protect, kRulesHasher);
  EXPECT_FALSE(rules.make_plan(arm::Method::Put, "/subscriptions/s/../x?api-version=1").ok());
}

}  // namespace
}  // namespace armgate
