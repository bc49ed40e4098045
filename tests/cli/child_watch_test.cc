// A program ends with whoever runs it, and the watcher with the program.
#include "cli/process/child_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "cli/process/child_command.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

// Nobody is left to end it: a drain would go on behind our back.
TEST(ChildWatch, AProgramEndsWithUsHoweverWeEnd) {
  const TemporaryDirectory directory;
  const std::string started = (directory.path() / "started").string();
  const pid_t parent = ::fork();
  if (parent == 0) {
    CommandRunner().run_quietly(
        {"/bin/sh", "-c", "echo $$ > " + started + ".new; mv " + started + ".new " + started + "; exec /bin/sleep 60"},
        {{"PATH", "/bin:/usr/bin"}}, kTailBytes);
    ::_exit(0);
  }
  pid_t child = 0;
  for (int tries = 0; tries < 1000 && child == 0; ++tries) {
    std::ifstream(started) >> child;
    if (child == 0) ::poll(nullptr, 0, 10);
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(::kill(parent, SIGKILL), 0);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  // Whoever inherits it may leave it a zombie.
  const auto runs = [&] {
    std::string name, state;
    std::ifstream status("/proc/" + std::to_string(child) + "/stat");
    return static_cast<bool>(status >> name >> name >> state) && state != "Z";
  };
  for (int tries = 0; tries < 1000 && runs(); ++tries) ::poll(nullptr, 0, 10);
  EXPECT_FALSE(runs());
}

TEST(ChildWatch, WhoWatchedIsGoneWithTheProgram) {
  std::optional<ChildWatch> watch(std::in_place, std::vector<std::string>{"true"});
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  watch->end_with_us(child);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  watch.reset();
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// Else one `pkill` would end the program and not reach the watcher, and another reach the watcher alone.
TEST(ChildWatch, LooksLikeTheProgram) {
  const TemporaryDirectory directory;
  const std::string seen = (directory.path() / "seen").string();
  // All processes of our group, with their names and words, but for those that look.
  const std::string script =
      "for one in /proc/[0-9]*; do read -r line < $one/stat && echo \"$line $(tr '\\0' ' ' < $one/cmdline)\"; done 2>/dev/null > " +
      seen;
  ASSERT_EQ(CommandRunner().run({"/bin/sh", "-c", script}, {{"PATH", "/bin:/usr/bin"}}).exit_code, 0);
  std::ifstream lines(seen);
  int watchers = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string parent = ") S " + std::to_string(::getpid()) + " ";  // sleeps, and is our child
    if (line.find(parent) != line.npos && line.find(" (sh) ") != line.npos) ++watchers;
  }
  EXPECT_EQ(watchers, 1) << "the shell itself runs";
}

}  // namespace
}  // namespace armgate
