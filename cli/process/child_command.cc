#include "cli/process/child_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
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
  sigset_t ignored_here;  // by exec_with_gateway
  ::sigemptyset(&ignored_here);
  ::sigaddset(&ignored_here, SIGXFSZ);
  ::posix_spawnattr_setsigdefault(&attributes, &ignored_here);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words.front().c_str(), nullptr, &attributes, arguments.get(), variables.get());
  ::posix_spawnattr_destroy(&attributes);
  return failed != 0 ? cannot_run(words.front(), failed) : supervise(child);
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
  const pid_t child = start_quietly(arguments.get(), variables.get(), printed);
  Finished finished;
  const int why = errno;
  std::optional<ChildWatch> watch;
  if (child > 0) watch.emplace(child);
  finished.exit_code =
      child < 0 ? cannot_run(words.front(), why) : supervise(child, most ? std::optional(now + *most) : std::nullopt);
  watch.reset();
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

// Below 0: errno says why it does not run. Between fork and exec only what is safe there.
pid_t CommandRunner::start_quietly(char* const* arguments, char* const* variables, int printed) const {
  int why[2];
  if (::pipe2(why, O_CLOEXEC) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(printed, STDOUT_FILENO);
    ::dup2(printed, STDERR_FILENO);
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

int CommandRunner::supervise(pid_t child, std::optional<TimePoint> ends) {
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
    // What the terminal sends (SI_KERNEL) went to the whole group, the program included.
    if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL) ::kill(child, number);
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : kExitSignalled + WTERMSIG(status);
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
