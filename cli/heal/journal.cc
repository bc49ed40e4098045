#include "cli/heal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "certs/secret_file.h"

namespace armgate::heal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLinesBytesMax = 16u << 20;
constexpr size_t kShownBytesMax = 60;

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

}  // namespace

Recorded read_journal(const fs::path& run) {
  Recorded recorded;
  const fs::path file = run / kJournalFile;
  const std::string what_then = fmt::format(
      "what was done is not known, so nothing more is: look at the cluster's pools (what the pool was like is in the newest "
      "snapshot-N.json beside it); mend it, or, when the cluster is well, move {} away",
      run.string());
  const auto text = certs::read_file(file, kLinesBytesMax);
  if (!text) {
    recorded.damage = fmt::format("{} cannot be read ({}); {}", file.string(), text.error().context, what_then);
    return recorded;
  }
  for (size_t at = 0, end = 0; (end = text->find('\n', at)) != text->npos; recorded.bytes = at = end + 1) {
    ++recorded.lines;
    const auto line = std::string_view(*text).substr(at, end - at);
    const auto event = read_event(line);
    const bool is_in_place = event && (event->kind == Event::Kind::Begin) == (recorded.lines == 1);
    if (!is_in_place && recorded.damage.empty()) {
      recorded.damage = fmt::format("line {} of {} is damaged (\"{}\"); {}", recorded.lines, file.string(),
                                    printable(line.substr(0, kShownBytesMax)), what_then);
    }
    if (!event) continue;
    if (event->kind == Event::Kind::Begin) recorded.began = true;
    if (event->kind == Event::Kind::Taken) ++recorded.snapshots;
    apply(*event, recorded.progress);
  }
  if (recorded.lines == 0) recorded.damage = fmt::format("{} has no first line; {}", file.string(), what_then);
  return recorded;
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
  const fs::path file = directory / id / kJournalFile;
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (opened < 0) return failed("create", file);
  Journal journal(directory / id, id, opened);
  for (const fs::path& holder : {directory, directory / id}) {
    if (auto synced = sync_directory(holder); !synced) return std::move(synced).error();
  }
  if (auto noted = journal.append({Event::Kind::Begin, at, Phase::Guards, target.cluster, target.pool, 0, target.api_version});
      !noted)
    return std::move(noted).error();
  return journal;
}

Result<Journal> Journal::resume(const fs::path& directory, const std::string& id) {
  const fs::path file = directory / id / kJournalFile;
  Recorded recorded = read_journal(directory / id);
  if (!recorded.damage.empty()) return gateway_error(ErrorKind::BadInput, recorded.damage);
  const int opened = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (opened < 0) return failed("open", file);
  Journal journal(directory / id, id, opened);
  // What was not written to its end goes, so that the next line begins a line.
  if (::ftruncate(opened, static_cast<off_t>(recorded.bytes)) != 0) return failed("mend", file);
  journal.progress_ = std::move(recorded.progress);
  journal.snapshots_ = recorded.snapshots;
  return journal;
}

Result<void> Journal::append(const Event& event) {
  const std::string line = to_line(event);
  for (size_t written = 0; written < line.size();) {
    const ssize_t count = ::write(file_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write", directory_ / kJournalFile);
    written += static_cast<size_t>(count);
  }
  if (::fdatasync(file_) != 0) return failed("write", directory_ / kJournalFile);
  apply(event, progress_);
  return {};
}

Result<void> Journal::keep(const Snapshot& snapshot, Phase phase, WallTime at) {
  const std::string name = fmt::format("snapshot-{}.json", ++snapshots_);
  if (auto written = certs::write_file(directory_ / name, to_text(snapshot), 0600); !written) return written;
  if (auto synced = sync_directory(directory_); !synced) return synced;
  return append({Event::Kind::Taken, at, phase, name});
}

Result<Snapshot> Journal::snapshot() const {
  auto text = certs::read_file(snapshot_path());
  if (!text) return std::move(text).error();
  return read_snapshot(*text, progress_.target);
}

}  // namespace armgate::heal
