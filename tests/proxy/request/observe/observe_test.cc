// Mode observe: what is told of a write, and that nothing is done about it (docs/design.md, "Modes").
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::observe_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Kind = ObserveFinding::Kind;

const std::string kStateOne = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kStateTwo = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})";
const std::string kStateOneAgain = R"({"etag":"\"9\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kWantsTwo = R"({"sku":{"capacity":2},"properties":{}})";
const std::string kWantsFive = R"({"sku":{"capacity":5},"properties":{}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1?t=a%2Fb";
const std::string kPoll = "GET /subscriptions/s/operations/1?t=a%2Fb";

arm::Headers runs() { return {{"Azure-AsyncOperation", kOperation}}; }

PipelineOptions in_mode(rules::Mode mode) {
  auto options = StageRig::default_options();
  options.mode = mode;
  return options;
}

class Observe : public testing::Test {
 protected:
  std::vector<ObserveFinding> told(Kind kind) const {
    std::vector<ObserveFinding> of_kind;
    for (const auto& finding : rig.finding()) {
      if (finding.kind == kind) of_kind.push_back(finding);
    }
    return of_kind;
  }
  // One is shown state one, then two is shown `state`.
  void both_read(const std::string& its_etag = "\"1\"", const std::string& state = kStateOne) {
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
    rig.arm(get(kScaleSet), 200, etag(its_etag), state);
    rig.ask("one", get(kScaleSet));
    rig.ask("two", get(kScaleSet));
  }
  // Another writes what the scale set is in state two.
  void one_writes() {
    rig.arm(put(kScaleSet), 200, etag("\"2\""), kStateTwo);
    rig.ask("one", put(kScaleSet), kWantsTwo);
  }

  StageRig rig{in_mode(rules::Mode::Observe)};
};

TEST_F(Observe, AStaleWriteGoesThroughAndIsToldWithWhatItOverwrites) {
  both_read();
  one_writes();
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  const auto answer = rig.ask("two", put(kScaleSet), kWantsFive);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_FALSE(rig.seen()[3].head.fields.has("If-Match"));
  ASSERT_EQ(told(Kind::Stale).size(), 1u);
  const ObserveFinding stale = told(Kind::Stale)[0];
  EXPECT_EQ(stale.client, "two");
  EXPECT_EQ(stale.other_client, "one");
  EXPECT_EQ(stale.changed, std::vector<std::string>{"/sku/capacity"});
  EXPECT_EQ(stale.base, "newest");
  EXPECT_EQ(stale.method, "PUT");
  EXPECT_TRUE(stale.resource.ends_with("/virtualmachinescalesets/v"));
  EXPECT_EQ(rig.shared().counters.would_be_stale.load(), 1u);
}

