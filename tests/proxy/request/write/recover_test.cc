// What is sent again, on which proof, and what is answered instead (docs/design.md, "Retries").
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/proxy/request/write/recovery.h"

namespace armgate::world::recover_test {
namespace {

using recovery::kBusy;
using recovery::kState;
using recovery::kWanted;

TEST(LostAnswer, OfAGuardedPutWithTheStateUnmovedIsSentAgain) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kState);
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 200);
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"1\"") << "the same bytes, the same guard";
}

TEST(LostAnswer, OfAGuardedPutThatTookEffectIsRecoveredByReading) {
  StageRig rig;
  const std::string after =
      R"({"etag":"\"2\"","sku":{"capacity":5,"name":"S"},"properties":{"provisioningState":"Succeeded"}})";
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), after);
  rig.ask("one", get(kScaleSet));
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.body, after);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
}

TEST(LostAnswer, OfAGuardedDeleteThatTookEffectIsRecoveredByReading) {
  StageRig rig;
  rules::Rule rule = *rig.shared().rules.make_plan(arm::Method::Put, kScaleSet)->plan->rule;
  rule.guard.methods = {arm::OperationKind::Put, arm::OperationKind::Delete};
  rig.shared().rules.replace(std::make_shared<const rules::Ruleset>(std::vector<rules::Rule>{rule}), rules::Mode::Protect);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm_fails("DELETE " + std::string(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 404, {}, "{}");
  rig.ask("one", get(kScaleSet));
  const auto answer = rig.ask("one", "DELETE " + std::string(kScaleSet));
  EXPECT_EQ(answer.head.status, 204) << answer.body;
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"1\"");
}

const std::string kDone = R"({"etag":"\"2\"","sku":{"capacity":5},"properties":{"provisioningState":"Succeeded"}})";
const std::string kRunning = R"({"etag":"\"2\"","sku":{"capacity":5},"properties":{"provisioningState":"Updating"}})";

// ARM took the write of "one", but the answer was lost, and with it the URL of its operation if it had one: a load balancer says
// "Succeeded" all the while.
struct AfterLostAnswer {
  AfterLostAnswer() : rig(patient()) {
    rig.arm(get(kNetwork), 200, etag("\"1\""), kState);
    rig.arm_fails(put(kNetwork), Sent::Maybe);
    rig.arm(get(kNetwork), 200, etag("\"2\""), kDone);
    rig.ask("one", get(kNetwork));
    EXPECT_EQ(rig.ask("one", put(kNetwork), kWanted).head.status, 200);
  }
  static PipelineOptions patient() {
    auto options = StageRig::default_options();
    options.wait_max = std::chrono::minutes(5);
    return options;
  }
  StageRig rig;
};

TEST(LostAnswer, OfAWriteThatMayRunUnseenKeepsOthersAwayForAWhile) {
  AfterLostAnswer lost;
  StageRig& rig = lost.rig;
  const TimePoint before = rig.now();
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    step.body = kDone;
    EXPECT_TRUE(request.head.method == arm::Method::Get || rig.now() - before >= std::chrono::seconds(5));
    return step;
  });
  EXPECT_EQ(rig.ask("two", patch(kNetwork), "{}").head.status, 200);
  EXPECT_LT(rig.now() - before, std::chrono::seconds(20));
}

TEST(LostAnswer, OfAWriteThatWasSeenToRunIsOverWithIt) {
  AfterLostAnswer lost;
  StageRig& rig = lost.rig;
  rig.arm(get(kNetwork), 200, etag("\"2\""), kRunning);
  rig.arm(get(kNetwork), 200, etag("\"3\""), kDone);
  rig.arm(patch(kNetwork), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", patch(kNetwork), "{}").head.fields.get("x-armgate-waited-ms"), "2000");
  EXPECT_TRUE(rig.script_is_done());
}

TEST(LostAnswer, DoesNotKeepItsOwnClientAway) {
  AfterLostAnswer lost;
  StageRig& rig = lost.rig;
  rig.arm(patch(kNetwork), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", patch(kNetwork), "{}").head.fields.get("x-armgate-waited-ms"), "0");
}

// The look shows what was there before a write that armgate knows of: whether the lost sending took effect it cannot tell.
TEST(LostAnswer, OfAGuardedPutIsLookedForAgainWhereTheLookLags) {
  const auto state = [](int tag, int capacity) {
    return fmt::format(R"({{"etag":"\"{}\"","sku":{{"capacity":{}}},"properties":{{"provisioningState":"Succeeded"}}}})", tag,
                       capacity);
  };
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), state(1, 1));
  rig.ask("two", get(kScaleSet));
  rig.arm(put(kScaleSet), 200, etag("\"2\""), state(2, 2));
  rig.ask("two", put(kScaleSet), R"({"sku":{"capacity":2}})");
  rig.arm(get(kScaleSet), 200, etag("\"2\""), state(2, 2));
  rig.ask("one", get(kScaleSet));
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), state(1, 1));
  rig.arm(get(kScaleSet), 200, etag("\"3\""), state(3, 5));
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
  EXPECT_TRUE(rig.script_is_done());
}

