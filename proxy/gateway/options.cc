#include "proxy/gateway/options.h"

#include <tuple>
#include <utility>

#include "proxy/gateway/descriptors.h"
#include "proxy/gateway/listeners.h"
#include "proxy/net/client/intercept.h"
#include "proxy/net/client/server.h"
#include "proxy/net/upstream/host_pattern.h"
#include "proxy/observability/admin/admin_leases.h"

namespace armgate {
namespace {

constexpr Duration kAdminWaitMax = std::chrono::seconds(5);

http::Limits http_limits(const Config& config) {
  http::Limits limits;
  limits.head_bytes_max = config.limits.head_bytes;
  limits.fields_max = config.limits.fields;
  limits.target_bytes_max = config.limits.target_bytes;
  limits.request_body_bytes_max = config.limits.request_body_bytes;
  return limits;
}

net::ServerOptions listener(const Config& config, const std::string& address, uint16_t bound, net::ListenerKind kind) {
  net::ServerOptions options;
  std::tie(options.address, options.port) = split_address(address);
  if (bound != 0) {
    options.port = bound;
    options.port_use = net::PortUse::Join;
  }
  options.listener_kind = kind;
  options.connections_max = config.limits.connections;
  options.connect.intercepted = config.intercept;
  options.connect.allowed = config.allow_connect_to;
  options.session.limits = http_limits(config);
  options.session.idle_max = config.limits.idle_max;
  options.session.head_max = config.limits.head_max;
  options.session.body_max = config.limits.body_max;
  options.connect_head_max = config.limits.head_max;
  options.tunnel_connect_max = config.upstream.connect_max;
  options.tunnel_idle_max = config.limits.tunnel_idle_max;
  return options;
}

net::ConnectorOptions connector_options(const Config& config, const Parent& parent) {
  net::ConnectorOptions options;
  options.parent = parent;
  for (const auto& [host, given] : config.hosts) {
    net::HostOverride override_;
    if (given.address.empty()) {
      override_.address = host;
    } else {
      std::tie(override_.address, override_.port) = split_address(given.address);
    }
    if (!given.ca_file.empty()) override_.ca_file = given.ca_file;
    options.overrides[host] = std::move(override_);
  }
  return options;
}

}  // namespace

std::shared_ptr<const rules::Ruleset> ruleset_of(const Config& config) {
  return std::make_shared<const rules::Ruleset>(config.rules, config.errors, config.queue_timeouts, config.facts,
                                                config.rule_source);
}

PipelineOptions pipeline_options(const Config& config) {
  PipelineOptions options;
  options.mode = config.mode;
  options.merge = config.merge;
  options.wait_max = config.queue.wait_max;
  options.answer_timeout = config.upstream.answer_max;
  options.body_keep_max = config.history.body_keep_max;
  options.sends_fenced = config.cluster.sends_fenced;
  options.versions_compared_max = config.history.versions_compared_max;
  options.list_scan_max = config.history.list_scan_max;
  options.poll_first = config.operations.poll_first;
  options.poll_with_waiter = config.operations.poll_waited;
  options.poll_without_waiter = config.operations.poll_unwaited;
  for (const auto& [name, client] : config.clients) options.clients[name] = {client.actor, client.merge};
  options.is_arm_host = [patterns = config.intercept](std::string_view host) { return net::matches_host(host, patterns); };
  return options;
}

ClientTable::Options client_options(const Config& config) {
  ClientTable::Options options;
  options.page_bytes_max = config.history.total_bytes;
  options.client.page_bytes_max = config.history.client_bytes;
  options.client.observation_age = config.history.observation_age;
  options.client.sendings.in_doubt_max = config.history.in_doubt_max;
  options.client.sendings.keep = config.history.answer_keep;
  options.client.sendings.repeat_keep = config.history.repeat_keep;
  options.client.sendings.bytes_max = config.history.answer_bytes;
  return options;
}

ResourceTable::Options resource_options(const Config& config) {
  ResourceTable::Options options;
  options.body_bytes_max = config.history.total_bytes;
  options.history.think_max = config.history.think_max;
  options.history.observation_age = config.history.observation_age;
  return options;
}

LockTable::Options lock_options(const Config& config) { return {config.queue.waiters_per_key, config.queue.waiters_total}; }

Reservations::Options reservation_options(const Config& config) {
  Reservations::Options options;
  options.ttl = config.queue.reservation_ttl;
  options.claim_timeout = config.queue.claim_timeout;
  options.age_max = config.queue.reservation_age_max;
  return options;
}

OperationResults::Options result_options(const Config& config) {
  OperationResults::Options options;
  options.failures = config.sick.failures;
  options.window = config.sick.window;
  options.stuck_after = config.sick.stuck_after;
  return options;
}

Budgets::Options budget_options(const Config& config) {
  return {static_cast<double>(config.budgets.own_percent) / 100, config.budgets.fair, config.budgets.waiters_max};
}

SharedState::Options shared_options(const Config& config) {
  return {.pipeline = pipeline_options(config),
          .clients = client_options(config),
          .resources = resource_options(config),
          .locks = lock_options(config),
          .reservations = reservation_options(config),
          .results = result_options(config),
          .owned = {config.operations.owned_max, config.operations.resend_bytes},
          .budgets = budget_options(config)};
}

net::ConnectorOptions tunnel_options(const Config& config, const Parent& parent) {
  net::ConnectorOptions options = connector_options(config, parent);
  // Of a host that is looked into, only what goes past that (another port) gets here.
  std::erase_if(options.overrides, [&config](const auto& known) { return net::matches_host(known.first, config.intercept); });
  return options;
}

net::UpstreamOptions upstream_options(const Config& config, const Parent& parent) {
  net::UpstreamOptions options;
  options.host.connections_max = config.upstream.connections_per_host;
  options.host.idle_connections_max = config.upstream.idle_per_host;
  options.host.idle_max = config.upstream.idle_max;
  options.host.connect_max = config.upstream.connect_max;
  options.host.handshake_max = config.upstream.handshake_max;
  // What leaves here must have arrived, or never will, when others take over the keys of a dead replica.
  const bool has_others = !config.cluster.engine.empty() && config.cluster.quiet > Duration::zero();
  options.host.unacknowledged_max =
      has_others ? std::min(config.upstream.unacknowledged_max, config.cluster.quiet / 2) : config.upstream.unacknowledged_max;
  options.limits = http_limits(config);
  options.stall_max = config.upstream.stall_max;
  if (!config.upstream.ca_file.empty()) options.ca_file = config.upstream.ca_file;
  if (!config.upstream.proxy_ca_file.empty()) options.parent_ca_file = config.upstream.proxy_ca_file;
  options.connector = connector_options(config, parent);
  return options;
}

net::InterceptOptions intercept_options(const Config& config) { return {config.intercept, config.limits.handshake_max}; }

net::ServerOptions proxy_listener(const Config& config, uint16_t bound) {
  return listener(config, config.listen.proxy, bound, net::ListenerKind::Proxy);
}

std::optional<net::ServerOptions> direct_listener(const Config& config, uint16_t bound) {
  if (config.listen.tls.empty()) return std::nullopt;
  return listener(config, config.listen.tls, bound, net::ListenerKind::Direct);
}

std::optional<net::ServerOptions> admin_listener(const Config& config) {
  if (config.listen.admin.empty()) return std::nullopt;
  net::ServerOptions options = listener(config, config.listen.admin, 0, net::ListenerKind::Plain);
  options.connections_max = kAdminConnectionsMax;
  // No caller of this listener may keep liveness probes out: bodies are small, and waits are short.
  options.session.limits.request_body_bytes_max = kLeaseBytesMax;
  options.session.limits.request_body_is_option = false;
  options.session.limits.host_is_optional = true;  // balancers probe so
  // A monitor that asks every few seconds would sometimes find its kept connection closed at the moment when it uses it. So
  // each request has a connection of its own.
  options.session.one_request_each = true;
  options.session.idle_max = options.session.head_max = options.session.body_max = options.session.write_max = kAdminWaitMax;
  return options;
}

}  // namespace armgate