TEST_F(Observe, AWriteBuiltOnTheNewestStateIsNotTold) {
  both_read();
  one_writes();
  rig.arm(get(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  rig.ask("two", get(kScaleSet));
  rig.ask("two", put(kScaleSet), kWantsFive);
  EXPECT_TRUE(rig.finding().empty());
}

TEST_F(Observe, AStaleWriteThatArmRefusesIsNotTold) {
  both_read();
  one_writes();
  rig.arm(put(kScaleSet), 409, {}, "{}");
  rig.ask("two", put(kScaleSet), kWantsFive);
  EXPECT_TRUE(told(Kind::Stale).empty());
}

TEST_F(Observe, AChangeAroundArmgateIsKnownOnceAnotherClientHasReadIt) {
  both_read("\"2\"", kStateTwo);
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  rig.ask("one", put(kScaleSet), kWantsFive);
  ASSERT_EQ(told(Kind::Stale).size(), 1u);
  EXPECT_EQ(told(Kind::Stale)[0].other_client, "") << "nobody who is known to have written it";
  EXPECT_EQ(told(Kind::Stale)[0].changed, std::vector<std::string>{"/sku/capacity"});
}

TEST_F(Observe, AnEtagThatMovedWithoutAChangeIsASpurious412) {
  both_read("\"9\"", kStateOneAgain);
  rig.arm(put(kScaleSet), 200, etag("\"10\""), kStateOne);
  rig.ask("one", put(kScaleSet), kWantsFive);
  EXPECT_TRUE(rig.finding().empty());
}

TEST_F(Observe, TheClientsOwnPreconditionIsItsOwnBusiness) {
  both_read();
  one_writes();
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  rig.ask("two", put(kScaleSet), kWantsFive, {{"If-Match", "*"}});
  EXPECT_TRUE(told(Kind::Stale).empty());
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "*");
}

TEST_F(Observe, TwoWritesFromOneReadOfOneManyHandedClientAreOneStale) {
  for (int i = 0; i < 2; ++i) rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  for (const char* id : {"a", "b"}) rig.ask("jvm", get(kScaleSet), {}, {{"x-ms-client-request-id", id}});
  rig.ask("jvm", put(kScaleSet), kWantsTwo, {{"x-ms-client-request-id", "a"}});
  rig.ask("jvm", put(kScaleSet), kWantsFive, {{"x-ms-client-request-id", "b"}});
  ASSERT_EQ(told(Kind::Stale).size(), 1u);
  EXPECT_EQ(told(Kind::Stale)[0].other_client, "jvm");
  EXPECT_EQ(told(Kind::Stale)[0].base, "request-id");
}

TEST_F(Observe, ASecondWriteIsSentAtOnceAndToldHowLongItWouldHaveWaited) {
  rig.arm("PATCH ", 202, runs());
  rig.arm("PATCH ", 200, {}, kStateOne);
  rig.arm(kPoll, 200, {}, R"({"status":"InProgress"})");
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  const std::string write = patch(kScaleSet);
  rig.ask("one", write, R"({"a":1})");
  rig.pass(seconds(3));
  const auto second = rig.start("two", write, R"({"a":2})");
  rig.pass(Duration{});
  EXPECT_TRUE(second->done) << "it waits for nothing";
  ASSERT_EQ(told(Kind::Overlap).size(), 1u);
  EXPECT_EQ(told(Kind::Overlap)[0].client, "two");
  EXPECT_EQ(told(Kind::Overlap)[0].other_client, "one");
  EXPECT_TRUE(told(Kind::Overlap)[0].other.starts_with("PATCH /subscriptions/s/"));
  EXPECT_TRUE(told(Kind::Wait).empty()) << "how long is not known yet";
  rig.pass(seconds(100));
  rig.ask("one", kPoll);
  rig.pass(seconds(100));
  rig.ask("one", kPoll);
  rig.pass(Duration{});
  ASSERT_EQ(told(Kind::Wait).size(), 1u);
  EXPECT_EQ(told(Kind::Wait)[0].waited, seconds(200));
  EXPECT_EQ(told(Kind::Wait)[0].client, "two");
}

TEST_F(Observe, AnOperationThatNobodyAsksAboutIsForgottenAndNeverPolled) {
  rig.arm("PATCH ", 202, runs());
  rig.arm("PATCH ", 200, {}, kStateOne);
  const std::string write = patch(kScaleSet);
  rig.ask("one", write, R"({"a":1})");
  EXPECT_EQ(rig.shared().op_leases.size(), 1u);
  rig.pass(minutes(3));
  EXPECT_TRUE(rig.shared().op_leases.empty());
  rig.ask("two", write, R"({"a":2})");
  EXPECT_TRUE(rig.finding().empty()) << "it may have ended long ago";
  EXPECT_EQ(rig.seen().size(), 2u);
  EXPECT_TRUE(rig.loud().empty());
  EXPECT_EQ(rig.shared().observed.size(), 0u);
}

TEST_F(Observe, AnUnconditionalPutDuringTheOperationOfAnotherWriteWouldBeRefused) {
  rig.arm("PATCH ", 202, runs());
  rig.arm(put(kScaleSet), 200, {}, "{}");
  rig.ask("one", patch(kScaleSet), "{}");
  rig.ask("two", put(kScaleSet), kWantsFive);
  ASSERT_EQ(told(Kind::Stale).size(), 1u);
  EXPECT_EQ(told(Kind::Stale)[0].client, "two");
  EXPECT_EQ(told(Kind::Stale)[0].other_client, "one");
  EXPECT_EQ(told(Kind::Stale)[0].why, "unconditional-after-another-write");
}

TEST_F(Observe, OfTwoUnconditionalPutsThatMeetTheOneThatIsAcceptedLastIsTold) {
  rig.arm_takes(seconds(5), put(kScaleSet), 200, {}, "{}");
  rig.arm(put(kScaleSet), 200, {}, "{}");
  const auto first = rig.start("one", put(kScaleSet), kWantsTwo);
  rig.pass(seconds(1));
  EXPECT_EQ(rig.ask("two", put(kScaleSet), kWantsFive).head.status, 200);
  rig.run_until([&] { return first->done; });
  ASSERT_EQ(told(Kind::Stale).size(), 1u);
  EXPECT_EQ(told(Kind::Stale)[0].client, "one");
  EXPECT_EQ(told(Kind::Stale)[0].other_client, "two");
  EXPECT_EQ(told(Kind::Overlap).size(), 1u);
}

// An autoscaler's next capacity: protect lets it by, as the rule says (`reentrant`).
TEST_F(Observe, AClientsNextWriteBesideItsOwnRunningOneIsNoOverlap) {
  rig.arm("PATCH ", 202, runs());
  rig.arm("PATCH ", 202, runs());
  rig.arm("PATCH ", 202, runs());
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  rig.ask("one", patch(kScaleSet), R"({"a":2})");
  EXPECT_TRUE(told(Kind::Overlap).empty());
  rig.ask("two", patch(kScaleSet), R"({"a":3})");
  EXPECT_EQ(told(Kind::Overlap).size(), 1u);
}

TEST_F(Observe, ASubnetMeetsTheWriteOfItsNetwork) {
  const std::string network =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  rig.arm_takes(seconds(5), "PATCH ", 200, {}, "{}");
  rig.arm(put(kSubnet), 201, {}, R"({"etag":"W/\"1\"","properties":{}})");
  const auto first = rig.start("one", "PATCH " + network, "{}");
  rig.pass(seconds(1));
  rig.ask("two", put(kSubnet), R"({"properties":{}})");
  rig.run_until([&] { return first->done; });
  ASSERT_EQ(told(Kind::Overlap).size(), 1u);
  EXPECT_TRUE(told(Kind::Overlap)[0].other.ends_with("/virtualnetworks/n"));
}

