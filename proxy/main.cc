// The program: hands the real world to the command line.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "proxy/cli.h"
#include "proxy/gateway.h"
#include "proxy/seams/real_clock.h"

namespace {

namespace fs = std::filesystem;

// Installed beside the program, or in the source tree that it was built from.
fs::path find_shipped_rules() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path() / ".." / "share" / "armgate" / "rules";
  if (!error && fs::is_directory(installed, error)) return installed.lexically_normal();
  return ARMGATE_SHIPPED_RULES;
}

fs::path find_home() {
  const char* home = std::getenv("HOME");
  return home != nullptr ? fs::path(home) : fs::path("/");
}

}  // namespace

int main(int argc, char** argv) {
  const armgate::CliContext context{
      .surroundings = {.home = find_home(), .shipped_rules = find_shipped_rules()},
      .default_config = "/etc/armgate/armgate.json",
      .wall = armgate::RealClock().wall(),
      .run = armgate::run_gateway,
      .out = std::cout,
      .err = std::cerr,
  };
  return armgate::run_cli(argc, argv, context);
}
