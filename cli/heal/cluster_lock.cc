#include "cli/heal/cluster_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "base/text.h"
#include "certs/secret_file.h"

namespace armgate::heal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRunIdMax = 40;

Error failed(std::string_view what, const fs::path& file) {
  return gateway_error(ErrorKind::BadInput, fmt::format("cannot {} {}: {}", what, file.string(), std::strerror(errno)));
}

fs::path file_of(const fs::path& directory, const Target& target) {
  return directory / (Hasher(HashKey{}).hash(lower_text(target.cluster)).hex() + ".lock");
}

// A lock of the open file, which others can ask about without taking it.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Below 0: there is none.
int open_to_read(const fs::path& directory, const Target& target) {
  return ::open(file_of(directory, target).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

std::string id_in(int file) {
  std::string id(kRunIdMax + 1, '\0');
  const ssize_t count = ::pread(file, id.data(), id.size(), 0);
  id.resize(count > 0 ? static_cast<size_t>(count) : 0);
  const auto is_of_an_id = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'T' || c == 'Z' || c == '-';
  };
  const bool is_id = id.size() <= kRunIdMax && std::all_of(id.begin(), id.end(), is_of_an_id);
  return is_id ? id : std::string();
}

}  // namespace

Result<ClusterLock> ClusterLock::take(const fs::path& directory, const Target& target) {
  if (auto made = certs::make_private_directory(directory); !made) return std::move(made).error();
  const fs::path file = file_of(directory, target);
  const int opened = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (opened < 0) return failed("open", file);
  ClusterLock lock(opened, file);
  struct flock wanted = whole_file();
  if (::fcntl(opened, F_OFD_SETLK, &wanted) == 0) return lock;
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("another process repairs {} already ({} is locked)", target.cluster, file.string()));
}

ClusterLock::ClusterLock(ClusterLock&& other) noexcept : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}
ClusterLock::~ClusterLock() {
  if (file_ >= 0) ::close(file_);
}

std::optional<std::string> ClusterLock::holder(const fs::path& directory, const Target& target) {
  const int opened = open_to_read(directory, target);
  if (opened < 0) return std::nullopt;
  struct flock other = whole_file();
  const bool is_held = ::fcntl(opened, F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK;
  std::string run = is_held ? id_in(opened) : std::string();
  ::close(opened);
  return is_held ? std::optional(std::move(run)) : std::nullopt;
}

std::string ClusterLock::last_run(const fs::path& directory, const Target& target) {
  const int opened = open_to_read(directory, target);
  if (opened < 0) return {};
  std::string run = id_in(opened);
  ::close(opened);
  return run;
}

std::string ClusterLock::last_run() const { return id_in(file_); }

Result<void> ClusterLock::note_run(const std::string& id) {
  const auto size = static_cast<ssize_t>(id.size());
  if (::pwrite(file_, id.data(), id.size(), 0) != size || ::ftruncate(file_, size) != 0) return failed("write", path_);
  return {};
}

}  // namespace armgate::heal
