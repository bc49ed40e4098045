// Clients come first: what ARM says is left of their budgets holds armgate's own questions back, and nothing else.
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::budget_test {
namespace {

using std::chrono::seconds;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1?t=a%2Fb";
const std::string kPoll = "GET /subscriptions/s/operations/1?t=a%2Fb";
const std::string kRunning = R"({"status":"InProgress"})";
const std::string kEnded = R"({"status":"Succeeded"})";

arm::Headers left(std::string_view reads, arm::Headers more = {}) {
  more.add("x-ms-ratelimit-remaining-subscription-reads", reads);
  return more;
}

uint64_t held_back(StageRig& rig) { return rig.shared().counters.questions_held_back; }

// The operation of "one", for whose end "two" waits.
void begin_operation(StageRig& rig, std::string_view reads_left) {
  rig.arm(get(kGroup), 200, left("250"), "{}");
  rig.arm(patch(kScaleSet), 202, left(reads_left, {{"Azure-AsyncOperation", kOperation}}));
  rig.ask("one", get(kGroup));
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
}

TEST(Budget, PollsGoAsEverWhileThereIsPlenty) {
  StageRig rig;
  begin_operation(rig, "249");
  for (int i = 0; i < 3; ++i) rig.arm(kPoll, 200, left("248"), kRunning);
  rig.arm(kPoll, 200, left("248"), kEnded);
  rig.arm(patch(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "8000");
  EXPECT_EQ(rig.shared().budgets.report(rig.now()).own_reads, 4u);
  EXPECT_EQ(held_back(rig), 0u);
}

TEST(Budget, PollsGoEveryTenSecondsWhileItIsScarce) {
  StageRig rig;
  begin_operation(rig, "40");
  for (int i = 0; i < 3; ++i) rig.arm(kPoll, 200, left("40"), kRunning);
  rig.arm(kPoll, 200, left("40"), kEnded);
  rig.arm(patch(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "31000");
  EXPECT_EQ(rig.shared().budgets.report(rig.now()).own_reads, 4u);
}

TEST(Budget, A429ToAClientsReadStopsPollsForAsLongAsItSays) {
  StageRig rig;
  begin_operation(rig, "249");
  rig.arm(get(kGroup), 429, {{"Retry-After", "30"}}, "{}");
  rig.arm(kPoll, 200, {}, kEnded);
  rig.arm(patch(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", get(kGroup)).head.status, 429) << "clients are told what ARM says";
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "30000");
}

TEST(Budget, OfAnotherPrincipalDoesNotMatter) {
  StageRig rig;
  begin_operation(rig, "249");
  rig.arm(get(kGroup), 429, {{"Retry-After", "30"}}, "{}");
  rig.arm(kPoll, 200, {}, kEnded);
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.ask("three", get(kGroup));
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "1000");
}

// A group has no ETag: what is there is read and compared.
const std::string kGroupState = R"({"location":"we","tags":{"a":"1"}})";
const std::string kGroupChange = R"({"location":"we","tags":{"a":"2"}})";

TEST(Budget, AComparisonWaitsUntilItCanBeAfforded) {
  StageRig rig;
  rig.arm(get(kGroup), 200, left("250"), kGroupState);
  rig.arm(get(kGroup), 200, left("249"), kGroupState);
  rig.arm(put(kGroup), 200, left("249"), kGroupChange);
  rig.ask("one", get(kGroup));
  rig.ask("one", put(kGroup), kGroupChange);
  // Its one question in ten seconds was that read.
  rig.arm(get(kScaleSet), 200, left("3"), kState);
  rig.arm(get(kGroup), 200, left("3"), kGroupChange);
  rig.arm(put(kGroup), 200, {}, kGroupState);
  rig.ask("one", get(kScaleSet));
  const TimePoint before = rig.now();
  EXPECT_EQ(rig.ask("one", put(kGroup), kGroupState).head.status, 200);
  EXPECT_EQ(rig.now() - before, seconds(10));
  EXPECT_EQ(held_back(rig), 1u);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Budget, AComparisonThatCannotBeAffordedInTimeLeavesTheWriteUnsent) {
  StageRig rig;
  rig.arm(get(kGroup), 200, left("250"), kGroupState);
  rig.arm(get(kScaleSet), 429, {{"Retry-After", "120"}}, "{}");
  rig.ask("one", get(kGroup));
  rig.ask("one", get(kScaleSet));
  const auto busy = rig.ask("one", put(kGroup), kGroupChange);
  EXPECT_EQ(busy.head.status, 503);
  EXPECT_EQ(busy.head.fields.get("x-armgate-reason"), "verify-failed");
  EXPECT_TRUE(busy.head.fields.has("Retry-After"));
  EXPECT_EQ(rig.seen().size(), 2u) << "neither question nor write";
  EXPECT_GE(held_back(rig), 1u);
}

TEST(Budget, NonsenseHoldsNobodyBackAndIsCounted) {
  StageRig rig;
  begin_operation(rig, "-3");
  rig.arm(kPoll, 200, left("lots"), kEnded);
  rig.arm(patch(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "1000");
  EXPECT_EQ(rig.shared().budgets.report(rig.now()).unreadable, 2u);
}

}  // namespace
}  // namespace armgate::world::budget_test
