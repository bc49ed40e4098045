// cli.h – the command line: reads it, and runs the command that it names.
#pragma once

#include "cli/context.h"

namespace armgate {

// The exit code (context.h).
int run_cli(int argc, const char* const* argv, const CliContext& context);

}  // namespace armgate
