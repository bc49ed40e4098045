// runtime_directory.h – a directory of one process's own, readable by its user alone, gone when this is.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "proxy/config/tool_environment.h"

namespace armgate {

class RuntimeDirectory {
 public:
  // Where the environment keeps such things (XDG_RUNTIME_DIR, TMPDIR), else in /tmp; in the first of them where it can be made:
  // after su(1) the variables are the former user's. `name` begins its name.
  static Result<RuntimeDirectory> make(const Environment& environment, std::string_view name);
  RuntimeDirectory(RuntimeDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  RuntimeDirectory& operator=(RuntimeDirectory&&) = delete;
  ~RuntimeDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit RuntimeDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace armgate
