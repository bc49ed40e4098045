// Goal: of several processes, none tells its client or ARM what the others cannot know, and each knows what they told before.
// Method: whole processes on one simulated log, which loses nothing, until the test cuts one off; an ARM that follows a script.
#include "proxy/request/cluster/recorded.h"

#include <gtest/gtest.h>

#include "proxy/cluster/replica.h"
#include "proxy/request/parts.h"
#include "tests/support/cluster_rig.h"

namespace armgate::recorded_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using world::etag;
using world::get;
using world::kNetwork;
using world::put;
using world::says;

constexpr const char* kBody = R"({"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}})";
constexpr const char* kOtherBody = R"({"properties":{"addressSpace":{"addressPrefixes":["10.1.0.0/16"]}}})";

class Recorded : public ::testing::Test, protected world::ClusterRig {
 protected:
  // The write is at ARM, which takes its time.
  std::shared_ptr<Asked> write_at_arm(size_t process, const std::string& client, Duration takes) {
    const size_t before = upstream.seen.size();
    arm(put(kNetwork), 200, etag("\"2\""), kBody, takes);
    auto asked = start(process, client, put(kNetwork), kBody);
    while (upstream.seen.size() == before && clock.step()) {
    }
    EXPECT_EQ(upstream.seen.size(), before + 1);
    return asked;
  }
};

TEST_F(Recorded, AWriteIsAnsweredOnlyWhenTheOthersCanKnowOfIt) {
  const auto asked = write_at_arm(0, "one", seconds(1));
  gates[0]->cut_off(seconds(5));
  pass(seconds(4));
  EXPECT_FALSE(asked->done) << "ARM has answered, and nobody else knows";
  EXPECT_EQ(asked->link->heads_written(), 0);
  EXPECT_EQ(end_of(asked).head.status, 200);
}

TEST_F(Recorded, AWriteThatNobodyCanLearnOfIsToBeSentAgain) {
  const auto asked = write_at_arm(0, "one", seconds(1));
  log.away(seconds(100));
  const arm::Response answer = end_of(asked);
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable");
  EXPECT_FALSE(asked->link->exchange.delivered) << "what ARM said is not what it was told";
  EXPECT_EQ(upstream.seen.size(), 1u);
}

TEST_F(Recorded, InModeObserveNothingWaitsForTheEngine) {
  gates[0]->shared().rules.replace(world::shipped_ruleset(), rules::Mode::Observe);
  log.away(seconds(100));
  for (const Duration away : {Duration(seconds(1)), log.faults().membership_lease}) {
    pass(away);
    arm(get(kNetwork), 200, etag("\"1\""), kBody);
    const TimePoint before = clock.now();
    EXPECT_EQ(ask(0, "one", get(kNetwork)).head.status, 200);
    EXPECT_LT(clock.now() - before, std::chrono::milliseconds(100));
  }
}

TEST_F(Recorded, NothingIsSentThatCannotBeRecorded) {
  log.away(seconds(100));
  const TimePoint before = clock.now();
  const arm::Response answer = ask(0, "one", put(kNetwork), kBody);
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable");
  EXPECT_TRUE(says(answer, "The cluster's engine cannot take the write. Nothing was sent"));
  EXPECT_TRUE(upstream.seen.empty());
  EXPECT_LE(clock.now() - before, world::StageRig::default_options().wait_max + seconds(1))
      << "no longer than its client waits";
}

// The engine goes away when so many of the write's rows stand in the log; the last is that of its intent.
TEST(RecordedInPart, AWriteIsToldOfTheEngineAndNotOfAJournal) {
  for (uint64_t rows = 0; rows < 4; ++rows) {
    world::ClusterRig rig;
    const uint64_t before = rig.log.newest();
    const auto asked = rig.start(0, "one", put(kNetwork), kBody);
    while (rig.log.newest() < before + rows && rig.clock.step()) {
    }
    rig.log.away(seconds(100));
    const arm::Response answer = rig.end_of(asked);
    EXPECT_EQ(answer.head.status, 503) << rows;
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable") << rows;
    EXPECT_TRUE(rig.upstream.seen.empty()) << rows;
    EXPECT_TRUE(rig.gates[0]->parts().store.writable()) << "no disk is full";
  }
}

TEST_F(Recorded, WhoWaitsForTheLogOfAProcessThatGivesUpIsTold) {
  log.away(seconds(100));
  const auto asked = start(0, "one", put(kNetwork), kBody);
  pass(milliseconds(100));
  EXPECT_FALSE(asked->done);
  gates[0]->parts().cluster->give_up();
  pass(milliseconds(100));
  ASSERT_TRUE(asked->done);
  EXPECT_EQ(asked->link->answer().head.status, 503);
  EXPECT_TRUE(upstream.seen.empty());
}

