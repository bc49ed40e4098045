#include "cli/process/core_dumps.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace armgate {
namespace {

// In a process of its own, since a limit that was lowered stays so. The bits of what it found.
template <class Look>
int in_child(Look look) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(look());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_shown() { return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1; }

TEST(CoreDumps, MemoryIsHiddenUntilItIsToBeShown) {
  EXPECT_EQ(in_child([] {
              const bool before = is_shown();
              hide_memory();
              const bool hidden = !is_shown();
              show_memory();
              return before && hidden && is_shown() ? 1 : 0;
            }),
            1);
}

TEST(CoreDumps, TheLimitFallsToNothingForGood) {
  EXPECT_EQ(in_child([] {
              limit_core_dumps();
              rlimit now{1, 1};
              ::getrlimit(RLIMIT_CORE, &now);
              return now.rlim_cur == 0 && now.rlim_max == 0 ? 1 : 0;
            }),
            1);
}

TEST(CoreDumps, WhatWasHiddenReachesItsOwnFilesInProc) {
  EXPECT_EQ(in_child([] {
              // As nobody, if this is root's process: root reaches everything.
              if (::geteuid() == 0 && ::setuid(65534) != 0) return 2;
              hide_memory();
              char buffer[1];
              const bool program = ::readlink("/proc/self/exe", buffer, sizeof buffer) == 1;
              const bool input = ::access("/dev/stdin", F_OK) == 0;
              return program && input ? 1 : 0;
            }),
            1);
}

}  // namespace
}  // namespace armgate
