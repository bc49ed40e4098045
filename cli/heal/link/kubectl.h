// kubectl.h – programs that a repair runs: kubectl, and az for a token. Each has a time, and ends with the repair.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/heal/facts/nodes.h"
#include "cli/heal/progress.h"
#include "proxy/config/tool_environment.h"

namespace armgate::heal {

// What it printed. BadInput: it failed, or was not at its end in time; TooLarge: it printed more than is read.
Result<std::string> run_command(const Words& words, const Environment& environment, Duration most);

// Whether kubectl is there and can read the file. Nobody else is asked.
Result<void> check_kubectl(const NodeAccess& access, const Environment& environment);

Result<NodeCount> count_nodes(const NodeAccess& access, const Environment& environment, const std::string& pool);

// The nodes are cordoned, or that is an error. The answer is what did not go within NodeAccess::drain, empty if all did.
Result<std::string> drain_pool(const NodeAccess& access, const Environment& environment, const std::string& pool);

}  // namespace armgate::heal
