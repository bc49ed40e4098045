// connector.h – makes TCP connections to hosts: overrides, name resolution, address policy, the parent proxy, deadlines.
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

#include "proxy/net/socket/socket.h"
#include "proxy/net/upstream/parent_proxy.h"

namespace armgate::net {

// Where a host's TLS port (443) is really to be found; for tests, private clouds and `armsim`.
struct HostOverride {
  std::string address;                           // a name or an address
  uint16_t port = 0;                             // 0: the port that was asked for
  std::optional<std::filesystem::path> ca_file;  // trusted for this host instead of the system's store
};
using HostOverrides = std::map<std::string, HostOverride, std::less<>>;  // by host in lower case

enum class LocalTargets { Refuse, Allow };

using Addresses = std::vector<boost::asio::ip::address>;

// The same, families in turns, the first one's first (RFC 8305, section 4): a family that leads nowhere costs the time of one
// address, and not of all that come before the other family's.
Addresses in_turns(const Addresses& addresses);

// The addresses of a name, in order of preference (name_resolver.h).
using Resolve = std::function<Task<Result<Addresses>>(std::string name, TimePoint deadline)>;

struct ConnectorOptions {
  Duration address_max = std::chrono::seconds(4);  // for each address, so that a dead one does not cost all the time
  HostOverrides overrides;
  std::optional<ParentProxy> parent;
};

class Connector {
 public:
  Connector(Clock& clock, Executor executor, ConnectorOptions options, Resolve resolve)
      : clock_(clock), executor_(std::move(executor)), options_(std::move(options)), resolve_(std::move(resolve)) {}

  // Errors: Unreachable, TimedOut; BadInput if the host resolves to addresses that are refused and has no override. Of a host
  // behind the parent proxy the addresses are not known here: that one has rules of its own. All with Sent::No.
  Task<Result<std::unique_ptr<Socket>>> connect(std::string host, uint16_t port, LocalTargets local, TimePoint deadline);

  // The parent proxy, if the host is reached through it.
  const ParentProxy* parent_of(std::string_view host, uint16_t port) const;

 private:
  struct Endpoint {
    std::string name;  // or an address
    uint16_t port = 0;
    bool is_known = false;  // by an override
  };
  // For messages.
  struct Named {
    std::string target;  // what is connected to
    std::string peer;    // who is at the far end then
  };
  Endpoint endpoint_of(std::string_view host, uint16_t port) const;
  Addresses in_order(const std::string& name, const Addresses& resolved) const;
  void note_connected(const std::string& name, const boost::asio::ip::address& address, bool was_first);
  Task<Result<std::unique_ptr<Socket>>> connect_to_any(Endpoint endpoint, LocalTargets local, Named named, TimePoint deadline);
  Task<Result<std::unique_ptr<Socket>>> connect_to(boost::asio::ip::address address, uint16_t port, Named named,
                                                   TimePoint deadline);
  Task<Result<std::unique_ptr<Socket>>> connect_through(const ParentProxy& parent, std::string host, Endpoint endpoint,
                                                        TimePoint deadline);

  Clock& clock_;
  const Executor executor_;
  const ConnectorOptions options_;
  const Resolve resolve_;
  // By name, where those before it had failed: it is tried first from then on.
  std::map<std::string, boost::asio::ip::address> connected_;
};

// No delay for small writes, and keep-alive probes: a peer whose machine vanished never sends FIN.
void tune_tcp(int fd);

// Of a connected socket, for messages: its peer's address and port.
std::string far_end(int fd);

}  // namespace armgate::net
