// armgate is about to end: what was sent is waited for, and what only waited is told to come again.
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::closing_test {
namespace {

using std::chrono::seconds;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kPatch = patch(kScaleSet);
const std::string kBusy = R"({"error":{"code":"ConflictingConcurrentWriteNotAllowed","message":"m"}})";

void expect_told_to_come_again(const StageRig::Running& running) {
  ASSERT_TRUE(running.done);
  const auto& answer = running.link->answer();
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_TRUE(answer.head.fields.has("Retry-After"));
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "armgate-ends");
}

TEST(Closing, WhatIsWithArmGetsItsAnswerAndWhatWaitsForItIsToldToComeAgainAtOnce) {
  StageRig rig;
  rig.arm_takes(seconds(20), kPatch, 200, {}, kState);
  const auto sent = rig.start("one", kPatch, R"({"a":1})");
  const auto waiting = rig.start("two", kPatch, R"({"a":2})");
  rig.pass(seconds(1));
  sent->link->close();
  waiting->link->close();
  rig.pass(seconds(1));
  expect_told_to_come_again(*waiting);
  EXPECT_FALSE(sent->done);
  rig.pass(seconds(20));
  EXPECT_EQ(sent->link->answer().head.status, 200);
  EXPECT_EQ(rig.seen().size(), 1u);
  EXPECT_EQ(rig.shared().locks.counts().keys, 0u);
  EXPECT_EQ(rig.shared().reservations.size(), 0u) << "a place in a queue that is about to go is of no use";
}

TEST(Closing, WhatArmHasRefusedWithoutEffectDoesNotWaitForItsNextTry) {
  StageRig rig;
  rig.arm(kPatch, 409, {{"Retry-After", "30"}}, kBusy);
  const auto refused = rig.start("one", kPatch, R"({"a":1})");
  rig.pass(seconds(1));
  refused->link->close();
  rig.pass(seconds(1));
  expect_told_to_come_again(*refused);
}

TEST(Closing, WhatWaitsForAConnectionIsToldToComeAgainAtOnce) {
  StageRig rig;
  rig.connections_take(std::chrono::minutes(3));
  const std::string relayed = "POST /subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w/restart?api-version=1";
  const auto write = rig.start("one", kPatch, R"({"a":1})");
  const auto action = rig.start("one", relayed);
  rig.pass(seconds(1));
  write->link->close();
  action->link->close();
  rig.pass(seconds(1));
  expect_told_to_come_again(*write);
  expect_told_to_come_again(*action);
  EXPECT_TRUE(rig.seen().empty());
}

TEST(Closing, WhatArmWasNotReachedForDoesNotWaitForItsNextTry) {
  StageRig rig;
  rig.arm_fails(kPatch, Sent::No);
  const auto write = rig.start("one", kPatch, R"({"a":1})");
  rig.pass(std::chrono::milliseconds(100));
  write->link->close();
  rig.run_until([&] { return write->done; });
  expect_told_to_come_again(*write);
}

TEST(Closing, AReSendWaitsForTheAnswerThatItsEarlierSendingGets) {
  StageRig rig;
  rig.arm_takes(seconds(20), kPatch, 200, {}, kState);
  const arm::Headers id{{"x-ms-client-request-id", "r"}};
  const auto first = rig.start("one", kPatch, R"({"a":1})", id);
  rig.pass(seconds(1));
  first->link->leave(Leaving::Reset);
  const auto again = rig.start("one", kPatch, R"({"a":1})", id);
  rig.pass(seconds(1));
  again->link->close();
  rig.pass(seconds(30));
  ASSERT_TRUE(again->done);
  EXPECT_EQ(again->link->answer().head.status, 200);
  EXPECT_EQ(rig.seen().size(), 1u)
      << "told to come again it would have been sent twice, by an armgate that knows nothing of the first";
}

TEST(Closing, AWriteThatNothingKeepsWaitingIsStillSent) {
  StageRig rig;
  rig.arm_takes(seconds(1), kPatch, 200, {}, kState);
  const auto running = rig.start("one", kPatch, R"({"a":1})");
  running->link->close();
  rig.run_until([&] { return running->done; });
  EXPECT_EQ(running->link->answer().head.status, 200);
}

}  // namespace
}  // namespace armgate::world::closing_test
