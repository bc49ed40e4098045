#include "sim/server/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace armgate::sim {
namespace {

constexpr int kEndWaitMs = 2000;
constexpr int kStepMs = 10;

// Only async-signal-safe calls between fork and exec.
[[noreturn]] void become(char* const* arguments, int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  // Ctrl-C goes to the whole group; the demo ends its children itself, in order.
  ::setpgid(0, 0);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& arguments, const std::filesystem::path& output) {
  if (::access(arguments.front().c_str(), X_OK) != 0) {
    return gateway_error(ErrorKind::BadInput, fmt::format("Cannot run {}: {}.", arguments.front(), std::strerror(errno)));
  }
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) {
    return gateway_error(ErrorKind::BadInput, fmt::format("Cannot write {}: {}.", output.string(), std::strerror(errno)));
  }
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id == 0) become(pointers.data(), file, parent);
  ::close(file);
  if (id < 0) return gateway_error(ErrorKind::Internal, fmt::format("Cannot fork: {}.", std::strerror(errno)));
  return ChildProcess(id);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : id_(std::exchange(other.id_, -1)), exit_code_(other.exit_code_) {}

ChildProcess::~ChildProcess() {
  if (id_ < 0 || !is_running()) return;
  ::kill(id_, SIGTERM);
  for (int waited = 0; waited < kEndWaitMs && is_running(); waited += kStepMs) ::poll(nullptr, 0, kStepMs);
  if (!is_running()) return;
  ::kill(id_, SIGKILL);
  wait();
}

void ChildProcess::note_end(int status) { exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

bool ChildProcess::is_running() {
  if (exit_code_) return false;
  int status = 0;
  if (::waitpid(id_, &status, WNOHANG) == id_) note_end(status);
  return !exit_code_;
}

int ChildProcess::wait() {
  int status = 0;
  while (!exit_code_) {
    if (::waitpid(id_, &status, 0) == id_)
      note_end(status);
    else if (errno != EINTR)
      exit_code_ = 127;
  }
  return *exit_code_;
}

}  // namespace armgate::sim
