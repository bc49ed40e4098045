// Writes that ARM takes and whose operations fail later: behind an operation URL of armgate's own they go again.
#include "proxy/request/operation/send_again.h"

#include <gtest/gtest.h>

#include <string>

#include "arm/url.h"
#include "tests/proxy/request/operation/failing_operations.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::send_again_test {
namespace {

using namespace failing_operations;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string kGet = get(kScaleSet);
const std::string kPut = put(kScaleSet);
const std::string kPartly = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Failed"}})";

class SendAgainTest : public testing::Test {
 protected:
  SendAgainTest() { use(rig_, R"({"attempts": 3, "base": "2s", "max": "2s"})"); }

  static void use(StageRig& rig, const std::string& retry) {
    rig.shared().rules.replace(late_rules(retry), rules::Mode::Protect);
  }

  // Reads, writes, and gives the target of the operation URL that it was given.
  std::string write(StageRig& rig, arm::Headers fields) {
    rig.arm(kGet, 200, {}, kBefore);
    rig.ask("one", kGet);
    rig.arm(kPut, 201, std::move(fields), kRunning);
    answer_ = rig.ask("one", kPut, kWanted);
    const bool by_status = answer_.head.fields.has("Azure-AsyncOperation");
    const auto given = arm::parse_url(answer_.head.fields.get(by_status ? "Azure-AsyncOperation" : "Location"));
    return given ? given->target : std::string();
  }
  std::string write() { return write(rig_, {{"Azure-AsyncOperation", url(1)}}); }

  arm::Response asked(const std::string& target, const std::string& client = "one") {
    return rig_.ask(client, "GET " + target);
  }

  // The first operation fails, what is there is `there`, and then time passes.
  void fail(const std::string& own, const std::string& with, const std::string& there) {
    rig_.arm(poll(1), 200, {}, with);
    EXPECT_NE(asked(own).body.find(R"("status":"InProgress")"), std::string::npos);
    rig_.arm(kGet, 200, {}, there);
  }
  void accept(int number) { rig_.arm(kPut, 200, {{"Azure-AsyncOperation", url(number)}}, kRunning); }

  StageRig rig_;
  arm::Response answer_;
};

TEST_F(SendAgainTest, ItsClientGetsAUrlOfArmgatesOwnAndItsPollsAreARMs) {
  const std::string own = write();
  EXPECT_EQ(answer_.head.status, 201);
  EXPECT_NE(own.find("/subscriptions/s/providers/Microsoft.Compute/armgate-operations/"), std::string::npos) << own;
  EXPECT_EQ(answer_.head.fields.get("x-armgate-reason"), "own-operation-url");
  rig_.arm(poll(1), 200, {{"Retry-After", "7"}}, kInProgress);
  const auto running = asked(own);
  EXPECT_EQ(running.body, kInProgress);
  EXPECT_EQ(running.head.fields.get("Retry-After"), "7");
  EXPECT_EQ(rig_.sent_field(2, "authorization"), "Bearer of-one");
  rig_.arm(poll(1), 200, {}, R"({"status":"Succeeded"})");
  EXPECT_EQ(asked(own).body, R"({"status":"Succeeded"})");
  EXPECT_TRUE(rig_.shared().op_leases.empty());
  EXPECT_EQ(rig_.shared().owned.bytes(), 0u) << "nothing is kept of what is over";
}

TEST_F(SendAgainTest, WhatFailedForAPassingReasonGoesAgainOnTheStateThatItWasBuiltFrom) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  accept(2);
  rig_.pass(seconds(3));
  ASSERT_EQ(rig_.seen().size(), 5u);
  const arm::Request& second = rig_.seen()[4];
  EXPECT_EQ(second.body, kWanted);
  EXPECT_EQ(second.head.fields.get("If-Match"), "\"3\"") << "of what was read under the lease";
  EXPECT_EQ(second.head.fields.get("Authorization"), "Bearer of-one");
  EXPECT_EQ(rig_.shared().op_leases.size(), 1u);
  rig_.arm(poll(2), 200, {}, R"({"status":"Succeeded"})");
  EXPECT_EQ(asked(own).body, R"({"status":"Succeeded"})") << "how the second one ended";
  EXPECT_TRUE(rig_.shared().op_leases.empty());
  EXPECT_EQ(rig_.shared().counters.sent_again_late, 1u);
}

