// Goal: what goes along with a write as its precondition, and how often it goes where ARM is not reached. Method: a scripted ARM.
#include "proxy/request/write/forward.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::forward_test {
namespace {

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";

TEST(Forward, TheClientsPreconditionIsItsOwnAndOurETagIsAddedToNone) {
  const struct {
    bool has_read;
    arm::Headers own;
    const char* if_match;  // as ARM gets it
    const char* if_none_match;
  } rows[] = {
      {true, {}, "\"1\"", ""},
      {false, {}, "", ""},
      {true, {{"If-Match", "\"other\""}}, "\"other\"", ""},
      {true, {{"If-None-Match", "*"}}, "", "*"},
      {true, {{"If-Match", ""}}, "\"1\"", ""},
  };
  for (const auto& row : rows) {
    StageRig rig;
    if (row.has_read) {
      rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, kState);
      rig.ask("one", get(kScaleSet));
    }
    rig.arm(put(kScaleSet), 200, {}, kState);
    rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":2}})", row.own);
    const size_t last = rig.seen().size() - 1;
    EXPECT_EQ(rig.sent_field(last, "if-match"), row.if_match) << row.own.get("If-Match");
    EXPECT_EQ(rig.sent_field(last, "if-none-match"), row.if_none_match) << row.own.get("If-None-Match");
  }
}

TEST(Forward, WhatNeverLeftGoesThreeTimesWhateverItIs) {
  for (const std::string& request : {put(kScaleSet), "POST " + std::string(kRestart)}) {
    for (const int fails : {1, 2, 3}) {
      StageRig rig;
      for (int i = 0; i < fails; ++i) rig.arm_fails(request, Sent::No);
      if (fails < 3) rig.arm(request, 200, {}, kState);
      const auto answer = rig.ask("one", request, "{}");
      EXPECT_EQ(answer.head.status, fails < 3 ? 200 : 502) << request << fails;
      EXPECT_TRUE(rig.script_is_done()) << request << fails;
    }
  }
}

// Nobody is told to come again, so nobody waits for one who will not.
TEST(Forward, WhoCouldNotReachArmKeepsNoPlace) {
  StageRig rig;
  for (int i = 0; i < 3; ++i) rig.arm_fails(put(kScaleSet), Sent::No);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), "{}").head.status, 502);
  EXPECT_EQ(rig.shared().reservations.size(), 0u);
  EXPECT_EQ(rig.shared().locks.entries(1).oldest.size(), 0u);
}

TEST(Forward, WhatWaitsForAConnectionIsNotSentOnceItsClientHasLeft) {
  StageRig rig;
  rig.connections_take(std::chrono::seconds(3));
  const auto asked = rig.start("one", put(kScaleSet), "{}");
  rig.pass(std::chrono::seconds(1));
  EXPECT_EQ(rig.shared().locks.entries(1).oldest.at(0).phase, WritePhase::Again) << "it is not with ARM";
  asked->link->leave(Leaving::Reset);
  const TimePoint left = rig.now();
  rig.run_until([&] { return asked->done; });
  EXPECT_EQ(rig.now(), left) << "others wait behind it";
  EXPECT_TRUE(rig.seen().empty());
  EXPECT_EQ(rig.shared().op_leases.size(), 0u);
  EXPECT_EQ(rig.shared().reservations.size(), 1u);
  EXPECT_EQ(rig.shared().counters.clients_left, 1u);
  const Report& report = asked->link->exchange.report;
  EXPECT_EQ(report.reason, "client-left-before-sending");
  EXPECT_EQ(report.upstream_error, "") << "nothing is wrong with ARM";
  EXPECT_EQ(report.attempts, 0);
  EXPECT_EQ(report.waited, std::chrono::seconds(1));
}

TEST(Forward, AWaitForAConnectionCountsAsWaitingAndNotAsTimeOfArms) {
  StageRig rig;
  rig.connections_take(std::chrono::seconds(40));
  rig.arm_takes(rig.parts().shared.options.answer_timeout - std::chrono::seconds(1), put(kScaleSet), 200, {}, kState);
  const auto asked = rig.start("one", put(kScaleSet), "{}");
  rig.pass(std::chrono::seconds(41));
  EXPECT_EQ(rig.shared().locks.entries(1).oldest.at(0).phase, WritePhase::Sent);
  rig.run_until([&] { return asked->done; });
  EXPECT_EQ(asked->link->answer().head.status, 200);
  EXPECT_EQ(asked->link->answer().head.fields.get("x-armgate-waited-ms"), "40000");
}

