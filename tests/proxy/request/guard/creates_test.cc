// Creates that may not replace what somebody has created meanwhile (rule key guard.creates).
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::creates_test {
namespace {

const std::string kWanted = R"({"sku":{"capacity":5}})";
const std::string kMade = R"({"etag":"\"1\"","sku":{"capacity":5},"properties":{"provisioningState":"Succeeded"}})";
const std::string kAnothers = R"({"etag":"\"1\"","sku":{"capacity":9},"properties":{"provisioningState":"Succeeded"}})";
const std::string kRefusal = R"({"error":{"code":"PreconditionFailed","message":"m"}})";
const std::string kNone = R"({"error":{"code":"ResourceNotFound","message":"m"}})";

class Creates : public testing::Test {
 protected:
  Creates() {
    rules::FaultList faults;
    auto rules = rules::read_rules("r.json", R"({"rules": [{"name": "sets",
        "match": {"types": ["Microsoft.Compute/virtualMachineScaleSets"]},
        "guard": {"kind": "etag", "creates": "if-none-match"}}]})",
                                   faults);
    EXPECT_TRUE(faults.empty());
    rig.shared().rules.replace(std::make_shared<const rules::Ruleset>(std::move(rules)), rules::Mode::Protect);
    rig.arm(get(kScaleSet), 404, {}, kNone);
    rig.ask("one", get(kScaleSet));
  }
  StageRig rig;
};

TEST_F(Creates, CarryIfNoneMatchAndNothingElse) {
  rig.arm(put(kScaleSet), 201, {}, kMade);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted, {{"If-None-Match", ""}});
  EXPECT_EQ(answer.head.status, 201);
  EXPECT_EQ(rig.sent_field(1, "If-None-Match"), "*");
  EXPECT_EQ(rig.seen()[1].head.fields.count("If-None-Match"), 1u);
  EXPECT_FALSE(rig.seen()[1].head.fields.has("If-Match"));
  EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "create");
}

TEST_F(Creates, OfWhatSomebodyMadeMeanwhileAreRefusedByArm) {
  rig.arm(put(kScaleSet), 412, {}, kRefusal);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.body, kRefusal) << "ARM's own bytes";
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "created-meanwhile");
  rig.arm(put(kScaleSet), 412, {}, kRefusal);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})").head.status, 412) << "it knows no more than before";
  EXPECT_TRUE(rig.script_is_done());
}

// ARM's own 5xx passes through, and the client sends again: what the first sending made may have been changed since.
TEST_F(Creates, ThatMayHaveHappenedAreLookedForBeforeTheyGoAgain) {
  rig.arm(put(kScaleSet), 504, {}, kRefusal);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 504);
  rig.arm(get(kScaleSet), 200, {}, kMade);  // does anything still run?
  rig.arm(get(kScaleSet), 200, {}, kMade);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.body, kMade);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(Creates, ThatMayHaveHappenedDoNotTakeBackWhatWasChangedSince) {
  rig.arm(put(kScaleSet), 504, {}, kRefusal);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 504);
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "created-meanwhile");
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(Creates, WhoseAnswerWasLostGoAgainWhileNothingIsThere) {
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.arm(put(kScaleSet), 412, {}, kRefusal);  // the first one has arrived after all
  rig.arm(get(kScaleSet), 200, {}, kMade);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.body, kMade);
  EXPECT_EQ(rig.sent_field(3, "If-None-Match"), "*");
}

TEST_F(Creates, WhoseAnswerWasLostDoNotClaimWhatAnotherMade) {
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  EXPECT_NE(rig.ask("one", put(kScaleSet), kWanted).body.find("ArmgateStaleWrite"), std::string::npos);
}

TEST_F(Creates, LeaveAPreconditionOfTheClientsOwnAlone) {
  rig.arm(put(kScaleSet), 201, {}, kMade);
  rig.ask("one", put(kScaleSet), kWanted, {{"If-Match", "*"}});
  EXPECT_FALSE(rig.seen()[1].head.fields.has("If-None-Match"));
}

TEST(CreatesByDefault, CarryNothing) {
  StageRig rig;
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.arm(put(kScaleSet), 201, {}, kMade);
  rig.ask("one", get(kScaleSet));
  rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_FALSE(rig.seen()[1].head.fields.has("If-None-Match"));
}

// To no client: after ARM's 412 to a copy with an old ETag armgate has looked for itself.
TEST(CreatesByDefault, DoNotReplaceWhatArmgateItselfHasSeenMeanwhile) {
  StageRig rig;
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.ask("one", get(kScaleSet));
  rig.arm(put(kScaleSet), 412, {}, kRefusal);
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  EXPECT_EQ(rig.ask("two", put(kScaleSet), R"({"etag":"\"7\"","sku":{"capacity":9}})").head.status, 412);
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "created-meanwhile");
  EXPECT_TRUE(rig.script_is_done());
}

TEST(CreatesByDefault, DoNotReplaceWhatAnotherClientHasSeenMeanwhile) {
  StageRig rig;
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.ask("one", get(kScaleSet));
  rig.arm(get(kScaleSet), 200, {}, kAnothers);  // made around armgate
  rig.ask("two", get(kScaleSet));
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "created-meanwhile");
  EXPECT_TRUE(rig.script_is_done());
}

// Two who were told 404 a moment after it was made: one by a lagging read alone.
TEST(CreatesByDefault, DoNotReplaceWhatWasMadeBeforeTheReadThatLagged) {
  StageRig rig;
  rig.arm(put(kScaleSet), 201, {}, kAnothers);
  rig.ask("two", put(kScaleSet), R"({"sku":{"capacity":9}})");
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  rig.ask("two", get(kScaleSet));
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.ask("one", get(kScaleSet));
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "created-meanwhile");
  EXPECT_TRUE(rig.script_is_done());
}

