// service.h – armgate as a service in the foreground: what signals mean to it, and what it says at its start.
//
// SIGTERM and SIGINT drain it, a second one ends it at once. SIGUSR1 opens the log file anew (logrotate). SIGHUP reads the
// configuration and its rule files again: see reload().
#pragma once

#include "base/result.h"
#include "proxy/config/config.h"
#include "proxy/gateway/gateway.h"

namespace armgate {

// Runs until a signal has drained it. Returns the process's exit code (cli/cli.h).
int run_service(const Config& config, LoadAgain load_again);

// What was loaded now holds for the requests that arrive from now on, as far as it can change in a running service: the rules and
// the mode. For everything else that has changed the log says that it needs a restart. With a fault in it nothing changes, and the
// log has them all.
void reload(Gateway& gateway, LoadedConfig loaded);

// Tells a person what went wrong; the exit code for it.
int report_failure(const Error& error);

}  // namespace armgate
