// Who waits for whom, for how long, and when a write is finished (docs/design.md, "Waiting" and "Operations").
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::lock_test {
namespace {

using std::chrono::seconds;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1?t=a%2Fb";
const std::string kPoll = "GET /subscriptions/s/operations/1?t=a%2Fb";

TEST(Waiting, AReadNeverWaitsForALock) {
  StageRig rig;
  rig.arm_takes(seconds(30), patch(kScaleSet), 200, {}, kState);
  rig.arm(get(kScaleSet), 200, {}, kState);
  const auto writer = rig.start("one", patch(kScaleSet), "{}");
  rig.pass(seconds(1));
  const auto read = rig.ask("two", get(kScaleSet));
  EXPECT_EQ(read.head.status, 200);
  EXPECT_FALSE(writer->done);
  EXPECT_FALSE(read.head.fields.has("x-armgate-waited-ms")) << "what is not altered is not marked";
  rig.run_until([&] { return writer->done; });
}

TEST(Waiting, ASecondWriteGoesWhenTheFirstHasItsAnswer) {
  StageRig rig;
  rig.arm_takes(seconds(10), patch(kScaleSet), 200, {}, kState);
  rig.arm(patch(kScaleSet), 200, {}, kState);
  const auto first = rig.start("one", patch(kScaleSet), R"({"a":1})");
  rig.pass(seconds(2));
  const auto second = rig.ask("two", patch(kScaleSet), R"({"a":2})");
  EXPECT_TRUE(first->done);
  EXPECT_EQ(second.head.fields.get("x-armgate-waited-ms"), "8000");
  EXPECT_EQ(second.head.fields.get("x-armgate-reason"), "waited-for-another-write");
}

TEST(Waiting, AnOperationHoldsItsLockUntilArmgateSeesItsEnd) {
  StageRig rig;
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "3"}});
  rig.arm(kPoll, 200, {{"Retry-After", "3"}}, R"({"status":"InProgress"})");
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm(patch(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", patch(kScaleSet), R"({"a":1})").head.status, 202);
  const auto second = rig.ask("two", patch(kScaleSet), R"({"a":2})");
  EXPECT_EQ(second.head.fields.get("x-armgate-waited-ms"), "6000");
  EXPECT_EQ(rig.sent_field(1, "Authorization"), "Bearer of-one") << "polled with the token of the client it came with";
}

TEST(Waiting, TheClientsOwnPollEndsTheLeaseWithoutAPollOfOurs) {
  StageRig rig;
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}});
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  rig.ask("one", kPoll);
  EXPECT_TRUE(rig.shared().op_leases.empty());
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "0");
}

TEST(Waiting, ADeliveredNotFoundEndsADelete) {
  StageRig rig;
  rig.arm("DELETE ", 202, {{"Azure-AsyncOperation", kOperation}});
  rig.arm(get(kScaleSet), 404, {}, "{}");
  rig.ask("one", "DELETE " + std::string(kScaleSet));
  rig.ask("two", get(kScaleSet));
  EXPECT_TRUE(rig.shared().op_leases.empty());
}

TEST(Waiting, BeyondWaitMaxTheClientIsAskedToComeAgain) {
  StageRig rig;
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "100"}});
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  const auto busy = rig.ask("two", patch(kScaleSet), R"({"a":2})");
  EXPECT_EQ(busy.head.status, 503);
  EXPECT_EQ(busy.head.fields.get("x-armgate-waited-ms"), "50000");
  EXPECT_EQ(busy.head.fields.get("Retry-After"), "2");
  EXPECT_EQ(rig.seen().size(), 1u) << "nothing was sent";
}

TEST(Waiting, AClientThatLeavesTheQueueIsNeverSent) {
  StageRig rig;
  rig.arm_takes(seconds(10), patch(kScaleSet), 200, {}, kState);
  const auto first = rig.start("one", patch(kScaleSet), R"({"a":1})");
  const auto second = rig.start("two", patch(kScaleSet), R"({"a":2})");
  rig.pass(seconds(1));
  second->link->leave(Leaving::Reset);
  rig.run_until([&] { return first->done && second->done; });
  rig.pass(seconds(61));  // its place is kept for a minute
  EXPECT_EQ(rig.seen().size(), 1u);
  EXPECT_EQ(rig.shared().locks.counts().keys, 0u);
}

TEST(Waiting, AnOldLeaseIsReleasedLoudly) {
  StageRig rig;
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}});
  for (int i = 0; i < 70; ++i) rig.arm(kPoll, 503, {}, "");
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  rig.run_until([&] { return rig.shared().op_leases.empty(); });
  ASSERT_EQ(rig.loud().size(), 1u);
  EXPECT_NE(rig.loud()[0].find("/virtualmachinescalesets/v"), std::string::npos);
  EXPECT_EQ(rig.shared().counters.leases_expired.load(), 1u);
}

TEST(Waiting, ASubnetWaitsForItsNetwork) {
  StageRig rig;
  rig.arm_takes(seconds(5), patch(kNetwork), 200, {}, "{}");
  rig.arm(patch(kSubnet), 200, {}, "{}");
  rig.start("one", patch(kNetwork), R"({"tags":{}})");
  rig.pass(seconds(1));
  EXPECT_EQ(rig.ask("two", patch(kSubnet), "{}").head.fields.get("x-armgate-waited-ms"), "4000");
}

