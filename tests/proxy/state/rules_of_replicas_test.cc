// Replicas whose rules differ: what each plans with while it knows the other's, and while it may not.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/state/rules_in_force.h"

namespace armgate::replica_rules_test {
namespace {

constexpr std::string_view kSubnet =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/a?api-version=2023-09-01";
constexpr std::string_view kNetworkId = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n";

using Rules = std::shared_ptr<const rules::Ruleset>;

Rules made_of(uint64_t number, std::vector<rules::Rule> all) {
  auto source = std::make_shared<const rules::RuleSource>(rules::RuleSource{Hash128{1, number}, ""});
  return std::make_shared<const rules::Ruleset>(std::move(all), std::vector<rules::ErrorRule>{},
                                                std::vector<rules::QueueTimeout>{}, nullptr, std::move(source));
}

rules::Rule of_subnets() {
  rules::Rule rule;
  rule.match.types = {"microsoft.network/virtualnetworks/subnets"};
  return rule;
}

Rules subnets_alone() { return made_of(1, {of_subnets()}); }
Rules with_their_network() {
  rules::Rule rule = of_subnets();
  rule.lock.parents = {"microsoft.network/virtualnetworks"};
  return made_of(2, {rule});
}
Rules nothing() { return made_of(3, {}); }

class OfReplicas : public testing::Test {
 protected:
  void begin_with(Rules own) {
    rules_ = std::make_unique<RulesInForce>(std::move(own), rules::Mode::Protect, Hasher(HashKey{1, 2}));
    rules_->be_shared();
  }
  void told_and_learned(const Rules& own, RulesInForce::Others others) {
    rules_->use_others(own->source()->hash, std::move(others));
  }
  std::shared_ptr<const KeyedPlan> plan(arm::Method method) { return rules_->make_plan(method, kSubnet)->plan; }
  bool locks_network() {
    const auto made = plan(arm::Method::Put);
    const auto again = plan(arm::Method::Put);
    EXPECT_EQ(made->keys, again->keys);
    size_t times = 0;
    for (const auto& key : made->keys) times += key.id == kNetworkId ? 1 : 0;
    return times == 1;
  }
  std::unique_ptr<RulesInForce> rules_;
};

TEST_F(OfReplicas, TheKeysOfBothAreTakenUntilTheRulesAreTheSame) {
  begin_with(subnets_alone());
  EXPECT_FALSE(locks_network());
  told_and_learned(subnets_alone(), {with_their_network()});
  EXPECT_TRUE(locks_network());
  told_and_learned(subnets_alone(), {});
  EXPECT_FALSE(locks_network());
}

TEST_F(OfReplicas, WhatOneProtectsTheOtherReadsAndWritesUnderItsRule) {
  begin_with(nothing());
  EXPECT_EQ(plan(arm::Method::Get)->kind, rules::PlanKind::Pass);
  told_and_learned(nothing(), {subnets_alone()});
  EXPECT_EQ(plan(arm::Method::Get)->kind, rules::PlanKind::Read);
  EXPECT_EQ(plan(arm::Method::Put)->kind, rules::PlanKind::Write);
  rules::Rule off = of_subnets();
  off.mode = rules::Mode::Off;
  const Rules switched_off = made_of(4, {off});
  rules_->replace(switched_off, rules::Mode::Protect);
  EXPECT_EQ(plan(arm::Method::Put)->kind, rules::PlanKind::Pass) << "what an operator switches off here is off";
}

TEST_F(OfReplicas, FormerRulesCountUntilTheOthersCanKnowTheNewOnes) {
  begin_with(with_their_network());
  const Rules next = subnets_alone();
  rules_->replace(next, rules::Mode::Protect);
  EXPECT_TRUE(locks_network()) << "another replica may share no other key with it";
  ASSERT_EQ(rules_->in_use().size(), 2u);
  EXPECT_EQ(rules_->in_use()[0], next->source());
  told_and_learned(with_their_network(), {});
  EXPECT_TRUE(locks_network()) << "the former ones were told, not these";
  told_and_learned(next, {});
  EXPECT_FALSE(locks_network());
  EXPECT_EQ(rules_->in_use().size(), 1u);
}

// As in one process: what was planned with rules waits for nobody who goes by others.
TEST_F(OfReplicas, AnothersRulesCountUntilTheLastPlanThatWasMadeWithThemIsGone) {
  begin_with(nothing());
  told_and_learned(nothing(), {subnets_alone()});
  for (const bool kept : {false, true}) {
    std::optional<Planned> unfinished = *rules_->make_plan(arm::Method::Put, kSubnet);
    told_and_learned(nothing(), {});
    EXPECT_EQ(plan(arm::Method::Put)->kind, rules::PlanKind::Write) << kept;
    EXPECT_EQ(rules_->in_use().size(), 1u) << "or two replicas would tell each other of them for ever";
    unfinished.reset();
    EXPECT_EQ(plan(arm::Method::Put)->kind, rules::PlanKind::Pass);
    told_and_learned(nothing(), {subnets_alone()});
    plan(arm::Method::Put);  // kept for the second time
  }
}

// Both change at the same time. Whoever looks later learns the other's, and takes the keys of both.
TEST_F(OfReplicas, OfTwoThatChangeAtOnceOneKnowsTheOther) {
  begin_with(with_their_network());
  RulesInForce other(with_their_network(), rules::Mode::Protect, Hasher(HashKey{1, 2}));
  other.be_shared();
  const Rules own_next = subnets_alone(), other_next = nothing();
  rules_->replace(own_next, rules::Mode::Protect);
  other.replace(other_next, rules::Mode::Protect);
  const auto shares_a_key = [&] {
    const auto theirs = other.make_plan(arm::Method::Put, kSubnet)->plan->keys;
    const auto own = plan(arm::Method::Put)->keys;
    return std::ranges::any_of(own, [&](const auto& key) { return std::ranges::find(theirs, key) != theirs.end(); });
  };
  EXPECT_TRUE(shares_a_key());
  told_and_learned(own_next, {with_their_network()});
  EXPECT_TRUE(shares_a_key());
  other.use_others(other_next->source()->hash, {own_next});
  EXPECT_TRUE(shares_a_key());
  told_and_learned(own_next, {other_next});
  EXPECT_TRUE(shares_a_key());
}

}  // namespace
}  // namespace armgate::replica_rules_test
