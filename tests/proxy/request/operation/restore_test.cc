// What a process knows of the one that died before it.
#include "proxy/request/operation/restore.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::restore_test {
namespace {

const std::string kScaleSetId = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v";
const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kRunning = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Updating"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1?t=signed";
const std::string kPatch = patch(kScaleSet);
// {"oid":"o"}, unsigned: what an operation lease takes for its client's.
const arm::Headers kToken{{"Authorization", "Bearer e30.eyJvaWQiOiJvIn0.b2xk"}};
constexpr auto kSecond = std::chrono::seconds(1);

// A process that died while an operation of client "one" ran.
SimJournal with_running_operation() {
  SimJournal journal;
  StageRig dead(journal);
  dead.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  dead.ask("one", kPatch, R"({"a":1})");
  return journal;
}

TEST(Restore, AnOperationOfAnEarlierProcessHoldsOthersUntilItsEnd) {
  SimJournal journal = with_running_operation();
  StageRig rig(journal);
  ASSERT_EQ(rig.shared().op_leases.size(), 1u);
  rig.arm("GET /subscriptions/s/operations/1?t=signed", 200, {}, R"({"status":"InProgress"})");
  rig.arm("GET /subscriptions/s/operations/1?t=signed", 200, {}, R"({"status":"Succeeded"})");
  rig.arm(kPatch, 200, {}, kState);
  EXPECT_EQ(rig.ask("two", kPatch, R"({"a":2})").head.status, 200);
  EXPECT_TRUE(rig.script_is_done());
  EXPECT_EQ(rig.sent_field(0, "authorization"), "Bearer of-two") << "lent by the one who waits";
  EXPECT_TRUE(rig.shared().op_leases.empty());
  EXPECT_TRUE(journal.previous_process(kSecond).open.empty()) << "the next process has nothing to take up";
}

TEST(Restore, TheClientsOwnPollsEndIt) {
  SimJournal journal = with_running_operation();
  StageRig rig(journal);
  rig.arm("GET /subscriptions/s/operations/1?t=signed", 200, {}, R"({"status":"Succeeded"})");
  rig.ask("one", "GET /subscriptions/s/operations/1?t=signed");
  EXPECT_TRUE(rig.shared().op_leases.empty());
}

TEST(Restore, ALeaseTakesTheFirstTokenOfItsClientAndNoLoanIsKept) {
  SimJournal journal = with_running_operation();
  StageRig rig(journal);
  const auto op_lease = rig.shared().op_leases.on_key(rig.shared().locks.key_of(kScaleSetId)).at(0);
  EXPECT_EQ(op_lease->authorization(), "");
  rig.arm("GET /subscriptions/s/operations/1", 200, {}, R"({"status":"InProgress"})");
  const auto waiting = rig.start("two", kPatch, R"({"a":2})");
  rig.run_until([&] { return !rig.seen().empty(); });
  EXPECT_EQ(op_lease->authorization(), "Bearer of-two");
  waiting->link->leave(Leaving::Reset);
  rig.run_until([&] { return waiting->done; });
  EXPECT_EQ(op_lease->authorization(), "") << "it was lent for as long as its writer waited";
  rig.arm(get(kScaleSet), 200, {}, kRunning);
  rig.ask("one", get(kScaleSet), {}, kToken);
  EXPECT_EQ(op_lease->authorization(), kToken.get("authorization"));
}

// A token of somebody else may not be good for the operation; the resource, to which its bearer wants to write, tells as well.
TEST(Restore, WhereALentTokenIsNotGoodTheResourceTells) {
  SimJournal journal = with_running_operation();
  StageRig rig(journal);
  rig.arm("GET /subscriptions/s/operations/1", 403);
  rig.arm(get(kScaleSet), 200, {}, kRunning);
  rig.arm(get(kScaleSet), 200, {}, kState);
  rig.arm(kPatch, 200, {}, kState);
  EXPECT_EQ(rig.ask("two", kPatch, R"({"a":2})").head.status, 200);
  EXPECT_TRUE(rig.script_is_done());
}

// Many resources show no sign of what goes on with them.
TEST(Restore, AResourceThatSeemsAtRestIsLookedAtForAWhile) {
  SimJournal journal = with_running_operation();
  auto options = StageRig::default_options();
  options.wait_max = std::chrono::minutes(5);
  StageRig rig(journal, options);
  const TimePoint start = rig.now();
  rig.arm_lives([](const arm::Request& request) {
    Step step;
    step.status = request.head.target.find("operations") != std::string::npos ? 403 : 200;
    step.body = kState;
    return step;
  });
  EXPECT_EQ(rig.ask("two", kPatch, R"({"a":2})").head.status, 200);
  EXPECT_GE(rig.now() - start, std::chrono::seconds(60));
}

TEST(Restore, AnotherTokenIsTriedForTheOperation) {
  SimJournal journal = with_running_operation();
  auto options = StageRig::default_options();
  options.wait_max = std::chrono::minutes(5);
  StageRig rig(journal, options);
  rig.arm_lives([](const arm::Request& request) {
    const bool is_good = request.head.fields.get("authorization") == "Bearer of-three";
    const bool is_operation = request.head.target.find("operations") != std::string::npos;
    Step step;
    step.status = is_operation && !is_good ? 403 : 200;
    step.body = is_operation ? R"({"status":"Succeeded"})" : kState;
    return step;
  });
  const TimePoint start = rig.now();
  const auto first = rig.start("two", kPatch, R"({"a":2})");
  const auto second = rig.start("three", kPatch, R"({"a":3})");
  rig.run_until([&] { return first->done && second->done; });
  EXPECT_LT(rig.now() - start, std::chrono::seconds(20)) << "three's was good";
}

TEST(Restore, WhereNoTokenIsGoodForTheOperationItsResourceHasToDo) {
  SimJournal journal = with_running_operation();
  auto options = StageRig::default_options();
  options.wait_max = std::chrono::minutes(5);
  StageRig rig(journal, options);
  rig.arm_lives([](const arm::Request& request) {
    Step step;
    step.status = request.head.target.find("operations") != std::string::npos ? 403 : 200;
    step.body = kState;
    return step;
  });
  const TimePoint start = rig.now();
  const auto first = rig.start("two", kPatch, R"({"a":2})");
  const auto second = rig.start("three", kPatch, R"({"a":3})");
  rig.run_until([&] { return (first->done && second->done) || rig.now() - start > std::chrono::minutes(4); });
  EXPECT_TRUE(first->done && second->done);
  EXPECT_EQ(first->link->exchange.status, 200);
}

// The subnet's operation has ended, as its client's poll showed, but its network is not in a final state yet.
TEST(Restore, WhatMustComeToRestIsWaitedForUntilSomebodyBringsAToken) {
  SimJournal journal;
  StageRig dead(journal);
  dead.arm(put(kSubnet), 201, {{"Azure-AsyncOperation", kOperation}}, R"({"properties":{"provisioningState":"Updating"}})");
  dead.ask("one", put(kSubnet), "{}");

  StageRig rig(journal);
  rig.arm("GET /subscriptions/s/operations/1", 200, {}, R"({"status":"Succeeded"})");
  rig.ask("stranger", "GET /subscriptions/s/operations/1?t=signed");
  rig.pass(std::chrono::minutes(10));
  ASSERT_EQ(rig.shared().op_leases.size(), 1u);
  rig.arm("GET /", 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.arm("GET /", 200, {}, R"({"properties":{"provisioningState":"Updating"}})");
  rig.arm("GET /", 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.arm(put(kSubnet), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", put(kSubnet), R"({"a":1})").head.status, 412) << "it was asked for while the other had not ended";
  EXPECT_TRUE(rig.shared().op_leases.empty());
}

// A process that died while a write of client "one" was on its way to ARM.
struct CutOff {
  explicit CutOff(std::string_view what, std::string body = R"({"a":1})") : dead(journal) {
    dead.arm_takes(std::chrono::hours(1), std::string(what), 200, {}, kState);
    write = dead.start("one", what, std::move(body));
    dead.pass(kSecond);
  }
  SimJournal journal;
  StageRig dead;
  std::shared_ptr<StageRig::Running> write;
};

TEST(Restore, AWriteOnItsWayHoldsOthersForTheMinuteInWhichArmMayTakeIt) {
  CutOff cut_off(kPatch);
  auto options = StageRig::default_options();
  options.wait_max = std::chrono::minutes(5);
  StageRig rig(cut_off.journal, options);
  const TimePoint start = rig.now();
  rig.arm_lives([&](const arm::Request& request) {
    const bool is_read = request.head.method == arm::Method::Get;
    EXPECT_TRUE(is_read || rig.now() - start >= std::chrono::seconds(60));
    Step step;
    step.body = kState;
    return step;
  });
  EXPECT_EQ(rig.ask("two", kPatch, R"({"a":2})").head.status, 200);
  EXPECT_LT(rig.now() - start, std::chrono::seconds(75));
}

TEST(Restore, ItsRepetitionIsAnsweredAndNotForwarded) {
  CutOff cut_off("POST " + std::string(kRestart), "");
  StageRig rig(cut_off.journal);
  const auto answer = rig.ask("one", "POST " + std::string(kRestart), "");
  EXPECT_EQ(answer.head.status, 409);
  EXPECT_NE(answer.body.find("ArmgateOutcomeUnknown"), std::string::npos) << answer.body;
  EXPECT_TRUE(rig.seen().empty());
}

// A process that died while a PUT of client "one", built on what it had read, was on its way.
struct CutOffPut {
  CutOffPut() : dead(journal) {
    dead.arm(get(kScaleSet), 200, {}, kState);
    dead.ask("one", get(kScaleSet));
    dead.arm_takes(std::chrono::hours(1), put(kScaleSet), 200, {}, kState);
    write = dead.start("one", put(kScaleSet), kBody, kId);
    dead.pass(kSecond);
  }
  static StageRig patient(SimJournal& journal) {
    auto options = StageRig::default_options();
    options.wait_max = std::chrono::minutes(5);
    return StageRig(journal, options);
  }
  // With what one sees from then on; what is written is refused.
  static void shows(StageRig& rig, const char* state) {
    rig.arm_lives([state](const arm::Request& request) {
      Step step;
      step.status = request.head.method == arm::Method::Get ? 200 : 412;
      step.body = state;
      return step;
    });
  }
  static constexpr const char* kBody = R"({"sku":{"capacity":2}})";
  const arm::Headers kId{{"x-ms-client-request-id", "1"}};
  SimJournal journal;
  StageRig dead;
  std::shared_ptr<StageRig::Running> write;
};

TEST(Restore, APutComesAgainWithThePreconditionThatItHad) {
  CutOffPut cut_off;
  StageRig rig = CutOffPut::patient(cut_off.journal);
  rig.arm_lives([](const arm::Request&) {
    Step step;
    step.body = kState;
    return step;
  });
  EXPECT_EQ(rig.ask("one", put(kScaleSet), CutOffPut::kBody, cut_off.kId).head.status, 200);
  EXPECT_EQ(rig.seen().back().head.method, arm::Method::Put);
  EXPECT_EQ(rig.seen().back().head.fields.get("if-match"), "\"1\"");
}

TEST(Restore, APutThatHadTakenEffectIsNotTakenForStale) {
  CutOffPut cut_off;
  StageRig rig = CutOffPut::patient(cut_off.journal);
  CutOffPut::shows(rig, R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})");
  const auto answer = rig.ask("one", put(kScaleSet), CutOffPut::kBody, cut_off.kId);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
}

TEST(Restore, APutThatSomebodyElseCameBeforeIsStale) {
  CutOffPut cut_off;
  StageRig rig = CutOffPut::patient(cut_off.journal);
  CutOffPut::shows(rig, R"({"etag":"\"2\"","sku":{"capacity":9},"properties":{"provisioningState":"Succeeded"}})");
  EXPECT_EQ(rig.ask("one", put(kScaleSet), CutOffPut::kBody, cut_off.kId).head.status, 412);
}

TEST(Restore, ADeleteMayComeAgain) {
  CutOff cut_off("DELETE " + std::string(kScaleSet), "");
  auto options = StageRig::default_options();
  options.wait_max = std::chrono::minutes(5);
  StageRig rig(cut_off.journal, options);
  rig.arm_lives([](const arm::Request&) {
    Step step;
    step.status = 404;
    return step;
  });
  EXPECT_EQ(rig.ask("one", "DELETE " + std::string(kScaleSet)).head.status, 404);
  EXPECT_EQ(rig.seen().back().head.method, arm::Method::Delete);
}

TEST(Restore, WhoReadBeforeTheEndDoesNotOverwriteWhatOthersWroteSince) {
  SimJournal journal;
  StageRig dead(journal);
  dead.arm(get(kScaleSet), 200, {}, kState);
  dead.ask("one", get(kScaleSet));
  dead.arm(put(kScaleSet), 200, {}, R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})");
  dead.ask("two", put(kScaleSet), R"({"sku":{"capacity":2}})");

  StageRig rig(journal);
  const auto answer = rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":5}})");
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_NE(answer.body.find("is not remembered"), std::string::npos) << answer.body;
  EXPECT_TRUE(rig.seen().empty());
  // What was read since is a base as ever.
  rig.arm(get(kScaleSet), 200, {}, R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})");
  rig.ask("one", get(kScaleSet));
  rig.arm(put(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})").head.status, 200);
  EXPECT_EQ(rig.sent_field(1, "if-match"), "\"2\"");
}