// What was made a moment ago has been read since, and still one replica of ARM's knows nothing of it.
class MadeAndRead : public testing::Test {
 protected:
  MadeAndRead() {
    rig.arm(get(kScaleSet), 404, {}, kNone);
    rig.ask("one", get(kScaleSet));
    rig.arm(put(kScaleSet), 201, {}, kAnothers);
    rig.ask("two", put(kScaleSet), R"({"sku":{"capacity":9}})");
    rig.arm(get(kScaleSet), 200, {}, kAnothers);
    rig.ask("two", get(kScaleSet));
  }
  StageRig rig;
};

TEST_F(MadeAndRead, OneLookThatFindsNothingIsNotBelieved) {
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.arm(get(kScaleSet), 200, {}, kAnothers);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 412) << "it would have replaced what two has made";
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "created-meanwhile");
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(MadeAndRead, SeveralLooksThatFindNothingAreADeletionAroundArmgate) {
  for (int i = 0; i < 4; ++i) rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.arm(put(kScaleSet), 201, {}, kMade);
  const TimePoint before = rig.now();
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 201);
  EXPECT_LT(rig.now() - before, std::chrono::seconds(5));
  EXPECT_TRUE(rig.script_is_done());
}

// It went away around armgate (a move, another's cleaning up). Nobody else's is in the way.
TEST(CreatesAgain, WhoMadeItAndWasToldThatItIsGoneIsSentAtOnce) {
  StageRig rig;
  rig.arm(put(kScaleSet), 201, {}, kMade);
  rig.ask("one", put(kScaleSet), kWanted);
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.ask("one", get(kScaleSet));
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.arm(put(kScaleSet), 201, {}, kMade);
  const TimePoint before = rig.now();
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 201);
  EXPECT_LT(rig.now() - before, std::chrono::seconds(1));
}

// What somebody else made may only not be shown yet: that is waited for. Then the 404 that its client was told counts.
TEST(CreatesAgain, WhatAnotherMadeOnceItIsBelievedToBeGone) {
  StageRig rig;
  rig.arm(put(kScaleSet), 201, {}, kMade);
  rig.ask("two", put(kScaleSet), kWanted);
  rig.arm(get(kScaleSet), 404, {}, kNone);
  rig.ask("one", get(kScaleSet));
  rig.pass(std::chrono::seconds(40));
  for (int i = 0; i < 22; ++i) rig.arm(get(kScaleSet), 404, {}, kNone);  // one a second, until a minute is over
  rig.arm(put(kScaleSet), 201, {}, kMade);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})").head.status, 201);
  EXPECT_GT(rig.seen().size(), 10u);
}

// The group was shown, deleted, and then told as a 404: that the new body has all that the old one had says nothing.
TEST(CreatesAgain, WhatIsGoneIsMadeAnewWithTheSameContent) {
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, R"({"name":"g","location":"w","properties":{"provisioningState":"Deleting"}})");
  rig.arm(get(kGroup), 404, {}, kNone);
  rig.arm(get(kGroup), 404, {}, kNone);  // armgate's own: that there is nothing may have been a lagging read
  rig.arm(put(kGroup), 201, {}, R"({"name":"g","location":"w","properties":{"provisioningState":"Succeeded"}})");
  rig.ask("one", get(kGroup));
  rig.ask("one", get(kGroup));
  EXPECT_EQ(rig.ask("one", put(kGroup), R"({"location":"w"})").head.status, 201);
}

// Four actors behind one name were told that there is nothing.
class CreatesBehindOneName : public testing::Test {
 protected:
  CreatesBehindOneName() : rig(many_actors()) {
    for (int i = 0; i < 4; ++i) {
      rig.arm(get(kScaleSet), 404, {}, kNone);
      rig.ask("jvm", get(kScaleSet));
    }
    rig.arm(put(kScaleSet), 201, {{"ETag", "\"1\""}}, made("1", R"("a":"1")"));
    rig.ask("jvm", put(kScaleSet), wanted(R"("a":"1")"));
  }
  static std::string wanted(const std::string& tags) { return R"({"location":"w","tags":{)" + tags + R"(},"properties":{}})"; }
  static std::string made(const std::string& version, const std::string& tags) {
    return R"({"id":"/subscriptions/s/v","name":"v","etag":"\")" + version + R"(\"","location":"w","tags":{)" + tags +
           R"(},"properties":{"provisioningState":"Succeeded"}})";
  }
  StageRig rig;
};

TEST_F(CreatesBehindOneName, TheOthersAreRefusedEachOfThem) {
  for (const char* tags : {R"("b":"1")", R"("c":"1")", R"("d":"1")", R"("b":"2")"}) {
    rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, made("1", R"("a":"1")"));
    const auto answer = rig.ask("jvm", put(kScaleSet), wanted(tags));
    EXPECT_EQ(answer.head.status, 412) << tags;
    EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "any-shown, verified") << tags;
  }
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(CreatesBehindOneName, AfterThinkMaxNobodyHoldsTheAbsenceAnyMore) {
  rig.pass(std::chrono::minutes(6));
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, made("1", R"("a":"1")"));
  rig.ask("jvm", get(kScaleSet));
  rig.arm(put(kScaleSet), 200, {{"ETag", "\"2\""}}, made("2", R"("a":"2")"));
  EXPECT_EQ(rig.ask("jvm", put(kScaleSet), wanted(R"("a":"2")")).head.status, 200);
}

}  // namespace
}  // namespace armgate::world::creates_test
