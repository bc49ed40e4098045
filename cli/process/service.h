// service.h – armgate as a service in the foreground: what signals mean to it, and what it says at its start.
//
// SIGTERM and SIGINT drain it, a second one ends it at once. SIGUSR1 opens the log file anew (logrotate). SIGHUP reads the
// configuration and its rule files again: see reload(). During the start the latter two wait, and the former end it.
#pragma once

#include "base/result.h"
#include "proxy/config/config.h"
#include "proxy/gateway/gateway.h"

namespace armgate {

// The first thing in a process that will serve. A start with a big journal takes seconds, in which the system would end it by a
// signal that is meant for the service: SIGHUP and SIGUSR1 now wait until that is up. SIGTERM and SIGINT end the start, which
// may hang, at once with kExitDone: nothing was served yet, and what is on disk bears a crash. Before any other thread, which
// inherits it.
void hold_signals();

// Runs until a signal has drained it. Returns the process's exit code (cli/cli.h).
int run_service(const Config& config, LoadAgain load_again);

// What was loaded now holds for the requests that arrive from now on, as far as it can change in a running service: the rules
// and the mode. For everything else that has changed the log says that it needs a restart. With a fault in it nothing changes,
// and the log has them all.
void reload(Gateway& gateway, LoadedConfig loaded);

// Tells a person what went wrong; the exit code for it.
int report_failure(const Error& error);

}  // namespace armgate
