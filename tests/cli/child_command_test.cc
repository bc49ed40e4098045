// Running another program: its exit code, its environment, its signals.
#include "cli/process/child_command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "proxy/seams/real_clock.h"

namespace armgate {
namespace {

int run(const std::vector<std::string>& words, const Environment& environment = {}) {
  return CommandRunner().run(words, environment);
}

int run_script(const std::string& script, const Environment& environment = {}) {
  return run({"/bin/sh", "-c", script}, environment);
}

TEST(CommandRunner, GivesTheExitCodeThatAShellWouldGive) {
  EXPECT_EQ(run_script("exit 0"), 0);
  EXPECT_EQ(run_script("exit 7"), 7);
  EXPECT_EQ(run_script("kill -9 $$"), 128 + 9);
  EXPECT_EQ(run({"no-such-program-anywhere"}), 127);
  EXPECT_EQ(run({"/"}), 126);
}

TEST(CommandRunner, PassesWordsAndVariablesUnchangedAndNothingElse) {
  EXPECT_EQ(
      run({"/bin/sh", "-c", "test \"$1\" = 'a  b' && test \"$A\" = 'x=y' && test -z \"$HOME\"", "sh", "a  b"}, {{"A", "x=y"}}),
      0);
}

TEST(CommandRunner, SignalsOfOthersReachTheProgramAndDoNotEndUs) {
  for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGUSR1}) {
    SCOPED_TRACE(number);
    CommandRunner runner;
    const pid_t self = ::getpid();
    // The program itself sends the signal to us, when it is ready to take it.
    const std::string script = "trap 'exit 9' " + std::to_string(number) + "; kill -" + std::to_string(number) + " " +
                               std::to_string(self) + "; while :; do /bin/sleep 0.01; done";
    EXPECT_EQ(runner.run({"/bin/sh", "-c", script}, {}), 9);
  }
}

TEST(CommandRunner, TheProgramStartsWithTheSignalsThatWeStartedWith) {
  EXPECT_EQ(run_script("kill -15 $$; exit 0"), 128 + 15) << "SIGTERM was still blocked";
}

TEST(CommandRunner, TheProgramIsEndedByAFileSizeLimitThoughWeAreNot) {
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  EXPECT_EQ(run_script("kill -XFSZ $$; exit 0"), 128 + SIGXFSZ);
  ::signal(SIGXFSZ, before);
}

TEST(CommandRunner, AQuietProgramReadsNothingAndWhatItPrintsIsGivenBack) {
  const Finished finished =
      CommandRunner().run_quietly({"/bin/sh", "-c", "cat; echo one; echo two >&2; exit 3"}, {}, kTailBytes);
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(finished.printed, "one\ntwo\n");
  EXPECT_EQ(CommandRunner().run_quietly({"no-such-program-anywhere"}, {}, kTailBytes).exit_code, 127);
}

TEST(CommandRunner, WhoIsAskedToEndWhileAQuietProgramRunsIsToldSo) {
  const auto run_quietly = [](const std::string& script) {
    return CommandRunner().run_quietly({"/bin/sh", "-c", script + "; while :; do /bin/sleep 0.01; done"}, {}, kTailBytes);
  };
  const std::string self = std::to_string(::getpid());
  const Finished ended = run_quietly("trap 'exit 9' INT; kill -INT " + self);
  EXPECT_EQ(ended.exit_code, 9);
  EXPECT_EQ(ended.interruptions, 1);
  EXPECT_EQ(run_quietly("trap 'exit 9' USR1; kill -USR1 " + self).interruptions, 0);
}

TEST(CommandRunner, AQuietProgramWhoseTimeIsOverIsEnded) {
  const auto began = RealClock().now();
  const Finished late = CommandRunner().run_quietly({"/bin/sh", "-c", "echo before; exec /bin/sleep 60"}, {}, kTailBytes,
                                                    std::chrono::milliseconds(200));
  EXPECT_TRUE(late.is_late);
  EXPECT_EQ(late.exit_code, 128 + SIGTERM);
  EXPECT_EQ(late.printed, "before\n");
  const Finished stubborn = CommandRunner().run_quietly({"/bin/sh", "-c", "trap '' TERM; while :; do /bin/sleep 0.05; done"},
                                                        {}, kTailBytes, std::chrono::milliseconds(200));
  EXPECT_TRUE(stubborn.is_late);
  EXPECT_EQ(stubborn.exit_code, 128 + SIGKILL);
  EXPECT_LT(RealClock().now() - began, std::chrono::seconds(20));
  EXPECT_FALSE(CommandRunner().run_quietly({"/bin/sh", "-c", "exit 0"}, {}, kTailBytes, std::chrono::minutes(1)).is_late);
}

TEST(CommandRunner, OfALotOfOutputTheEndIsKeptAndWhatRunsOnIsNotWaitedFor) {
  const auto print_lines = [](size_t printed_max) {
    return CommandRunner().run_quietly(
        {"/bin/sh", "-c", "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; /bin/sleep 5 & exit 0"}, {},
        printed_max);
  };
  const Finished finished = print_lines(kTailBytes);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.printed.size(), kTailBytes);
  EXPECT_TRUE(finished.is_cut);
  EXPECT_TRUE(finished.printed.ends_with("line 2999\n"));
  const Finished whole = print_lines(1 << 20);
  EXPECT_FALSE(whole.is_cut);
  EXPECT_TRUE(whole.printed.starts_with("line 0\n"));
}

}  // namespace
}  // namespace armgate
