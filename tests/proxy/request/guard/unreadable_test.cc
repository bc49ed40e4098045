// Writes that must be compared before they are sent, and what is there cannot be read (docs/answers.md, "When the resource cannot be
// read").
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::unreadable_test {
namespace {

using std::chrono::seconds;

const std::string kPlain = R"({"location":"westeurope","tags":{},"properties":{"provisioningState":"Succeeded"}})";
const std::string kTagged = R"({"location":"westeurope","tags":{"by":"two"}})";
const std::string kWanted = R"({"location":"westeurope","tags":{"by":"one"}})";
const std::string kMade = R"({"location":"westeurope","tags":{"by":"one"},"properties":{"provisioningState":"Succeeded"}})";

TEST(Unreadable, AResourceThatCannotBeReadIsNotWritten) {
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 405, {}, R"({"error":{"code":"MethodNotAllowed","message":"m"}})");
  rig.ask("one", get(kGroup));
  const auto answer = rig.ask("one", put(kGroup), kWanted);
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_TRUE(answer.head.fields.has("Retry-After"));
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "verify-failed");
  EXPECT_TRUE(rig.script_is_done());
  EXPECT_EQ(rig.shared().counters.reservations_kept.load(), 1u) << "it was granted, and is told to come again";
}

// It may be one that is sent away each time, as fast as it can come: others would never be granted.
TEST(Unreadable, WhoIsSentAwayAgainKeepsNobodyOffWhileItIsAway) {
  StageRig rig;
  const std::string busy = R"({"error":{"code":"MethodNotAllowed","message":"m"}})";
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 405, {}, busy);
  rig.arm(get(kGroup), 405, {}, busy);
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(put(kGroup), 200, {}, kMade);
  rig.ask("one", get(kGroup));
  rig.ask("two", get(kGroup));
  EXPECT_EQ(rig.ask("one", put(kGroup), kTagged).head.status, 503);
  rig.pass(seconds(2));
  EXPECT_EQ(rig.ask("one", put(kGroup), kTagged).head.status, 503);
  const TimePoint asked = rig.now();
  EXPECT_EQ(rig.ask("two", put(kGroup), kWanted).head.status, 200);
  EXPECT_LT(rig.now() - asked, seconds(1));
}

TEST(Unreadable, WhoHasWaitedAlmostAsLongAsItDoesIsAnsweredInTime) {
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.ask("one", get(kGroup));
  rig.arm_takes(seconds(48), put(kGroup), 200, {}, kTagged);
  const auto two = rig.start("two", put(kGroup), kTagged);
  rig.pass(seconds(1));
  rig.arm_lives([](const arm::Request&) { return Step{{}, 503, {}, "{}", {}, {}, {}}; });
  const auto one = rig.start("one", put(kGroup), kWanted);
  rig.pass(seconds(52));
  EXPECT_TRUE(one->done) << "it waits for 50 s";
  EXPECT_EQ(one->link->answer().head.fields.get("x-armgate-reason"), "verify-failed");
  rig.run_until([&] { return two->done; });
}

TEST(Unreadable, WhoMayNotReadIsToldSoByArm) {
  const std::string refusal = R"({"error":{"code":"AuthorizationFailed","message":"m"}})";
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 403, {}, refusal);
  rig.ask("one", get(kGroup));
  const auto answer = rig.ask("one", put(kGroup), kWanted);
  EXPECT_EQ(answer.head.status, 403);
  EXPECT_EQ(answer.body, refusal);
  EXPECT_EQ(rig.shared().counters.reservations_kept.load(), 0u);
}

TEST(Unreadable, WhoseTokenIsOverIsToldSoByArm) {
  const std::string challenge = R"(Bearer authorization_uri="https://login", error="invalid_token")";
  const std::string expired = R"({"error":{"code":"ExpiredAuthenticationToken","message":"m"}})";
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 401, {{"WWW-Authenticate", challenge}}, expired);
  rig.ask("one", get(kGroup));
  const auto answer = rig.ask("one", put(kGroup), kWanted);
  EXPECT_EQ(answer.head.status, 401);
  EXPECT_EQ(answer.head.fields.get("WWW-Authenticate"), challenge);
  EXPECT_EQ(answer.body, expired);
  EXPECT_TRUE(rig.script_is_done());
}

}  // namespace
}  // namespace armgate::world::unreadable_test
