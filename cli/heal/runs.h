// runs.h – the runs in a directory: those that are over, the one to go on with, and those that cannot be read.
//
// Why: a run that cannot be read may have deleted a pool, and holds what is needed to make it anew. So it is never taken for
// none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/heal/progress.h"

namespace armgate::heal {

struct RunFound {
  std::string id;
  Progress progress;        // of a damaged one as far as it can be read
  std::string damage{};     // why it cannot be taken up, and what to do; empty: it can
  bool is_running = false;  // a process of this machine works on it now
};

// All runs, the oldest first. A directory without a snapshot in which no run was begun is none.
std::vector<RunFound> find_runs(const std::filesystem::path& directory);

// The one of this cluster and pool that has not come to its end. BadInput: one that may be it is damaged. `last` is the run
// that the process before worked on.
Result<std::optional<RunFound>> open_run(const std::filesystem::path& directory, const Target& target, const std::string& last);

// Makes way for a run of that name: what a process left that was killed before it began it. BadInput: there is more.
Result<void> clear_unbegun(const std::filesystem::path& directory, const std::string& id);

}  // namespace armgate::heal
