// A process that stands for a program ends as that did: a shell goes by it.
#include "proxy/gateway/ending.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace armgate {
namespace {

// How a process ends whose parent has it ignore the signal, and which holds that back.
int status_of(Ending ending) {
  const pid_t child = ::fork();
  if (child == 0) {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    if (ending.by_signal != 0 && ending.by_signal != SIGKILL) ::signal(ending.by_signal, SIG_IGN);
    end_now(ending);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Ending, IsAnExitCodeOrASignal) {
  const int code = status_of({7, 0});
  ASSERT_TRUE(WIFEXITED(code));
  EXPECT_EQ(WEXITSTATUS(code), 7);
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGKILL}) {
    const int status = status_of({128 + number, number});
    ASSERT_TRUE(WIFSIGNALED(status)) << number;
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_FALSE(WCOREDUMP(status)) << "tokens are in the memory";
  }
}

TEST(Ending, ASignalThatEndsNoProgramLeavesTheExitCode) {
  const int status = status_of({128 + SIGURG, SIGURG});
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGURG);
}

}  // namespace
}  // namespace armgate
