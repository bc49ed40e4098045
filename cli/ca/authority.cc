#include "cli/ca/authority.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

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

Result<fs::path> find_authority(const Config& config, std::string_view init_command) {
  auto root = certs::files_in(config.ca.directory).root;
  if (auto there = certs::check_presence(root, init_command); !there) return std::move(there).error();
  return root;
}

Result<fs::path> bundle_directory(const Config& config, const fs::path& home) {
  if (::access(config.ca.directory.c_str(), W_OK) == 0) return fs::path(config.ca.directory);
  fs::path own = home / ".armgate" / "bundles";
  if (auto made = certs::make_private_directory(own); !made) return std::move(made).error();
  return own;
}

Result<void> ensure_authority(const Config& config, WallTime wall) {
  if (auto made = certs::make_private_directory(config.ca.directory); !made) return made;
  const AuthorityLock lock(config.ca.directory);
  if (!lock.held()) {
    const std::string_view remedy =
        errno == EACCES
            ? "; its authority is another user's: run `eval \"$(armgate env)\"` to use that one's service, or give --config "
              "with a file of your own"
            : "";
    return gateway_error(ErrorKind::Internal,
                         fmt::format("cannot lock {}: {}{}", config.ca.directory, std::strerror(errno), remedy));
  }
  const auto files = certs::files_in(config.ca.directory);
  if (is_there(files.root) || is_there(files.intermediate) || is_there(files.key)) return {};
  const auto made = init_authority(config, wall, certs::Overwrite::Refuse);
  if (!made) return made.error();
  return {};
}

}  // namespace armgate
