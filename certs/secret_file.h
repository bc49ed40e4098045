// secret_file.h – small files on disk: written whole or not at all, secrets never readable by others.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace armgate::certs {

// Makes the directory and its parents; the last one gets mode 0700 if it is new. An existing one that group or others
// can write to is refused: they could replace the files in it.
Result<void> make_private_directory(const std::filesystem::path& directory);

struct FileOwner {
  uid_t user;
  gid_t group;
};

// Writes beside the file and renames over it. The mode holds from the first moment, whatever the umask. `owner`: who gets it;
// none: whose process this is.
Result<void> write_file(const std::filesystem::path& file, std::string_view content, mode_t mode,
                        std::optional<FileOwner> owner = std::nullopt);

inline constexpr size_t kFileBytesMax = 1 << 20;

// TooLarge beyond `bytes_max`. What is no regular file is refused: the end of a pipe might never come.
Result<std::string> read_file(const std::filesystem::path& file, size_t bytes_max = kFileBytesMax);

// The same of what may also be a pipe, for a user who has named one: it is waited for.
Result<std::string> read_stream(const std::filesystem::path& file, size_t bytes_max = kFileBytesMax);

// The reader: a process's effective user, and the groups that it is in.
struct Reader {
  uid_t user = 0;
  std::vector<gid_t> groups;
};
Reader this_process();

enum class SecretOf {
  Reader,   // nobody but the reader (and root) gets at it
  Another,  // the same of somebody else
  Many,     // others get at it, too
};

// A secret is its owner's, who alone can access it; or root's, and readable, no more, for the one group that it belongs to: so
// Kubernetes hands out Secrets, root:root to a pod without an fsGroup. Then it is the secret of a reader in that group.
SecretOf whose_secret(const struct stat& status, const Reader& reader);

// Whether the file is there and somebody else's secret.
bool is_secret_of_another(const std::filesystem::path& file);

// As read_file, but refuses a file that is not a secret of this process.
Result<std::string> read_secret_file(const std::filesystem::path& file);

}  // namespace armgate::certs