TEST_F(SendAgainTest, OfTheLocationFormTheSame) {
  const std::string own = write(rig_, {{"Location", url(1)}});
  EXPECT_TRUE(own.find("/result?") != std::string::npos) << own;
  rig_.arm(poll(1), 202, {{"Location", url(1)}});
  const auto runs = asked(own);
  EXPECT_EQ(runs.head.status, 202);
  EXPECT_NE(runs.head.fields.get("Location").find("/armgate-operations/"), std::string_view::npos)
      << "or it would poll around armgate";
  rig_.arm(poll(1), 409, {}, R"({"error":{"code":"AnotherOperationInProgress","message":"m"}})");
  const auto again = asked(own);
  EXPECT_EQ(again.head.status, 202);
  EXPECT_NE(again.head.fields.get("Location").find("/armgate-operations/"), std::string_view::npos);
  rig_.arm(kGet, 200, {}, kBack);
  rig_.arm(kPut, 202, {{"Location", url(2)}});
  rig_.pass(seconds(3));
  rig_.arm(poll(2), 200, {}, kRunning.substr(0, 10) + "}");
  EXPECT_EQ(asked(own).head.status, 200);
}

// Whoever aborts it wants it to end, however ARM words that.
TEST_F(SendAgainTest, WhatAnOperatorAbortsDoesNotGoAgain) {
  const std::string abort =
      "POST /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/abort?api-version=2024-07-01";
  const std::string superseded =
      R"({"status":"Canceled","error":{"code":"OperationPreempted","message":"Operation was preempted by abort"}})";
  for (const bool is_late : {false, true}) {
    StageRig rig;
    use(rig, R"({"attempts": 3, "base": "2s", "max": "2s"})");
    const std::string own = write(rig, {{"Azure-AsyncOperation", url(1)}});
    if (is_late) {  // it has failed already, and is to go again
      rig.arm(poll(1), 200, {}, kBusy);
      EXPECT_NE(rig.ask("one", "GET " + own).body.find("InProgress"), std::string::npos);
    }
    rig.arm(abort, 202);
    EXPECT_EQ(rig.ask("ops", abort).head.status, 202);
    if (!is_late) rig.arm(poll(1), 200, {}, superseded);
    rig.arm_lives([&](const arm::Request&) { return Step{{}, 200, {}, is_late ? kBusy : superseded, {}, {}, {}}; });
    rig.ask("one", "GET " + own);
    rig.pass(seconds(30));
    const std::string told = rig.ask("one", "GET " + own).body;
    EXPECT_EQ(told, is_late ? kBusy : superseded);
    for (size_t i = 2; i < rig.seen().size(); ++i) EXPECT_NE(rig.seen()[i].head.method, arm::Method::Put) << is_late;
    EXPECT_EQ(rig.shared().counters.sent_again_late, 0u);
  }
}

TEST_F(SendAgainTest, APartialEffectIsTheClientsBusiness) {
  const std::string own = write();
  fail(own, kBusy, kPartly);
  rig_.pass(seconds(3));
  EXPECT_TRUE(rig_.shared().op_leases.empty());
  rig_.arm(poll(1), 200, {}, kBusy);
  EXPECT_EQ(asked(own).body, kBusy);
  EXPECT_EQ(rig_.shared().counters.given_up_late, 1u);
}

TEST_F(SendAgainTest, NothingIsSentOnceTheModeIsAnother) {
  const std::string own = write();
  rig_.arm(poll(1), 200, {}, kBusy);
  asked(own);
  rig_.set_mode(rules::Mode::Off);
  rig_.pass(seconds(3));
  EXPECT_TRUE(rig_.script_is_done());
  rig_.arm(poll(1), 200, {}, kBusy);
  EXPECT_EQ(asked(own).body, kBusy) << "its client still has the URL";
}

TEST_F(SendAgainTest, WhatIsFinalIsToldAtOnce) {
  const std::string own = write();
  rig_.arm(poll(1), 200, {}, failed("QuotaExceeded"));
  EXPECT_EQ(asked(own).body, failed("QuotaExceeded"));
  EXPECT_TRUE(rig_.shared().op_leases.empty());
}

TEST_F(SendAgainTest, NotMoreOftenThanTheRuleSays) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  accept(2);
  rig_.pass(seconds(3));
  rig_.arm(poll(2), 200, {}, kBusy);
  asked(own);
  rig_.arm(kGet, 200, {}, kBack);
  accept(3);
  rig_.pass(seconds(3));
  rig_.arm(poll(3), 200, {}, kBusy);
  EXPECT_EQ(asked(own).body, kBusy) << "three sendings in all";
  EXPECT_TRUE(rig_.shared().op_leases.empty());
}

TEST_F(SendAgainTest, WhatWasSupersededGoesAgainOnce) {
  const std::string own = write();
  fail(own, failed("OperationPreempted"), kBack);
  accept(2);
  rig_.pass(seconds(3));
  rig_.arm(poll(2), 200, {}, failed("OperationPreempted"));
  EXPECT_EQ(asked(own).body, failed("OperationPreempted"));
}

