// A run that waits for nodes, and one that is killed: what the cluster shows and the journal says is enough to go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/heal/rig.h"

namespace armgate::heal {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Runbook, ReadyNodesAreWaitedForBeforeAndAfterTheDelete) {
  Rig rig;
  rig.wedge();
  std::vector<std::string> asked;
  rig.nodes = [&](const std::string& pool) -> Result<NodeCount> {
    asked.push_back(pool);
    if (asked.size() == 1) return gateway_error(ErrorKind::BadInput, "not logged in");
    if (asked.size() == 2) return NodeCount{2, 3};
    return NodeCount{3, 3};
  };
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_EQ(rig.taken(), kGolden);
  ASSERT_GE(asked.size(), 5u);
  EXPECT_EQ(asked.front(), kStandIn);
  EXPECT_EQ(asked.back(), "system");
  EXPECT_TRUE(rig.was_told("the nodes of pool " + kStandIn + " cannot be looked at: not logged in"));
  EXPECT_TRUE(rig.was_told("2 of 3 nodes of pool " + kStandIn + " are ready, 3 are wanted"));
  expect_healed(rig);
}

TEST(Runbook, WithoutReadyNodesOfTheStandInNothingIsDeleted) {
  Rig rig;
  rig.wedge();
  rig.nodes = [](const std::string&) -> Result<NodeCount> { return NodeCount{0, 0}; };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("0 of 0 nodes of pool " + kStandIn + " are ready"));
  EXPECT_EQ(rig.taken().size(), 2u);
}

// What ARM took for its part does not count.
TEST(Runbook, NodesHaveATimeOfTheirOwn) {
  Rig rig;
  rig.wedge();
  RunOptions options;
  options.nodes = minutes(45);
  std::optional<TimePoint> asked_first;
  rig.nodes = [&](const std::string& pool) -> Result<NodeCount> {
    const TimePoint now = rig.world().now();
    if (!asked_first) asked_first = now;
    if (pool == kStandIn && now - *asked_first < minutes(30)) return NodeCount{2, 3, {"aks-3"}};
    return pool == kStandIn ? NodeCount{3, 3} : NodeCount{0, 1, {"aks-1"}};
  };
  const Ending ending = rig.run(options);
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_EQ(ending.why,
            "waiting for nodes took more than 45 min: 0 of 1 nodes of pool system are ready, 3 are wanted; not ready: aks-1");
  EXPECT_EQ(rig.taken().size(), 4u) << "the stand-in's became ready after 30 min, the new pool's never";
}

TEST(Runbook, NodesAreDrainedOnceBeforeTheDeleteAndMustBeCordoned) {
  Rig rig;
  rig.wedge();
  std::vector<std::string> drained;
  rig.drain = [&](const std::string& pool) -> Result<std::string> {
    drained.push_back(pool);
    EXPECT_EQ(rig.taken().size(), 2u);
    if (drained.size() == 1) return gateway_error(ErrorKind::BadInput, "forbidden");
    return std::string("one pod has a budget");
  };
  const Ending refused = rig.run();
  EXPECT_EQ(refused.kind, Ending::Kind::Stopped);
  EXPECT_THAT(refused.why, HasSubstr("the nodes of pool system cannot be cordoned: forbidden"));
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_THAT(drained, ElementsAre("system", "system"));
  EXPECT_TRUE(rig.was_told("not every pod went: one pod has a budget")) << "which is a warning: it goes with its node";
}

// Whoever goes back learns of the cordons, although the drain never came to its end.
TEST(Runbook, ADrainThatWasKilledIsInTheJournalAndTheWayBackNamesItsNodes) {
  for (const bool is_killed : {true, false}) {
    Rig rig;
    rig.wedge();
    rig.drain = [&](const std::string&) -> Result<std::string> {
      if (is_killed) throw Killed();
      rig.interrupted = Interrupted::AtTheStepsEnd;
      return std::string();
    };
    if (is_killed) {
      EXPECT_THROW(rig.run(), Killed);
    } else {
      EXPECT_EQ(rig.run().kind, Ending::Kind::Interrupted);
    }
    rig.interrupted = Interrupted::No;
    EXPECT_TRUE(find_runs(rig.directory.path())[0].progress.may_be_cordoned());
    const Ending undone = rig.undo();
    EXPECT_EQ(undone.kind, Ending::Kind::Undone);
    EXPECT_THAT(undone.why, HasSubstr("; its nodes may be cordoned: kubectl uncordon --selector agentpool=system"));
  }
  Rig rig;
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  EXPECT_THAT(rig.undo().why, testing::EndsWith("pool system was not touched")) << "nothing was drained";
}

// W9: killed at each request, at each moment, it is taken up, and each write was taken once. A quarter of the requests each.
class RunbookKilled : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Quarters, RunbookKilled, testing::Range<size_t>(0, 4));

// Kubectl is asked as well, and a pool may be drained twice.
void wedge_with_nodes(Rig& rig) {
  rig.wedge();
  rig.nodes = [](const std::string&) -> Result<NodeCount> { return NodeCount{3, 3}; };
  rig.drain = [&](const std::string&) -> Result<std::string> {
    EXPECT_EQ(rig.taken().size(), 2u) << "only before the delete";
    return std::string();
  };
}

TEST_P(RunbookKilled, AtAnyRequestItGoesOnAndDoesNothingTwice) {
  RunOptions options;
  options.poll = minutes(2);  // each request counts, and many looks are alike
  Rig whole;
  wedge_with_nodes(whole);
  ASSERT_EQ(whole.run(options).kind, Ending::Kind::Finished);
  const size_t inspected = [] {
    Rig rig;
    rig.wedge();
    EXPECT_TRUE(rig.look().ok());
    return rig.sent.size();
  }();
  size_t kills = 0;
  for (size_t number = GetParam(); number < whole.sent.size(); number += 4) {
    for (const Moment moment : {Moment::BeforeSending, Moment::AfterSending, Moment::AfterTheAnswer}) {
      Rig rig;
      wedge_with_nodes(rig);
      rig.kill_at = {number, moment};
      EXPECT_THROW(rig.run(options), Killed) << number;
      ++kills;
      rig.kill_at.reset();
      const Ending ending = rig.run(options);
      ASSERT_EQ(ending.kind, Ending::Kind::Finished) << number << ": " << ending.why;
      EXPECT_EQ(rig.taken(), kGolden) << "killed at request " << number;
      expect_healed(rig);
      EXPECT_EQ(find_runs(rig.directory.path()).size(), 1u) << (number < inspected ? "a new run" : "the same run");
    }
  }
  EXPECT_GT(kills, 20u);
}

}  // namespace
}  // namespace armgate::heal
