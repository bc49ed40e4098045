// exec.h – `armgate exec`: a gateway of its own for one command, gone when the command is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "proxy/config/config.h"
#include "proxy/config/tool_environment.h"

namespace armgate {

inline constexpr int kExitExecFailed = 125;  // armgate's own failure; the command was not run (as env and timeout do)

struct ExecRequest {
  std::vector<std::string> words;       // the command
  std::string name;                     // of the client
  std::optional<policy::Actors> actor;  // none: as the configuration says of that name
  std::string log_file;                 // empty: nothing is logged
  Environment environment;
  WallTime wall;  // for a new authority
};

// Runs the command through a private gateway; its exit code, or kExitExecFailed. An authority is made if there is none
// yet.
int exec_with_gateway(const Config& config, const ExecRequest& request);

// Whether anybody takes a connection at "host:port" within a few seconds.
bool somebody_listens(const std::string& address);

// Inside an environment that leads through armgate already: the command gets its own name there, and nothing is
// started.
int exec_within(const ExecRequest& request, const std::string& proxy);

}  // namespace armgate
