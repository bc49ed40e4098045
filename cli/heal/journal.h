// journal.h – what a run leaves on disk: a line for everything that it is about to do and has done, and the snapshots of the pool.
//
// A run is a directory; its name is the run's id. Each line is on the disk (fsync) before what it announces is done, and the snapshot
// before the first request that changes anything. No token and no answer's body is written.
//
// Invariants
//   1. One process at a time works on a cluster: whoever opens a run holds a lock on the cluster's file in the same directory.
//   2. A line that was not written to its end is as if it were not there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/heal/progress.h"

namespace armgate::heal {

struct RunFound {
  std::string id;
  Progress progress;
};

// All runs, the oldest first. A directory without a readable first line is none.
std::vector<RunFound> find_runs(const std::filesystem::path& directory);

// Keeps other processes of this machine from the same cluster while it lives.
class ClusterLock {
 public:
  // BadInput: another process has it.
  static Result<ClusterLock> take(const std::filesystem::path& directory, const Target& target);
  ClusterLock(ClusterLock&& other) noexcept;
  ClusterLock& operator=(ClusterLock&&) = delete;
  ~ClusterLock();

  // The run that the process before worked on; empty: none is known. Who comes after one that was killed before it began its run goes
  // on under its name: the service's lease is still that run's.
  std::string last_run() const;
  Result<void> note_run(const std::string& id);

 private:
  ClusterLock(int file, std::filesystem::path path) : file_(file), path_(std::move(path)) {}
  int file_;
  std::filesystem::path path_;
};

class Journal {
 public:
  // A new run.
  static Result<Journal> begin(const std::filesystem::path& directory, const std::string& id, const Target& target,
                               WallTime at);
  // One that ended in the middle.
  static Result<Journal> resume(const std::filesystem::path& directory, const std::string& id);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  const std::string& id() const { return id_; }
  const Progress& progress() const { return progress_; }
  std::filesystem::path snapshot_path() const { return directory_ / progress_.snapshot_file; }

  // On the disk when it returns.
  Result<void> note(const Event& event);
  Result<void> keep(const Snapshot& snapshot, Phase phase, WallTime at);
  Result<Snapshot> snapshot() const;

 private:
  Journal(std::filesystem::path directory, std::string id, int file)
      : directory_(std::move(directory)), id_(std::move(id)), file_(file) {}

  std::filesystem::path directory_;
  std::string id_;
  int file_;
  Progress progress_;
  size_t snapshots_ = 0;
};

}  // namespace armgate::heal
