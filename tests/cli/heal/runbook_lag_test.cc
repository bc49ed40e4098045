// ARM does not know for a while what it has just made, and a write may still be on its way when its run has died: one look that
// finds nothing proves nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "tests/cli/heal/rig.h"

namespace armgate::heal {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

const std::string kTemporary = kClusterId + "/agentPools/" + kStandIn;

// From the PUT of that pool on so many looks at it find nothing.
void forget_what_was_made(Rig& rig, const std::string& pool, size_t looks) {
  rig.instead = [pool, looks, begun = false](const Write& write) mutable -> std::optional<Result<Reply>> {
    if (!write.target.starts_with(pool + "?")) return std::nullopt;
    if (write.method == arm::Method::Put) begun = true;
    if (!begun || write.method != arm::Method::Get || looks == 0) return std::nullopt;
    --looks;
    return Reply{404, R"({"error":{"code":"NotFound","message":"Could not find the agent pool."}})", {}, {}};
  };
}

// Dies at that moment of the stand-in's PUT, which is given.
Write die_at_stand_in(Rig& rig, Moment moment) {
  size_t number = 0;
  {
    Rig whole;
    whole.wedge();
    EXPECT_EQ(whole.run().kind, Ending::Kind::Finished);
    while (whole.sent[number].method != arm::Method::Put) ++number;
  }
  rig.kill_at = {number, moment};
  EXPECT_THROW(rig.run(), Killed);
  rig.kill_at.reset();
  return rig.sent[number];
}

TEST(RunbookLag, APoolThatArmTookAndDoesNotKnowYetIsWaitedFor) {
  for (const std::string& pool : {kTemporary, kPoolId}) {
    Rig rig;
    rig.wedge();
    forget_what_was_made(rig, pool, 6);
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Finished) << pool << ": " << ending.why;
    EXPECT_EQ(rig.taken(), kGolden) << pool;
    expect_healed(rig);
  }
}

TEST(RunbookLag, OneThatNeverComesEndsTheRunAtTheStepsDeadline) {
  Rig rig;
  rig.wedge();
  forget_what_was_made(rig, kTemporary, 10'000);
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("took more than 20 min: pool " + kStandIn + " was accepted and is not there yet"));
  EXPECT_EQ(rig.taken().size(), 2u);
}

TEST(RunbookLag, AnUndoWaitsForThePutThatIsStillOnItsWay) {
  Rig rig;
  rig.wedge();
  const Write put = die_at_stand_in(rig, Moment::BeforeSending);
  rig.lease_held = false;
  rig.on_pause = [&, pauses = 0]() mutable {
    if (++pauses != 4) return;
    rig.ask("PUT", put.target, put.body);
    rig.lease_held = true;
  };
  const Ending undone = rig.undo();
  EXPECT_EQ(undone.kind, Ending::Kind::Undone) << undone.why;
  EXPECT_EQ(rig.ask("GET", kTemporary).head.status, 404) << "it was said to be gone before it came";
  EXPECT_EQ(rig.writes.back().first, "DELETE /agentPools/" + kStandIn);
}

TEST(RunbookLag, AnUndoDoesNotBelieveOneLookOnly) {
  Rig rig;
  rig.wedge();
  die_at_stand_in(rig, Moment::AfterTheAnswer);
  forget_what_was_made(rig, kTemporary, 5);
  rig.instead(Write{arm::Method::Put, kTemporary + "?"});
  const Ending undone = rig.undo();
  EXPECT_EQ(undone.kind, Ending::Kind::Undone) << undone.why;
  EXPECT_EQ(rig.ask("GET", kTemporary).head.status, 404);
  EXPECT_EQ(rig.writes.back().first, "DELETE /agentPools/" + kStandIn);
}

TEST(RunbookLag, AnUndoOfWhatNeverCameEnds) {
  Rig rig;
  rig.wedge();
  die_at_stand_in(rig, Moment::BeforeSending);
  EXPECT_EQ(rig.undo().kind, Ending::Kind::Undone);
  EXPECT_TRUE(rig.was_told("may have been made"));
}

// The pool has become well meanwhile: without the stand-in the run would be over, and the stand-in left for ever.
TEST(RunbookLag, ARunIsNotOverWhileItsStandInMayBeThere) {
  Rig rig;
  rig.wedge();
  die_at_stand_in(rig, Moment::AfterTheAnswer);
  rig.pass(minutes(5));
  nlohmann::json body = nlohmann::json::parse(rig.ask("GET", kPoolId).body);
  body["properties"]["nodeLabels"]["zone"] = "two";
  rig.ask("PUT", kPoolId, body.dump());
  rig.pass(minutes(5));
  ASSERT_EQ(rig.state(kPoolId), "Succeeded");
  ASSERT_EQ(rig.state(kTemporary), "Succeeded");
  forget_what_was_made(rig, kTemporary, 5);
  rig.instead(Write{arm::Method::Put, kTemporary + "?"});
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped) << ending.why;
  EXPECT_THAT(ending.why, HasSubstr("pool " + kStandIn + " is there and not needed any more"));
}

}  // namespace
}  // namespace armgate::heal
