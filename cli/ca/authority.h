// authority.h – the commands about the local certificate authority.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "certs/authority.h"
#include "proxy/config/config.h"

namespace armgate {

// The authority's directory for one process at a time, for as long as this lives; the kernel frees it with the process.
class AuthorityLock {
 public:
  explicit AuthorityLock(const std::filesystem::path& directory);
  ~AuthorityLock();
  AuthorityLock(const AuthorityLock&) = delete;
  AuthorityLock& operator=(const AuthorityLock&) = delete;
  bool held() const { return held_; }

 private:
  const int fd_;
  bool held_ = false;
};

// A new authority in the configured directory; the certificate that tools must trust.
Result<std::filesystem::path> init_authority(const Config& config, WallTime wall, certs::Overwrite overwrite);

// Makes `directory`, unless it is there, as the one in force is, if that is there: with the same mode for others, so that tools
// reach what is in it, and of the same user if root makes it.
Result<void> make_directory_like(const std::filesystem::path& directory, const std::filesystem::path& in_force);

// The certificate that tools must trust. BadInput, with the remedy, if there is none.
Result<std::filesystem::path> find_authority(const Config& config, std::string_view init_command);

// What to say, in a line, of the certificate `root` of this configuration's authority if its end is near or past; else empty.
std::string notice_of_end(const Config& config, const std::filesystem::path& root, WallTime wall);

// Where `env` keeps files of certificates: beside the authority, or below `home` if the authority is another user's.
Result<std::filesystem::path> bundle_directory(const Config& config, const std::filesystem::path& home);

// Makes one unless any part of one is there. Processes that do this at the same time make one.
Result<void> ensure_authority(const Config& config, WallTime wall);

}  // namespace armgate
