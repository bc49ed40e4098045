// service_state.h – the service at one moment, for whoever looks at it: metrics, the status page, `armgate status`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "proxy/state/lock/lock_table.h"
#include "rules/rule.h"

namespace armgate {

struct ServiceState {
  rules::Mode mode = rules::Mode::Protect;
  size_t rules = 0;
  std::string config;  // the file; empty: the built-in defaults
  WallTime started{};
  Duration up{};
  bool draining = false;
  bool apart = false;      // of a cluster whose others take it for dead, as nothing can be recorded
  size_t connections = 0;  // of clients, tunnels among them
  size_t connections_max = 0;
  std::vector<std::pair<std::string_view, uint64_t>> connection_events;  // how often each was told in the log
  bool journal_writable = true;
  size_t unfinished = 0;  // writes that were sent to ARM and whose outcome is not known yet
  LockTable::Counts locks;
};

}  // namespace armgate