TEST(Waiting, AnActionThatNoRuleNamesPassesTheOperationItMayAbort) {
  StageRig rig;
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}});
  rig.ask("one", patch(kScaleSet), "{}");
  const std::string abort =
      "POST /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/abort"
      "?api-version=2024-07-01";
  rig.arm(abort, 202, {});
  const auto answer = rig.ask("one", abort);
  EXPECT_EQ(answer.head.status, 202);
  EXPECT_FALSE(answer.head.fields.has("x-armgate-locks"));
}

TEST(Unconditional, APutIsStaleIfAnotherWriteFinishedWhileItWaited) {
  StageRig rig;
  rig.arm_takes(seconds(5), put(kScaleSet), 200, {}, "{}");
  rig.start("one", put(kScaleSet), R"({"a":1})");
  rig.pass(seconds(1));
  const auto answer = rig.ask("two", put(kScaleSet), R"({"a":2})");
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "unconditional-after-another-write");
  EXPECT_EQ(rig.seen().size(), 1u);
}

// Seen of one that may write and not read: refused although nobody else had ever written.
TEST(Unconditional, TheEndOfItsClientsOwnWriteIsNoOtherWriteHoweverLateItIsNoticed) {
  const std::string box = "/subscriptions/s/resourceGroups/g/providers/Contoso.Storage/boxes/b?api-version=2024-01-01";
  StageRig rig;
  rig.arm("PUT " + box, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm("GET " + box, 403, {}, "{}");
  rig.arm("PUT " + box, 202, {{"Azure-AsyncOperation", kOperation}});
  EXPECT_EQ(rig.ask("one", "PUT " + box, R"({"a":1})").head.status, 202);
  rig.pass(seconds(5));
  EXPECT_EQ(rig.ask("one", "PUT " + box, R"({"a":2})").head.status, 202);
}

TEST(Unconditional, AForcedWriteIsAskedAboutAgainAfterTheQueue) {
  StageRig rig;
  rig.arm_takes(seconds(5), put(kScaleSet), 200, {}, kState);
  const auto first = rig.start("one", put(kScaleSet), R"({"a":1})");
  rig.pass(seconds(1));
  EXPECT_EQ(rig.ask("two", put(kScaleSet), R"({"a":2})").head.status, 412);
  rig.arm_takes(seconds(5), put(kScaleSet), 200, {}, kState);
  const auto another = rig.start("one", put(kScaleSet), R"({"a":3})");
  rig.pass(seconds(1));
  EXPECT_EQ(rig.ask("two", put(kScaleSet), R"({"a":2})").head.status, 412) << "something was written since it was told";
  rig.arm(put(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", put(kScaleSet), R"({"a":2})").head.status, 200);
  rig.run_until([&] { return first->done && another->done; });
}

TEST(Unconditional, IdenticalBytesOfAnotherClientAreNoOtherWrite) {
  StageRig rig;
  rig.arm_takes(seconds(5), put(kGroup), 201, {}, "{}");
  rig.arm(put(kGroup), 200, {}, "{}");
  rig.start("one", put(kGroup), R"({"location":"westeurope"})");
  rig.pass(seconds(1));
  EXPECT_EQ(rig.ask("two", put(kGroup), R"({"location":"westeurope"})").head.status, 200);
}

TEST(Unconditional, AWholeNetworkIsStaleIfASubnetWasMadeWhileItWaited) {
  StageRig rig;
  rig.arm_takes(seconds(5), put(kSubnet), 201, {}, R"({"etag":"W/\"1\"","properties":{}})");
  rig.start("one", put(kSubnet), R"({"properties":{}})");
  rig.pass(seconds(1));
  EXPECT_EQ(rig.ask("two", put(kNetwork), R"({"properties":{"subnets":[]}})").head.status, 412);
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(Bound, TheBaseStaysWithTheBytesThroughA503AndAReadInBetween) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, kState);
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "100"}});
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"2\""}}, R"({"etag":"\"2\"","sku":{"capacity":9}})");
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.ask("two", get(kScaleSet));
  rig.ask("one", patch(kScaleSet), R"({"sku":{"capacity":9}})");
  const arm::Headers id{{"x-ms-client-request-id", "r"}};
  EXPECT_EQ(rig.ask("two", put(kScaleSet), R"({"sku":{"capacity":5}})", id).head.status, 503);
  rig.ask("two", get(kScaleSet));
  rig.ask("one", kPoll);
  rig.arm(put(kScaleSet), 412, {}, "{}");
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"2\""}}, R"({"etag":"\"2\"","sku":{"capacity":9}})");
  EXPECT_EQ(rig.ask("two", put(kScaleSet), R"({"sku":{"capacity":5}})", id).head.status, 412);
  EXPECT_EQ(rig.sent_field(4, "If-Match"), "\"1\"") << "the state it was built from, not the one read since";
}

TEST(ModeOff, NothingIsAddedHeldOrWaitedFor) {
  auto options = StageRig::default_options();
  options.mode = rules::Mode::Off;
  StageRig rig(options);
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, kState);
  rig.arm(put(kScaleSet), 409, {}, "as it is");
  rig.ask("one", get(kScaleSet));
  const auto answer = rig.ask("one", put(kScaleSet), "{}");
  EXPECT_EQ(answer.body, "as it is");
  EXPECT_FALSE(rig.seen()[1].head.fields.has("If-Match"));
  EXPECT_EQ(answer.head.fields.size(), 0u);
}

}  // namespace
}  // namespace armgate::world::lock_test
