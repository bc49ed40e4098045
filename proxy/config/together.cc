#include "proxy/config/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proxy/config/proxy_url.h"
#include "proxy/net/upstream/address_policy.h"
#include "proxy/net/upstream/host_pattern.h"

namespace armgate {
namespace {

struct Address {
  std::string host;
  std::string port;
};

Address split(const std::string& text) {
  const size_t colon = text.rfind(':');
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Whether one of them can be had only without the other. "[::]" takes IPv4 in as well (net.ipv6.bindv6only is 0 unless set).
bool is_same_place(const std::string& one_text, const std::string& other_text) {
  const Address one = split(one_text);
  const Address other = split(other_text);
  if (one.port != other.port || one.port == "0") return false;
  const auto takes_in = [](const Address& all, const Address& single) {
    return all.host == "[::]" || (all.host == "0.0.0.0" && !single.host.starts_with('['));
  };
  return one.host == other.host || takes_in(one, other) || takes_in(other, one);
}

// Whether a listener at all addresses of this machine is reached there. A name is not looked up: it may be another machine's.
bool is_this_machine(const std::string& host) {
  const auto address = net::address_of(host);
  return address && (address->is_unspecified() || net::is_loopback(*address) || net::is_own_address(*address));
}

// Whether it is where armgate itself listens, by the name of this machine too. `address`: "host:port".
bool leads_back(const Config& config, const std::string& address) {
  const auto location = parse_proxy_url(address);
  return location && is_own_listener(config, location->place());
}

// An armgate that is to be one of a cluster, and is none, runs alone: its writes would not wait for the others'.
void check_cluster(const Config& config, Together& together) {
  if (!config.cluster.engine.empty()) return;
  const auto require_none = [&](bool good, const char* pointer) {
    together.require(good, pointer, "/cluster/engine",
                     "belongs to no cluster, and this armgate would run alone: name the engine in /cluster/engine, or leave "
                     "this out");
  };
  require_none(config.cluster.key_file.empty(), "/cluster/key_file");
  require_none(config.cluster.replica.empty(), "/cluster/replica");
  require_none(!config.cluster.experimental, "/cluster/experimental");
}

void check_parent(const Config& config, Together& together) {
  constexpr const char* kProxy = "/upstream/proxy";
  constexpr const char* kPassword = "/upstream/proxy_password_file";
  const auto parent = parse_proxy_url(config.upstream.proxy);
  if (!parent) {
    return together.require(config.upstream.proxy_password_file.empty(), kPassword, kProxy,
                            "belongs to no proxy: name one in /upstream/proxy");
  }
  together.require(!is_own_listener(config, parent->place()), kProxy, "/listen",
                   "is where armgate itself listens; name the proxy through which this network is left");
  together.require(!parent->user.empty() || config.upstream.proxy_password_file.empty(), kPassword, kProxy,
                   "belongs to no user: put one into /upstream/proxy (http://USER@HOST:PORT)");
}

}  // namespace

void Together::require(bool good, const std::string& pointer, const std::string& other, std::string message) {
  if (good || is_wrong(pointer) || is_wrong(other)) return;
  faults_.push_back({config_.source, positions_.line_of(pointer), pointer, std::move(message)});
}

bool Together::is_wrong(const std::string& pointer) const {
  const auto is_within = [](const std::string& inner, const std::string& outer) {
    return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
  };
  return std::any_of(before_.begin(), before_.end(), [&](const rules::Fault& fault) {
    return is_within(fault.pointer, pointer) || is_within(pointer, fault.pointer);
  });
}

bool is_own_listener(const Config& config, const std::string& address) {
  const std::string host = split(address).host;
  const auto is_there = [&](const std::string& listener) {
    if (listener.empty() || !is_same_place(listener, address)) return false;
    return split(listener).host == host || is_this_machine(host);
  };
  return is_there(config.listen.proxy) || is_there(config.listen.tls) || is_there(config.listen.admin);
}

void check_together(const Config& config, Together& together) {
  const auto require_most = [&](bool good, const char* pointer, const char* other, const char* kind) {
    together.require(good, pointer, other, fmt::format("is {} than {}; lower it or raise the other", kind, other));
  };
  require_most(config.queue.waiters_per_key <= config.queue.waiters_total, "/queue/waiters_per_key", "/queue/waiters_total",
               "more");
  require_most(config.history.client_bytes <= config.history.total_bytes, "/history/client_bytes", "/history/total_bytes",
               "more");
  require_most(config.history.think_max <= config.history.observation_age, "/history/think_max", "/history/observation_age",
               "longer");
  require_most(config.limits.target_bytes <= config.limits.head_bytes, "/limits/target_bytes", "/limits/head_bytes", "more");
  require_most(config.limits.request_body_bytes <= config.limits.request_bodies_total, "/limits/request_body_bytes",
               "/limits/request_bodies_total", "more");
  const auto require_own_place = [&](const std::string& listener, const char* pointer, const std::string& other,
                                     const char* name) {
    const bool differ = listener.empty() || other.empty() || !is_same_place(listener, other);
    together.require(differ, pointer, name, fmt::format("is the place of {} too; give it a port of its own", name));
  };
  require_own_place(config.listen.tls, "/listen/tls", config.listen.proxy, "/listen/proxy");
  require_own_place(config.listen.admin, "/listen/admin", config.listen.proxy, "/listen/proxy");
  require_own_place(config.listen.admin, "/listen/admin", config.listen.tls, "/listen/tls");
  for (const auto& [host, given] : config.hosts) {
    together.require(given.address.empty() || !leads_back(config, given.address), fmt::format("/hosts/{}/address", host),
                     "/listen", "is where armgate itself listens; name the address of the host itself");
    if (given.ca_file.empty() || net::matches_host(host, config.intercept)) continue;
    together.require(
        false, fmt::format("/hosts/{}/ca_file", host), "/intercept",
        "is of no use: /intercept does not cover this host, so its certificate is for its clients to verify; add the "
        "host to /intercept, correct its name, or leave this out");
  }
  check_parent(config, together);
  check_cluster(config, together);
}

}  // namespace armgate
