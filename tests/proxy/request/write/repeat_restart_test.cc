// What a process answers that comes after one that died, to requests which that one had answered.
#include <gtest/gtest.h>

#include "proxy/request/operation/unlock.h"
#include "tests/proxy/request/write/named.h"

namespace armgate::world {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

struct Former {
  SimJournal journal;
  arm::Headers fields;
};

// A process that answered a named request, and died.
Former answered(const std::string& what, const std::string& body, int status, const arm::Headers& answer,
                const std::string& made) {
  Former former;
  StageRig dead(former.journal);
  dead.pass(seconds(2));
  former.fields = named(dead, "a");
  dead.arm(what, status, answer, made);
  dead.ask("one", what, body, former.fields);
  return former;
}

TEST(Repeat, AfterARestartAPutHasItsStatusETagAndOperationAndWhatIsThere) {
  Former former = answered(kPut, kBody, 201, kAccepted, kMade);
  StageRig rig(former.journal);
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"3\""}}, kLater);
  const auto again = rig.ask("one", kPut, kBody, former.fields);
  EXPECT_EQ(again.head.status, 201);
  EXPECT_EQ(field(again, "ETag"), "\"3\"") << "of what it shows";
  EXPECT_EQ(field(again, "Azure-AsyncOperation"), kOperation);
  EXPECT_EQ(again.body, kLater);
  EXPECT_EQ(reason(again), "answered-as-recorded");
  EXPECT_EQ(former.journal.writes().begin()->second.replays, 1u);
  EXPECT_EQ(former.journal.writes().size(), 1u) << "nothing was sent";
}

// What its client builds on the answer is held against what the answer showed it.
TEST(Repeat, WhatTheRecordedAnswerShowsIsWhatItsClientWasShown) {
  Former former = answered(kPut, kBody, 200, {{"ETag", "\"2\""}}, kMade);
  StageRig rig(former.journal);
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"3\""}}, kLater);
  rig.ask("one", kPut, kBody, former.fields);
  rig.arm(kPut, 200, {{"ETag", "\"4\""}}, kLater);
  rig.ask("one", kPut, R"({"sku":{"capacity":8}})");
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"3\"");
}

TEST(Repeat, AfterARestartAnActionRunsNotAgain) {
  struct Case {
    int status;
    arm::Headers answer;
    int again;
    std::string_view reason;
  };
  const Case cases[] = {{202, kAccepted, 202, "answered-as-recorded"},
                        {204, {}, 204, "answered-as-recorded"},
                        {200, {}, 409, "recorded-answer-not-at-hand"}};
  for (const auto& c : cases) {
    Former former = answered(kRun, "", c.status, c.answer, "");
    StageRig rig(former.journal);
    const auto again = rig.ask("one", kRun, "", former.fields);
    EXPECT_EQ(again.head.status, c.again) << c.status;
    EXPECT_EQ(reason(again), c.reason) << c.status;
    EXPECT_TRUE(rig.seen().empty());
  }
}

TEST(Repeat, AfterARestartADeleteIsDoneAndMadeAnewItStays) {
  Former former = answered("DELETE " + std::string(kScaleSet), "", 204, {}, "");
  StageRig rig(former.journal);
  const auto again = rig.ask("one", "DELETE " + std::string(kScaleSet), "", former.fields);
  EXPECT_EQ(again.head.status, 204);
  EXPECT_TRUE(rig.seen().empty());
}

TEST(Repeat, AfterARestartWhatIsGoneCannotBeToldAgain) {
  Former former = answered(kPut, kBody, 200, {}, kMade);
  StageRig rig(former.journal);
  rig.arm(get(kScaleSet), 404);
  const auto again = rig.ask("one", kPut, kBody, former.fields);
  EXPECT_EQ(again.head.status, 409);
  EXPECT_EQ(reason(again), "recorded-answer-not-at-hand");
}

// A process that answered a request and heard how its operation ended, and died.
Former ended(const std::string& what, const std::string& body, const arm::Headers& name, const std::string& status,
             const std::function<void(StageRig&)>& prepare = {}) {
  Former former;
  StageRig dead(former.journal);
  if (prepare) prepare(dead);
  dead.pass(seconds(2));
  former.fields = name.empty() ? arm::Headers{} : named(dead, "a");
  dead.arm(what, what == kPut ? 201 : 202, kAccepted, what == kPut ? kMade : "");
  dead.ask("jvm", what, body, former.fields);
  dead.arm(kPoll, 200, {}, status);
  dead.ask("jvm", kPoll);
  return former;
}

const arm::Headers kNamed{{"named", "yes"}};

TEST(Repeat, AfterARestartWhatHasFailedIsToldAsFailed) {
  for (const auto& [what, body] : {std::pair(kPut, kBody), std::pair(kRun, std::string())}) {
    Former former = ended(what, body, kNamed, R"({"status":"Failed","error":{"code":"QuotaExceeded","message":"m"}})");
    StageRig rig(former.journal);
    const auto again = rig.ask("jvm", what, body, former.fields);
    EXPECT_EQ(again.head.status, 409) << what;
    EXPECT_EQ(reason(again), "recorded-operation-failed") << what;
    EXPECT_EQ(field(again, "x-armgate-replayed"), "true");
    for (const char* part : {"ArmgateOperationFailed", "QuotaExceeded", "Failed"})
      EXPECT_NE(again.body.find(part), std::string::npos) << again.body;
    EXPECT_TRUE(rig.seen().empty()) << what;
  }
}

TEST(Repeat, AfterARestartWhatHasSucceededIsToldAsBefore) {
  Former former = ended(kPut, kBody, kNamed, R"({"status":"Succeeded"})");
  StageRig rig(former.journal);
  rig.arm(get(kScaleSet), 200, {}, kLater);
  EXPECT_EQ(rig.ask("jvm", kPut, kBody, former.fields).head.status, 201);
}

