// gateway_service.h – armgate as a service in the foreground: what signals mean to it, and what it says at its start.
//
// SIGTERM and SIGINT drain it, a second one ends it at once. SIGUSR1 opens the log file anew (logrotate).
#pragma once

#include "base/result.h"
#include "proxy/config.h"

namespace armgate {

// Runs until a signal has drained it. Returns the process's exit code (proxy/cli.h).
int run_service(const Config& config);

// Tells a person what went wrong; the exit code for it.
int report_failure(const Error& error);

}  // namespace armgate