TEST_F(SendAgainTest, NothingGoesForAClientThatDoesNotPoll) {
  const std::string own = write();
  rig_.arm_lives([&](const arm::Request&) {
    Step step;
    step.body = kBusy;
    return step;
  });
  rig_.pass(minutes(5));
  for (const auto& request : rig_.seen()) EXPECT_TRUE(request.head.method != arm::Method::Put || &request == &rig_.seen()[1]);
  EXPECT_TRUE(rig_.shared().op_leases.empty()) << "and nobody waits for it for ever";
  EXPECT_EQ(asked(own).body, kBusy);
}

TEST_F(SendAgainTest, OthersWaitUntilTheLastSendingIsOver) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  const auto waiting = rig_.start("two", patch(kScaleSet), R"({"tags":{"a":"b"}})");
  accept(2);
  rig_.arm_lives([&](const arm::Request& request) {
    Step step;
    const bool polls = request.head.target.find("/operations/") != std::string::npos;
    step.body = polls ? kInProgress : kRunning;
    return step;
  });
  rig_.pass(seconds(20));
  EXPECT_FALSE(waiting->done);
  for (const auto& request : rig_.seen()) EXPECT_NE(request.head.method, arm::Method::Patch);
  rig_.arm(poll(2), 200, {}, R"({"status":"Succeeded"})");
  asked(own);
  rig_.run_until([&] { return waiting->done; });
  EXPECT_EQ(waiting->link->answer().head.status, 200);
}

TEST_F(SendAgainTest, ALostAnswerIsNotSentAThirdTimeAndIsToldAsUnknown) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  rig_.arm_fails(kPut, Sent::Maybe);
  rig_.arm_lives([&](const arm::Request&) {
    Step step;
    step.body = kPartly;
    return step;
  });
  rig_.pass(seconds(4));
  EXPECT_NE(asked(own).body.find("InProgress"), std::string::npos);
  rig_.pass(minutes(5));
  EXPECT_NE(asked(own).body.find("ArmgateOutcomeUnknown"), std::string::npos);
  EXPECT_TRUE(rig_.shared().op_leases.empty());
}

TEST_F(SendAgainTest, AnAnswerThatBreaksOffCountsByItsHead) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  rig_.arm_breaks_off(kPut, 200, kRunning, 5, {{"Azure-AsyncOperation", url(2)}});
  rig_.pass(seconds(4));
  rig_.arm(poll(2), 200, {}, R"({"status":"Succeeded"})");
  EXPECT_EQ(asked(own).body, R"({"status":"Succeeded"})") << "how what ARM took ended";
  EXPECT_TRUE(rig_.script_is_done());
  EXPECT_EQ(rig_.shared().counters.outcomes_unknown, 0u);
}

TEST_F(SendAgainTest, ARefusalForNowWhoseAnswerBreaksOffIsSentAgain) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  rig_.arm_breaks_off(kPut, 429, R"({"error":{"code":"Busy"}})", 5, {{"Retry-After", "1"}});
  rig_.arm(kGet, 200, {}, kBack);
  accept(2);
  rig_.pass(seconds(8));
  EXPECT_TRUE(rig_.script_is_done());
}

TEST_F(SendAgainTest, ARefusalForGoodWhoseAnswerBreaksOffIsTheEnd) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  rig_.arm_breaks_off(kPut, 400, R"({"error":{"code":"Bad"}})", 5);
  rig_.pass(seconds(8));
  EXPECT_TRUE(rig_.script_is_done());
  EXPECT_TRUE(rig_.shared().op_leases.empty());
  EXPECT_EQ(rig_.shared().counters.outcomes_unknown, 0u);
}

TEST_F(SendAgainTest, ItIsRefusedOnceMoreAndThenTaken) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  rig_.arm(kPut, 409, {}, R"({"error":{"code":"AnotherOperationInProgress","message":"m"}})");
  rig_.arm(kGet, 200, {}, kBack);
  accept(2);
  rig_.pass(seconds(6));
  EXPECT_TRUE(rig_.script_is_done());
  rig_.arm(poll(2), 200, {}, R"({"status":"Succeeded"})");
  EXPECT_EQ(asked(own).body, R"({"status":"Succeeded"})");
}

TEST_F(SendAgainTest, ARefusalForGoodIsTheEnd) {
  const std::string own = write();
  fail(own, kBusy, kBack);
  rig_.arm(kPut, 412, {}, R"({"error":{"code":"PreconditionFailed","message":"m"}})");
  rig_.pass(seconds(4));
  EXPECT_TRUE(rig_.shared().op_leases.empty());
  rig_.arm(poll(1), 200, {}, kBusy);
  EXPECT_EQ(asked(own).body, kBusy);
}

