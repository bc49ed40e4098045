// connector.h – makes TCP connections to hosts: overrides, name resolution, address policy, deadlines.
//
// Threads   one event loop.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/socket.h"

namespace armgate::net {

// Where a host is really to be found; for tests, private clouds and `armsim`.
struct HostOverride {
  std::string address;                           // a name or an address
  uint16_t port = 0;                             // 0: the port that was asked for
  std::optional<std::filesystem::path> ca_file;  // trusted for this host instead of the system's store
};
using HostOverrides = std::map<std::string, HostOverride, std::less<>>;  // by host in lower case

enum class LocalTargets { Refuse, Allow };

// The addresses of a name, in order of preference.
using Resolve = std::function<Task<Result<std::vector<boost::asio::ip::address>>>(std::string name, TimePoint deadline)>;

// Asks the system (getaddrinfo, on Asio's resolver thread). The wait ends at the deadline even if the system goes on.
Resolve system_resolve(Clock& clock);

struct ConnectorOptions {
  Duration address_max = std::chrono::seconds(4);  // for each address, so that a dead one does not cost all the time
  HostOverrides overrides;
};

class Connector {
 public:
  Connector(Clock& clock, Executor executor, ConnectorOptions options, Resolve resolve)
      : clock_(clock), executor_(std::move(executor)), options_(std::move(options)), resolve_(std::move(resolve)) {}

  const HostOverride* find_override(std::string_view host) const;

  // Errors: Unreachable, TimedOut; BadInput if the host resolves to addresses that are refused and has no override.
  // All with Sent::No.
  Task<Result<std::unique_ptr<Socket>>> connect(std::string host, uint16_t port, LocalTargets local, TimePoint deadline);

 private:
  Task<Result<std::unique_ptr<Socket>>> connect_to(boost::asio::ip::address address, uint16_t port, std::string host,
                                                   TimePoint deadline);

  Clock& clock_;
  const Executor executor_;
  const ConnectorOptions options_;
  const Resolve resolve_;
};

// No delay for small writes, and keep-alive probes: a peer whose machine vanished never sends FIN.
void tune_tcp(int fd);

}  // namespace armgate::net
