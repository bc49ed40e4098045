// What a refusal says of the other change, which reads count as what is there, and what cannot be compared.
#include "proxy/request/guard/reconcile.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::reconcile_test {
namespace {

using std::chrono::seconds;

const std::string kPlain = R"({"location":"westeurope","tags":{},"properties":{"provisioningState":"Succeeded"}})";
const std::string kTagged = R"({"location":"westeurope","tags":{"by":"two"},"properties":{"provisioningState":"Succeeded"}})";
const std::string kByTwo = R"({"location":"westeurope","tags":{"by":"two"}})";
const std::string kByOne = R"({"location":"westeurope","tags":{"by":"one"}})";

// "one" has read the group, which has no ETags; then "two" has tagged it through armgate.
struct AfterTwosTag : StageRig {
  explicit AfterTwosTag(PipelineOptions options = default_options()) : StageRig(options) {
    arm(get(kGroup), 200, {}, kPlain);
    arm(get(kGroup), 200, {}, kPlain);
    arm(get(kGroup), 200, {}, kPlain);  // compared for "two"
    arm(put(kGroup), 200, {}, kTagged);
    ask("one", get(kGroup));
    ask("two", get(kGroup));
    EXPECT_EQ(ask("two", put(kGroup), kByTwo).head.status, 200);
  }
};

TEST(Reconcile, ARefusalSaysHowLongAgoTheOtherChangeWasMade) {
  AfterTwosTag rig;
  rig.pass(seconds(30));
  rig.arm(get(kGroup), 200, {}, kTagged);
  const auto answer = rig.ask("one", put(kGroup), kByOne);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_TRUE(says(answer, "Somebody else changed /tags/by 30.0 s ago.")) << answer.body;
}

TEST(Reconcile, AReadThatLacksAnAcceptedWriteIsMadeAgainAfterAPause) {
  AfterTwosTag rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 200, {}, kTagged);
  const TimePoint asked = rig.now();
  const auto answer = rig.ask("one", put(kGroup), kByOne);
  EXPECT_EQ(answer.head.status, 412) << "it would have undone what the first read did not show";
  EXPECT_GE(rig.now() - asked, kLagPause);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Reconcile, AWriteWaitsForAnUpToDateReadNoLongerThanItsClientDoes) {
  auto options = StageRig::default_options();
  options.wait_max = seconds(5);
  AfterTwosTag rig(options);
  rig.arm_lives([](const arm::Request&) { return Step{{}, 200, {}, kPlain, {}, {}, {}}; });
  const TimePoint asked = rig.now();
  const auto answer = rig.ask("one", put(kGroup), kByOne);
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "waited-for-a-read-that-is-up-to-date");
  EXPECT_LE(rig.now() - asked, seconds(6));
  for (const auto& request : rig.seen()) EXPECT_NE(request.body, kByOne) << "it was sent";
}

TEST(Reconcile, ABodyThatCannotBeReadIsToldSoWhereSomethingMoved) {
  for (const char* body : {R"({"location":"westeurope","tags":{"by":"one","by":"three"}})", "", R"({"location":)"}) {
    AfterTwosTag rig;
    rig.arm(get(kGroup), 200, {}, kTagged);
    const auto answer = rig.ask("one", put(kGroup), body);
    EXPECT_EQ(answer.head.status, 412) << body;
    EXPECT_TRUE(says(answer, "ArmgateStaleWrite")) << answer.body;
    EXPECT_TRUE(says(answer, "empty, cut short or no JSON in UTF-8, a member may stand in it twice")) << answer.body;
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "stale") << body;
  }
}

TEST(Reconcile, ABaseThatWasNotKeptIsNamedAsTheReason) {
  auto options = StageRig::default_options();
  options.body_keep_max = kPlain.size() - 1;
  StageRig rig(options);
  rig.arm(get(kGroup), 200, etag("\"1\""), kPlain);
  rig.arm(get(kGroup), 200, etag("\"2\""), kTagged);
  rig.ask("one", get(kGroup));
  const auto answer = rig.ask("one", put(kGroup), kByOne);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_TRUE(says(answer, "history.body_keep_max")) << answer.body;
  EXPECT_TRUE(rig.script_is_done());
}

}  // namespace
}  // namespace armgate::world::reconcile_test
