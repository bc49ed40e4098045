#include "proxy/net/upstream/connector.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proxy/net/client/credentials_gate.h"
#include "proxy/net/upstream/address_policy.h"

namespace armgate::net {
namespace {

constexpr uint16_t kTlsPort = 443;
constexpr size_t kConnectedMax = 1000;  // names; forgetting them costs one search each

namespace ip = boost::asio::ip;

Error unreachable(std::string context) { return upstream_error(ErrorKind::Unreachable, Sent::No, std::move(context)); }

std::string authority_of(const std::string& name, uint16_t port) {
  const bool is_bare_ipv6 = name.find(':') != name.npos && !name.starts_with('[');
  return is_bare_ipv6 ? fmt::format("[{}]:{}", name, port) : fmt::format("{}:{}", name, port);
}

// Own addresses lead to armgate's own pages and proxy, too, past what guards them from outside.
std::optional<std::string_view> refused_target(const ip::address& address) {
  if (const auto refusal = refused_address(address)) return refusal;
  return is_own_address(address) ? std::optional<std::string_view>("an address of this machine") : std::nullopt;
}

std::string place_of(const ip::address& address, uint16_t port) { return fmt::format("{} port {}", address.to_string(), port); }

}  // namespace

Addresses in_turns(const Addresses& addresses) {
  Addresses ordered;
  ordered.reserve(addresses.size());
  std::array<Addresses, 2> families;  // the first one's, and the other
  for (const ip::address& address : addresses)
    families[address.is_v6() == addresses.front().is_v6() ? 0 : 1].push_back(address);
  for (size_t i = 0; i < std::max(families[0].size(), families[1].size()); ++i) {
    for (const Addresses& family : families) {
      if (i < family.size()) ordered.push_back(family[i]);
    }
  }
  return ordered;
}

void tune_tcp(int fd) {
  const auto set = [fd](int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string far_end(int fd) {
  ip::tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (::getpeername(fd, endpoint.data(), &size) != 0) return "an unknown address";
  return place_of(endpoint.address(), endpoint.port());
}

Connector::Endpoint Connector::endpoint_of(std::string_view host, uint16_t port) const {
  const auto known = port == kTlsPort ? options_.overrides.find(host) : options_.overrides.end();
  if (known == options_.overrides.end()) return {std::string(host), port, false};
  return {known->second.address, known->second.port != 0 ? known->second.port : port, true};
}

const ParentProxy* Connector::parent_of(std::string_view host, uint16_t port) const {
  if (!options_.parent || options_.parent->exceptions.covers(host, port)) return nullptr;
  const Endpoint endpoint = endpoint_of(host, port);
  return options_.parent->exceptions.covers(endpoint.name, endpoint.port) ? nullptr : &*options_.parent;
}

Task<Result<std::unique_ptr<Socket>>> Connector::connect(std::string host, uint16_t port, LocalTargets local,
                                                         TimePoint deadline) {
  Endpoint endpoint = endpoint_of(host, port);
  const ParentProxy* const parent = parent_of(host, port);
  if (parent != nullptr) return connect_through(*parent, std::move(host), std::move(endpoint), deadline);
  if (endpoint.is_known) local = LocalTargets::Allow;
  Named named{host, host};
  return connect_to_any(std::move(endpoint), local, std::move(named), deadline);
}

Addresses Connector::in_order(const std::string& name, const Addresses& resolved) const {
  Addresses ordered = in_turns(resolved);
  const auto last = connected_.find(name);
  if (last == connected_.end()) return ordered;
  const auto found = std::ranges::find(ordered, last->second);
  if (found != ordered.end()) std::rotate(ordered.begin(), found, found + 1);
  return ordered;
}

// While the first one answers, what the resolver says decides, which may spread the load.
void Connector::note_connected(const std::string& name, const ip::address& address, bool was_first) {
  if (was_first) return;
  if (connected_.size() >= kConnectedMax) connected_.clear();
  connected_.insert_or_assign(name, address);
}

Task<Result<std::unique_ptr<Socket>>> Connector::connect_to_any(Endpoint endpoint, LocalTargets local, Named named,
                                                                TimePoint deadline) {
  Addresses addresses;
  if (const auto literal = address_of(endpoint.name)) {
    addresses.push_back(*literal);
  } else {
    auto resolved = co_await resolve_(endpoint.name, deadline);
    if (!resolved) co_return std::move(resolved).error();
    addresses = in_order(endpoint.name, *resolved);
  }
  Error last = unreachable(fmt::format("{} has no address", named.target));
  for (const ip::address& address : addresses) {
    const auto refusal = local == LocalTargets::Refuse ? refused_target(address) : std::nullopt;
    if (refusal) {
      last = upstream_error(
          ErrorKind::BadInput, Sent::No,
          fmt::format("{} is {}, to which armgate opens no tunnel; put the host into NO_PROXY", named.target, *refusal));
      continue;
    }
    const TimePoint until = std::min(deadline, clock_.now() + options_.address_max);
    auto socket = co_await connect_to(address, endpoint.port, named, until);
    if (socket) {
      note_connected(endpoint.name, address, &address == &addresses.front());
      co_return socket;
    }
    last = std::move(socket).error();
    if (clock_.now() >= deadline) break;
  }
  co_return last;
}

Task<Result<std::unique_ptr<Socket>>> Connector::connect_to(ip::address address, uint16_t port, Named named,
                                                            TimePoint deadline) {
  const ip::tcp::endpoint endpoint(address, port);
  const int fd = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) {
    co_return gateway_error(ErrorKind::Internal, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  }
  auto socket = std::make_unique<Socket>(clock_, executor_, fd, Peer{ErrorSource::Upstream, named.peer});
  tune_tcp(fd);
  const std::string where = fmt::format("{} at {}", named.target, place_of(address, port));
  if (::connect(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) co_return socket;
  if (errno != EINPROGRESS) co_return unreachable(fmt::format("cannot connect to {}: {}", where, std::strerror(errno)));
  auto ready = co_await socket->wait(Waiting::Writer, Readiness::Writable, deadline);
  if (!ready) {
    co_return upstream_error(ready.error().kind, Sent::No, fmt::format("no connection to {} in time", where));
  }
  int failure = 0;
  socklen_t size = sizeof failure;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure != 0) co_return unreachable(fmt::format("cannot connect to {}: {}", where, std::strerror(failure)));
  co_return socket;
}

Task<Result<std::unique_ptr<Socket>>> Connector::connect_through(const ParentProxy& parent, std::string host, Endpoint endpoint,
                                                                 TimePoint deadline) {
  if (auto refusal = parent.gate->refusal(clock_.now())) co_return *std::move(refusal);
  Endpoint at_parent{parent.host, parent.port, true};
  Named named{parent.text(), fmt::format("{} (through {})", host, parent.text())};
  auto socket = co_await connect_to_any(std::move(at_parent), LocalTargets::Allow, std::move(named), deadline);
  if (!socket) co_return socket;
  auto opened = co_await open_tunnel(**socket, parent, authority_of(endpoint.name, endpoint.port), clock_, deadline);
  if (!opened) co_return std::move(opened).error();
  co_return socket;
}

}  // namespace armgate::net
