#include "cli/process/child_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace armgate {
namespace {

// In a process that was forked from one with threads: nothing but system calls.
[[noreturn]] void watch(int line, pid_t child) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const auto held = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));  // its number may be another's when we end
  ::dup2(line, STDIN_FILENO);
  if (held >= 0) ::dup2(held, STDOUT_FILENO);
  ::syscall(SYS_close_range, 2u, ~0u, 0u);  // locks and pipes of ours end with us, not later
  char told = 0;
  while (::read(STDIN_FILENO, &told, 1) < 0 && errno == EINTR) {
  }
  if (held >= 0)
    ::syscall(SYS_pidfd_send_signal, STDOUT_FILENO, SIGKILL, nullptr, 0);
  else
    ::kill(child, SIGKILL);
  ::_exit(0);
}

}  // namespace

ChildWatch::ChildWatch(pid_t child) {
  int line[2];
  if (::pipe2(line, O_CLOEXEC) != 0) return;
  watcher_ = ::fork();
  if (watcher_ == 0) {
    ::close(line[1]);
    watch(line[0], child);
  }
  ::close(line[0]);
  ours_ = line[1];
}

ChildWatch::~ChildWatch() {
  if (watcher_ > 0 && ::kill(watcher_, SIGKILL) == 0) {
    while (::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (ours_ >= 0) ::close(ours_);
}

}  // namespace armgate