// armgate heal gives up what is old: that a write waited for long makes nothing old that it began just now.
TEST(Forward, ALeaseForARunToldOfAWriteCountsFromItsSending) {
  using std::chrono::seconds;
  StageRig rig;
  rig.connections_take(seconds(40));
  rig.arm_takes(seconds(30), put(kScaleSet), 200, {}, kState);
  const auto asked = rig.start("one", put(kScaleSet), "{}");
  rig.pass(seconds(30));
  const std::string id = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v";
  auto& leases = rig.shared().run_leases;
  const auto lease = leases.take({id}, Hash128{9, 9}, "heal", "a repair", rig.now());
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(lease->behind_age, std::nullopt) << "it is not with ARM";
  rig.pass(seconds(15));
  EXPECT_EQ(leases.renew(lease->id, rig.now())->behind_age, seconds(5));
  rig.run_until([&] { return asked->done; });
}

TEST(Forward, NothingWaitsForAConnectionForLongerThanItsClient) {
  StageRig rig;
  rig.connections_take(std::chrono::minutes(3));
  const TimePoint before = rig.now();
  EXPECT_EQ(rig.ask("one", put(kScaleSet), "{}").head.status, 502);
  EXPECT_LE(rig.now() - before, StageRig::default_options().wait_max + std::chrono::seconds(1));
  EXPECT_TRUE(rig.seen().empty());
}

// ---- an answer of which only the head and a part of the body arrived ----

constexpr const char* kBrokenOperation =
    "https://management.azure.com/subscriptions/s/providers/Microsoft.Compute/locations/l/operations/o?api-version=2024-07-01";
const std::string kWantsFive = R"({"sku":{"capacity":5}})";
const std::string kAsked = R"({"etag":"\"2\"","sku":{"capacity":5},"properties":{"provisioningState":"Updating"}})";

TEST(BrokenAnswer, OfAWriteThatArmTookIsAcceptedAndItsOperationHoldsTheResource) {
  for (const size_t arrives : {size_t{0}, size_t{10}}) {
    StageRig rig;
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
    rig.arm_breaks_off(put(kScaleSet), 201, kAsked, arrives, {{"Azure-AsyncOperation", kBrokenOperation}});
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);  // which lags behind
    rig.arm(get(kScaleSet), 200, etag("\"2\""), kAsked);
    rig.ask("one", get(kScaleSet));
    const auto answer = rig.ask("one", put(kScaleSet), kWantsFive);
    EXPECT_EQ(answer.head.status, 201);
    EXPECT_EQ(answer.body, kAsked);
    EXPECT_EQ(answer.head.fields.get("Azure-AsyncOperation"), kBrokenOperation);
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
    EXPECT_EQ(rig.shared().op_leases.size(), 1u);
  }
}

TEST(BrokenAnswer, OfADeleteThatArmTookIsAccepted) {
  StageRig rig;
  const std::string remove = "DELETE " + std::string(kScaleSet);
  rig.arm_breaks_off(remove, 202, "null", 1, {{"Azure-AsyncOperation", kBrokenOperation}});
  const auto answer = rig.ask("one", remove);
  EXPECT_EQ(answer.head.status, 202);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(answer.head.fields.get("Azure-AsyncOperation"), kBrokenOperation);
  EXPECT_EQ(rig.seen().size(), 1u) << "nothing is asked or sent again";
}

TEST(BrokenAnswer, OfAWriteIsEmptyWhereALookDoesNotShowWhatWasAskedFor) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.arm_breaks_off(put(kScaleSet), 200, kAsked, 10);
  for (int looks = 0; looks < 4; ++looks) rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  rig.ask("one", get(kScaleSet));
  const auto answer = rig.ask("one", put(kScaleSet), kWantsFive);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(rig.shared().op_leases.size(), 1u) << "it may run unseen";
}

TEST(BrokenAnswer, OfARefusalIsTheRefusal) {
  for (const int status : {400, 401, 403, 409}) {
    StageRig rig;
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
    rig.arm_breaks_off(put(kScaleSet), status, R"({"error":{"code":"Refused"}})", 10, {{"WWW-Authenticate", "Bearer claims"}});
    rig.ask("one", get(kScaleSet));
    const auto answer = rig.ask("one", put(kScaleSet), kWantsFive);
    EXPECT_EQ(answer.head.status, status);
    EXPECT_TRUE(says(answer, "ArmgateUpstreamBroken"));
    EXPECT_EQ(answer.head.fields.get("WWW-Authenticate"), "Bearer claims");
    EXPECT_EQ(rig.seen().size(), 2u) << "it is not sent again";
  }
}

TEST(BrokenAnswer, OfARefusalForNowIsToBeSentAgain) {
  for (const int status : {409, 429}) {
    StageRig rig;
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kState);
    rig.arm_breaks_off(put(kScaleSet), status, R"({"error":{"code":"Busy"}})", 10, {{"Retry-After", "7"}});
    rig.ask("one", get(kScaleSet));
    const auto answer = rig.ask("one", put(kScaleSet), kWantsFive);
    EXPECT_EQ(answer.head.status, 503);
    EXPECT_TRUE(says(answer, "ArmgateBusy"));
    EXPECT_EQ(answer.head.fields.get("Retry-After"), "7");
  }
}

}  // namespace
}  // namespace armgate::world::forward_test
