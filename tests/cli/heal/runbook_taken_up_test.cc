// Whoever takes a run up, perhaps days later: what was done by then need not hold any more, and what runs then may be somebody's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/heal/rig.h"

namespace armgate::heal {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

const std::string kStandInPath = "/agentPools/" + kStandIn;

// The cluster's write began `started` ago, and does not end.
void wedge_since(Rig& rig, minutes started) {
  rig.wedge({{"started_s", std::chrono::seconds(started).count()}, {"failures", 0}});
}

// Aborted, and then the run was stopped, before the stand-in was sent. Two hours later it is taken up: another operation runs by then.
Ending take_up_beside_one_of(Rig& rig, minutes age) {
  rig.wedge();
  EXPECT_EQ(rig.run_until_interrupted_after(1).kind, Ending::Kind::Interrupted);
  EXPECT_EQ(rig.taken(), std::vector<std::string>{"POST /abort"});
  rig.pass(minutes(120));
  wedge_since(rig, age);
  return rig.run();
}

TEST(RunbookTakenUp, AnotherOperationThatHangsIsAbortedToo) {
  Rig rig;
  const Ending ending = take_up_beside_one_of(rig, minutes(45));
  EXPECT_EQ(ending.kind, Ending::Kind::Finished) << ending.why;
  std::vector<std::string> expected = kGolden;
  expected.insert(expected.begin(), "POST /abort");
  EXPECT_EQ(rig.taken(), expected);
  expect_healed(rig);
}

TEST(RunbookTakenUp, AYoungOperationOfSomebodyElseIsLeftAlone) {
  Rig rig;
  const Ending ending = take_up_beside_one_of(rig, minutes(10));
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("before 30 it is left alone"));
  EXPECT_EQ(rig.taken(), std::vector<std::string>{"POST /abort"});
  rig.pass(minutes(25));
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished) << "it has hung for 35 min by then";
  expect_healed(rig);
}

// Between the abort's end and the kill there is no stop in the journal.
TEST(RunbookTakenUp, AKilledRunAsksForTheAbortAnewToo) {
  Rig rig;
  rig.wedge();
  size_t stand_in = 0;
  {
    Rig whole;
    whole.wedge();
    ASSERT_EQ(whole.run().kind, Ending::Kind::Finished);
    while (whole.sent[stand_in].method != arm::Method::Put) ++stand_in;
  }
  rig.kill_at = {stand_in, Moment::BeforeSending};
  EXPECT_THROW(rig.run(), Killed);
  rig.kill_at.reset();
  rig.pass(minutes(120));
  wedge_since(rig, minutes(45));
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_EQ(std::count(rig.writes.begin(), rig.writes.end(), std::pair<std::string, int>("POST /abort", 202)), 2);
}

TEST(RunbookTakenUp, WithTheStandInThereNothingIsAborted) {
  Rig rig;
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  ASSERT_NE(rig.state(kClusterId + kStandInPath), "absent");
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_EQ(rig.taken(), kGolden);
}

// By then somebody may have uncordoned the nodes, or AKS may have added some.
TEST(RunbookTakenUp, TheNodesAreDrainedAgain) {
  Rig rig;
  rig.wedge();
  int drained = 0;
  rig.drain = [&](const std::string&) -> Result<std::string> {
    if (++drained == 1) rig.lease_held = false;  // so that it stops before the delete
    return std::string();
  };
  ASSERT_EQ(rig.run().kind, Ending::Kind::Stopped);
  ASSERT_EQ(drained, 1);
  rig.lease_held = true;
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_EQ(drained, 2);
}

// The activity log is minutes late: armgate knows of a write that it has not shown yet.
TEST(RunbookTakenUp, WhatArmgateKnowsToBeYoungIsNotAborted) {
  Rig rig;
  rig.wedge();
  rig.behind_age = minutes(3);
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::NothingToDo);
  EXPECT_THAT(ending.why, HasSubstr("(3 min; before 30 it is left alone)"));
  EXPECT_TRUE(rig.writes.empty());
  rig.behind_age = minutes(31);
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
}

}  // namespace
}  // namespace armgate::heal
