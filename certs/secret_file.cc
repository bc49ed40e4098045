#include "certs/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace armgate::certs {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// A disk that is full or broken is no fault of what was asked for.
Error bad_file(const char* verb, const std::filesystem::path& file) {
  const bool is_disks = errno == ENOSPC || errno == EDQUOT || errno == EIO || errno == EFBIG;
  return gateway_error(is_disks ? ErrorKind::Internal : ErrorKind::BadInput,
                       fmt::format("cannot {} {}: {}", verb, file.string(), std::strerror(errno)));
}

bool write_whole(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

Result<std::string> read_whole(int fd, const std::filesystem::path& file, size_t bytes_max) {
  std::string content;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return bad_file("read", file);
    if (count == 0) return content;
    content.append(piece.data(), static_cast<size_t>(count));
    if (content.size() > bytes_max) {
      return gateway_error(ErrorKind::TooLarge, fmt::format("{} is larger than {} bytes", file.string(), bytes_max));
    }
  }
}

}  // namespace

Result<void> make_private_directory(const std::filesystem::path& directory) {
  std::error_code failure;
  if (directory.has_parent_path()) std::filesystem::create_directories(directory.parent_path(), failure);
  if (failure) {
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("cannot make {}: {}", directory.parent_path().string(), failure.message()));
  }
  if (::mkdir(directory.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return bad_file("make", directory);
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) return bad_file("look at", directory);
  if (!S_ISDIR(status.st_mode)) {
    return gateway_error(ErrorKind::BadInput, fmt::format("{} is not a directory", directory.string()));
  }
  if ((status.st_mode & 0022) != 0) {
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("others may write to {}; run: chmod go-w {}", directory.string(), directory.string()));
  }
  return {};
}

Result<void> write_file(const std::filesystem::path& file, std::string_view content, mode_t mode,
                        std::optional<FileOwner> owner) {
  const std::filesystem::path fresh = file.string() + ".new";
  ::unlink(fresh.c_str());
  {
    const Descriptor out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (out.get() < 0) return bad_file("create", fresh);
    const bool is_given = !owner || ::fchown(out.get(), owner->user, owner->group) == 0;
    if (!is_given || ::fchmod(out.get(), mode) != 0 || !write_whole(out.get(), content) || ::fsync(out.get()) != 0) {
      const Error failure = bad_file("write", fresh);
      ::unlink(fresh.c_str());
      return failure;
    }
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) {
    const Error failure = bad_file("replace", file);
    ::unlink(fresh.c_str());
    return failure;
  }
  return {};
}

Result<std::string> read_file(const std::filesystem::path& file, size_t bytes_max) {
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // to open a pipe would wait for who writes
  if (in.get() < 0) return bad_file("open", file);
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) return bad_file("look at", file);
  if (!S_ISREG(status.st_mode)) {
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("{} is {}; name a regular file", file.string(),
                                     S_ISDIR(status.st_mode) ? "a directory" : "no regular file (a pipe or a device)"));
  }
  return read_whole(in.get(), file, bytes_max);
}

Result<std::string> read_stream(const std::filesystem::path& file, size_t bytes_max) {
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) return bad_file("open", file);
  return read_whole(in.get(), file, bytes_max);
}

Reader this_process() {
  Reader reader{::geteuid(), {}};
  // Between the two calls nobody else changes this process's groups.
  reader.groups.resize(static_cast<size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(reader.groups.size()), reader.groups.data());
  reader.groups.resize(static_cast<size_t>(std::max(count, 0)));
  reader.groups.push_back(::getegid());
  return reader;
}

SecretOf whose_secret(const struct stat& status, const Reader& reader) {
  const mode_t mode = status.st_mode & 07777;
  const bool is_owners_alone = (mode & 0077) == 0;
  if (is_owners_alone) return status.st_uid == reader.user ? SecretOf::Reader : SecretOf::Another;
  const bool is_one_groups = status.st_uid == 0 && (mode & ~mode_t{0600}) == 0040;
  if (!is_one_groups) return SecretOf::Many;
  const bool is_member = std::find(reader.groups.begin(), reader.groups.end(), status.st_gid) != reader.groups.end();
  if (is_member) return SecretOf::Reader;
  return reader.user == 0 ? SecretOf::Many : SecretOf::Another;  // root owns it, and gave it to others
}

bool is_secret_of_another(const std::filesystem::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && whose_secret(status, this_process()) == SecretOf::Another;
}

Result<std::string> read_secret_file(const std::filesystem::path& file) {
  const Reader reader = this_process();
  const char* in_a_pod = reader.user == 0 ? "" : "; for a Secret in a pod: defaultMode 0440 and securityContext.fsGroup";
  // To give it to this user is no remedy: its owner could not read it any more.
  const auto of_another = [&](uid_t owner) {
    const std::string as_owner = reader.user == 0 ? fmt::format(": sudo -u '#{}' armgate ...", owner) : "";
    return gateway_error(
        ErrorKind::BadInput,
        fmt::format("{} belongs to user {}, armgate runs as {}; run it as that user{}, or name a file of this "
                    "user's own{}",
                    file.string(), owner, reader.user == 0 ? "root" : fmt::format("user {}", reader.user), as_owner, in_a_pod));
  };
  struct stat status {};
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) {
    const bool is_forbidden = errno == EACCES;
    Error failure = bad_file("open", file);
    const bool is_anothers = is_forbidden && ::stat(file.c_str(), &status) == 0 && status.st_uid != reader.user;
    if (is_anothers) return of_another(status.st_uid);
    return failure;
  }
  if (::fstat(in.get(), &status) != 0) return bad_file("look at", file);
  switch (whose_secret(status, reader)) {
    case SecretOf::Reader: return read_whole(in.get(), file, kFileBytesMax);
    case SecretOf::Another: return of_another(status.st_uid);
    case SecretOf::Many: break;
  }
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("{0} is a secret, but its mode {1:04o} lets others at it; run: chmod 600 {0}{2}",
                                   file.string(), status.st_mode & 07777, in_a_pod));
}

}  // namespace armgate::certs
