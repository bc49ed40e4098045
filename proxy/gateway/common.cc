#include "proxy/gateway/common.h"

#include <utility>

#include "proxy/gateway/cluster/member.h"
#include "proxy/gateway/descriptors.h"
#include "proxy/gateway/options.h"
#include "proxy/gateway/parent.h"
#include "proxy/gateway/records.h"
#include "proxy/net/client/body_room.h"

namespace armgate {

GatewayCommon::GatewayCommon(Config settings, std::optional<net::ParentProxy> behind, Records records,
                             std::unique_ptr<Log> log_, certs::LeafMinter minter)
    : config(std::move(settings)),
      parent(std::move(behind)),
      mark(parent ? parent->mark : fresh_mark()),
      log(std::move(log_)),
      clock_kept(std::move(records.clock)),
      clock(*clock_kept),
      memory(records.memory),
      store(std::move(records.store)),
      cluster(std::move(records.cluster)),
      cert_cache(std::move(minter), certs::CertCacheOptions{}),
      shared(shared_options(config, cluster.get()), Hasher(records.hash_key), ruleset_of(config)),
      connections_max(armgate::connections_max(config, descriptor_limit())),
      bodies(std::make_unique<net::BodyRoom>(config.limits.request_bodies_total)) {}

GatewayCommon::~GatewayCommon() {
  if (cluster) cluster->end();
}

void GatewayCommon::use(const Config& changed) {
  shared.use(ruleset_of(changed), changed.mode, clock);
  if (!cluster) return;
  Config now = config;
  now.mode = changed.mode;
  now.unruled = changed.unruled;
  now.rule_source = changed.rule_source;
  cluster->set_configured(now);
}

// Another replica's operation is known by the keys that it keeps.
bool GatewayCommon::is_at_work(const Hash128& key) const {
  return !shared.op_leases.on_key(key).empty() || shared.op_leases.runs_on(key) || (cluster && shared.locks.holders(key) > 0);
}

cluster::Replica* GatewayCommon::replica() const { return cluster ? &cluster->replica() : nullptr; }

ServiceState GatewayCommon::state() const {
  return {.mode = shared.rules.mode(),
          .rules = shared.rules.rules(),
          .older_rules = shared.rules.draining(),
          .config = config.source,
          .started = started,
          .authority_until = certs::end_of(cert_cache.authority()),
          .up = clock.now() - began,
          .draining = draining,
          .apart = cluster && cluster->is_apart(),
          .connections = connections.open,
          .connections_max = connections_max,
          .request_body_bytes = bodies->held(),
          .connection_events = connection_events.counts(),
          .journal_writable = store->writable(),
          .reload_good = reload_good,
          .unfinished = store->unfinished_count(),
          .locks = shared.locks.counts(),
          .cluster = cluster ? std::optional(cluster->view()) : std::nullopt};
}

}  // namespace armgate