TEST_F(SendAgainTest, WhatARMDoesNotKnowAnyMoreIsToldByItsLastWord) {
  const std::string own = write();
  rig_.arm(poll(1), 200, {}, failed("QuotaExceeded"));
  asked(own);
  rig_.arm(poll(1), 404, {}, R"({"error":{"code":"NotFound","message":"m"}})");
  const auto told = asked(own);
  EXPECT_EQ(told.head.status, 200);
  EXPECT_NE(told.body.find(R"("status":"Failed","error":{"code":"QuotaExceeded")"), std::string::npos) << told.body;
  EXPECT_EQ(told.head.fields.get("x-armgate-reason"), "last-word");
}

TEST_F(SendAgainTest, OnlyWhatHasACertainBaseAndOnlyIfTheRuleSaysSo) {
  rig_.arm(kPut, 201, {{"Azure-AsyncOperation", url(1)}}, kRunning);
  const auto unread = rig_.ask("one", kPut, kWanted);
  EXPECT_EQ(unread.head.fields.get("Azure-AsyncOperation"), url(1)) << "nothing could tell whether it had an effect";
  StageRig other;
  use(other, R"({"attempts": 1})");
  write(other, {{"Azure-AsyncOperation", url(1)}});
  EXPECT_EQ(answer_.head.fields.get("Azure-AsyncOperation"), url(1));
}

TEST_F(SendAgainTest, AnUnknownUrlIsARMs) {
  const std::string own = write();
  std::string other = own;
  other[other.find("armgate-operations/") + 19] ^= 1;
  rig_.arm("GET " + other, 404);
  EXPECT_EQ(asked(other).head.status, 404);
}

TEST_F(SendAgainTest, AfterARestartItIsFollowedAndNotSentAgain) {
  SimJournal journal;
  std::string own;
  {
    StageRig dead(journal);
    use(dead, R"({"attempts": 3})");
    own = write(dead, {{"Azure-AsyncOperation", url(1)}});
  }
  StageRig rig(journal);
  rig.arm(poll(1), 200, {}, kInProgress);
  EXPECT_EQ(rig.ask("one", "GET " + own).body, kInProgress);
  rig.arm(poll(1), 200, {}, kBusy);
  EXPECT_EQ(rig.ask("one", "GET " + own).body, kBusy) << "its body is gone";
  rig.pass(minutes(5));
  EXPECT_TRUE(rig.script_is_done());
  StageRig third(journal);
  EXPECT_NE(third.ask("one", "GET " + own).body.find("AnotherOperationInProgress"), std::string::npos) << "ARM's last word";
}

TEST_F(SendAgainTest, AfterARestartTheNewestSendingCounts) {
  SimJournal journal;
  std::string own;
  {
    StageRig dead(journal);
    use(dead, R"({"attempts": 3, "base": "1s"})");
    own = write(dead, {{"Azure-AsyncOperation", url(1)}});
    dead.arm(poll(1), 200, {}, kBusy);
    dead.ask("one", "GET " + own);
    dead.arm(kGet, 200, {}, kBack);
    dead.arm(kPut, 200, {{"Azure-AsyncOperation", url(2)}}, kRunning);
    dead.pass(seconds(3));
    ASSERT_TRUE(dead.script_is_done());
  }
  StageRig rig(journal);
  EXPECT_EQ(rig.shared().op_leases.size(), 1u);
  rig.arm(poll(2), 200, {}, R"({"status":"Succeeded"})");
  EXPECT_EQ(rig.ask("one", "GET " + own).body, R"({"status":"Succeeded"})");
}

// What would be refused to a client is not sent by armgate itself either.
TEST_F(SendAgainTest, ToAResourceWithABreakerItDoesNotGoOnceThatIsSick) {
  StageRig rig;
  rig.change_rules([](rules::Rule& rule) {
    rule.late.backoff = {seconds(2), 2.0, seconds(2), 3, minutes(10)};
    rule.breaker.mode = rules::Mode::Protect;
  });
  const std::string own = write(rig, {{"Azure-AsyncOperation", url(1)}});
  const OperationResult bad{arm::Progress::Failed, {"AnotherOperationInProgress", ""}};
  const std::string id = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v";
  for (int i = 0; i < 10; ++i) {
    rig.shared().results.note({rig.shared().locks.key_of(id), id, "t", "PUT", "two", {}, bad, 0, 0}, {rig.now(), WallTime()});
  }
  rig.arm(poll(1), 200, {}, kBusy);
  rig.ask("one", "GET " + own);
  rig.pass(seconds(30));
  EXPECT_EQ(rig.shared().counters.sent_again_late, 0u);
  EXPECT_EQ(rig.shared().counters.given_up_late, 1u);
}

}  // namespace
}  // namespace armgate::world::send_again_test
