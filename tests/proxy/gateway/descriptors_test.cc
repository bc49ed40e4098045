#include "proxy/gateway/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy/config/config.h"

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
    raise_descriptor_limit();
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    return now.rlim_cur == descriptor_limit() ? static_cast<int>(now.rlim_cur) : -1;
  });
  EXPECT_EQ(raised, 100);
}

// Each may come to cost its own descriptor, its tunnel's and one to ARM; the admin listener's 64 are apart.
TEST(Descriptors, LimitTheConnectionsOfClients) {
  Config config;
  config.limits.connections = 250;
  config.threads = 2;
  EXPECT_EQ(descriptors_needed(config), 3 * 250u + 128 + 2 * 8);
  EXPECT_EQ(connections_max(config, descriptors_needed(config)), 250u);
  EXPECT_EQ(connections_max(config, descriptors_needed(config) - 1), 249u);
  EXPECT_EQ(connections_max(config, 1'000'000), 250u);
  EXPECT_EQ(connections_max(config, 256), 37u);
  EXPECT_EQ(connections_max(config, 20), 1u);
}

}  // namespace
}  // namespace armgate