TEST_F(Observe, AReSendAfterALostAnswerIsSentAndToldAsADuplicate) {
  rig.arm_fails("POST ", Sent::Maybe);
  rig.arm("POST ", 202, runs());
  const std::string restart = "POST " + std::string(kRestart);
  const auto lost = rig.ask("one", restart);
  EXPECT_EQ(lost.head.status, 502) << "as in mode off: what ARM did is not known, and nothing is made of it";
  EXPECT_EQ(rig.ask("one", restart).head.status, 202);
  ASSERT_EQ(told(Kind::Duplicate).size(), 1u);
  EXPECT_EQ(told(Kind::Duplicate)[0].why, "earlier-sending-unanswered");
}

TEST_F(Observe, AReSendWhileTheFirstStillRunsIsADuplicateAndNoOverlapOrStaleWrite) {
  both_read();
  rig.arm_takes(seconds(30), put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateTwo);
  const arm::Headers id{{"x-ms-client-request-id", "r"}};
  const auto first = rig.start("two", put(kScaleSet), kWantsTwo, id);
  rig.pass(seconds(1));
  first->link->leave(Leaving::Reset);
  EXPECT_EQ(rig.ask("two", put(kScaleSet), kWantsTwo, id).head.status, 200);
  rig.run_until([&] { return first->done; });
  ASSERT_EQ(rig.finding().size(), 1u);
  EXPECT_EQ(rig.finding()[0].kind, Kind::Duplicate);
  EXPECT_EQ(rig.finding()[0].why, "earlier-sending-unanswered");
}

TEST_F(Observe, TheSameBytesAfterADeliveredAnswerAreANewWrite) {
  for (int i = 0; i < 2; ++i) rig.arm("POST ", 200, {});
  const std::string restart = "POST " + std::string(kRestart);
  rig.ask("one", restart);
  rig.ask("one", restart);
  EXPECT_TRUE(rig.finding().empty());
}

