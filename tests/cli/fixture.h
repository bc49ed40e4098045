// fixture.h – runs the command line in this process: what it prints and what it would have run can be looked at.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/source_tree.h"
#include "cli/cli.h"
#include "cli/heal/link/command.h"
#include "tests/support/temporary_directory.h"

namespace armgate {

inline constexpr WallTime kNow = WallTime(std::chrono::seconds(1767225600));  // 2026-01-01

class Cli : public testing::Test {
 protected:
  // Runs "armgate" with these words; what it wrote is in out and err, and what it would have run in run_with.
  int run(const std::vector<std::string>& words) {
    out.str("");
    err.str("");
    run_with.reset();
    asked.reset();
    to_heal.reset();
    within.clear();
    sought.clear();
    std::vector<const char*> argv{"armgate"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    const CliContext context{
        .surroundings = {.home = home, .shipped_rules = source_path("conf/rules")},
        .default_config = directory.path() / "etc" / "armgate.json",
        .wall = kNow,
        .environment = environment,
        .session = "77",
        .run =
            [this](const Config& config, LoadAgain again) {
              run_with = config;
              load_again = std::move(again);
              if (while_running) while_running();
              return run_result;
            },
        .exec =
            [this](const Config& config, const ExecRequest& request) {
              run_with = config;
              asked = request;
              if (while_running) while_running();
              return run_result;
            },
        .exec_within =
            [this](const ExecRequest& request, const std::string& proxy) {
              asked = request;
              within = proxy;
              return run_result;
            },
        .heal =
            [this](const Config& config, const heal::HealRequest& request, std::ostream&, std::ostream&) {
              run_with = config;
              to_heal = request;
              return run_result;
            },
        .somebody_listens =
            [this](const std::string& address) {
              sought = address;
              return service_is_there;
            },
        .ask_through = [this](const ProxiedQuestion&) { return told_through; },
        .terminal = [this] { return terminal; },
        .pause =
            [this](Duration duration) {
              pauses.push_back(duration);
              if (while_pausing) while_pausing();
            },
        .trust = trust,
        .out = out,
        .err = err,
    };
    return run_cli(static_cast<int>(argv.size()), argv.data(), context);
  }

  const TemporaryDirectory directory;
  std::filesystem::path home = directory.path() / "home";
  std::ostringstream out, err;
  Environment environment{{"PATH", "/bin"}};
  std::optional<Config> run_with;
  LoadAgain load_again;
  std::function<void()> while_running;
  std::optional<ExecRequest> asked;
  std::optional<heal::HealRequest> to_heal;
  std::string within;
  std::string sought;  // where the service was looked for
  bool service_is_there = true;
  Result<ProxiedAnswer> told_through = ProxiedAnswer{200, "Thu, 01 Jan 2026 00:00:00 GMT", "", ""};
  SystemTrust trust;
  int run_result = kExitDone;
  std::optional<TerminalSize> terminal;
  std::vector<Duration> pauses;
  std::function<void()> while_pausing;
};

}  // namespace armgate
