// journal.h – what a run leaves on disk: a line for everything that it is about to do and has done, and the snapshots of the
// pool.
//
// A run is a directory; its name is the run's id. Each line is on the disk (fsync) before what it announces is done, and the
// snapshot before the first request that changes anything. No token and no answer's body is written.
//
// Invariants
//   1. One process at a time works on a run: whoever opens it holds its cluster's lock (cluster_lock.h).
//   2. The last line, if it was not written to its end, is as if it were not there: what it announces was not begun. Any other
//      line that cannot be read makes the run one that nobody takes up.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/heal/progress.h"

namespace armgate::heal {

inline constexpr std::string_view kJournalFile = "journal.jsonl";

// What a run's journal says.
struct Recorded {
  Progress progress;
  size_t bytes = 0;      // of the lines that are whole
  size_t lines = 0;      // that are whole
  size_t snapshots = 0;  // that it names
  bool began = false;
  std::string damage{};  // why nothing may be built on it, and what to do; empty: it is whole
};
Recorded read_journal(const std::filesystem::path& run);

class Journal {
 public:
  // A new run.
  static Result<Journal> begin(const std::filesystem::path& directory, const std::string& id, const Target& target,
                               WallTime at);
  // One that ended in the middle. BadInput: it is damaged.
  static Result<Journal> resume(const std::filesystem::path& directory, const std::string& id);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  const std::string& id() const { return id_; }
  const Progress& progress() const { return progress_; }
  std::filesystem::path snapshot_path() const { return directory_ / progress_.snapshot_file; }

  // On the disk when it returns.
  Result<void> append(const Event& event);
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