// The end was not seen: nobody knows how it ended, and the URL that knew is not kept.
TEST(Repeat, AfterARestartAnEndThatNobodySawIsNoSuccess) {
  Former former = ended(kPut, kBody, kNamed, R"({"status":"InProgress"})");
  {
    StageRig unlocks(former.journal);
    const auto key = unlocks.shared().locks.key_of(
        "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v");
    ASSERT_EQ(unlock(unlocks.parts(), key, "ops").released.size(), 1u);
  }
  StageRig rig(former.journal);
  rig.arm_lives([](const arm::Request&) { return Step{{}, 200, {}, kLater, {}, {}, {}}; });
  const auto again = rig.ask("jvm", kPut, kBody, former.fields);
  EXPECT_EQ(again.head.status, 409);
  EXPECT_EQ(reason(again), "recorded-answer-not-at-hand");
}

TEST(Repeat, AfterARestartUnderARuleWhatHasFailedIsCarriedOutAgain) {
  const auto once = [](StageRig& rig) {
    rig.change_rules([](rules::Rule& rule) { rule.once.window = std::chrono::minutes(10); });
  };
  for (const std::string status : {"Failed", "Canceled", "Succeeded"}) {
    Former former = ended(kRun, "", {}, R"({"status":")" + status + R"("})", once);
    StageRig rig;
    once(rig);
    rig.take_up(former.journal);
    rig.arm_lives([](const arm::Request&) { return Step{{}, 202, {}, "", {}, {}, {}}; });
    rig.ask("jvm", kRun);
    EXPECT_EQ(rig.seen().size(), status == "Succeeded" ? 0u : 1u) << status;
  }
}

TEST(Repeat, AfterARestartANewNameIsANewRequestAndAnOlderOneIsNotDecided) {
  Former former = answered(kPut, kBody, 200, {}, kMade);
  StageRig rig(former.journal);
  rig.arm(kRun, 202, {});
  rig.pass(seconds(2));
  EXPECT_EQ(rig.ask("one", kRun, "", named(rig, "b")).head.status, 202);
  EXPECT_EQ(reason(rig.ask("one", kRun, "", named(rig, "c", hours(1)))), "first-sent-before-memory");
}

TEST(Repeat, OneActorJoinsTheOperationOfAnEarlierProcess) {
  SimJournal journal;
  {
    StageRig dead(journal);
    dead.arm(kPut, 201, kAccepted, kMade);
    dead.ask("one", kPut, kBody);
  }
  StageRig rig(journal);
  rig.arm(get(kScaleSet), 200, {}, kMade);
  const auto again = rig.ask("one", kPut, kBody);
  EXPECT_EQ(again.head.status, 201);
  EXPECT_EQ(field(again, "Azure-AsyncOperation"), kOperation);
  EXPECT_TRUE(rig.script_is_done());
}

// The operation of the first one ran on, as far as anybody knows, when the other was accepted.
TEST(Repeat, OneActorDoesNotJoinWhatItWroteOverBeforeTheProcessDied) {
  SimJournal journal;
  {
    StageRig dead(journal);
    dead.arm(kPut, 200, kAccepted, kMade);
    dead.ask("one", kPut, kBody);
    dead.arm(kPut, 200, {{"ETag", "\"3\""}}, kLater);
    ASSERT_EQ(dead.ask("one", kPut, R"({"sku":{"capacity":7}})").head.status, 200);
  }
  StageRig rig(journal);
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"3\""}}, kLater);
  rig.ask("one", get(kScaleSet));
  rig.arm(kPut, 200, {{"ETag", "\"4\""}}, kMade);
  EXPECT_EQ(rig.ask("one", kPut, kBody).head.status, 200);
  EXPECT_TRUE(rig.script_is_done()) << "it was sent";
}

// It was sent with another client's tag in it. Its client may keep the object that it has sent, and change that.
TEST(Repeat, WhatIsToldAgainOfAMergedWriteIsNotTakenForKnown) {
  const std::string tagged =
      R"({"etag":"\"3\"","sku":{"capacity":1},"tags":{"x":"1"},"properties":{"provisioningState":"Succeeded"}})";
  const std::string one = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
  const std::string both =
      R"({"etag":"\"4\"","sku":{"capacity":5},"tags":{"x":"1"},"properties":{"provisioningState":"Succeeded"}})";
  SimJournal journal;
  arm::Headers name;
  {
    StageRig dead(journal);
    dead.pass(seconds(2));
    name = named(dead, "a");
    dead.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, one);
    dead.ask("one", get(kScaleSet));
    dead.arm(kPut, 200, {{"ETag", "\"3\""}}, tagged);
    dead.ask("two", kPut, R"({"sku":{"capacity":1},"tags":{"x":"1"}})");
    dead.arm(kPut, 412);
    dead.arm(get(kScaleSet), 200, {{"ETag", "\"3\""}}, tagged);
    dead.arm(kPut, 200, {{"ETag", "\"4\""}}, both);
    const auto merged = dead.ask("one", kPut, kBody, name);
    ASSERT_EQ(merged.head.status, 200);
    ASSERT_EQ(reason(merged), "merged");
  }
  StageRig rig(journal);
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"4\""}}, both);
  ASSERT_EQ(reason(rig.ask("one", kPut, kBody, name)), "answered-as-recorded");
  EXPECT_EQ(rig.ask("one", kPut, R"({"sku":{"capacity":6}})").head.status, 412) << "the tag is not there: is it to go?";
  EXPECT_TRUE(rig.script_is_done());
}

}  // namespace
}  // namespace armgate::world
