// What is sent again, on which proof, and what is answered instead (docs/design.md, "Retries").
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/proxy/request/write/recovery.h"

namespace armgate::world::recovery_busy_test {
namespace {

using recovery::kBusy;
using recovery::kState;
using recovery::kWanted;

TEST(Busy, AGuardedPutIsComparedWithItsBaseAndSentAgain) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm(put(kScaleSet), 409, {{"Retry-After", "3"}}, kBusy);
  rig.arm(get(kScaleSet), 200, etag("\"2\""),
          R"({"etag":"\"2\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})");
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kState);
  rig.ask("one", get(kScaleSet));
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"2\"");
  EXPECT_EQ(answer.head.fields.get("x-armgate-waited-ms"), "3000");
}

TEST(Busy, AGuardedPutWhoseBaseChangedMeanwhileIsStaleAndSaysWhere) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm(put(kScaleSet), 409, {}, kBusy);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), R"({"sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})");
  rig.ask("one", get(kScaleSet));
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_TRUE(says(answer, "/sku/capacity"));
}

// A sending was lost, and then its ETag was gone although nothing of it was to be seen: it can never take effect. What looks like it
// later is somebody else's.
TEST(Busy, WhatALostSendingCanNoLongerDoIsNotTakenForItsDoing) {
  const auto state = [](int etag, int capacity) {
    return fmt::format(R"({{"etag":"\"{}\"","sku":{{"capacity":{}}},"properties":{{"provisioningState":"Succeeded"}}}})", etag,
                       capacity);
  };
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), state(1, 1));
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), state(1, 1));
  rig.arm(put(kScaleSet), 412);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), state(2, 1));
  rig.arm(put(kScaleSet), 409, {}, kBusy);
  rig.arm(get(kScaleSet), 200, etag("\"3\""), state(3, 5));
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 412);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Busy, AnUnconditionalPutOntoSomebodyElsesWorkIsStaleACreateGoesAgain) {
  StageRig rig;
  rig.arm(put(kScaleSet), 409, {}, kBusy);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), kState);
  EXPECT_TRUE(says(rig.ask("one", put(kScaleSet), kWanted), "ArmgateStaleWrite"));
  rig.arm(put(kSubnet), 409, {}, R"({"error":{"code":"AnotherOperationInProgress","message":"m"}})");
  rig.arm(get(kSubnet), 404, {}, "{}");
  rig.arm(put(kSubnet), 201, {}, R"({"etag":"W/\"1\"","properties":{}})");
  EXPECT_EQ(rig.ask("one", put(kSubnet), kWanted).head.status, 201);
}

TEST(Busy, ADeleteGoesAgainAPostIsAnswered) {
  StageRig rig;
  rig.arm("DELETE ", 409, {}, kBusy);
  rig.arm("DELETE ", 204);
  EXPECT_EQ(rig.ask("one", "DELETE " + std::string(kScaleSet)).head.status, 204);
  rig.arm(post(kRestart), 409, {}, kBusy);
  EXPECT_EQ(rig.ask("one", post(kRestart)).body, kBusy);
}

TEST(Busy, UnknownConflictsPassThroughAtOnce) {
  StageRig rig;
  const std::string quota = R"({"error":{"code":"OperationNotAllowed","message":"exceeding quota limits of Core"}})";
  rig.arm(put(kScaleSet), 409, {}, quota);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 409);
  EXPECT_EQ(answer.body, quota);
  EXPECT_EQ(answer.head.fields.get("x-armgate-waited-ms"), "0");
}

}  // namespace
}  // namespace armgate::world::recovery_busy_test
