#include "cli/process/runtime_directory.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

namespace armgate {

namespace fs = std::filesystem;

Result<RuntimeDirectory> RuntimeDirectory::make(const Environment& environment, std::string_view name) {
  std::vector<fs::path> parents;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const auto given = environment.find(variable);
    if (given != environment.end() && given->second.starts_with('/')) parents.emplace_back(given->second);
  }
  parents.emplace_back("/tmp");
  std::string pattern;
  for (const fs::path& parent : parents) {
    pattern = (parent / fmt::format("{}-XXXXXX", name)).string();
    if (::mkdtemp(pattern.data()) != nullptr) return RuntimeDirectory(pattern);
  }
  return gateway_error(ErrorKind::BadInput, fmt::format("cannot make the directory {}: {}", pattern, std::strerror(errno)));
}

RuntimeDirectory::~RuntimeDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace armgate
