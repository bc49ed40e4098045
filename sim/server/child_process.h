// child_process.h – a program that must not outlive us.
//
// Why: the demo leaves nothing behind, whatever happens to it: the child is ended by our destructor, and by the kernel
// if we are killed before that.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace armgate::sim {

class ChildProcess {
 public:
  // Starts `arguments[0]`; what it writes goes to `output`.
  static Result<ChildProcess> start(const std::vector<std::string>& arguments, const std::filesystem::path& output);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();  // SIGTERM, and SIGKILL two seconds later; waits for the end

  bool is_running();

  // Waits for the end; its exit code, or 128 plus the signal.
  int wait();

 private:
  explicit ChildProcess(pid_t id) : id_(id) {}
  void note_end(int status);

  pid_t id_ = -1;
  std::optional<int> exit_code_;
};

}  // namespace armgate::sim
