// Running another program: its exit code, its environment, its signals.
#include "cli/process/child_command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "proxy/seams/real_clock.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

int run(const std::vector<std::string>& words, const Environment& environment = {}) {
  return CommandRunner().run(words, environment).exit_code;
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
    EXPECT_EQ(runner.run({"/bin/sh", "-c", script}, {}).exit_code, 9);
  }
}

TEST(CommandRunner, TheProgramStartsWithTheSignalsThatWeStartedWith) {
  EXPECT_EQ(run_script("kill -15 $$; exit 0"), 128 + 15) << "SIGTERM was still blocked";
}

TEST(CommandRunner, WhatEndsTheProgramAndNotUsIsGivenBack) {
  for (const int number : {SIGXFSZ, SIGPIPE}) {
    SCOPED_TRACE(number);
    const auto before = ::signal(number, SIG_DFL);
    const std::string script = "kill -" + std::to_string(number) + " $$; exit 0";
    EXPECT_EQ(run_script(script), 128 + number);
    {
      CommandRunner runner;
      ::raise(number);  // does nothing to us
    }
    EXPECT_EQ(::signal(number, SIG_IGN), SIG_DFL) << "as it was";
    EXPECT_EQ(run_script(script), 0) << "the program ignores what our parent had us ignore";
    ::signal(number, before);
  }
}

TEST(CommandRunner, ASignalThatKilledTheProgramIsToldFromAnExitCode) {
  CommandRunner runner;
  EXPECT_EQ(runner.run({"/bin/sh", "-c", "kill -INT $$"}, {}).killed_by, SIGINT);
  const CommandEnd end = runner.run({"/bin/sh", "-c", "exit 130"}, {});
  EXPECT_EQ(end.exit_code, 130);
  EXPECT_EQ(end.killed_by, 0);
}

// A shell after `trap "" CHLD`, or a daemon that has its children reaped by the kernel.
TEST(CommandRunner, TheEndIsSeenThoughOurParentHadUsIgnoreIt) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run_script("exit 7"), 7);
  EXPECT_EQ(run({"/bin/grep", "-q", "^SigIgn:.*[13579bdf][0-9a-f]\\{4\\}$", "/proc/self/status"}), 0)
      << "the program ignores it, as its parent wanted";
  EXPECT_EQ(::signal(SIGCHLD, before), SIG_IGN) << "and so do we, again";
}

TEST(CommandRunner, AScriptThatNamesNoShellIsRunByTheUsualOne) {
  const TemporaryDirectory directory;
  const std::string script = directory.write("script", "exit $(($1 + 4))\n").string();
  ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
  EXPECT_EQ(run({script, "3"}), 7);
}

// In a group of its own: the signal goes to all of it. The number of signals that the program was sent is its exit code.
int signals_met(const std::string& how, std::vector<std::string> words = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    const std::string script =
        "n=0; trap 'n=$((n+1))' TERM; " + how + "; i=0; while [ $i -lt 40 ]; do /bin/sleep 0.02; i=$((i+1)); done; exit $n";
    for (const char* word : {"/bin/sh", "-c", script.c_str()}) words.emplace_back(word);
    ::_exit(CommandRunner().run(words, {}).exit_code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CommandRunner, ASignalToTheWholeGroupReachesTheProgramOnce) {
  EXPECT_EQ(signals_met("kill -TERM 0"), 1);
  EXPECT_EQ(signals_met("kill -TERM $PPID"), 1) << "one to us alone is passed on";
  EXPECT_EQ(signals_met("kill -TERM 0; /bin/sleep 0.3; kill -TERM $PPID"), 2) << "each is told by itself";
  EXPECT_EQ(signals_met("kill -TERM -$PPID", {"/usr/bin/setsid"}), 1) << "it has left the group, so it must be passed on";
}

TEST(CommandRunner, OneToUsAndOneToTheGroupReachTheProgramOnceAsTimeoutSendsThem) {
  EXPECT_EQ(signals_met("kill -TERM $PPID 0"), 1);
}

TEST(CommandRunner, WhatIsAskedToEndBeforeItBeginsDoesNotBegin) {
  CommandRunner runner;
  ::raise(SIGINT);
  const CommandEnd end = runner.run({"/bin/false"}, {});
  EXPECT_EQ(end.killed_by, SIGINT);
  EXPECT_EQ(end.exit_code, 128 + SIGINT);
}

// As systemd does for a control group.
TEST(CommandRunner, ASignalToEachProcessInTurnReachesTheProgramOnce) {
  EXPECT_EQ(signals_met("for one in $(/usr/bin/pgrep -g 0); do kill -TERM $one; /bin/sleep 0.003; done 2>/dev/null"), 1);
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
