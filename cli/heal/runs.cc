#include "cli/heal/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "certs/secret_file.h"
#include "cli/heal/cluster_lock.h"
#include "cli/heal/journal.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> snapshots_in(const fs::path& run) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run, error)) {
    if (entry.path().filename().string().starts_with("snapshot-")) files.push_back(entry.path());
  }
  return files;
}

// Of which cluster and pool a run is whose first line cannot be read. Empty: its snapshots do not say it either.
Target target_in(const std::vector<fs::path>& snapshots) {
  Target target;
  for (const fs::path& file : snapshots) {
    const auto text = certs::read_file(file);
    const auto read = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
    if (!read.is_object() || !read.contains("pool") || !read["pool"].is_string()) continue;
    const std::string id = read["pool"];
    constexpr std::string_view kBetween = "/agentPools/";
    const size_t at = id.rfind(kBetween);
    if (at == id.npos) continue;
    target.cluster = id.substr(0, at);
    target.pool = id.substr(at + kBetween.size());
  }
  return target;
}

}  // namespace

std::vector<RunFound> find_runs(const fs::path& directory) {
  std::vector<RunFound> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (!entry.is_directory(error)) continue;
    const auto snapshots = snapshots_in(entry.path());
    Recorded recorded = read_journal(entry.path());
    if (!recorded.began && snapshots.empty()) continue;
    if (!recorded.began) recorded.progress.target = target_in(snapshots);
    RunFound run{entry.path().filename().string(), std::move(recorded.progress), std::move(recorded.damage)};
    run.is_running = run.progress.is_open() && ClusterLock::holder(directory, run.progress.target) == run.id;
    runs.push_back(std::move(run));
  }
  std::sort(runs.begin(), runs.end(), [](const RunFound& a, const RunFound& b) { return a.id < b.id; });
  return runs;
}

Result<std::optional<RunFound>> open_run(const fs::path& directory, const Target& target, const std::string& last) {
  for (RunFound& run : find_runs(directory)) {
    const Target& own = run.progress.target;
    const bool is_of_another = !equal_ignoring_case(own.cluster, target.cluster) || own.pool != target.pool;
    const bool may_be_it = own.cluster.empty() ? run.id == last : !is_of_another;
    if (!may_be_it || !run.progress.is_open()) continue;
    if (!run.damage.empty()) return gateway_error(ErrorKind::BadInput, run.damage);
    return std::optional(std::move(run));
  }
  return std::optional<RunFound>();
}

Result<void> clear_unbegun(const fs::path& directory, const std::string& id) {
  const fs::path run = directory / id;
  const auto text = certs::read_file(run / kJournalFile);
  const bool is_unbegun = text && text->find('\n') == text->npos;
  std::error_code error;
  if (is_unbegun && snapshots_in(run).empty()) fs::remove(run / kJournalFile, error);
  fs::remove(run, error);  // only if nothing is in it
  if (!fs::exists(run, error)) return {};
  const std::string damage = read_journal(run).damage;
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("{} is of the run before, and not to be gone on with{}", run.string(),
                                   damage.empty() ? ": look what it did, then move it away" : ": " + damage));
}

}  // namespace armgate::heal