TEST(Restore, WhatNobodyElseWroteIsFreeAtOnceAndTheRestAfterOneRefusal) {
  SimJournal journal;
  StageRig dead(journal);
  dead.arm(put(kScaleSet), 200, {}, kState);
  dead.ask("two", put(kScaleSet), R"({"sku":{"capacity":2}})");

  StageRig rig(journal);
  rig.arm(put(kSubnet), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", put(kSubnet), "{}").head.status, 200);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":5}})").head.status, 412);
  rig.arm(put(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":5}})").head.status, 200) << "it was told, and means it";
}

// The scaler's two goals ran beside each other.
TEST(Restore, WhatRanBesideEachOtherIsHeldBesideEachOther) {
  SimJournal journal;
  StageRig dead(journal);
  dead.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  dead.arm(kPatch, 202, {{"Azure-AsyncOperation", "https://management.azure.com/subscriptions/s/operations/2"}});
  dead.ask("scaler", kPatch, R"({"a":1})");
  dead.ask("scaler", kPatch, R"({"a":2})");

  StageRig rig(journal);
  EXPECT_EQ(rig.shared().op_leases.size(), 2u);
  EXPECT_EQ(rig.shared().locks.holders(rig.shared().locks.key_of(kScaleSetId)), 2u);
  rig.arm(kPatch, 200, {}, kState);
  EXPECT_EQ(rig.ask("scaler", kPatch, R"({"a":3})").head.status, 200) << "and so may its next";
}

