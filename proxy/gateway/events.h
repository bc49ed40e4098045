// events.h – what the network part and mode observe report, as lines of the log (docs/answers.md).
//
// Threads   any.
#pragma once

#include <array>
#include <atomic>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "proxy/net/socket/net_event.h"
#include "proxy/observability/log.h"
#include "proxy/request/observe/observe_finding.h"
#include "proxy/state/lock/run_leases.h"

namespace armgate {

void log_event(Log& log, WallTime wall, const net::NetEvent& event);

// How often each event of connections that is a warning or an error has been told, by its name in the log.
class ConnectionEvents {
 public:
  void count(net::NetEventKind kind) { counts_[static_cast<size_t>(kind)].fetch_add(1, std::memory_order_relaxed); }
  std::vector<std::pair<std::string_view, uint64_t>> counts() const;

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(net::NetEventKind::TunnelClosed) + 1> counts_{};
};

void log_finding(Log& log, WallTime wall, const ObserveFinding& finding);
// `event` is lease-taken or lease-released, `who` asked for it.
void log_run_lease(Log& log, WallTime wall, std::string_view event, const RunLeases::Lease& lease, std::string_view who);

}  // namespace armgate
