#include "cli/introduction.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

namespace armgate {
namespace {

namespace fs = std::filesystem;

// True for the first who asks.
bool remember(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) ::close(made);
  return made >= 0;
}

constexpr const char* kProtects =
    "armgate: this command's writes to Azure Resource Manager are protected: none replaces a change that it was not built on, writes\n"
    "  to one resource wait for each other, and what ARM refuses for a passing reason is sent again. Nothing else is changed.\n"
    "  If something was done, one line says so at the end. More: `armgate exec --log FILE -- ...` writes down every request,\n"
    "  `armgate explain PUT URL` says what would be done and why, `armgate exec --help` the rest. (Said once for each user.)\n";
constexpr const char* kObserves =
    "armgate: this command's writes to Azure Resource Manager are looked at, and none is altered or delayed (mode observe). What armgate\n"
    "  would have done is counted at the end, and told in `armgate exec --log FILE -- ...`. (Said once for each user.)\n";

}  // namespace

fs::path state_directory(const Environment& environment, const fs::path& home) {
  const auto given = environment.find("XDG_STATE_HOME");
  const bool is_usable = given != environment.end() && given->second.starts_with('/');
  return (is_usable ? fs::path(given->second) : home / ".local" / "state") / "armgate";
}

std::string introduction(const Environment& environment, const fs::path& home, rules::Mode mode) {
  if (mode == rules::Mode::Off) return {};
  if (!remember(state_directory(environment, home) / "exec-introduced")) return {};
  return mode == rules::Mode::Observe ? kObserves : kProtects;
}

}  // namespace armgate
