#include "proxy/net/connector.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proxy/async/waiter.h"
#include "proxy/net/address_policy.h"

namespace armgate::net {
namespace {

namespace ip = boost::asio::ip;
using Addresses = std::vector<ip::address>;

Error unreachable(std::string context) { return upstream_error(ErrorKind::Unreachable, Sent::No, std::move(context)); }

struct Resolution {
  explicit Resolution(const Executor& executor) : resolver(executor), done(executor) {}
  ip::tcp::resolver resolver;
  Waiter done;
  boost::system::error_code failure;
  Addresses addresses;
};

enum ResolutionSignal : uint32_t { kResolved = 1, kTooLate = 2 };

Task<Result<Addresses>> resolve_by_system(Clock& clock, std::string name, TimePoint deadline) {
  const Executor executor = co_await current_executor();
  const auto resolution = std::make_shared<Resolution>(executor);
  resolution->resolver.async_resolve(name, "", [resolution](const auto& failure, const auto& results) {
    resolution->failure = failure;
    for (const auto& result : results) {
      const ip::address address = result.endpoint().address();
      auto& known = resolution->addresses;
      if (std::find(known.begin(), known.end(), address) == known.end()) known.push_back(address);
    }
    resolution->done.signal(kResolved);
  });
  const auto timer = clock.call_at(executor, deadline, [resolution] { resolution->done.signal(kTooLate); });
  const uint32_t signals = co_await resolution->done.wait();
  if ((signals & kResolved) == 0) {
    co_return upstream_error(ErrorKind::TimedOut, Sent::No, fmt::format("the name {} was not resolved in time", name));
  }
  if (resolution->failure || resolution->addresses.empty()) {
    co_return unreachable(fmt::format("the name {} has no address: {}", name, resolution->failure.message()));
  }
  co_return std::move(resolution->addresses);
}

}  // namespace

Resolve system_resolve(Clock& clock) {
  return [&clock](std::string name, TimePoint deadline) { return resolve_by_system(clock, std::move(name), deadline); };
}

void tune_tcp(int fd) {
  const auto set = [fd](int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

const HostOverride* Connector::find_override(std::string_view host) const {
  const auto it = options_.overrides.find(host);
  return it == options_.overrides.end() ? nullptr : &it->second;
}

Task<Result<std::unique_ptr<Socket>>> Connector::connect(std::string host, uint16_t port, LocalTargets local,
                                                         TimePoint deadline) {
  const HostOverride* const known = find_override(host);
  const std::string name = known != nullptr ? known->address : host;
  if (known != nullptr && known->port != 0) port = known->port;

  Addresses addresses;
  if (const auto literal = address_of(name)) {
    addresses.push_back(*literal);
  } else {
    auto resolved = co_await resolve_(name, deadline);
    if (!resolved) co_return std::move(resolved).error();
    addresses = *std::move(resolved);
  }
  Error last = unreachable(fmt::format("{} has no address", host));
  for (const ip::address& address : addresses) {
    const auto refusal = refused_address(address);
    if (refusal && local == LocalTargets::Refuse && known == nullptr) {
      last =
          upstream_error(ErrorKind::BadInput, Sent::No,
                         fmt::format("{} is {}, to which armgate opens no tunnel; put the host into NO_PROXY", host, *refusal));
      continue;
    }
    const TimePoint until = std::min(deadline, clock_.now() + options_.address_max);
    auto socket = co_await connect_to(address, port, host, until);
    if (socket) co_return socket;
    last = std::move(socket).error();
    if (clock_.now() >= deadline) break;
  }
  co_return last;
}

Task<Result<std::unique_ptr<Socket>>> Connector::connect_to(ip::address address, uint16_t port, std::string host,
                                                            TimePoint deadline) {
  const ip::tcp::endpoint endpoint(address, port);
  const int fd = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) {
    co_return gateway_error(ErrorKind::Internal, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  }
  auto socket = std::make_unique<Socket>(clock_, executor_, fd, Peer{ErrorSource::Upstream, host});
  tune_tcp(fd);
  const std::string where = fmt::format("{} at {} port {}", host, address.to_string(), port);
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

}  // namespace armgate::net
