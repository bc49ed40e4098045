// secret_file.h – small files on disk: written whole or not at all, secrets never readable by others.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace armgate::certs {

// Makes the directory and its parents; the last one gets mode 0700 if it is new. An existing one that group or others
// can write to is refused: they could replace the files in it.
Result<void> make_private_directory(const std::filesystem::path& directory);

// Writes beside the file and renames over it. The mode holds from the first moment, whatever the umask.
Result<void> write_file(const std::filesystem::path& file, std::string_view content, mode_t mode);

inline constexpr size_t kFileBytesMax = 1 << 20;

// TooLarge beyond `bytes_max`.
Result<std::string> read_file(const std::filesystem::path& file, size_t bytes_max = kFileBytesMax);

// As read_file, but refuses a file that group or others can access or that belongs to another user.
Result<std::string> read_secret_file(const std::filesystem::path& file);

}  // namespace armgate::certs
