// The program: hands the real world to the command line.
#include <absl/synchronization/mutex.h>

#include <poll.h>
#include <pwd.h>
#include <sys/ioctl.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/check.h"
#include "base/source_tree.h"
#include "certs/record_pool.h"
#include "cli/cli.h"
#include "cli/context.h"
#include "cli/doctor/ask_through.h"
#include "cli/heal/link/run_heal.h"
#include "cli/process/core_dumps.h"
#include "cli/process/exec.h"
#include "cli/process/service.h"
#include "proxy/gateway/descriptors.h"
#include "proxy/seams/real_clock.h"

namespace {

namespace fs = std::filesystem;

// Installed beside the program, or in the source tree that it was built from.
fs::path find_shipped_rules() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path() / ".." / "share" / "armgate" / "rules";
  if (!error && fs::is_directory(installed, error)) return installed.lexically_normal();
  return armgate::source_path("conf/rules");
}

armgate::Environment environment() {
  armgate::Environment found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != text.npos) found.try_emplace(std::string(text.substr(0, equals)), text.substr(equals + 1));
  }
  return found;
}

fs::path find_home(const armgate::Environment& environment) {
  const auto home = environment.find("HOME");
  const bool is_given = home != environment.end() && !home->second.empty();  // as a script that has lost it leaves it
  if (is_given) return home->second;
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr ? fs::path(user->pw_dir) : fs::path("/");
}

std::optional<armgate::TerminalSize> find_terminal() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return std::nullopt;
  if (size.ws_row == 0 || size.ws_col == 0) return armgate::TerminalSize{};  // it does not know
  return armgate::TerminalSize{size.ws_row, size.ws_col};
}

int run_service(const armgate::Config& config, armgate::LoadAgain again) {
  if (config.core_dumps)
    armgate::show_memory();
  else
    armgate::limit_core_dumps();
  return armgate::run_service(config, std::move(again));
}

int exec_with_gateway(const armgate::Config& config, const armgate::ExecRequest& request) {
  if (config.core_dumps) armgate::show_memory();
  return armgate::exec_with_gateway(config, request);
}

int run_heal(const armgate::Config& config, const armgate::heal::HealRequest& request, std::ostream& out, std::ostream& err) {
  if (config.core_dumps) armgate::show_memory();
  return armgate::heal::run_heal(config, request, out, err);
}

void rest(armgate::Duration duration) {
  ::poll(nullptr, 0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(duration).count()));
}

}  // namespace

int main(int argc, char** argv) {
  armgate::hide_memory();
  const bool serves = argc > 1 && std::string_view(argv[1]) == "run";
  if (serves) armgate::hold_signals();
  GATE_CHECK(armgate::certs::use_record_pool(), "OpenSSL is not used before main");
  armgate::hold_standard_descriptors();
  // What the service tells may go to a pipe whose reader ends: lines are lost then, not writes.
  if (serves) std::signal(SIGPIPE, SIG_IGN);
  if (serves) std::signal(SIGUSR2, SIG_IGN);  // nobody means to end a service by it
  if (serves) std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow (ulimit -f) is met as a full disk is
  // On by default in Debian's build of abseil: a graph of all mutexes, searched at each lock. ThreadSanitizer looks for
  // deadlocks in the tests.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const armgate::Environment own = environment();
  const armgate::CliContext context{
      .surroundings = {.home = find_home(own), .shipped_rules = find_shipped_rules()},
      .default_config = "/etc/armgate/armgate.json",
      .wall = armgate::RealClock().wall(),
      .environment = own,
      .session = std::to_string(::getppid()),
      .run = run_service,
      .exec = exec_with_gateway,
      .exec_within = armgate::exec_within,
      .heal = run_heal,
      .somebody_listens = armgate::somebody_listens,
      .ask_through = armgate::ask_through,
      .terminal = find_terminal,
      .pause = rest,
      .trust = armgate::real_system_trust(own),
      .out = std::cout,
      .err = std::cerr,
  };
  return armgate::run_cli(argc, argv, context);
}
