// cli.h – the command line: what each command means and how it ends.
//
// Exit codes: 0 done; 1 bad input or configuration, nothing was changed; 2 the command line itself is wrong; 3 the
// service could not run or broke down.
#pragma once

#include <functional>
#include <ostream>

#include "base/time.h"
#include "proxy/config.h"

namespace armgate {

inline constexpr int kExitDone = 0;
inline constexpr int kExitBadInput = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitRuntime = 3;

// What the command line works with; main.cc has the real ones.
struct CliContext {
  Surroundings surroundings;
  std::filesystem::path default_config;        // used if it exists and no other is named
  WallTime wall;                               // for new certificates
  std::function<int(const Config&)> run;       // the service
  std::ostream& out;
  std::ostream& err;
};

int run_cli(int argc, const char* const* argv, const CliContext& context);

}  // namespace armgate
