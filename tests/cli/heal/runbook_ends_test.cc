// Where a run ends before its end: by Ctrl-C, by a refusal, or because what it left on disk is not of this cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/heal/plan.h"
#include "tests/cli/heal/rig.h"

namespace armgate::heal {
namespace {

using testing::HasSubstr;

std::vector<std::string> first_of_golden(size_t count) {
  return {kGolden.begin(), kGolden.begin() + static_cast<ptrdiff_t>(count)};
}

// Ctrl-C in a terminal ends kubectl, too.
TEST(Runbook, AnInterruptionWhileItDrainsDeletesNothing) {
  Rig rig;
  rig.wedge();
  int drained = 0;
  rig.drain = [&](const std::string&) -> Result<std::string> {
    if (++drained > 1) return std::string();
    rig.interrupted = Interrupted::AtTheStepsEnd;
    return std::string("kubectl ended with 130");
  };
  EXPECT_EQ(rig.run().kind, Ending::Kind::Interrupted);
  EXPECT_EQ(rig.taken(), first_of_golden(2));
  rig.interrupted = Interrupted::No;
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_EQ(drained, 2) << "the first one had not come to its end";
  expect_healed(rig);
}

TEST(Runbook, AnInterruptionWhileItLooksAgainAddsNothing) {
  Rig rig;
  rig.wedge();
  rig.on_pause = [&] {
    if (rig.was_told("abort done")) rig.interrupted = Interrupted::AtTheStepsEnd;
  };
  EXPECT_EQ(rig.run().kind, Ending::Kind::Interrupted);
  EXPECT_EQ(rig.taken(), first_of_golden(1));
}

TEST(Runbook, WhoTakesARunUpAsksAgainWhetherThePoolIsWedged) {
  Rig rig;
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  rig.ask("PUT", kPoolId, rig.ask("GET", kPoolId).body);  // somebody has helped it meanwhile
  rig.pass(std::chrono::minutes(5));
  ASSERT_EQ(rig.state(kPoolId), "Succeeded");
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_EQ(ending.why,
            "pool system is Succeeded; pool " + kStandIn + " is there and not needed any more: --undo --confirm takes it away");
  EXPECT_EQ(rig.taken(), first_of_golden(2));
  EXPECT_EQ(rig.undo().kind, Ending::Kind::Undone);
  EXPECT_EQ(rig.state(kPoolId), "Succeeded");
}

// Whichever of its writes ARM refuses for good: it stops there by name, loses nothing, and the same command goes on.
TEST(Runbook, EachWriteThatIsRefusedStopsItThereAndItCanGoOn) {
  for (size_t number = 0; number < kGolden.size(); ++number) {
    Rig rig;
    rig.wedge();
    rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
      if (write.method == arm::Method::Get || rig.taken().size() != number) return std::nullopt;
      return Reply{403, R"({"error":{"code":"RequestDisallowedByPolicy","message":"not here"}})", {}, {}};
    };
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Stopped) << kGolden[number];
    EXPECT_THAT(ending.why, HasSubstr("was refused: ARM answers 403 RequestDisallowedByPolicy: not here")) << kGolden[number];
    EXPECT_EQ(rig.taken(), first_of_golden(number));
    rig.instead = nullptr;
    EXPECT_EQ(rig.run().kind, Ending::Kind::Finished) << kGolden[number];
    EXPECT_EQ(rig.taken(), kGolden);
    expect_healed(rig);
  }
}

TEST(Runbook, ASnapshotOfAnotherClusterStopsItByName) {
  Rig rig;
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  const Target other = *target_of(kClusterId + "2", "system");
  const RunFound run = find_runs(rig.directory.path()).back();
  std::ofstream(rig.directory.path() / run.id / run.progress.snapshot_file)
      << to_text(Snapshot{other.pool_id(), "e", "{}", "{}"});
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_EQ(ending.why, "the snapshot is of " + other.pool_id() + ", not of " + kPoolId);
  EXPECT_EQ(rig.taken(), first_of_golden(2)) << "nothing was done with it";
}

// The step's deadline is the end of it, and that is said before the wait, not after.
TEST(Runbook, AWaitThatArmAsksForBeyondTheStepsDeadlineIsSaidAtOnce) {
  Rig rig;
  rig.wedge();
  std::optional<TimePoint> asked;
  rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
    if (write.method != arm::Method::Put) return std::nullopt;
    asked = rig.world().now();
    return Reply{429, R"({"error":{"code":"TooManyRequests","message":"later"}})", std::chrono::minutes(90), {}};
  };
  rig.on_pause = [&] {
    if (asked) {
      EXPECT_TRUE(rig.was_told("ARM asks to wait 90 min, longer than the 20 min that are left"));
    }
  };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_EQ(ending.why, "the step took more than 20 min: ARM answers 429 TooManyRequests: later; it asks to wait 90 min");
  EXPECT_EQ(rig.world().now() - *asked, std::chrono::minutes(20));
}

