// gateway.h – the composition root: the only place that knows every part and puts them together.
#pragma once

#include "proxy/config.h"

namespace armgate {

// Runs the service until SIGTERM or SIGINT has drained it. Returns the process's exit code (proxy/cli.h).
int run_gateway(const Config& config);

}  // namespace armgate
