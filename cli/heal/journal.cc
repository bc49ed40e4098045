#include "cli/heal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "certs/secret_file.h"

namespace armgate::heal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLines = "journal.jsonl";
constexpr size_t kLinesBytesMax = 16u << 20;
constexpr size_t kRunIdMax = 40;

Error failed(std::string_view what, const fs::path& file) {
  return gateway_error(ErrorKind::BadInput, fmt::format("cannot {} {}: {}", what, file.string(), std::strerror(errno)));
}

// A new name in a directory is on the disk only when the directory is.
Result<void> sync_directory(const fs::path& directory) {
  const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return failed("open", directory);
  const bool synced = ::fsync(opened) == 0;
  ::close(opened);
  if (!synced) return failed("write", directory);
  return {};
}

struct Lines {
  Progress progress;
  size_t bytes = 0;  // of those that are whole
  size_t snapshots = 0;
  bool began = false;
};

Lines replay(const std::string& text) {
  Lines lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == text.npos) break;
    const auto event = read_event(std::string_view(text).substr(at, end - at));
    if (!event) break;
    if (event->kind == Event::Kind::Begin) lines.began = true;
    if (event->kind == Event::Kind::Taken) ++lines.snapshots;
    apply(*event, lines.progress);
    lines.bytes = at = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<RunFound> find_runs(const fs::path& directory) {
  std::vector<RunFound> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const auto text = certs::read_file(entry.path() / kLines, kLinesBytesMax);
    if (!text) continue;
    Lines lines = replay(*text);
    if (lines.began) runs.push_back({entry.path().filename().string(), std::move(lines.progress)});
  }
  std::sort(runs.begin(), runs.end(), [](const RunFound& a, const RunFound& b) { return a.id < b.id; });
  return runs;
}

Result<ClusterLock> ClusterLock::take(const fs::path& directory, const Target& target) {
  if (auto made = certs::make_private_directory(directory); !made) return std::move(made).error();
  const fs::path file = directory / (Hasher(HashKey{}).hash(lower_text(target.cluster)).hex() + ".lock");
  const int opened = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (opened < 0) return failed("open", file);
  ClusterLock lock(opened, file);
  if (::flock(opened, LOCK_EX | LOCK_NB) == 0) return lock;
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("another process repairs {} already ({} is locked)", target.cluster, file.string()));
}

ClusterLock::ClusterLock(ClusterLock&& other) noexcept : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}
ClusterLock::~ClusterLock() {
  if (file_ >= 0) ::close(file_);
}

std::string ClusterLock::last_run() const {
  std::string id(kRunIdMax + 1, '\0');
  const ssize_t count = ::pread(file_, id.data(), id.size(), 0);
  id.resize(count > 0 ? static_cast<size_t>(count) : 0);
  const auto is_of_an_id = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'T' || c == 'Z' || c == '-';
  };
  const bool is_id = id.size() <= kRunIdMax && std::all_of(id.begin(), id.end(), is_of_an_id);
  return is_id ? id : std::string();
}

Result<void> ClusterLock::note_run(const std::string& id) {
  const auto size = static_cast<ssize_t>(id.size());
  if (::pwrite(file_, id.data(), id.size(), 0) != size || ::ftruncate(file_, size) != 0) return failed("write", path_);
  return {};
}

Journal::Journal(Journal&& other) noexcept
    : directory_(std::move(other.directory_)),
      id_(std::move(other.id_)),
      file_(std::exchange(other.file_, -1)),
      progress_(std::move(other.progress_)),
      snapshots_(other.snapshots_) {}
Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

Result<Journal> Journal::begin(const fs::path& directory, const std::string& id, const Target& target, WallTime at) {
  if (auto made = certs::make_private_directory(directory / id); !made) return std::move(made).error();
  const fs::path file = directory / id / kLines;
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (opened < 0) return failed("create", file);
  Journal journal(directory / id, id, opened);
  for (const fs::path& holder : {directory, directory / id}) {
    if (auto synced = sync_directory(holder); !synced) return std::move(synced).error();
  }
  if (auto noted = journal.note({Event::Kind::Begin, at, Phase::Guards, target.cluster, target.pool, 0, target.api_version});
      !noted)
    return std::move(noted).error();
  return journal;
}

Result<Journal> Journal::resume(const fs::path& directory, const std::string& id) {
  const fs::path file = directory / id / kLines;
  const auto text = certs::read_file(file, kLinesBytesMax);
  if (!text) return text.error();
  Lines lines = replay(*text);
  if (!lines.began) return gateway_error(ErrorKind::BadInput, fmt::format("{} is no journal of a run", file.string()));
  const int opened = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (opened < 0) return failed("open", file);
  Journal journal(directory / id, id, opened);
  // What was not written to its end goes, so that the next line begins a line.
  if (::ftruncate(opened, static_cast<off_t>(lines.bytes)) != 0) return failed("mend", file);
  journal.progress_ = std::move(lines.progress);
  journal.snapshots_ = lines.snapshots;
  return journal;
}

Result<void> Journal::note(const Event& event) {
  const std::string line = to_line(event);
  for (size_t written = 0; written < line.size();) {
    const ssize_t count = ::write(file_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write", directory_ / kLines);
    written += static_cast<size_t>(count);
  }
  if (::fdatasync(file_) != 0) return failed("write", directory_ / kLines);
  apply(event, progress_);
  return {};
}

Result<void> Journal::keep(const Snapshot& snapshot, Phase phase, WallTime at) {
  const std::string name = fmt::format("snapshot-{}.json", ++snapshots_);
  if (auto written = certs::write_file(directory_ / name, to_text(snapshot), 0600); !written) return written;
  if (auto synced = sync_directory(directory_); !synced) return synced;
  return note({Event::Kind::Taken, at, phase, name});
}

Result<Snapshot> Journal::snapshot() const {
  auto text = certs::read_file(snapshot_path());
  if (!text) return std::move(text).error();
  return read_snapshot(*text, progress_.target);
}

}  // namespace armgate::heal
