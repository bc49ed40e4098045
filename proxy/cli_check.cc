#include "proxy/cli_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "certs/tls_context.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

bool may(const fs::path& path, int what) { return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0; }

// Whether lines could be added to it, or it could be made.
std::optional<std::string> log_fault(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) return fmt::format("{} is a directory; name a file", file.string());
  if (fs::exists(file, error)) {
    if (may(file, W_OK)) return std::nullopt;
    return fmt::format("{} cannot be written: {}", file.string(), std::strerror(errno));
  }
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) return fmt::format("there is no directory {} to make the file in", folder.string());
  if (may(folder, W_OK | X_OK)) return std::nullopt;
  return fmt::format("no file can be made in {}: {}", folder.string(), std::strerror(errno));
}

}  // namespace

rules::FaultList faults_of_files(const Config& config) {
  rules::FaultList faults;
  const auto fault = [&](std::string pointer, std::string message) {
    faults.push_back({config.source, 0, std::move(pointer), std::move(message)});
  };
  const auto check_trusted = [&](const std::string& file, std::string pointer) {
    if (file.empty()) return;
    if (const auto context = certs::make_client_context(file); !context) fault(std::move(pointer), context.error().context);
  };
  check_trusted(config.upstream.ca_file, "/upstream/ca_file");
  for (const auto& [name, host] : config.hosts) check_trusted(host.ca_file, "/hosts/" + name + "/ca_file");
  if (!config.log.file.empty()) {
    if (auto wrong = log_fault(config.log.file)) fault("/log/file", *std::move(wrong));
  }
  return faults;
}

}  // namespace armgate
