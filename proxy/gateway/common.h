// common.h – what all event loops of a gateway share.
//
// Threads   any; every part guards itself.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "certs/cert_cache.h"
#include "proxy/config/config.h"
#include "proxy/gateway/events.h"
#include "proxy/net/client/connection_counter.h"
#include "proxy/net/upstream/parent_proxy.h"
#include "proxy/observability/decision_log.h"
#include "proxy/observability/log.h"
#include "proxy/observability/service_state.h"
#include "proxy/observability/timeline.h"
#include "proxy/request/parts.h"
#include "proxy/seams/real_clock.h"

namespace armgate {

class ClusterMember;
class MemoryStore;
struct Records;

namespace net {
class BodyRoom;
}  // namespace net

struct GatewayCommon {
  GatewayCommon(Config settings, std::optional<net::ParentProxy> behind, Records records, std::unique_ptr<Log> log_,
                certs::LeafMinter minter);
  ~GatewayCommon();

  const Config config;
  const std::optional<net::ParentProxy> parent;
  const std::string mark;  // of this process, by which it knows again what it has sent itself
  std::unique_ptr<Log> log;
  const std::unique_ptr<RealClock> clock_kept;
  RealClock& clock;
  const MemoryStore* const memory;  // of what people ask, if there is no journal; else null
  std::unique_ptr<Store> store;
  const std::unique_ptr<ClusterMember> cluster;  // null: this process is alone
  certs::CertCache cert_cache;
  SharedState shared;
  NoFaults faults;
  DecisionLog decisions;
  Timeline timeline;  // the first loop's
  net::ConnectionCounter connections;
  const size_t connections_max;
  const std::unique_ptr<net::BodyRoom> bodies;
  ConnectionEvents connection_events;
  const WallTime started = clock.wall();
  const TimePoint began = clock.now();
  std::atomic<bool> draining{false};
  std::atomic<bool> reload_good{true};
  net::ConnectionCounter admin_connections;

  // Rules and mode of a configuration that was read again; a cluster is told of them.
  void use(const Config& changed);
  ServiceState state() const;
  bool is_at_work(const Hash128& key) const;  // whether an operation of the resource is known to run
  cluster::Replica* replica() const;          // null: this process is alone
  void log_line(LogLevel level, std::string_view name, Log::Fields fields = {}) {
    log->event(level, clock.wall(), name, fields);
  }
};

}  // namespace armgate
