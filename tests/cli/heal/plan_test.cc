// What is told of runs that were begun: those that stopped, those under way, and those that nobody can read.
#include "cli/heal/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "json/tree.h"

namespace armgate::heal {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

RunFound a_run() {
  RunFound run{"20260101T000000Z-1a2b", {}};
  run.progress.target.cluster = "/subscriptions/s/c";
  apply({Event::Kind::Done, {}, Phase::Abort}, run.progress);
  apply({Event::Kind::Stopped, {}, Phase::StandIn, "no quota"}, run.progress);
  return run;
}

TEST(PlanOfARun, OneThatStoppedIsForSomebodyToGoOnWith) {
  const RunFound run = a_run();
  const json told = json::parse(resume_text(run, PlanAs::Json));
  EXPECT_EQ(told["would_act"], true);
  EXPECT_EQ(told["open"], true);
  EXPECT_EQ(told["running"], false);
  EXPECT_EQ(told["state"], "stopped in stand-in: no quota");
  EXPECT_THAT(resume_text(run, PlanAs::Text), HasSubstr("To go on: --confirm. To go back: --undo --confirm.\n"));
}

TEST(PlanOfARun, OneThatIsUnderWayIsLeftAlone) {
  RunFound run = a_run();
  run.is_running = true;
  const json told = json::parse(resume_text(run, PlanAs::Json));
  EXPECT_EQ(told["would_act"], false);
  EXPECT_EQ(told["running"], true);
  EXPECT_EQ(told["state"], "running now");
  const std::string text = resume_text(run, PlanAs::Text);
  EXPECT_THAT(text, HasSubstr("A process of this machine works on it: wait for its end.\n"));
  EXPECT_THAT(text, Not(HasSubstr("--confirm")));
  EXPECT_THAT(runs_text({run}, PlanAs::Text), HasSubstr("steps done: abort; running now\n"));
}

TEST(PlanOfARun, WhereThePoolMayBeGoneThereIsNoWayBack) {
  RunFound run = a_run();
  apply({Event::Kind::Done, {}, Phase::Delete}, run.progress);  // by somebody else: nothing was sent
  EXPECT_THAT(resume_text(run, PlanAs::Text), HasSubstr("which is too late here"));
  EXPECT_THAT(way_on_text(run.progress, "/runs/a", "x"), HasSubstr("there is no way back"));
}

TEST(PlanOfARun, OneThatCannotBeReadSaysWhy) {
  RunFound run = a_run();
  run.damage = "line 3 of x is damaged";
  EXPECT_THAT(runs_text({run}, PlanAs::Text), HasSubstr("; line 3 of x is damaged\n"));
  EXPECT_EQ(json::parse(runs_text({run}, PlanAs::Json))[0]["state"], "line 3 of x is damaged");
}

}  // namespace
}  // namespace armgate::heal
