// How operations end, and what was written, is known at every replica; and of several that see one end one counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "proxy/async/spawn.h"
#include "tests/proxy/cluster/replica_rig.h"

namespace armgate::cluster::results_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Goes = OperationResults::Goes;

constexpr Hash128 kSet{5, 5};
constexpr Hash128 kBytes{7, 7};
const OperationResult kBad{arm::Progress::Failed, {"Bad", ""}};
const OperationResult kGood{arm::Progress::Succeeded, {}};

class ClusterResultsTest : public testing::Test {
 protected:
  using Process = ReplicaRig::Process;
  ClusterResultsTest() {
    for (int i = 0; i < 2; ++i) all_.push_back(&rig_.begin());
  }
  static void end(Process& at, IntentId intent, const OperationResult& result) {
    at.results.note({.resource = kSet,
                     .id = "/r",
                     .type = "a/b",
                     .method = "PUT",
                     .client = "one",
                     .request_hash = kBytes,
                     .result = result,
                     .intent = intent},
                    {at.clock.now(), at.clock.wall()});
  }
  // A write that was accepted, and whose operation runs.
  IntentId write(Process& at) {
    Task<void> writing = intend(at);
    spawn(rig_.loop.get_executor(), std::move(writing));
    rig_.pass(seconds(5));
    WriteOutcome outcome;
    outcome.status = 202;
    outcome.is_running = true;
    at.replica.post(Settled{id_, outcome});
    return id_;
  }
  void fail(int times) {
    for (int i = 0; i < times; ++i) {
      Process& at = *all_[static_cast<size_t>(i) % all_.size()];
      end(at, write(at), kBad);
    }
    rig_.pass(seconds(2));
  }
  std::vector<OperationResults::Sick> sick_at(const Process& process) const {
    return process.results.sick(rig_.clock.now(), [](const Hash128&) { return false; });
  }
  static uint64_t counted_at(const Process& process) {
    uint64_t all = 0;
    for (const auto& each : process.results.counts()) all += each.count;
    return all;
  }

  ReplicaRig rig_;
  std::vector<Process*> all_;

 private:
  Task<void> intend(Process& at) {
    Intended intended;
    intended.write.resource = "/r";
    intended.write.method = "PUT";
    intended.write.client_label = "one";
    const auto id = co_await at.replica.intend(std::move(intended), rig_.loop.get_executor(), rig_.clock.now() + seconds(4));
    EXPECT_TRUE(id.has_value());
    id_ = id.value_or(0);
  }
  IntentId id_ = 0;
};

TEST_F(ClusterResultsTest, FailuresThatReplicasSawMakeAResourceSickAtAll) {
  fail(9);
  for (const auto* process : all_) EXPECT_TRUE(sick_at(*process).empty());
  fail(1);
  for (const auto* process : all_) {
    ASSERT_EQ(sick_at(*process).size(), 1u);
    EXPECT_EQ(sick_at(*process)[0].failures, 10u);
    EXPECT_EQ(process->results.last().size(), 10u);
  }
  const Process& later = rig_.begin();
  EXPECT_EQ(sick_at(later).size(), 1u) << "whoever begins later reads it";
  EXPECT_EQ(counted_at(later), 0u) << "and does not count it";
  EXPECT_EQ(counted_at(*all_[0]) + counted_at(*all_[1]), 10u) << "each has counted its own";
  const IntentId intent = write(*all_[1]);
  end(*all_[1], intent, kGood);
  rig_.pass(seconds(2));
  EXPECT_TRUE(sick_at(*all_[0]).empty());
}

TEST_F(ClusterResultsTest, AnEndThatTwoReplicasSawCountsOnce) {
  const IntentId intent = write(*all_[0]);
  for (auto* process : all_) {
    end(*process, intent, kBad);
    process->replica.post(Finished{intent, process->clock.wall(), EndSeen::Yes, kBad});
  }
  rig_.pass(seconds(3));
  for (const auto* process : all_) EXPECT_EQ(process->results.last().size(), 1u);
  EXPECT_EQ(counted_at(*all_[0]) + counted_at(*all_[1]), 1u);
}

TEST_F(ClusterResultsTest, AStateThatOneReplicaSawIsKnownAtAll) {
  all_[0]->results.note_state(kSet, "/r", "Updating", {all_[0]->clock.now(), all_[0]->clock.wall()});
  rig_.pass(seconds(2));
  for (const auto* process : all_) EXPECT_TRUE(process->results.is_known_as(kSet, "Updating"));
  rig_.pass(minutes(61));
  for (const auto* process : all_) EXPECT_EQ(sick_at(*process).size(), 1u) << "it is stuck";
}

Task<void> probe(ReplicaRig& rig, ReplicaRig::Process& process, int& gone) {
  const Moment looked = process.clock.next_moment();
  const auto judged = process.results.judge(kSet, kBytes, minutes(5), looked.time);
  if (judged.goes != Goes::AsProbe) co_return;
  const auto goes = co_await process.replica.probe(kSet, looked.order, rig.loop.get_executor(), rig.clock.now() + seconds(9));
  gone += goes.value_or(false) ? 1 : 0;
}

TEST_F(ClusterResultsTest, OneProbeGoesForAllReplicas) {
  fail(10);
  for (int round = 1; round <= 5; ++round) {
    rig_.pass(minutes(6));
    fail(10);  // within the window
    rig_.pass(minutes(5) + seconds(1));
    int gone = 0;
    for (int i = 0; i < 6; ++i) {
      spawn(rig_.loop.get_executor(), probe(rig_, *all_[static_cast<size_t>(i) % 2], gone));
      rig_.pass(std::chrono::milliseconds(3));
    }
    rig_.pass(seconds(9));
    EXPECT_EQ(gone, 1) << "round " << round;
    for (auto* process : all_) EXPECT_EQ(process->results.judge(kSet, kBytes, minutes(5), rig_.clock.now()).goes, Goes::No);
  }
}

TEST_F(ClusterResultsTest, EveryReplicaTellsTheWritesOfAll) {
  const IntentId first = write(*all_[0]);
  all_[0]->replica.post(Finished{first, all_[0]->clock.wall(), EndSeen::Yes, kBad});
  const IntentId second = write(*all_[1]);
  all_[0]->replica.post(Replayed{second});
  rig_.pass(seconds(2));
  for (const Process* process : {all_[0], all_[1], &rig_.begin()}) {
    const auto newest = process->history.newest(10, "");
    ASSERT_EQ(newest.size(), 2u);
    EXPECT_EQ(newest[0].write.id, second);
    EXPECT_EQ(newest[0].write.replays, 1u);
    EXPECT_TRUE(newest[0].write.is_open());
    EXPECT_EQ(newest[0].write.client_label, "one");
    EXPECT_EQ(newest[0].write.touched, "/tags/a") << "what it changed is named by whoever sent it";
    EXPECT_EQ(newest[1].write.result.how, arm::Progress::Failed);
    EXPECT_EQ(newest[1].write.result.error.code, "Bad");
    EXPECT_EQ(newest[1].write.outcome->status, 202);
  }
}

}  // namespace
}  // namespace armgate::cluster::results_test
