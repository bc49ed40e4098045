// Who asks for the same again gets the answer of the first sending (docs/design.md, "Usually once").
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::coalesce_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1?t=a%2Fb";
const std::string kPoll = "GET /subscriptions/s/operations/1?t=a%2Fb";
const std::string kRun = "POST " + std::string(kRestart);

arm::Headers id(std::string_view text) { return {{"x-ms-client-request-id", std::string(text)}}; }
arm::Headers accepted() { return {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "20"}}; }

// A restart whose client went away while ARM was at it, and whose answer came then.
void undelivered_then_restart(StageRig& rig, const arm::Headers& fields = {}) {
  rig.arm_takes(seconds(10), kRun, 202, accepted());
  const auto first = rig.start("one", kRun, "", fields);
  rig.pass(seconds(1));
  first->link->leave(Leaving::Reset);
  rig.run_until([&] { return first->done; });
}

TEST(Coalesced, ARestartWhoseAnswerGotLostRunsOnce) {
  for (const char* request_id : {"", "r1"}) {
    StageRig rig;
    const arm::Headers fields = *request_id == '\0' ? arm::Headers{} : id(request_id);
    undelivered_then_restart(rig, fields);
    const auto again = rig.ask("one", kRun, "", fields);
    EXPECT_EQ(again.head.status, 202);
    EXPECT_EQ(again.head.fields.get("Azure-AsyncOperation"), kOperation);
    EXPECT_EQ(again.head.fields.get("x-armgate-replayed"), "true");
    EXPECT_EQ(rig.seen().size(), 1u) << request_id;
  }
}

TEST(Coalesced, WhileTheFirstSendingRunsItsAnswerIsWaitedFor) {
  StageRig rig;
  rig.arm_takes(seconds(10), kRun, 202, accepted());
  const auto first = rig.start("one", kRun);
  rig.pass(seconds(1));
  first->link->leave(Leaving::Reset);
  const auto second = rig.ask("one", kRun);
  EXPECT_EQ(second.head.status, 202);
  EXPECT_EQ(second.head.fields.get("x-armgate-waited-ms"), "9000");
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(Coalesced, WhatIsNotTheSameRequestRunsOnItsOwn) {
  struct Case {
    const char* why;
    std::string client = "one";
    arm::Headers fields = {};
    std::string body = {};
    Duration later = {};
  };
  const Case cases[] = {
      {"another client", "two"},
      {"another id", "one", id("other")},
      {"another token of the same client", "one", {{"Authorization", "Bearer another"}}},
      {"another body", "one", {}, "{}"},
      {"too late", "one", {}, "", minutes(6)},
  };
  for (const auto& c : cases) {
    StageRig rig;
    undelivered_then_restart(rig);
    rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
    rig.arm(kRun, 202, {});
    rig.pass(c.later);
    const auto other = rig.start(c.client, kRun, c.body, c.fields);
    rig.run_until([&] { return rig.script_is_done(); });
    EXPECT_EQ(rig.seen().back().head.method_token, "POST") << c.why;
    rig.run_until([&] { return other->done; });
    EXPECT_FALSE(other->link->answer().head.fields.has("x-armgate-replayed")) << c.why;
  }
}

TEST(Coalesced, ADeliveredAnswerIsNeverGivenTwice) {
  StageRig rig;
  rig.arm(kRun, 202, {});
  rig.arm(kRun, 202, {});
  EXPECT_FALSE(rig.ask("one", kRun, "", id("r1")).head.fields.has("x-armgate-replayed"));
  EXPECT_FALSE(rig.ask("one", kRun, "", id("r1")).head.fields.has("x-armgate-replayed"));
  EXPECT_EQ(rig.seen().size(), 2u);
}

TEST(Coalesced, TheSameBytesOfAnActorWhileAnotherListensAreASecondWrite) {
  StageRig rig;
  rig.arm_takes(seconds(10), kRun, 202, {});
  rig.arm(kRun, 202, {});
  const auto first = rig.start("one", kRun);
  rig.pass(seconds(1));
  const auto second = rig.ask("one", kRun);
  EXPECT_TRUE(first->done);
  EXPECT_FALSE(second.head.fields.has("x-armgate-replayed"));
  EXPECT_EQ(rig.seen().size(), 2u);
}

TEST(Coalesced, ADeliveredReadMakesTheSameBytesWithoutAnIdANewIntention) {
  StageRig rig;
  undelivered_then_restart(rig);
  rig.arm(get(kScaleSet), 200, {}, kState);
  rig.ask("one", get(kScaleSet));
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm(kRun, 202, {});
  EXPECT_FALSE(rig.ask("one", kRun).head.fields.has("x-armgate-replayed"));
}

TEST(Coalesced, ARefusalThatGotLostIsDecidedAgain) {
  StageRig rig;
  rig.arm_takes(seconds(10), kRun, 409, {}, R"({"error":{"code":"OperationNotAllowed","message":"quota"}})");
  rig.arm(kRun, 202, {});
  const auto first = rig.start("one", kRun);
  rig.pass(seconds(1));
  first->link->leave(Leaving::Reset);
  rig.run_until([&] { return first->done; });
  EXPECT_EQ(rig.ask("one", kRun).head.status, 202);
}

TEST(Coalesced, WhoHasWaitedTooLongIsAskedToComeAgainAndThenGetsTheAnswer) {
  StageRig rig;
  rig.arm_takes(seconds(80), kRun, 202, {});
  const auto first = rig.start("one", kRun);
  rig.pass(seconds(1));
  first->link->leave(Leaving::Reset);
  const auto busy = rig.ask("one", kRun);
  EXPECT_EQ(busy.head.status, 503);
  EXPECT_TRUE(busy.head.fields.has("Retry-After"));
  EXPECT_EQ(busy.head.fields.get("x-armgate-reason"), "still-running");
  EXPECT_EQ(rig.ask("one", kRun).head.status, 202);
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(Coalesced, AFullPutThatIsAnsweredByReplayIsAStateItsClientKnows) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, {}, kState);
  rig.ask("one", get(kScaleSet));
  const std::string made = R"({"etag":"\"2\"","sku":{"capacity":5},"properties":{"provisioningState":"Succeeded"}})";
  rig.arm_takes(seconds(10), put(kScaleSet), 200, {}, made);
  const auto first = rig.start("one", put(kScaleSet), R"({"sku":{"capacity":5}})");
  rig.pass(seconds(1));
  first->link->leave(Leaving::Reset);
  rig.run_until([&] { return first->done; });
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":5}})").body, made);
  rig.arm(put(kScaleSet), 200, {}, kState);
  rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})");
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "\"2\"");
}

