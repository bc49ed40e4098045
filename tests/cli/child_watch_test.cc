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
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  std::optional<ChildWatch> watch(std::in_place, child);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  watch.reset();
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace armgate
