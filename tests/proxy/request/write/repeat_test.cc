// Who asks for the same again gets the same answer, also when the first one had arrived, and over the life of a process
// (docs/design.md, "Once means once").
#include "proxy/request/write/repeat.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/proxy/request/write/named.h"

namespace armgate::world {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

void let_rules_say_once(StageRig& rig, Duration window) {
  rig.change_rules([&](rules::Rule& rule) { rule.once.window = window; });
}

// ---- by its client's own word

TEST(Repeat, AnActionUnderOneNameRunsOnceThoughItsAnswerHasArrived) {
  StageRig rig;
  rig.pass(seconds(2));
  rig.arm(kRun, 202, kAccepted);
  const auto fields = named(rig, "a");
  const auto first = rig.ask("one", kRun, "", fields);
  EXPECT_EQ(field(first, "Repeatability-Result"), "accepted");
  rig.arm(get(kScaleSet), 200, {}, kMade);
  rig.ask("one", get(kScaleSet));
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.ask("one", kPoll);
  rig.pass(hours(2));
  const auto again = rig.ask("one", kRun, "", with(fields, "x-ms-client-request-id", "another"));
  EXPECT_EQ(again.head.status, 202);
  EXPECT_EQ(field(again, "Azure-AsyncOperation"), kOperation);
  EXPECT_EQ(field(again, "x-armgate-replayed"), "true");
  EXPECT_EQ(field(again, "Repeatability-Result"), "accepted");
  EXPECT_EQ(reason(again), "answered-an-earlier-sending");
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Repeat, AnotherNameIsAnotherRequest) {
  StageRig rig;
  rig.pass(seconds(2));
  rig.arm(kRun, 200, {});
  rig.arm(kRun, 200, {});
  rig.ask("one", kRun, "", named(rig, "a"));
  EXPECT_FALSE(rig.ask("one", kRun, "", named(rig, "b")).head.fields.has("x-armgate-replayed"));
  rig.arm(kRun, 200, {});
  EXPECT_FALSE(rig.ask("two", kRun, "", named(rig, "a")).head.fields.has("x-armgate-replayed"))
      << "each client has names of its own";
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Repeat, APutUnderOneNameIsAnsweredAlsoAfterOthersHaveWritten) {
  StageRig rig;
  rig.pass(seconds(2));
  rig.arm(kPut, 200, {}, kMade);
  const auto fields = named(rig, "a");
  rig.ask("one", kPut, kBody, fields);
  rig.arm(patch(kScaleSet), 200, {}, kLater);
  rig.ask("two", patch(kScaleSet), R"({"sku":{"capacity":7}})");
  rig.arm(get(kScaleSet), 200, {}, kLater);
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", kPut, kBody, fields).body, kMade) << "that is what became of this request";
  // It may go on from that as well as from what it has read: what the other has changed is not taken back.
  rig.arm_lives([&](const arm::Request& request) {
    EXPECT_EQ(request.head.method, arm::Method::Get) << request.body;
    return Step{{}, 200, {}, kLater, {}, {}, {}};
  });
  EXPECT_EQ(rig.ask("one", kPut, R"({"sku":{"capacity":5},"tags":{"a":"1"}})").head.status, 412);
}

TEST(Repeat, TheNameOfAnotherRequestIsRefused) {
  StageRig rig;
  rig.pass(seconds(2));
  rig.arm(kPut, 200, {}, kMade);
  rig.ask("one", kPut, kBody, named(rig, "a"));
  const auto other = rig.ask("one", kPut, R"({"sku":{"capacity":6}})", named(rig, "a"));
  EXPECT_EQ(other.head.status, 400);
  EXPECT_EQ(reason(other), "repeatability-id-of-another-request");
  EXPECT_EQ(field(other, "Repeatability-Result"), "rejected");
}

TEST(Repeat, HalfANameIsRefusedAndNothingSent) {
  StageRig rig;
  for (const std::string& what : {kRun, kPut, kAction}) {
    const auto answer = rig.ask("one", what, "", {{"Repeatability-Request-ID", "a"}});
    EXPECT_EQ(answer.head.status, 400) << what;
    EXPECT_EQ(reason(answer), "bad-repeatability");
  }
  rig.arm(get(kScaleSet), 200, {}, kMade);
  EXPECT_EQ(rig.ask("one", get(kScaleSet), "", {{"Repeatability-Request-ID", "a"}}).head.status, 200)
      << "reads are as they are";
}

TEST(Repeat, WhereArmgateOnlyLooksOnNamesAreArms) {
  StageRig rig;
  rig.set_mode(rules::Mode::Observe);
  rig.arm(kRun, 202, {});
  rig.arm(kRun, 202, {});
  EXPECT_EQ(rig.ask("one", kRun, "", {{"Repeatability-Request-ID", "a"}}).head.status, 202);
  EXPECT_EQ(rig.ask("one", kRun, "", {{"Repeatability-Request-ID", "a"}}).head.status, 202);
}

TEST(Repeat, AnActionThatNoRuleNamesDoesNotRunTwiceButItsAnswerIsNotKept) {
  StageRig rig;
  rig.pass(seconds(2));
  rig.arm(kAction, 200, {}, R"({"result":1})");
  const auto fields = named(rig, "a");
  EXPECT_EQ(rig.ask("one", kAction, "", fields).head.status, 200);
  const auto again = rig.ask("one", kAction, "", fields);
  EXPECT_EQ(again.head.status, 409);
  EXPECT_EQ(reason(again), "still-in-doubt");
}

TEST(Repeat, AfterAnErrorThatAsksForAnotherTryItIsTried) {
  for (const auto& [what, status] : {std::pair(kRun, 429), std::pair(kAction, 429)}) {
    StageRig rig;
    rig.pass(seconds(2));
    rig.arm(what, status);
    rig.arm(what, 200);
    const auto fields = named(rig, "a");
    EXPECT_EQ(rig.ask("one", what, "", fields).head.status, status) << what;
    EXPECT_EQ(rig.ask("one", what, "", fields).head.status, 200) << what;
  }
}

// Observed: ARM has said 503 and 500 to what it carried out.
TEST(Repeat, AfterAnErrorThatMayHideAnEffectAnActionIsNotCarriedOutAgain) {
  for (const std::string& what : {kRun, kAction}) {
    StageRig rig;
    rig.pass(seconds(2));
    rig.arm(what, 503);
    const auto fields = named(rig, "a");
    EXPECT_EQ(rig.ask("one", what, "", fields).head.status, 503) << what;
    EXPECT_EQ(reason(rig.ask("one", what, "", fields)), "still-in-doubt") << what;
  }
}

TEST(Repeat, WhatWasFirstSentBeforeTheProcessBeganIsNotDecided) {
  StageRig rig;
  const auto answer = rig.ask("one", kRun, "", named(rig, "a", minutes(1)));
  EXPECT_EQ(answer.head.status, 409);
  EXPECT_EQ(reason(answer), "first-sent-before-memory");
  EXPECT_EQ(field(answer, "Repeatability-Result"), "rejected");
}

// Armgate's clock is an hour behind while the request comes for the first time, and right when it comes again.
TEST(Repeat, AClockThatWasBehindHidesNoRepetition) {
  StageRig rig;
  const auto name = named(rig, "a", -hours(1));
  rig.arm_lives([](const arm::Request&) { return Step{"", 200, {}, "{}", {}, {}}; });
  const auto first = rig.ask("one", kRun, "", name);
  EXPECT_EQ(first.head.status, 409);
  EXPECT_EQ(reason(first), "first-sent-ahead");
  EXPECT_EQ(field(first, "Repeatability-Result"), "rejected");
  EXPECT_TRUE(rig.seen().empty());
  EXPECT_EQ(rig.ask("one", kRun, "", named(rig, "b", -minutes(4))).head.status, 200) << "clocks are never the same";
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(Repeat, WhatWasForgottenIsKnownByTheDateThatItsClientGave) {
  StageRig rig;
  const auto name = named(rig, "a", -minutes(4));
  rig.arm_lives([](const arm::Request&) { return Step{"", 200, {}, "{}", {}, {}}; });
  EXPECT_EQ(rig.ask("one", kRun, "", name).head.status, 200);
  rig.pass(hours(13));
  const auto again = rig.ask("one", kRun, "", name);
  EXPECT_EQ(reason(again), "first-sent-before-memory") << "it may not run a second time";
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(Repeat, WhatWasRefusedUnderANameIsDecidedAgain) {
  StageRig rig;
  rig.pass(seconds(2));
  rig.arm(kRun, 409, {}, R"({"error":{"code":"OperationNotAllowed","message":"quota"}})");
  rig.arm(kRun, 202, {});
  const auto fields = named(rig, "a");
  EXPECT_EQ(rig.ask("one", kRun, "", fields).head.status, 409);
  EXPECT_EQ(rig.ask("one", kRun, "", fields).head.status, 202);
}

TEST(Repeat, WithAnotherTokenAnActionIsNotCarriedOutAgain) {
  StageRig rig;
  rig.pass(seconds(2));
  const auto fields = named(rig, "a");
  rig.arm(kRun, 200);
  rig.ask("one", kRun, "", fields);
  const auto again = rig.ask("one", kRun, "", with(fields, "Authorization", "Bearer renewed"));
  EXPECT_EQ(again.head.status, 409);
  EXPECT_EQ(reason(again), "recorded-answer-not-at-hand");
}

// Each of them waits for the first, and none can have its refusal: they must not find it again and again.
TEST(Repeat, WithAnotherTokenARefusalIsDecidedAgain) {
  StageRig rig;
  rig.pass(seconds(2));
  const auto fields = named(rig, "a");
  const auto renewed = with(fields, "Authorization", "Bearer renewed");
  const std::string error = R"({"error":{"code":"InvalidParameter","message":"no"}})";
  rig.arm_takes(seconds(10), kRun, 400, {}, error);
  rig.arm_takes(seconds(1), kRun, 400, {}, error);
  const auto first = rig.start("one", kRun, "", fields);
  rig.pass(seconds(1));
  const auto second = rig.start("one", kRun, "", renewed);
  const auto third = rig.start("one", kRun, "", renewed);
  rig.run_until([&] { return first->done && second->done && third->done; });
  for (const auto& each : {first, second, third}) EXPECT_EQ(each->link->answer().head.status, 400);
  EXPECT_EQ(rig.seen().size(), 2u) << "the two that came with the same token share what became of it";
  EXPECT_EQ(rig.sent_field(1, "Authorization"), "Bearer renewed");
}

TEST(Repeat, WithAnotherTokenItsBearerShowsThatItMayRead) {
  for (const int seen : {200, 401, 404, 503}) {
    StageRig rig;
    rig.pass(seconds(2));
    const arm::Headers token{{"Authorization", "Bearer e30.eyJvaWQiOiJvIn0.b2xk"}};
    const arm::Headers later{{"Authorization", "Bearer e30.eyJvaWQiOiJvIn0.bmV3"}};
    const auto name = named(rig, "a");
    const auto named_as = [&](const arm::Headers& bearer) { return with(name, "Authorization", bearer.get("Authorization")); };
    rig.arm(kPut, 200, {{"ETag", "\"2\""}}, kMade);
    rig.ask("one", kPut, kBody, named_as(token));
    for (int tries = seen == 503 ? 8 : 1; tries > 0; --tries)
      rig.arm(get(kScaleSet), seen, {{"Retry-After", "5"}}, seen == 200 ? kLater : "{}");
    const auto again = rig.ask("one", kPut, kBody, named_as(later));
    EXPECT_EQ(again.head.status, seen == 200 ? 200 : seen == 503 ? 503 : 409) << seen;
    EXPECT_EQ(reason(again), seen == 200   ? "answered-as-recorded"
                             : seen == 503 ? "verify-failed"
                                           : "recorded-answer-not-at-hand");
    if (seen != 200) continue;
    EXPECT_EQ(again.body, kLater);
    EXPECT_EQ(field(again, "ETag"), "\"3\"") << "of what it shows";
    EXPECT_EQ(rig.sent_field(1, "Authorization"), later.get("Authorization"));
  }
}

// SDKs take a final state beside an operation's URL for the operation's end.
TEST(Repeat, WithAnotherTokenAFailureIsToldInPlaceOfTheStateOfBefore) {
  StageRig rig;
  rig.pass(seconds(2));
  const arm::Headers token{{"Authorization", "Bearer e30.eyJvaWQiOiJvIn0.b2xk"}};
  const auto name = named(rig, "a");
  rig.arm(kPut, 201, kAccepted, kMade);
  rig.ask("one", kPut, kBody, with(name, "Authorization", token.get("Authorization")));
  rig.arm(kPoll, 200, {}, R"({"status":"Failed","error":{"code":"QuotaExceeded","message":"m"}})");
  rig.ask("one", kPoll, "", token);
  rig.arm(get(kScaleSet), 200, {}, kLater);
  const auto again = rig.ask("one", kPut, kBody, with(name, "Authorization", "Bearer e30.eyJvaWQiOiJvIn0.bmV3"));
  EXPECT_EQ(again.head.status, 409);
  EXPECT_EQ(reason(again), "recorded-operation-failed");
  EXPECT_NE(again.body.find("QuotaExceeded"), std::string::npos);
}

// ---- by a rule

TEST(Repeat, UnderARuleAnotherPreconditionIsAnotherRequest) {
  StageRig rig;
  let_rules_say_once(rig, minutes(10));
  rig.arm(kPut, 200, {}, kMade);
  rig.ask("jvm", kPut, kBody);
  rig.arm(kPut, 412, {}, "{}");
  EXPECT_EQ(rig.ask("jvm", kPut, kBody, {{"If-Match", "\"77\""}}).head.status, 412);
}

TEST(Repeat, UnderARuleTheSameRequestIsOneForAWhile) {
  for (const std::string& what : {kRun, kPut}) {
    StageRig rig;
    let_rules_say_once(rig, minutes(10));
    const std::string body = what == kPut ? kBody : "";
    rig.arm(what, 200, {}, what == kPut ? kMade : "");
    rig.ask("jvm", what, body, {{"x-ms-client-request-id", "r1"}});
    rig.pass(minutes(9));
    const auto again = rig.ask("jvm", what, body, {{"x-ms-client-request-id", "r2"}});
    EXPECT_EQ(field(again, "x-armgate-replayed"), "true") << what;
    rig.pass(minutes(2));
    rig.arm_lives([&](const arm::Request&) { return Step{{}, 200, {}, what == kPut ? kMade : "", {}, {}, {}}; });
    EXPECT_FALSE(rig.ask("jvm", what, body).head.fields.has("x-armgate-replayed")) << what;
  }
}

TEST(Repeat, UnderARuleADoubleClickIsOneRequest) {
  StageRig rig;
  let_rules_say_once(rig, minutes(10));
  rig.arm_takes(seconds(5), kRun, 202, {});
  const auto first = rig.start("jvm", kRun, "", {{"x-ms-client-request-id", "r1"}});
  rig.pass(seconds(1));
  const auto second = rig.ask("jvm", kRun, "", {{"x-ms-client-request-id", "r2"}});
  EXPECT_EQ(field(second, "x-armgate-replayed"), "true");
  EXPECT_TRUE(first->done);
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(Repeat, UnderARuleWhatSomebodyMayHaveUndoneIsCarriedOutAgain) {
  StageRig rig;
  let_rules_say_once(rig, minutes(10));
  rig.arm(kRun, 200, {});
  rig.ask("jvm", kRun);
  rig.arm(patch(kScaleSet), 200, {}, kLater);
  rig.ask("two", patch(kScaleSet), R"({"sku":{"capacity":7}})");
  rig.arm(kRun, 200, {});
  EXPECT_FALSE(rig.ask("jvm", kRun).head.fields.has("x-armgate-replayed"));
}

TEST(Repeat, UnderARuleWhatHasFailedSinceIsCarriedOutAgain) {
  for (const std::string status : {"Failed", "Canceled", "Succeeded"}) {
    StageRig rig;
    let_rules_say_once(rig, minutes(10));
    rig.arm(kRun, 202, kAccepted);
    rig.ask("jvm", kRun);
    rig.arm(kPoll, 200, {}, R"({"status":")" + status + R"("})");
    rig.ask("jvm", kPoll);
    rig.arm_lives([](const arm::Request&) { return Step{{}, 202, {}, "", {}, {}, {}}; });
    EXPECT_EQ(rig.ask("jvm", kRun).head.fields.has("x-armgate-replayed"), status == "Succeeded") << status;
  }
}

// Its operation URL tells how it ended.
TEST(Repeat, UnderOneNameWhatHasFailedSinceHasItsAnswerAgain) {
  StageRig rig;
  rig.pass(seconds(2));
  rig.arm(kRun, 202, kAccepted);
  const auto fields = named(rig, "a");
  rig.ask("one", kRun, "", fields);
  rig.arm(kPoll, 200, {}, R"({"status":"Failed"})");
  rig.ask("one", kPoll);
  const auto again = rig.ask("one", kRun, "", fields);
  EXPECT_EQ(again.head.status, 202);
  EXPECT_EQ(field(again, "Azure-AsyncOperation"), kOperation);
}

// ---- of one actor

TEST(Repeat, OneActorJoinsItsOwnRunningOperation) {
  struct Case {
    const char* why;
    std::string client = "one";
    bool writes_between = false;
    bool has_ended = false;
    bool joins = false;
    std::string shown = R"({"sku":{"capacity":5},"properties":{"provisioningState":"Updating"}})";
  };
  const Case cases[] = {{"it forgot its operation", "one", false, false, true},
                        {"another kind of client may have meant it twice", "jvm"},
                        {"it has ended", "one", false, true},
                        {"it was shown a final state, which may be that of before", "one", false, false, false, kMade}};
  for (const auto& c : cases) {
    StageRig rig;
    rig.arm(kPut, 201, kAccepted, kMade);
    rig.ask(c.client, kPut, kBody, {{"x-ms-client-request-id", "r1"}});
    rig.arm(get(kScaleSet), 200, {}, c.shown);
    rig.ask(c.client, get(kScaleSet));
    if (c.has_ended) {
      rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
      rig.ask(c.client, kPoll);
    }
    rig.arm_lives([&](const arm::Request& request) {
      const bool is_poll = request.head.target.find("operations") != std::string::npos;
      return Step{{}, 200, {}, is_poll ? R"({"status":"Succeeded"})" : kMade, {}, {}, {}};
    });
    const auto again = rig.ask(c.client, kPut, kBody, {{"x-ms-client-request-id", "r2"}});
    EXPECT_EQ(field(again, "x-armgate-replayed") == "true", c.joins) << c.why;
    if (!c.joins) continue;
    EXPECT_EQ(again.head.status, 201);
    EXPECT_EQ(field(again, "Azure-AsyncOperation"), kOperation);
  }
}

TEST(Repeat, WhatOneActorAsksForElseIsNoRepetition) {
  StageRig rig;
  rig.arm(kPut, 201, kAccepted, kMade);
  rig.ask("one", kPut, kBody);
  rig.arm_lives([&](const arm::Request& request) {
    const bool is_poll = request.head.target.find("operations") != std::string::npos;
    return Step{{}, 200, {}, is_poll ? R"({"status":"Succeeded"})" : kLater, {}, {}, {}};
  });
  EXPECT_FALSE(rig.ask("one", kPut, R"({"sku":{"capacity":7}})").head.fields.has("x-armgate-replayed"));
}

}  // namespace
}  // namespace armgate::world