TEST(LostAnswer, OfAGuardedPutWithAnotherStateIsStale) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"3\""), R"({"sku":{"capacity":9}})");
  rig.ask("one", get(kScaleSet));
  EXPECT_TRUE(says(rig.ask("one", put(kScaleSet), kWanted), "ArmgateConflict"));
}

TEST(LostAnswer, OfAPostIsUnknownAndItsResendIsNotForwarded) {
  StageRig rig;
  rig.arm_fails(post(kRestart), Sent::Maybe);
  const arm::Headers id{{"x-ms-client-request-id", "r1"}};
  const auto first = rig.ask("one", post(kRestart), "", id);
  EXPECT_EQ(first.head.status, 409);
  EXPECT_TRUE(says(first, "ArmgateOutcomeUnknown"));
  EXPECT_FALSE(first.head.fields.has("Retry-After")) << "SDKs send again whatever has one";
  EXPECT_EQ(rig.ask("one", post(kRestart), "", id).head.status, 409);
  EXPECT_EQ(rig.seen().size(), 1u);
}

// A type without rules: its actions are relayed as they come.
constexpr std::string_view kSiteRestart =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w/restart?api-version=2023-12-01";

TEST(BrokenAnswer, OfAnActionBeforeItsBodyIsUnknownAndItsResendIsNotForwarded) {
  StageRig rig;
  rig.arm_breaks_off(post(kSiteRestart), 200, R"({"a":1})", 0);
  const auto first = rig.ask("one", post(kSiteRestart));
  EXPECT_TRUE(says(first, "ArmgateOutcomeUnknown"));
  EXPECT_EQ(first.head.status, 409);
  EXPECT_EQ(rig.ask("one", post(kSiteRestart)).head.status, 409);
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(BrokenAnswer, OfAnActionWithinItsBodyEndsTheConnectionAndItsResendIsNotForwarded) {
  StageRig rig;
  rig.arm_breaks_off(post(kSiteRestart), 200, R"({"a":1})", 3);
  EXPECT_EQ(rig.ask("one", post(kSiteRestart)).body, R"({"a)");
  EXPECT_TRUE(says(rig.ask("one", post(kSiteRestart)), "ArmgateOutcomeUnknown"));
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(BrokenAnswer, OfARefusedActionLeavesNoDoubt) {
  StageRig rig;
  rig.arm_breaks_off(post(kSiteRestart), 403, "{}", 0);
  EXPECT_TRUE(says(rig.ask("one", post(kSiteRestart)), "ArmgateUpstreamBroken"));
  rig.arm(post(kSiteRestart), 200, {}, "{}");
  EXPECT_EQ(rig.ask("one", post(kSiteRestart)).head.status, 200);
}

// 408 is also what comes of a request that ARM may have taken.
TEST(BrokenAnswer, OfAnActionThatMayHaveBeenTakenLeavesDoubt) {
  StageRig rig;
  rig.arm_breaks_off(post(kSiteRestart), 408, "{}", 0);
  EXPECT_TRUE(says(rig.ask("one", post(kSiteRestart)), "ArmgateOutcomeUnknown"));
}

TEST(BrokenAnswer, OfAQueryLeavesNoDoubt) {
  const std::string query = "POST /providers/Microsoft.ResourceGraph/resources?api-version=2021-03-01";
  StageRig rig;
  rig.arm_breaks_off(query, 200, R"({"data":[]})", 3);
  rig.ask("one", query, "{}");
  rig.arm(query, 200, {}, R"({"data":[]})");
  EXPECT_EQ(rig.ask("one", query, "{}").head.status, 200);
}

TEST(BrokenAnswer, OfAReadBeforeItsBodyIsToldAsSuch) {
  StageRig rig;
  rig.arm_breaks_off(get(kScaleSet), 200, kState, 0);
  const auto answer = rig.ask("one", get(kScaleSet));
  EXPECT_EQ(answer.head.status, 502);
  EXPECT_TRUE(says(answer, "ArmgateUpstreamBroken"));
}

// A deployment is to be carried out whenever it is asked for: that the last one asked for the same says nothing.
TEST(LostAnswer, OfADeploymentDoesNotTakeTheLastOneForIt) {
  constexpr std::string_view kDeployment =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Resources/deployments/d?api-version=2021-04-01";
  const std::string wanted = R"({"properties":{"templateLink":{"uri":"u"},"mode":"Incremental"}})";
  const std::string last =
      R"({"properties":{"templateLink":{"uri":"u"},"mode":"Incremental","provisioningState":"Succeeded"}})";
  StageRig rig;
  int puts = 0;
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    step.expected = request.head.method_token;
    const bool is_put = request.head.method == arm::Method::Put;
    step.status = is_put && ++puts == 1 ? 503 : 200;
    step.body = step.status == 503 ? R"({"error":{"code":"ServiceUnavailable","message":"m"}})" : last;
    return step;
  });
  const arm::Headers id{{"x-ms-client-request-id", "d-2"}};
  EXPECT_EQ(rig.ask("one", put(kDeployment), wanted, id).head.status, 503);
  EXPECT_EQ(rig.ask("one", put(kDeployment), wanted, id).head.status, 200);
  EXPECT_EQ(puts, 2);
}

