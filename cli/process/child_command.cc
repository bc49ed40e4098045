#include "cli/process/child_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace armgate {
namespace {

constexpr int kExitNotFound = 127;  // what shells give (POSIX, Shell Command Language 2.8.2)
constexpr int kExitCannotRun = 126;
constexpr int kExitSignalled = 128;  // plus the signal
constexpr size_t kPrintedBytesMax = 8192;
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
  texts.reserve(environment.size());
  for (const auto& [name, value] : environment) texts.push_back(fmt::format("{}={}", name, value));
  return texts;
}

int cannot_run(const std::string& program, int number) {
  std::fprintf(stderr, "armgate: %s: %s\n", program.c_str(), std::strerror(number));
  return number == ENOENT ? kExitNotFound : kExitCannotRun;
}

// The last bytes of a file.
std::string end_of(int file) {
  std::string text(kPrintedBytesMax, '\0');
  const off_t size = ::lseek(file, 0, SEEK_END);
  const ssize_t count = ::pread(file, text.data(), text.size(), std::max<off_t>(0, size - static_cast<off_t>(text.size())));
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return text;
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
  return start_and_wait(words, environment, nullptr);
}

Finished CommandRunner::run_quietly(const std::vector<std::string>& words, const Environment& environment) {
  // A file in memory, not a pipe: nobody has to read while it runs, and what it leaves running keeps nobody waiting.
  const int printed = ::memfd_create("printed", MFD_CLOEXEC);
  if (printed < 0) return {cannot_run(words.front(), errno), {}};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, printed, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, printed, STDERR_FILENO);
  interruptions_ = 0;
  Finished finished{start_and_wait(words, environment, &files), end_of(printed)};
  const timespec at_once{};
  for (int number = 0; (number = ::sigtimedwait(&watched_, nullptr, &at_once)) > 0;) note(number);
  finished.interruptions = interruptions_;
  ::posix_spawn_file_actions_destroy(&files);
  ::close(printed);
  return finished;
}

int CommandRunner::start_and_wait(const std::vector<std::string>& words, const Environment& environment,
                                  const posix_spawn_file_actions_t* files) {
  const auto texts = assignments(environment);
  Pointers arguments(words);
  Pointers variables(texts);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &before_);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words.front().c_str(), files, &attributes, arguments.get(), variables.get());
  ::posix_spawnattr_destroy(&attributes);
  return failed != 0 ? cannot_run(words.front(), failed) : supervise(child);
}

int CommandRunner::supervise(pid_t child) {
  while (true) {
    siginfo_t info{};
    const int number = ::sigwaitinfo(&watched_, &info);
    note(number);
    // What the terminal sends (SI_KERNEL) went to the whole group, the program included.
    if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL) ::kill(child, number);
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) != child) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kExitSignalled + WTERMSIG(status);
  }
}

// Who asks a program to end means us as well.
void CommandRunner::note(int signal_number) {
  const bool asks_to_end =
      signal_number == SIGINT || signal_number == SIGTERM || signal_number == SIGHUP || signal_number == SIGQUIT;
  if (asks_to_end) ++interruptions_;
}

int CommandRunner::become(const std::vector<std::string>& words, const Environment& environment) {
  const auto texts = assignments(environment);
  Pointers arguments(words);
  Pointers variables(texts);
  ::execvpe(words.front().c_str(), arguments.get(), variables.get());
  return cannot_run(words.front(), errno);
}

}  // namespace armgate
