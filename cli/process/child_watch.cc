#include "cli/process/child_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/time.h"
#include "proxy/seams/real_clock.h"

namespace armgate {
namespace {

constexpr auto kInTurnMax = std::chrono::milliseconds(100);  // from a signal to one process of a group to that to the last

struct Seen {
  int number = 0;
  TimePoint at;
};

// What `ps` and `pkill` are to see of the watcher: the program's words, in the place of ours, which have them at their end.
std::string words_to_show(const std::vector<std::string>& words) {
  std::ifstream own("/proc/self/cmdline");
  const std::string ours(std::istreambuf_iterator<char>(own), {});
  std::string shown;
  for (const std::string& word : words) shown.append(word).push_back('\0');
  shown.resize(ours.size());
  if (!shown.empty()) shown.back() = '\0';
  return shown;
}

// The program that is to end with us, by a handle, as its number may be another's then.
struct Held {
  pid_t child = 0;  // 0: none is
  int handle = -1;
};

void end_program(const Held& held) {
  if (held.handle >= 0)
    ::syscall(SYS_pidfd_send_signal, held.handle, SIGKILL, nullptr, 0);
  else if (held.child > 0)
    ::kill(held.child, SIGKILL);
}

// In a process that was forked from one with threads: nothing but system calls.
[[noreturn]] void watch(int line, const char* name, const std::string& words) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, name);
  std::memcpy(program_invocation_name, words.data(), words.size());
  ::dup2(line, STDIN_FILENO);
  ::syscall(SYS_close_range, 1u, ~0u, 0u);  // locks and pipes of ours end with us, not later
  sigset_t passed_on;
  ::sigemptyset(&passed_on);
  for (const int number : kPassedOn) ::sigaddset(&passed_on, number);
  pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {::signalfd(-1, &passed_on, SFD_CLOEXEC), POLLIN, 0}};
  Held held;
  while (true) {
    if (::poll(ready, std::size(ready), -1) < 0) continue;
    if (ready[1].revents != 0) {
      signalfd_siginfo info{};
      if (::read(ready[1].fd, &info, sizeof info) != sizeof info) break;
      const Seen seen{static_cast<int>(info.ssi_signo), RealClock().now()};
      if (::send(STDIN_FILENO, &seen, sizeof seen, MSG_NOSIGNAL) < 0) break;
    }
    if (ready[0].revents == 0) continue;
    if (::recv(STDIN_FILENO, &held.child, sizeof held.child, 0) != sizeof held.child) break;
    held.handle = static_cast<int>(::syscall(SYS_pidfd_open, held.child, 0));
  }
  end_program(held);
  ::_exit(0);
}

std::string shown_name(const std::vector<std::string>& words) {
  const std::string& program = words.front();
  return program.substr(program.rfind('/') + 1);
}

}  // namespace

ChildWatch::ChildWatch(const std::vector<std::string>& words) {
  int line[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) != 0) return;
  const std::string name = shown_name(words);
  const std::string shown = words_to_show(words);
  watcher_ = ::fork();
  if (watcher_ == 0) {
    ::close(line[1]);
    watch(line[0], name.c_str(), shown);
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

void ChildWatch::end_with_us(pid_t child) const { ::send(ours_, &child, sizeof child, MSG_NOSIGNAL); }

bool ChildWatch::saw(int signal_number) {
  const TimePoint now = RealClock().now();
  while (true) {
    // One of the watcher's may stand for two of ours: `timeout` sends one to us and one to the group.
    const auto seen = seen_.find(signal_number);
    if (seen != seen_.end() && now - seen->second < kInTurnMax) return true;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(now + kInTurnMax - RealClock().now());
    pollfd told{ours_, POLLIN, 0};
    if (left <= left.zero() || ::poll(&told, 1, static_cast<int>(left.count())) <= 0) return false;
    Seen next;
    if (::recv(ours_, &next, sizeof next, MSG_DONTWAIT) != sizeof next) return false;  // nobody watches
    seen_[next.number] = next.at;
  }
}

}  // namespace armgate