// A token may act on a resource that it may not read: nothing would ever tell whether the restart still runs.
TEST(LostAnswer, OfAWriterThatMayNotReadHoldsTheResourceForAFewLooksOnly) {
  StageRig rig;
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    step.expected = request.head.method_token;
    const bool is_get = request.head.method == arm::Method::Get;
    step.status = is_get ? 403 : request.head.target.find("restart") != std::string::npos ? 503 : 200;
    step.body = is_get ? R"({"error":{"code":"AuthorizationFailed","message":"m"}})" : "{}";
    return step;
  });
  EXPECT_EQ(rig.ask("one", post(kRestart)).head.status, 503);
  const TimePoint before = rig.now();
  EXPECT_EQ(rig.ask("two", "DELETE " + std::string(kScaleSet)).head.status, 200);
  EXPECT_LT(rig.now() - before, std::chrono::seconds(30));
  ASSERT_FALSE(rig.loud().empty());
  EXPECT_NE(rig.loud().front().find("lease given up"), std::string::npos);
}

TEST(LostAnswer, AReadOfAnotherActorDoesNotLetTheSameRequestRunAgain) {
  StageRig rig;
  const arm::Headers id{{"x-ms-client-request-id", "r1"}};
  rig.arm_fails(post(kRestart), Sent::Maybe);
  rig.ask("one", post(kRestart), "", id);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.ask("one", get(kScaleSet));
  EXPECT_TRUE(says(rig.ask("one", post(kRestart), "", id), "ArmgateOutcomeUnknown"));
  rig.arm(post(kRestart), 202, {});
  EXPECT_EQ(rig.ask("one", post(kRestart), "", {{"x-ms-client-request-id", "r2"}}).head.status, 202);
}

// What a PUT leaves out is to be gone; that the rest is there already shows nothing.
TEST(LostAnswer, OfAPutThatRemovesSomethingIsNotTakenForDoneWhereNothingWasDone) {
  const std::string with = R"({"sku":{"capacity":2},"properties":{"licenseType":"x"}})";
  const std::string without = R"({"sku":{"capacity":2},"properties":{}})";
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), with);
  rig.ask("one", get(kScaleSet));
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), with);  // the end of an earlier operation moved the ETag
  EXPECT_TRUE(says(rig.ask("one", put(kScaleSet), without), "ArmgateStaleWrite")) << "it may also have been done and undone";
}

TEST(LostAnswer, NorIsItWhereSomebodyElseHasDoneSomethingElse) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), R"({"sku":{"capacity":2},"properties":{"licenseType":"x"}})");
  rig.ask("one", get(kScaleSet));
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), R"({"sku":{"capacity":2,"tier":"t"},"properties":{"licenseType":"x"}})");
  const auto answer = rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":2},"properties":{}})");
  EXPECT_EQ(answer.head.status, 412) << answer.body;
}

TEST(LostAnswer, OfAPutThatAsksForWhatThereWasToTheLetterIsDone) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.ask("one", get(kScaleSet));
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), kState);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kState).head.status, 200);
}