TEST(Restore, WhatOnlyTheModeLeavesOutStaysInTheJournal) {
  SimJournal journal = with_running_operation();
  auto options = StageRig::default_options();
  options.mode = rules::Mode::Off;
  StageRig off(journal, options);
  EXPECT_TRUE(off.shared().op_leases.empty());
  StageRig on(journal);
  on.pass(kSecond);
  EXPECT_EQ(on.shared().op_leases.size(), 1u);
}

// ARM said 503, and may have taken it.
TEST(Restore, WhatArmFailedWithMayHaveBeenTaken) {
  SimJournal journal;
  StageRig dead(journal);
  dead.arm(put(kScaleSet), 503);
  dead.ask("one", put(kScaleSet), R"({"sku":{"capacity":2}})");

  StageRig rig(journal);
  rig.pass(kSecond);
  ASSERT_EQ(rig.shared().op_leases.size(), 1u);
  EXPECT_EQ(rig.shared().op_leases.on_key(rig.shared().locks.key_of(kScaleSetId)).at(0)->write().because,
            LeasedBecause::InDoubt);
}

TEST(Restore, AnActionWhoseAnswerMayNotHaveArrivedIsNotCarriedOutTwice) {
  const std::string restart = "POST " + std::string(kRestart);
  const arm::Headers id{{"x-ms-client-request-id", "7"}};
  SimJournal journal;
  StageRig dead(journal);
  dead.arm(restart, 202, {{"Azure-AsyncOperation", kOperation}});
  dead.ask("one", restart, "", id);

  StageRig rig(journal);
  EXPECT_EQ(rig.ask("one", restart, "", id).head.status, 409) << "its id is the first one's";
  EXPECT_TRUE(rig.seen().empty());
}

