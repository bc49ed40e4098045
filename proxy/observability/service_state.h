// service_state.h – the service at one moment, for whoever looks at it: metrics, the status page, `armgate status`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "proxy/state/lock/lock_table.h"
#include "rules/rule.h"

namespace armgate {

// This process as one of a cluster.
struct ClusterView {
  uint64_t replica = 0;  // its number
  bool engine_up = true;
  Duration membership_lease_left{};   // for so long the others wait for its next word; zero: it is over
  size_t alive = 0;                   // replicas
  std::optional<size_t> synchronous;  // standbys that a commit waits for; nothing: not known
  std::vector<std::string> warnings;  // what is weaker than it could be
  uint64_t commits = 0;
  uint64_t late = 0;          // statements that the engine did not answer in time, and that waited on
  uint64_t failed = 0;        // connections to it that broke, or were not had
  uint64_t log_position = 0;  // the newest row of the log that is known here
  size_t log_waiting = 0;     // events that wait to be told
};

struct ServiceState {
  rules::Mode mode = rules::Mode::Protect;
  size_t rules = 0;
  size_t older_rules = 0;  // sets of before a reload that still count beside them
  std::string config;      // the file; empty: the built-in defaults
  WallTime started{};
  WallTime authority_until{};  // when the authority ends that it signs with
  Duration up{};
  bool draining = false;
  bool apart = false;      // of a cluster whose others take it for dead, as nothing can be recorded
  size_t connections = 0;  // of clients, tunnels among them
  size_t connections_max = 0;
  size_t request_body_bytes = 0;                                         // of bodies that count for limits.request_bodies_total
  std::vector<std::pair<std::string_view, uint64_t>> connection_events;  // how often each was told in the log
  bool journal_writable = true;
  bool reload_good = true;  // the last one; also before any
  size_t unfinished = 0;    // writes that were sent to ARM and whose outcome is not known yet
  LockTable::Counts locks;
  std::optional<ClusterView> cluster{};  // nothing: it is alone

  bool is_ready() const { return !draining && !apart; }
};

}  // namespace armgate