// W11. Whatever a step waits for, it ends at its own deadline.
TEST(Runbook, EachStepEndsAtItsDeadline) {
  size_t number = 0;
  for (const Step& step : all_steps()) {
    if (step.phase == Phase::Check) break;  // it sends nothing
    Rig rig;
    rig.wedge();
    std::optional<TimePoint> began;
    rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
      if (write.method == arm::Method::Get || rig.taken().size() != number) return std::nullopt;
      if (!began) began = rig.world().now();
      return Reply{503, R"({"error":{"code":"ServiceUnavailable","message":"busy"}})", {}, {}};
    };
    RunOptions options;
    options.overall = std::chrono::hours(10);
    const Ending ending = rig.run(options);
    EXPECT_EQ(ending.kind, Ending::Kind::Stopped) << kGolden[number];
    EXPECT_EQ(ending.why, fmt::format("the step took more than {} min: ARM answers 503 ServiceUnavailable: busy",
                                      minutes_text(step.deadline)));
    EXPECT_EQ(rig.world().now() - *began, step.deadline) << kGolden[number];
    EXPECT_EQ(rig.taken(), first_of_golden(number));
    ++number;
  }
  EXPECT_EQ(number, kGolden.size());
}

TEST(Runbook, AClusterThatIsNotThereIsLeftAlone) {
  Rig rig;
  rig.instead = [](const Write&) { return Reply{404, "{}", {}, {}}; };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Refused) << "its name may be misspelt";
  EXPECT_THAT(ending.why, HasSubstr("there is no cluster " + kClusterId));
}

TEST(Plan, OfARunThatStoppedWhatWasDoneAndWhatNotIsSaid) {
  Progress progress;
  apply({Event::Kind::Done, {}, Phase::Abort}, progress);
  EXPECT_EQ(way_on_text(progress, "/runs/a", "armgate heal x"),
            "steps done: abort; not done: stand-in, delete, recreate, remove, mark, final-check; all of it is in /runs/a\n"
            "to go on: the same command again; to go back, while nothing was deleted: armgate heal x --undo --confirm\n");
  apply({Event::Kind::Done, {}, Phase::StandIn}, progress);
  apply({Event::Kind::Intend, {}, Phase::Delete}, progress);
  EXPECT_THAT(way_on_text(progress, "/runs/a", "x"), HasSubstr("there is no way back: the delete was sent"));
}

TEST(Plan, TheVersionOfTheNewPoolIsSaid) {
  Rig rig;
  rig.wedge();
  auto found = rig.look();
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(plan_text(rig.target(), *found, {}, PlanAs::Text),
              HasSubstr("the new pool runs Kubernetes 1.30.4, as the control plane does\n"));
  found->bodies->version_now = "1.29.9";
  EXPECT_THAT(plan_text(rig.target(), *found, {}, PlanAs::Text),
              HasSubstr("the new pool runs Kubernetes 1.30.4, as the control plane does; the wedged one runs 1.29.9\n"));
}

TEST(Runbook, AnInterruptionSaysWhere) {
  Rig rig;
  rig.wedge();
  EXPECT_EQ(rig.run_until_interrupted_after(2).why, "before delete");
  rig.on_pause = [&] {
    if (rig.taken().size() == 3) rig.interrupted = Interrupted::Now;
  };
  EXPECT_EQ(rig.run().why, "in the middle of delete");
}

TEST(Plan, WhereNoOperationRunsNothingIsSaidToBeAborted) {
  for (const int64_t started : {0, 2700}) {
    Rig rig;
    rig.wedge({{"started_s", started}});
    const auto found = rig.look();
    ASSERT_TRUE(found.ok());
    const std::string text = plan_text(rig.target(), *found, {}, PlanAs::Text);
    EXPECT_THAT(text, HasSubstr(started == 0 ? "nothing: no operation runs now" : "POST CLUSTER/abort"));
  }
}

TEST(Plan, MinutesAreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(minutes_text(std::chrono::minutes(1440)), "1440");
  EXPECT_EQ(minutes_text(std::chrono::seconds(3)), "0.05");
}

}  // namespace
}  // namespace armgate::heal