// Of any length a request may have: two that differ in their last byte only are two.
TEST(Coalesced, LongRequestIdsAreRecognisedAndToldApart) {
  const std::string long_id(1000, 'a');
  StageRig rig;
  undelivered_then_restart(rig, id(long_id));
  rig.arm(get(kScaleSet), 200, {}, kState);
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", kRun, "", id(long_id)).head.fields.get("x-armgate-replayed"), "true")
      << "a read since then does not count where the id is the same";

  StageRig other;
  undelivered_then_restart(other, id(long_id));
  other.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  other.arm(kRun, 202, {});
  EXPECT_FALSE(other.ask("one", kRun, "", id(long_id + "b")).head.fields.has("x-armgate-replayed"));
}

TEST(Coalesced, ALongRequestIdTellsWhichReadAWriteWasBuiltFrom) {
  const std::string long_id(1000, 'a');
  StageRig rig;
  rig.arm(get(kScaleSet), 200, {}, R"({"etag":"\"1\"","sku":{"capacity":1}})");
  rig.arm(get(kScaleSet), 200, {}, R"({"etag":"\"2\"","sku":{"capacity":2}})");
  rig.arm(put(kScaleSet), 200, {}, kState);
  rig.ask("shell", get(kScaleSet), {}, id(long_id));
  rig.ask("shell", get(kScaleSet), {}, id(long_id + "b"));
  const auto answer = rig.ask("shell", put(kScaleSet), R"({"sku":{"capacity":7}})", id(long_id + "b"));
  EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "request-id");
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "\"2\"");
}

}  // namespace
}  // namespace armgate::world::coalesce_test
