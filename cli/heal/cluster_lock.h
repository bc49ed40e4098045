// cluster_lock.h – one process at a time works on a cluster, and others can see that it does.
//
// The lock ends with the process, however that ends. The file stays, and has the name of the run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "cli/heal/facts/cluster.h"

namespace armgate::heal {

// Keeps other processes of this machine from the same cluster while it lives.
class ClusterLock {
 public:
  // BadInput: another process has it.
  static Result<ClusterLock> take(const std::filesystem::path& directory, const Target& target);
  // Whether a process has it now: its run, which is empty as long as it has none. A look takes nothing.
  static std::optional<std::string> holder(const std::filesystem::path& directory, const Target& target);
  ClusterLock(ClusterLock&& other) noexcept;
  ClusterLock& operator=(ClusterLock&&) = delete;
  ~ClusterLock();

  // The same, without the lock: for a look.
  static std::string last_run(const std::filesystem::path& directory, const Target& target);
  // The run that the previous process worked on; empty: none is known. If that process was killed before it began its run, the
  // next one goes on under the same name, because the service's lease still belongs to that run.
  std::string last_run() const;
  Result<void> note_run(const std::string& id);

 private:
  ClusterLock(int file, std::filesystem::path path) : file_(file), path_(std::move(path)) {}
  int file_;
  std::filesystem::path path_;
};

}  // namespace armgate::heal
