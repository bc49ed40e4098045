// Which writes may go to ARM although nothing can be recorded: ARM itself must refuse them if their clients have missed anything.
#include "proxy/request/cluster/fenced.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "proxy/cluster/replica.h"
#include "proxy/request/parts.h"
#include "rules/file/rule_file.h"
#include "tests/support/cluster_rig.h"
#include "tests/support/stage_rig.h"

namespace armgate::fenced_test {
namespace {

const std::string kGroup = "/subscriptions/s/resourceGroups/g/providers/";
const std::string kSet = kGroup + "Microsoft.Compute/virtualMachineScaleSets/v?api-version=2024-07-01";
const std::string kAccount = kGroup + "Microsoft.Storage/storageAccounts/a?api-version=2023-05-01";

class FencedTest : public testing::Test {
 protected:
  FencedTest() {
    rules::FaultList faults;
    auto rules = rules::read_rules("r.json", R"({"rules": [
      {"name": "sets", "match": {"types": ["Microsoft.Compute/virtualMachineScaleSets"], "actions": ["restart"]}, "guard": {"kind": "etag"}},
      {"name": "accounts", "match": {"types": ["Microsoft.Storage/storageAccounts"]}, "guard": {"kind": "verify"}}]})",
                                   faults);
    EXPECT_TRUE(faults.empty());
    rig_.shared().rules.replace(std::make_shared<const rules::Ruleset>(std::move(rules)), rules::Mode::Protect);
  }
  bool fenced(arm::Method method, const std::string& target, const std::string& field, const std::string& value,
              bool is_named = false) {
    Exchange exchange;
    exchange.request.head.method = method;
    if (!field.empty()) exchange.request.head.fields.add(field, value);
    if (is_named) exchange.named = NamedRequest{};
    const auto planned = rig_.shared().rules.make_plan(method, target);
    EXPECT_TRUE(planned.ok());
    return planned.ok() && is_fenced(*planned->plan, exchange);
  }

  world::StageRig rig_;
};

TEST_F(FencedTest, WhatNamesTheStateThatItWasBuiltFromMayGo) {
  for (const auto method : {arm::Method::Put, arm::Method::Patch, arm::Method::Delete})
    EXPECT_TRUE(fenced(method, kSet, "If-Match", "\"1\""));
  EXPECT_TRUE(fenced(arm::Method::Put, kSet, "if-none-match", "*")) << "that there is none is a state, too";
}

TEST_F(FencedTest, WithoutAStateNothingGoes) {
  EXPECT_FALSE(fenced(arm::Method::Put, kSet, "", ""));
  EXPECT_FALSE(fenced(arm::Method::Put, kSet, "If-Match", ""));
  EXPECT_FALSE(fenced(arm::Method::Put, kSet, "If-Match", "*")) << "any state will do";
  EXPECT_FALSE(fenced(arm::Method::Put, kSet, "If-None-Match", "\"1\"")) << "any state but one";
  EXPECT_FALSE(fenced(arm::Method::Put, kSet, "If-Unmodified-Since", "Wed, 25 Nov 2026 10:00:00 GMT"));
}

TEST_F(FencedTest, NorDoesWhatArmWouldNotRefuseOrWhatIsToHappenOnce) {
  EXPECT_FALSE(fenced(arm::Method::Put, kAccount, "If-Match", "\"1\"")) << "of such types ARM heeds no ETag";
  const std::string restart = kGroup + "Microsoft.Compute/virtualMachineScaleSets/v/restart?api-version=2024-07-01";
  EXPECT_FALSE(fenced(arm::Method::Post, restart, "If-Match", "\"1\""));
  EXPECT_FALSE(fenced(arm::Method::Put, kSet, "If-Match", "\"1\"", true));
  rig_.shared().rules.replace(rig_.shared().rules.make_plan(arm::Method::Put, kSet)->made_under, rules::Mode::Observe);
  EXPECT_FALSE(fenced(arm::Method::Put, kSet, "If-Match", "\"1\"")) << "in mode observe everything passes as it is";
}

PipelineOptions that_sends_fenced() {
  PipelineOptions options = world::StageRig::default_options();
  options.sends_fenced = true;
  return options;
}

// 408 is what ARM's front end says of what it has given up, and what lies behind it may have done.
TEST(Fenced, WhatMayHaveHappenedIsKnownToAllWhenTheEngineIsBack) {
  for (const auto& [status, written] : {std::pair(200, 1), {408, 1}, {504, 1}, {412, 0}, {429, 0}}) {
    world::ClusterRig rig(world::shipped_ruleset(), that_sends_fenced());
    rig.log.away(std::chrono::seconds(30));
    rig.pass(std::chrono::seconds(15));  // until leases are over
    const std::string write = world::put(world::kNetwork);
    rig.arm(write, status);
    const auto answer = rig.end_of(rig.start(0, "one", write, "{}", {{"If-Match", "\"1\""}}));
    EXPECT_EQ(answer.head.status, status);
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "sent-without-a-record");
    rig.pass(std::chrono::seconds(30));
    for (const auto& gate : rig.gates) {
      const auto planned = gate->shared().rules.make_plan(arm::Method::Put, world::kNetwork);
      ASSERT_TRUE(planned.ok());
      const auto count = gate->shared().resources.ask(planned->plan->resource_key, [](const policy::History& history) {
        return std::ranges::count(history.entries(), policy::Cause::Written, &policy::Entry::cause);
      });
      EXPECT_EQ(count, written) << status;
    }
  }
}

// The engine may come back, and with it the locks of the others.
TEST(Fenced, ThatMuchWaitsForTheLogIsNoReasonToGoBeforeTheLeaseIsOver) {
  world::ClusterRig rig(world::shipped_ruleset(), that_sends_fenced());
  rig.log.away(std::chrono::seconds(60));
  auto& replica = *rig.gates[0]->parts().cluster;
  for (size_t i = 0; i < 2 * replica.options().queue_max; ++i) replica.mark();
  ASSERT_FALSE(replica.is_apart() || replica.takes_more());
  const std::string write = world::put(world::kNetwork);
  rig.arm(write, 200);
  const auto asked = rig.start(0, "one", write, "{}", {{"If-Match", "\"1\""}});
  rig.pass(std::chrono::seconds(1));
  EXPECT_TRUE(rig.upstream.seen.empty());
  EXPECT_EQ(rig.end_of(asked).head.fields.get("x-armgate-reason"), "sent-without-a-record");
  EXPECT_TRUE(replica.is_apart());
}

}  // namespace
}  // namespace armgate::fenced_test
