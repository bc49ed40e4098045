// load.h – the configuration that a command line asks for, and how a command says that it cannot go on.
#pragma once

#include <optional>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/context.h"

namespace armgate::commands {

// The file that was asked for, or the usual one if it exists, else the defaults; what flags say is in it.
LoadedConfig load_with_flags(const Asked& asked, const CliContext& context, RuleFiles rule_files);

// True if there are none.
bool tell_faults(const rules::FaultList& faults, const CliContext& context);

// The configuration, or nothing after the faults were told, to a program that asked for JSON there, too.
std::optional<Config> load_asked(const Asked& asked, const CliContext& context, RuleFiles rule_files);

// What a command looks at: the running service (listen.admin), or its records, from its journal or from itself.
enum class LooksAt { Service, Records };

// The same for a command that only looks at these. A fault elsewhere in the file is a warning: the service runs with what stood
// there before, and whoever has just spoilt the file needs to see that.
std::optional<Config> load_to_look(const Asked& asked, const CliContext& context, LooksAt what);

// Says what went wrong; the exit code.
int fail(const CliContext& context, const Error& error);

// The same of a command that may have been asked for JSON: a program that reads its output gets the error there, too.
int fail_asked(const Asked& asked, const CliContext& context, const Error& error);

}  // namespace armgate::commands