// What a body names stays locked for as long as its rule says.
TEST(Restore, WhatABodyNamesIsHeldToo) {
  const std::string peering =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/a/virtualNetworkPeerings/p";
  const std::string network = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/b";
  SimJournal journal;
  StageRig dead(journal);
  dead.arm("PUT ", 201, {{"Azure-AsyncOperation", kOperation}}, R"({"properties":{"provisioningState":"Updating"}})");
  dead.ask("one", "PUT " + peering + "?api-version=2024-05-01",
           R"({"properties":{"remoteVirtualNetwork":{"id":")" + network + R"("}}})");
  ASSERT_EQ(dead.shared().locks.holders(dead.shared().locks.key_of(network)), 1u);

  StageRig rig(journal);
  rig.pass(kSecond);
  EXPECT_EQ(rig.shared().locks.holders(rig.shared().locks.key_of(network)), 1u);
}

TEST(Restore, WhatOneselfWroteIsNoReasonToReadAgain) {
  SimJournal journal;
  StageRig dead(journal);
  dead.arm(put(kScaleSet), 200, {}, kState);
  dead.ask("one", put(kScaleSet), R"({"sku":{"capacity":2}})");

  StageRig rig(journal);
  rig.arm(put(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":3}})").head.status, 200);
}

}  // namespace
}  // namespace armgate::world::restore_test
