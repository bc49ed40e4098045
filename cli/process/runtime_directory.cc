#include "cli/process/runtime_directory.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace armgate {

namespace fs = std::filesystem;

Result<RuntimeDirectory> RuntimeDirectory::make(const Environment& environment, std::string_view name) {
  fs::path parent = "/tmp";
  std::error_code error;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const auto given = environment.find(variable);
    if (given == environment.end() || !fs::is_directory(given->second, error)) continue;
    parent = given->second;
    break;
  }
  std::string pattern = (parent / fmt::format("{}-XXXXXX", name)).string();
  if (::mkdtemp(pattern.data()) != nullptr) return RuntimeDirectory(pattern);
  return gateway_error(ErrorKind::BadInput, fmt::format("cannot make the directory {}: {}", pattern, std::strerror(errno)));
}

RuntimeDirectory::~RuntimeDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace armgate
