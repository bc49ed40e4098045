// Whoever runs many seeds is told what broke, under which seed, and with which command everything of it is shown.
#include "tests/gate_sim/soak_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armgate::world {
namespace {

using testing::HasSubstr;

RunResult broken_run(const std::string& what) {
  RunResult result;
  result.workload = "tags";
  result.disturbances = {"slow-arm", "resets"};
  result.violations = {{"P1", what}};
  result.tail = {"line 1", "line 2"};
  return result;
}

constexpr const char* kRepeat =
    "repeat: build/release/tests/gate_sim --seed 7 --workload tags --disturb slow-arm,resets --trace\n";

TEST(SoakReport, AFailedSeedIsToldWithItsPromiseAndTheCommandThatShowsIt) {
  const std::string text = failure_text(7, broken_run("1 lost"), 0);
  EXPECT_THAT(text, HasSubstr("seed 7 FAILED: tags with slow-arm,resets\n  P1: 1 lost\n"));
  EXPECT_THAT(text, HasSubstr(kRepeat));
  EXPECT_THAT(text, testing::Not(HasSubstr("line 2")));
  EXPECT_THAT(failure_text(7, broken_run("1 lost"), 1), HasSubstr("    line 2\n  repeat"));
}

// --quiet shows nothing else.
TEST(SoakReport, TheSummarySaysTheSameOfTheFirstSeedOfEachKind) {
  Totals totals;
  add(totals, 7, broken_run("1 lost"));
  add(totals, 9, broken_run("2 lost"));
  add(totals, 10, RunResult{});
  const std::string text = summary_text(totals, 1);
  EXPECT_THAT(text, HasSubstr("3 seeds, 2 failed"));
  EXPECT_THAT(text, HasSubstr("broken: P1 tags: 2 times, first at seed 7: 1 lost\n"));
  EXPECT_THAT(text, HasSubstr(kRepeat));
  EXPECT_THAT(text, testing::Not(HasSubstr("2 lost")));
}

TEST(SoakReport, ARunThatCrashedIsRepeatedByItsSeedAlone) {
  EXPECT_EQ(repeat_command(7, RunResult{}), "build/release/tests/gate_sim --seed 7 --trace");
}

}  // namespace
}  // namespace armgate::world
