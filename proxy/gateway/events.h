// events.h – what the network part and mode observe report, as lines of the log (docs/answers.md).
//
// Threads   any.
#pragma once

#include <string_view>

#include "base/time.h"
#include "proxy/net/socket/net_event.h"
#include "proxy/observability/log.h"
#include "proxy/request/observe/observe_finding.h"
#include "proxy/state/lock/run_leases.h"

namespace armgate {

void log_event(Log& log, WallTime wall, const net::NetEvent& event);
void log_finding(Log& log, WallTime wall, const ObserveFinding& finding);
// `event` is lease-taken or lease-released, `who` asked for it.
void log_lease(Log& log, WallTime wall, std::string_view event, const RunLeases::Lease& lease, std::string_view who);

}  // namespace armgate
