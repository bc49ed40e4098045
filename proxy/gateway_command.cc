#include "proxy/gateway_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace armgate {
namespace {

constexpr int kExitNotFound = 127;  // what shells give (POSIX, Shell Command Language 2.8.2)
constexpr int kExitCannotRun = 126;
constexpr int kExitSignalled = 128;  // plus the signal
constexpr int kPassedOn[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};

// NULL-terminated, as the system wants them. The texts must outlive it.
class Pointers {
 public:
  explicit Pointers(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) pointers_.push_back(const_cast<char*>(text.c_str()));
    pointers_.push_back(nullptr);
  }
  char** get() { return pointers_.data(); }

 private:
  std::vector<char*> pointers_;
};

std::vector<std::string> assignments(const Environment& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
  return texts;
}

int cannot_run(const std::string& program, int number) {
  std::fprintf(stderr, "armgate: %s: %s\n", program.c_str(), std::strerror(number));
  return number == ENOENT ? kExitNotFound : kExitCannotRun;
}

}  // namespace

CommandRunner::CommandRunner() {
  ::sigemptyset(&watched_);
  for (const int number : kPassedOn) ::sigaddset(&watched_, number);
  ::sigaddset(&watched_, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

CommandRunner::~CommandRunner() {
  const timespec at_once{};
  while (::sigtimedwait(&watched_, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int CommandRunner::run(const std::vector<std::string>& words, const Environment& environment) {
  const auto texts = assignments(environment);
  Pointers arguments(words);
  Pointers variables(texts);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &before_);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words.front().c_str(), nullptr, &attributes, arguments.get(), variables.get());
  ::posix_spawnattr_destroy(&attributes);
  return failed != 0 ? cannot_run(words.front(), failed) : supervise(child);
}

int CommandRunner::supervise(pid_t child) {
  while (true) {
    siginfo_t info{};
    const int number = ::sigwaitinfo(&watched_, &info);
    // What the terminal sends (SI_KERNEL) went to the whole group, the program included.
    if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL) ::kill(child, number);
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) != child) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kExitSignalled + WTERMSIG(status);
  }
}

int CommandRunner::become(const std::vector<std::string>& words, const Environment& environment) {
  const auto texts = assignments(environment);
  Pointers arguments(words);
  Pointers variables(texts);
  ::execvpe(words.front().c_str(), arguments.get(), variables.get());
  return cannot_run(words.front(), errno);
}

}  // namespace armgate