TEST(LostAnswer, AReadResolvesADoubt) {
  StageRig rig;
  rig.arm_fails(post(kRestart), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.ask("one", post(kRestart));
  rig.ask("one", get(kScaleSet));  // also shows that nothing runs any more
  rig.arm(post(kRestart), 202, {});
  EXPECT_EQ(rig.ask("one", post(kRestart)).head.status, 202);
}

TEST(LostAnswer, AnotherRequestIdIsAnotherCall) {
  StageRig rig;
  rig.arm_fails(post(kRestart), Sent::Maybe);
  rig.ask("one", post(kRestart), "", {{"x-ms-client-request-id", "r1"}});
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm(post(kRestart), 202, {});
  EXPECT_EQ(rig.ask("one", post(kRestart), "", {{"x-ms-client-request-id", "r2"}}).head.status, 202);
}

TEST(LostAnswer, ADeleteIsDecidedByReading) {
  StageRig rig;
  rig.arm_fails("DELETE ", Sent::Maybe);
  rig.arm(get(kScaleSet), 200, {}, R"({"properties":{"provisioningState":"Deleting"}})");
  rig.arm(get(kScaleSet), 404, {}, "{}");
  EXPECT_EQ(rig.ask("one", "DELETE " + std::string(kScaleSet)).head.status, 204);
}

TEST(LostAnswer, IsChasedOnlySoOften) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.ask("one", get(kScaleSet));
  for (int i = 0; i < 3; ++i) {
    rig.arm_fails(put(kScaleSet), Sent::Maybe);
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  }
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  EXPECT_TRUE(says(rig.ask("one", put(kScaleSet), kWanted), "ArmgateOutcomeUnknown"));
  EXPECT_TRUE(rig.script_is_done());
}

TEST(LostAnswer, OfADeleteThatWasNeverTakenLeavesTheResourceInPlace) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.ask("one", get(kScaleSet));
  rig.arm_fails("DELETE ", Sent::Maybe);
  rig.arm(get(kScaleSet), 403, {}, "{}");  // the token may delete but not read: nothing is learnt
  EXPECT_TRUE(says(rig.ask("one", "DELETE " + std::string(kScaleSet)), "ArmgateOutcomeUnknown"));
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.run_until([&] { return rig.shared().op_leases.empty(); });
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kState);
  rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(rig.seen().back().head.fields.get("If-Match"), "\"1\"") << "nothing was deleted, so nothing may be overwritten";
}

TEST(LostAnswer, OnesOwnEffectIsRecognisedAfterABusyRefusalToo) {
  const std::string after = R"({"etag":"\"2\"","sku":{"capacity":5},"properties":{"provisioningState":"Succeeded"}})";
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.ask("one", get(kScaleSet));
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);  // a replica that lags
  rig.arm(put(kScaleSet), 409, {}, kBusy);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), after);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.body, after);
}

TEST(GatewayTimeout, TheResendOfAWriteThatTookEffectIsTold200) {
  const std::string after = R"({"etag":"\"2\"","sku":{"capacity":5},"properties":{"provisioningState":"Succeeded"}})";
  const arm::Headers id{{"x-ms-client-request-id", "r"}};
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.ask("one", get(kScaleSet));
  rig.arm(put(kScaleSet), 504, {}, "{}");
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted, id).head.status, 504);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), after);  // the key is held until the state shows that nothing runs
  rig.arm(put(kScaleSet), 412, {}, "{}");
  rig.arm(get(kScaleSet), 200, etag("\"2\""), after);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted, id).head.status, 200);
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"1\"") << "bound to its bytes";
}

TEST(BodyEtag, DoesNotBringBackWhatAnotherClientDeleted) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"7\""), R"({"etag":"\"7\"","sku":{"capacity":1}})");
  rig.ask("one", get(kScaleSet));
  rig.arm("DELETE ", 204);
  rig.ask("two", "DELETE " + std::string(kScaleSet));
  rig.arm(get(kScaleSet), 404);
  const auto answer = rig.ask("one", put(kScaleSet), R"({"etag":"\"7\"","sku":{"capacity":5}})");
  EXPECT_TRUE(says(answer, "ArmgateStaleWrite")) << "a new resource may well count from the same ETags";
  EXPECT_EQ(rig.seen().size(), 3u) << "nothing was sent";
}

TEST(NotSent, IsTriedOnAnotherConnectionAndThenSaidSo) {
  SimJournal journal;
  StageRig rig(journal);
  rig.arm_fails(put(kScaleSet), Sent::No);
  rig.arm(put(kScaleSet), 200, etag("\"1\""), kState);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 200);
  for (int i = 0; i < 3; ++i) rig.arm_fails(put(kScaleSet), Sent::No);
  const auto answer = rig.ask("two", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 502);
  EXPECT_TRUE(says(answer, "ArmgateUpstreamUnreachable"));
  ASSERT_EQ(journal.writes().size(), 2u);
  EXPECT_EQ(journal.writes().rbegin()->second.outcome->kind, OutcomeKind::NotSent) << "502 is not what ARM said";
}

}  // namespace
}  // namespace armgate::world::recover_test
