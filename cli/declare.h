// declare.h – the commands of the command line, their flags, and what runs each.
#pragma once

#include <utility>
#include <vector>

#include "cli/commands.h"

namespace CLI {
class App;
}

namespace armgate {

// What stands behind a flag, for --help and for shells that complete it.
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kDirectory = "DIR";

// A command and what runs it; one that stands below another comes before it, as both are given then.
using Command = std::pair<CLI::App*, int (*)(const commands::Asked&, const CliContext&)>;
using Commands = std::vector<Command>;

// In the order of --help. What is parsed is written into `asked`.
Commands declare_commands(CLI::App& app, commands::Asked& asked, const CliContext& context);

}  // namespace armgate