TEST_F(Recorded, AProcessThatIsApartShowsNothingAndSendsNothing) {
  arm(get(kNetwork), 200, etag("\"1\""), kBody);
  EXPECT_EQ(ask(0, "one", get(kNetwork)).head.status, 200);
  log.away(seconds(100));
  pass(log.faults().membership_lease + seconds(1));
  const arm::Response answer = ask(0, "one", get(kNetwork));
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable");
  EXPECT_EQ(upstream.seen.size(), 1u) << "ARM was not asked";
}

// While the engine is away, what begins would add to what waits for it.
TEST_F(Recorded, WhereTooMuchWaitsForTheLogNothingBeginsUntilThereIsRoomAgain) {
  cluster::Replica& replica = *gates[0]->parts().cluster;
  log.away(seconds(20));
  pass(log.faults().membership_lease + seconds(1));
  for (size_t i = 0; i < 2 * replica.options().queue_max; ++i) replica.mark();
  const size_t waiting = replica.counts().waiting;
  const std::string unnamed =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w/restart?api-version=2023-12-01";
  for (const std::string& what : {put(kNetwork), world::post(world::kRestart), world::post(unnamed)}) {
    const arm::Response answer = ask(0, "one", what, kBody);
    EXPECT_EQ(answer.head.status, 503) << what;
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable") << what;
    EXPECT_EQ(replica.counts().waiting, waiting) << what;
  }
  EXPECT_TRUE(upstream.seen.empty());
  pass(seconds(30));
  arm(put(kNetwork), 200, etag("\"2\""), kBody);
  EXPECT_EQ(ask(0, "one", put(kNetwork), kBody).head.status, 200) << "the engine is back";
}

// What its client was shown elsewhere is what its write was built from.
TEST_F(Recorded, WhatTheOthersToldBeforeAWriteIsKnownToIt) {
  arm(get(kNetwork), 200, etag("\"1\""), kBody);
  arm(get(kNetwork), 200, etag("\"2\""), kOtherBody);
  EXPECT_EQ(ask(0, "one", get(kNetwork)).head.status, 200);
  EXPECT_EQ(ask(1, "one", get(kNetwork)).head.status, 200);
  pass(milliseconds(100));  // to be in doubt about the order, it must come at once
  arm(put(kNetwork), 200, etag("\"3\""), kBody);
  EXPECT_EQ(ask(0, "one", put(kNetwork), kBody).head.status, 200);
  EXPECT_EQ(upstream.seen.back().head.fields.get("if-match"), "\"2\"");
}

// It may have been built from either, so what is there is compared with it, and not overwritten.
TEST_F(Recorded, WhatSomebodyOfItsNameWasShownElsewhereCountsForAWrite) {
  arm(get(kNetwork), 200, etag("\"1\""), kBody);
  arm(get(kNetwork), 200, etag("\"2\""), kOtherBody);
  EXPECT_EQ(ask(0, "several", get(kNetwork)).head.status, 200);
  EXPECT_EQ(ask(1, "several", get(kNetwork)).head.status, 200);
  pass(milliseconds(100));
  arm(get(kNetwork), 200, etag("\"2\""), kOtherBody);
  EXPECT_EQ(ask(0, "several", put(kNetwork), kBody).head.status, 412);
  EXPECT_TRUE(upstream.steps.empty());
  EXPECT_EQ(upstream.seen.size(), 3u);
}

TEST_F(Recorded, TheQueueIsOneForAllProcesses) {
  const auto first = write_at_arm(0, "one", seconds(5));
  const auto second = start(1, "two", put(kNetwork), kOtherBody);
  pass(seconds(4));
  EXPECT_FALSE(first->done || second->done);
  EXPECT_EQ(upstream.seen.size(), 1u);
  EXPECT_EQ(end_of(first).head.status, 200);
  const arm::Response answer = end_of(second);
  EXPECT_EQ(answer.head.status, 412) << "it was not built from what the first one wrote";
  EXPECT_GE(std::stoi(std::string(answer.head.fields.get("x-armgate-waited-ms"))), 4000);
  EXPECT_EQ(upstream.seen.size(), 1u);
}

TEST_F(Recorded, WhatAnotherProcessIsAnsweringIsWaitedForAndNotSentAgain) {
  const auto first = write_at_arm(0, "one", seconds(5));
  pass(seconds(1));
  first->link->leave(world::Leaving::Reset);
  pass(seconds(1));
  const auto again = start(1, "one", put(kNetwork), kBody);
  pass(seconds(2));
  EXPECT_FALSE(again->done);
  const arm::Response answer = end_of(again);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-replayed"), "true");
  EXPECT_EQ(answer.body, kBody);
  EXPECT_EQ(upstream.seen.size(), 1u);
}

TEST_F(Recorded, AloneAProcessMayShowAndSend) {
  const world::StageRig alone;
  EXPECT_TRUE(may_show(alone.parts()));
  EXPECT_TRUE(may_send(alone.parts()));
}

}  // namespace
}  // namespace armgate::recorded_test
