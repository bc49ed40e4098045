#include "proxy/gateway/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace armgate {
namespace {

// What `check` returns in a process of its own, whose descriptors it may spoil.
template <class Check>
int in_a_child(Check check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Descriptors, WhatIsOpenedNextIsNoStandardStream) {
  for (const int closed : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int next = in_a_child([closed] {
      ::close(closed);
      hold_standard_descriptors();
      return ::open("/dev/null", O_RDONLY);
    });
    EXPECT_GT(next, STDERR_FILENO) << closed;
  }
}

TEST(Descriptors, AClosedStreamIsClosedForAStartedCommandToo) {
  const int flags = in_a_child([] {
    ::close(STDERR_FILENO);
    hold_standard_descriptors();
    return ::fcntl(STDERR_FILENO, F_GETFD);
  });
  EXPECT_EQ(flags, FD_CLOEXEC);
}

TEST(Descriptors, AStreamThatIsOpenStaysWhatItIs) {
  const int flags = in_a_child([] {
    hold_standard_descriptors();
    return ::fcntl(STDERR_FILENO, F_GETFD);
  });
  EXPECT_EQ(flags, 0);
}

TEST(Descriptors, TheLimitIsWhatTheSystemAllows) {
  const int raised = in_a_child([] {
    const rlimit low{16, 100};
    if (::setrlimit(RLIMIT_NOFILE, &low) != 0) return -1;
    const size_t told = raise_descriptor_limit();
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    return now.rlim_cur == told ? static_cast<int>(told) : -1;
  });
  EXPECT_EQ(raised, 100);
}

}  // namespace
}  // namespace armgate
