// What else a rule can say about a running operation: its own client goes along with it.
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::operation_leases_test {
namespace {

using std::chrono::seconds;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1";
const std::string kPoll = "GET /subscriptions/s/operations/1";
const std::string kPatch = patch(kScaleSet);

TEST(Reentrant, AClientsNextWritePassesItsOwnRunningOperation) {
  StageRig rig;
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation + "b"}});
  rig.ask("scaler", kPatch, R"({"sku":{"capacity":2}})");
  const auto next = rig.ask("scaler", kPatch, R"({"sku":{"capacity":3}})");
  EXPECT_EQ(next.head.status, 202);
  EXPECT_EQ(next.head.fields.get("x-armgate-waited-ms"), "0");
  EXPECT_EQ(rig.shared().op_leases.size(), 2u) << "both must end before anybody else";
}

TEST(Reentrant, NotBeforeTheFirstOneHasItsAnswer) {
  StageRig rig;
  rig.arm_takes(seconds(10), kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.arm(kPatch, 200, {}, kState);
  const auto first = rig.start("scaler", kPatch, R"({"sku":{"capacity":2}})");
  rig.pass(seconds(1));
  const auto next = rig.ask("scaler", kPatch, R"({"sku":{"capacity":3}})");
  EXPECT_EQ(next.head.fields.get("x-armgate-waited-ms"), "9000");
  EXPECT_TRUE(first->done);
}

TEST(Reentrant, OthersWaitAndWhoeverComesAfterThemDoesToo) {
  StageRig rig;
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "20"}});
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm(kPatch, 200, {}, kState);
  rig.arm(kPatch, 200, {}, kState);
  rig.ask("scaler", kPatch, R"({"a":1})");
  const auto other = rig.start("other", kPatch, R"({"a":2})");
  rig.pass(seconds(5));
  const auto own = rig.ask("scaler", kPatch, R"({"a":3})");
  EXPECT_TRUE(other->done);
  EXPECT_EQ(own.head.fields.get("x-armgate-waited-ms"), "15000");
}

TEST(Reentrant, NeverPastItsOwnDelete) {
  StageRig rig;
  rig.arm("DELETE ", 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "20"}});
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm(kPatch, 404, {}, "{}");
  rig.ask("scaler", "DELETE " + std::string(kScaleSet));
  const auto next = rig.ask("scaler", kPatch, R"({"a":3})");
  EXPECT_EQ(next.head.fields.get("x-armgate-waited-ms"), "20000");
}

TEST(Reentrant, OnlyWhereTheRuleSaysSo) {
  StageRig rig;
  rig.arm("PATCH ", 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "20"}});
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm("PATCH ", 200, {}, kState);
  rig.ask("one", patch(kNetwork), R"({"a":1})");
  EXPECT_EQ(rig.ask("one", patch(kNetwork), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "20000");
}

TEST(OperationLease, LivesAsLongAsItsClientsPollsSayThatItsOperationRuns) {
  auto options = StageRig::default_options();
  options.poll_without_waiter = std::chrono::hours(24);
  StageRig rig(options);
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.ask("one", kPatch, R"({"a":1})");
  rig.pass(std::chrono::minutes(50));
  rig.arm(kPoll, 200, {}, R"({"status":"InProgress"})");
  rig.ask("one", kPoll);
  rig.pass(std::chrono::minutes(20));
  EXPECT_EQ(rig.shared().op_leases.size(), 1u);
  rig.pass(std::chrono::hours(1));
  EXPECT_TRUE(rig.shared().op_leases.empty());
  EXPECT_EQ(rig.loud().size(), 1u);
}

}  // namespace
}  // namespace armgate::world::operation_leases_test
