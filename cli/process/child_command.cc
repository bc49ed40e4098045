#include "cli/process/child_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cli/process/child_watch.h"
#include "proxy/seams/real_clock.h"

namespace armgate {
namespace {

constexpr int kExitNotFound = 127;  // what shells give (POSIX, Shell Command Language 2.8.2)
constexpr int kExitCannotRun = 126;
constexpr int kExitSignalled = 128;  // plus the signal
constexpr int kExitUnknown = 1;      // somebody else was told how it ended

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

// The last bytes of a file, so many at most.
std::string end_of(int file, off_t size, size_t most) {
  std::string text(std::min(most, static_cast<size_t>(size)), '\0');
  const ssize_t count = ::pread(file, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return text;
}

}  // namespace

CommandRunner::CommandRunner() {
  ::sigemptyset(&watched_);
  for (const int number : kPassedOn) ::sigaddset(&watched_, number);
  ::sigaddset(&watched_, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  for (Disposition& one : dispositions_) {
    struct sigaction ours {};
    ours.sa_handler = one.number == SIGCHLD ? SIG_DFL : SIG_IGN;
    ::sigaction(one.number, &ours, &one.before);
  }
}

CommandRunner::~CommandRunner() {
  let_signals_in();
  give_back();
}

void CommandRunner::let_signals_in() {
  const timespec at_once{};
  while (::sigtimedwait(&watched_, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void CommandRunner::give_back() const {
  for (const Disposition& one : dispositions_) ::sigaction(one.number, &one.before, nullptr);
}

// To end, asked for before there is a program. 0: nobody did.
int CommandRunner::asked_to_end() const {
  sigset_t waiting;
  ::sigpending(&waiting);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now {};
    const bool is_ignored = ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;  // nohup
    if (!is_ignored && ::sigismember(&waiting, number) == 1) return number;
  }
  return 0;
}

CommandEnd CommandRunner::run(const std::vector<std::string>& words, const Environment& environment) {
  if (const int number = asked_to_end(); number != 0) return {kExitSignalled + number, number};
  const auto texts = assignments(environment);
  Pointers arguments(words);
  Pointers variables(texts);
  ChildWatch watch(words);
  const pid_t child = start(arguments.get(), variables.get(), std::nullopt);
  if (child < 0) return {cannot_run(words.front(), errno)};
  return supervise(child, watch);
}

Finished CommandRunner::run_quietly(const std::vector<std::string>& words, const Environment& environment, size_t printed_max,
                                    std::optional<Duration> most) {
  // A file in memory, not a pipe: nobody has to read while it runs, and what it leaves running keeps nobody waiting.
  const int printed = ::memfd_create("printed", MFD_CLOEXEC);
  if (printed < 0) return {cannot_run(words.front(), errno), {}};
  const auto texts = assignments(environment);
  Pointers arguments(words);
  Pointers variables(texts);
  interruptions_ = 0;
  was_late_ = false;
  const TimePoint now = RealClock().now();
  Finished finished;
  ChildWatch watch(words);
  if (const pid_t child = start(arguments.get(), variables.get(), printed); child < 0) {
    finished.exit_code = cannot_run(words.front(), errno);
  } else {
    watch.end_with_us(child);
    finished.exit_code = supervise(child, watch, most ? std::optional(now + *most) : std::nullopt).exit_code;
  }
  const off_t size = std::max<off_t>(0, ::lseek(printed, 0, SEEK_END));
  finished.printed = end_of(printed, size, printed_max);
  finished.is_cut = static_cast<size_t>(size) > printed_max;
  const timespec at_once{};
  for (int number = 0; (number = ::sigtimedwait(&watched_, nullptr, &at_once)) > 0;) note_signal(number);
  finished.interruptions = interruptions_;
  finished.is_late = was_late_;
  ::close(printed);
  return finished;
}

// `printed`: where a program that has nothing to do with the terminal prints. Below 0: errno says why it does not run. Between
// fork and exec only what is safe there. Why no posix_spawn: that cannot have a program ignore what we do not, nor does it run
// a script that does not name its shell.
pid_t CommandRunner::start(char* const* arguments, char* const* variables, std::optional<int> printed) const {
  int why[2];
  if (::pipe2(why, O_CLOEXEC) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    give_back();
    if (printed) {
      ::signal(SIGPIPE, SIG_DFL);
      const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      ::dup2(nothing, STDIN_FILENO);
      ::dup2(*printed, STDOUT_FILENO);
      ::dup2(*printed, STDERR_FILENO);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    ::execvpe(arguments[0], arguments, variables);
    const int number = errno;
    if (::write(why[1], &number, sizeof number) < 0) ::_exit(kExitCannotRun);
    ::_exit(kExitCannotRun);
  }
  int number = child < 0 ? errno : 0;
  ::close(why[1]);
  const bool runs = child > 0 && ::read(why[0], &number, sizeof number) == 0;
  ::close(why[0]);
  if (runs) return child;
  if (child > 0) ::waitpid(child, nullptr, 0);
  errno = number;
  return -1;
}

CommandEnd CommandRunner::supervise(pid_t child, ChildWatch& watch, std::optional<TimePoint> ends) {
  constexpr auto kToEnd = std::chrono::seconds(2);  // from the request to end to the end
  while (true) {
    siginfo_t info{};
    timespec wait{3600, 0};
    const TimePoint now = RealClock().now();
    if (ends) {
      const auto left = std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(*ends - now).count());
      wait = {left / 1'000'000'000, left % 1'000'000'000};
    }
    const int number = ::sigtimedwait(&watched_, &info, &wait);
    note_signal(number);
    if (number > 0 && number != SIGCHLD) {
      // What the terminal sends (SI_KERNEL) went to the whole group. A shell with job control leaves that.
      const bool went_to_all = watch.saw(number) || info.si_code == SI_KERNEL;
      const bool has_it = went_to_all && ::getpgid(child) == ::getpgrp();
      if (!has_it) ::kill(child, number);
    }
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno == ECHILD) return {kExitUnknown};
    if (ended == child && WIFEXITED(status)) return {WEXITSTATUS(status)};
    if (ended == child) return {kExitSignalled + WTERMSIG(status), WTERMSIG(status)};
    if (!ends || RealClock().now() < *ends) continue;
    ::kill(child, std::exchange(was_late_, true) ? SIGKILL : SIGTERM);
    ends = RealClock().now() + kToEnd;
  }
}

// A signal that asks the program to end means armgate as well.
void CommandRunner::note_signal(int signal_number) {
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
