#include "cli/ca/authority.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "certs/authority_facts.h"
#include "certs/secret_file.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

}  // namespace

AuthorityLock::AuthorityLock(const fs::path& directory) : fd_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  held_ = fd_ >= 0 && ::flock(fd_, LOCK_EX) == 0;
}

AuthorityLock::~AuthorityLock() {
  if (fd_ >= 0) ::close(fd_);
}

Result<fs::path> init_authority(const Config& config, WallTime wall, certs::Overwrite overwrite) {
  const auto authority = certs::make_authority(config.intercept, wall);
  if (!authority) return authority.error();
  const auto saved = certs::save_authority(*authority, config.ca.directory, overwrite);
  if (!saved) return saved.error();
  return certs::files_in(config.ca.directory).root;
}

Result<void> make_directory_like(const fs::path& directory, const fs::path& in_force) {
  struct stat like {};
  if (is_there(directory) || ::stat(in_force.c_str(), &like) != 0) return {};
  if (auto made = certs::make_private_directory(directory); !made) return made;
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const bool is_given = fd >= 0 && (::geteuid() != 0 || ::fchown(fd, like.st_uid, like.st_gid) == 0);
  const bool is_made = is_given && ::fchmod(fd, 0700 | (like.st_mode & 0055)) == 0;
  const int why = errno;
  if (fd >= 0) ::close(fd);
  if (is_made) return {};
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("cannot make {} as {} is: {}", directory.string(), in_force.string(), std::strerror(why)));
}

Result<fs::path> find_authority(const Config& config, std::string_view init_command) {
  auto root = certs::files_in(config.ca.directory).root;
  if (auto there = certs::check_presence(root, init_command); !there) return std::move(there).error();
  return root;
}

std::string notice_of_end(const Config& config, const fs::path& root, WallTime wall) {
  const auto text = certs::read_file(root);
  if (!text) return {};
  const auto certificates = certs::facts_in(*text);
  if (certificates.empty()) return {};
  const auto warning = certs::warning_of_end(config.ca.directory, certificates.front().until, wall, ca_init_command(config));
  return warning ? fmt::format("armgate: {}; {}\n", warning->text, warning->remedy) : std::string();
}

Result<fs::path> bundle_directory(const Config& config, const fs::path& home) {
  if (::access(config.ca.directory.c_str(), W_OK) == 0) return fs::path(config.ca.directory);
  fs::path own = home / ".armgate" / "bundles";
  if (auto made = certs::make_private_directory(own); !made) {
    return gateway_error(
        made.error().kind,
        fmt::format("{}; what tools are to trust is kept there: set HOME to a directory that you may write to, or "
                    "run this as a user who may write to {}",
                    made.error().context, config.ca.directory));
  }
  return own;
}

Result<void> ensure_authority(const Config& config, WallTime wall) {
  const std::string& directory = config.ca.directory;
  if (auto made = certs::make_private_directory(directory); !made) {
    if (is_there(directory)) return made;
    return gateway_error(made.error().kind,
                         made.error().context +
                             "; an authority is kept there: set HOME to a directory that you may write to, or "
                             "name a configuration with a ca.directory (--config FILE)");
  }
  const auto of_another = [&](std::string_view what) {
    return gateway_error(
        ErrorKind::BadInput,
        fmt::format("{}; its authority is another user's: run `{}` to use that one's service, or give --config with a file "
                    "of your own",
                    what, env_command(config)));
  };
  const AuthorityLock lock(directory);
  if (!lock.held()) {
    const int why = errno;
    const std::string what = fmt::format("cannot lock {}: {}", directory, std::strerror(why));
    return why == EACCES ? of_another(what) : gateway_error(ErrorKind::Internal, what);
  }
  const auto files = certs::files_in(directory);
  if (certs::is_secret_of_another(files.key)) return of_another(fmt::format("{} is not to be read by you", files.key.string()));
  if (is_there(files.root) || is_there(files.intermediate) || is_there(files.key)) return {};
  const auto made = init_authority(config, wall, certs::Overwrite::Refuse);
  if (!made) return made.error();
  return {};
}

}  // namespace armgate
