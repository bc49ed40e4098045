// context.h – what the commands of the command line work with, and how they end.
//
// Exit codes: 0 done; 1 bad input or configuration, nothing was changed; 2 the command line itself is wrong; 3 the
// service could not run or broke down. `exec` gives its command's own, and 125 where others give 1 or 3.
#pragma once

#include <functional>
#include <optional>
#include <ostream>

#include "base/time.h"
#include "cli/ca/trust_store.h"
#include "cli/doctor/ask_through.h"
#include "cli/process/exec.h"
#include "cli/view/top.h"
#include "proxy/config/config.h"
#include "proxy/config/tool_environment.h"

namespace armgate::heal {
struct HealRequest;
}  // namespace armgate::heal

namespace armgate {

inline constexpr int kExitDone = 0;
inline constexpr int kExitBadInput = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitRuntime = 3;

// What the command line works with; main.cc has the real ones.
struct CliContext {
  Surroundings surroundings;
  std::filesystem::path default_config;              // used if it exists and no other is named
  WallTime wall;                                     // for new certificates
  Environment environment;                           // ours, which commands inherit
  std::string session;                               // tells shells apart: the process that called us
  std::function<int(const Config&, LoadAgain)> run;  // the service
  std::function<int(const Config&, const ExecRequest&)> exec;
  std::function<int(const ExecRequest&, const std::string& proxy)> exec_within;
  std::function<int(const Config&, const heal::HealRequest&, std::ostream& out, std::ostream& err)> heal{};
  std::function<bool(const std::string& address)> somebody_listens;
  std::function<Result<ProxiedAnswer>(const ProxiedQuestion&)> ask_through;
  std::function<std::optional<TerminalSize>()> terminal;  // that `out` is; nothing if it is none
  std::function<void(Duration)> pause;
  SystemTrust trust;  // the certificates that the system trusts
  std::ostream& out;
  std::ostream& err;
};

}  // namespace armgate