TEST_F(Observe, WhatIsBoundToBeRefusedGoesThroughEveryTime) {
  both_read();
  one_writes();
  for (int i = 0; i < 3; ++i) {
    rig.arm(put(kScaleSet), 412, {}, "ARM's own");
    EXPECT_EQ(rig.ask("two", put(kScaleSet), kWantsFive).body, "ARM's own");
  }
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(Observe, ATargetThatCanBeReadInTwoWaysPasses) {
  rig.arm("PUT /subscriptions/s/../x", 400, {}, "ARM's own");
  EXPECT_EQ(rig.ask("one", "PUT /subscriptions/s/../x?api-version=1").body, "ARM's own");
}

// One exchange after the other, and two that meet: the script of both modes.
struct Wire {
  std::vector<arm::Request> sent;
  std::vector<arm::Response> answers;
  TimePoint end{};
};

Wire play(rules::Mode mode) {
  StageRig rig(in_mode(mode));
  Wire wire;
  rig.arm_takes(seconds(1), get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.arm_takes(seconds(1), get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.arm_takes(seconds(20), put(kScaleSet), 202, runs(), "");
  rig.arm_takes(seconds(2), put(kScaleSet), 409, {{"Retry-After", "7"}},
                R"({"error":{"code":"ConflictingConcurrentWriteNotAllowed"}})");
  rig.arm_takes(seconds(1), kPoll, 200, {}, R"({"status":"InProgress"})");
  rig.arm_takes(seconds(1), put(kScaleSet), 412, {}, R"({"error":{"code":"PreconditionFailed"}})");
  rig.arm_fails("POST ", Sent::Maybe);
  rig.arm_takes(seconds(1), "POST ", 202, runs());
  const auto ask = [&](const std::string& client, std::string_view what, std::string body = {}) {
    wire.answers.push_back(rig.ask(client, what, std::move(body)));
  };
  ask("one", get(kScaleSet));
  ask("two", get(kScaleSet));
  const auto first = rig.start("one", put(kScaleSet), kWantsTwo);
  rig.pass(seconds(3));
  ask("two", put(kScaleSet), kWantsFive);
  rig.run_until([&] { return first->done; });
  wire.answers.push_back(first->link->answer());
  ask("one", kPoll);
  ask("two", put(kScaleSet), kWantsFive);
  ask("two", "POST " + std::string(kRestart));
  ask("two", "POST " + std::string(kRestart));
  EXPECT_TRUE(rig.script_is_done());
  wire.sent = rig.seen();
  wire.end = rig.now();
  return wire;
}

TEST_F(Observe, EveryByteAndEveryMomentIsThatOfModeOff) {
  const Wire off = play(rules::Mode::Off);
  const Wire observed = play(rules::Mode::Observe);
  const auto same_fields = [](const arm::Headers& a, const arm::Headers& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const arm::Field& x, const arm::Field& y) { return x.name == y.name && x.value == y.value; });
  };
  ASSERT_EQ(off.sent.size(), observed.sent.size());
  for (size_t i = 0; i < off.sent.size(); ++i) {
    EXPECT_TRUE(same_fields(off.sent[i].head.fields, observed.sent[i].head.fields)) << i;
    EXPECT_EQ(off.sent[i].head.target, observed.sent[i].head.target);
    EXPECT_EQ(off.sent[i].body, observed.sent[i].body);
  }
  ASSERT_EQ(off.answers.size(), observed.answers.size());
  for (size_t i = 0; i < off.answers.size(); ++i) {
    EXPECT_EQ(off.answers[i].head.status, observed.answers[i].head.status) << i;
    EXPECT_TRUE(same_fields(off.answers[i].head.fields, observed.answers[i].head.fields)) << i;
    EXPECT_EQ(off.answers[i].body, observed.answers[i].body) << i;
  }
  EXPECT_EQ(off.end, observed.end);
}

TEST(ModeAtRunTime, WhatWasSeenWhileObservingProtectsLater) {
  StageRig rig(in_mode(rules::Mode::Observe));
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  rig.ask("one", get(kScaleSet));
  rig.ask("one", put(kScaleSet), kWantsTwo);
  rig.set_mode(rules::Mode::Protect);
  rig.ask("one", put(kScaleSet), kWantsFive);
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "\"2\"");
}

TEST(ModeAtRunTime, TheKillSwitchActsAtOnceAlsoWhileAProtectedWriteRuns) {
  StageRig rig;
  rig.arm_takes(seconds(10), put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  const auto first = rig.start("one", put(kScaleSet), kWantsTwo);
  rig.pass(seconds(1));
  rig.set_mode(rules::Mode::Off);
  const auto second = rig.start("two", put(kScaleSet), kWantsFive);
  rig.pass(milliseconds(1));
  EXPECT_TRUE(second->done);
  EXPECT_FALSE(second->link->answer().head.fields.has("x-armgate-waited-ms"));
  rig.run_until([&] { return first->done; });
}

}  // namespace
}  // namespace armgate::world::observe_test
