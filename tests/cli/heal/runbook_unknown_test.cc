// Writes of which nobody knows whether ARM took them, and pools that went without this run: a look decides, and the run goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/heal/rig.h"

namespace armgate::heal {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

const std::string kTemporaryId = kClusterId + "/agentPools/" + kStandIn;

// What armgate answers when ARM's answer was lost and no look can tell (proxy/request/answer.cc).
const Reply kUnknown{
    409, R"({"error":{"code":"ArmgateOutcomeUnknown","message":"Whether the request took effect is not known."}})", {}, {}};

// The answer to the write of that number is lost, although ARM took it.
void lose_the_answer(Rig& rig, size_t number) {
  rig.after = [&rig, number, lost = false](const Write& write) mutable -> std::optional<Result<Reply>> {
    if (lost || write.method == arm::Method::Get || rig.taken().size() != number + 1) return std::nullopt;
    lost = true;
    return kUnknown;
  };
}

// A colleague deletes the wedged pool while the run is stopped.
void delete_by_hand(Rig& rig) {
  rig.ask("DELETE", kPoolId);
  rig.pass(minutes(5));
  ASSERT_EQ(rig.state(kPoolId), "absent");
}

TEST(RunbookUnknown, WhereTheAnswerToAWriteIsLostALookTellsWhatBecameOfIt) {
  for (size_t number = 0; number < kGolden.size(); ++number) {
    Rig rig;
    rig.wedge();
    lose_the_answer(rig, number);
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Finished) << kGolden[number] << ": " << ending.why;
    EXPECT_EQ(rig.taken(), kGolden) << kGolden[number];
    EXPECT_TRUE(rig.was_told("nobody knows whether ARM took it")) << kGolden[number];
    expect_healed(rig);
  }
}

TEST(RunbookUnknown, AWriteThatArmDidNotTakeIsSentAgain) {
  for (size_t number = 0; number < kGolden.size(); ++number) {
    Rig rig;
    rig.wedge();
    int lost = 0;
    rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
      if (lost == 2 || write.method == arm::Method::Get || rig.taken().size() != number) return std::nullopt;
      ++lost;
      return kUnknown;
    };
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Finished) << kGolden[number] << ": " << ending.why;
    EXPECT_EQ(lost, 2);
    EXPECT_EQ(rig.taken(), kGolden);
    expect_healed(rig);
  }
}

// Killed behind such an answer: whoever takes the run up finds the pool on its way out, or gone.
TEST(RunbookUnknown, ADeleteOfWhichNobodyKnowsCannotBeUndoneAndGoesOn) {
  for (const Duration later : {Duration(std::chrono::seconds(1)), Duration(minutes(10))}) {
    Rig rig;
    rig.wedge();
    lose_the_answer(rig, 2);
    rig.on_pause = [&] {
      if (rig.taken().size() == 3) rig.interrupted = Interrupted::Now;
    };
    ASSERT_EQ(rig.run().kind, Ending::Kind::Interrupted);
    rig.on_pause = nullptr;
    rig.interrupted = Interrupted::No;
    rig.pass(later);
    EXPECT_THAT(rig.undo().why, HasSubstr("cannot be undone"));
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Finished) << ending.why;
    EXPECT_EQ(rig.taken(), kGolden);
    expect_healed(rig);
  }
}

// A journal of before that took armgate's answer for a refusal.
TEST(RunbookUnknown, AnAnnouncedDeleteThatWasTakenForRefusedGoesOnAsSoonAsThePoolGoes) {
  for (const Duration later : {Duration(std::chrono::seconds(1)), Duration(minutes(10))}) {
    Rig rig;
    rig.wedge();
    rig.after = [&](const Write& write) -> std::optional<Result<Reply>> {
      if (write.method != arm::Method::Delete) return std::nullopt;
      return Reply{403, R"({"error":{"code":"Forbidden","message":"of something between"}})", {}, {}};
    };
    ASSERT_EQ(rig.run().kind, Ending::Kind::Stopped);
    rig.after = nullptr;
    rig.pass(later);
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Finished) << ending.why;
    EXPECT_EQ(rig.taken(), kGolden);
    expect_healed(rig);
  }
}

TEST(RunbookUnknown, APoolThatSomebodyElseDeletedIsMadeAnewFromTheSnapshot) {
  Rig rig;
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  delete_by_hand(rig);
  EXPECT_THAT(rig.undo().why, HasSubstr("the same command without --undo makes it anew"));
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Finished) << ending.why;
  EXPECT_TRUE(rig.was_told("pool system is gone, and " + kStandIn + " stands in: it is made anew from the snapshot"));
  expect_healed(rig);
}

TEST(RunbookUnknown, OnceItIsGoneTheTimeUpToTheDeleteDoesNotCount) {
  Rig rig;
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  delete_by_hand(rig);
  RunOptions options;
  options.overall = std::chrono::seconds(30);  // one pause between two looks
  rig.nodes = [](const std::string&) -> Result<NodeCount> { return NodeCount{3, 3}; };
  EXPECT_EQ(rig.run(options).kind, Ending::Kind::Finished);
  expect_healed(rig);
}

TEST(RunbookUnknown, WithoutAStandInOfItsOwnAPoolThatIsGoneStopsItWithTheWayOn) {
  Rig rig;
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  delete_by_hand(rig);
  rig.ask("PUT", kClusterId + "/agentPools/system2", R"({"properties":{"mode":"System","count":1}})");
  rig.pass(minutes(5));
  rig.ask("DELETE", kTemporaryId);
  rig.pass(minutes(5));
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("pool system is gone"));
  EXPECT_THAT(ending.why, HasSubstr("\"again\" in snapshot-"));
  EXPECT_EQ(rig.taken().size(), 2u);
  EXPECT_EQ(rig.undo().kind, Ending::Kind::Undone) << "which keeps nobody from a new run";
}

TEST(RunbookUnknown, ARefusalIsStillOne) {
  Rig rig;
  rig.wedge();
  rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
    if (write.method != arm::Method::Delete) return std::nullopt;
    return Reply{
        409, R"({"error":{"code":"OperationNotAllowed","message":"ArmgateOutcomeUnknown is only in its words"}})", {}, {}};
  };
  EXPECT_THAT(rig.run().why, HasSubstr("was refused: ARM answers 409 OperationNotAllowed"));
  rig.instead = nullptr;
  EXPECT_EQ(rig.undo().kind, Ending::Kind::Undone);
}

// A condition that fails in one step says nothing about the next.
TEST(RunbookUnknown, ConditionsThatFailAreCountedForEachStep) {
  Rig rig;
  rig.wedge();
  std::vector<size_t> failed(kGolden.size(), 0);
  rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
    const size_t number = std::min(rig.taken().size(), kGolden.size() - 1);
    const bool is_conditional = !write.if_match.empty() || !write.if_none_match.empty();
    if (!is_conditional || ++failed[number] > 1) return std::nullopt;
    return Reply{412, R"({"error":{"code":"PreconditionFailed","message":"it moved"}})", {}, {}};
  };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Finished) << ending.why;
  expect_healed(rig);
}

}  // namespace
}  // namespace armgate::heal
