// event_loop.h – one thread's event loop with everything that lives on it.
//
// Invariants  servers end before the pipeline, everything before the loop.
// Threads     the loop's own, but for what says otherwise.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "proxy/gateway/listeners.h"
#include "proxy/net/upstream/name_resolver.h"
#include "proxy/observability/metrics.h"
#include "proxy/observability/tally.h"
#include "proxy/observability/upstream_watch.h"
#include "proxy/request/parts.h"
#include "proxy/request/receipt.h"
#include "proxy/seams/client_link.h"

namespace armgate {

class Admin;
class Pipeline;
struct GatewayCommon;

namespace net {
class BodyRoom;
class Connector;
class Interceptor;
class ProxyServer;
class UpstreamPool;
struct ConnectionCounter;
struct ServerOptions;
}  // namespace net

class EventLoop {
 public:
  EventLoop(GatewayCommon& common, uint64_t seed);
  ~EventLoop();

  Parts& parts() { return *parts_; }

  // Binds and wires everything; `ports` carries the first loop's ports to the others.
  Result<void> open(ListenerPorts& ports, const Admin& admin);

  void start();
  void run() { io_.run(); }
  void stop() { io_.stop(); }
  boost::asio::io_context& io() { return io_; }
  const GatewayTally& tally() const { return tally_; }        // any thread
  const RequestMetrics& metrics() const { return metrics_; }  // any thread
  const UpstreamWatch& watch() const { return *watch_; }      // any thread

  // Any thread. `drained` runs on this loop.
  void drain(std::function<void()> drained);
  // Any thread.
  void stop_waiting();

 private:
  void note_finished(const Exchange& exchange);
  Result<void> open_listeners(ListenerPorts& ports, const Admin& admin);
  Result<void> open_admin(ListenerPorts& ports, const Admin& admin);
  using Handler = std::function<Task<Receipt>(Exchange& exchange, ClientLink& client)>;
  Result<std::unique_ptr<net::ProxyServer>> open_server(net::ServerOptions options, Handler handler,
                                                        net::ConnectionCounter& counter, net::BodyRoom* bodies);
  Result<uint16_t> open_listener(net::ServerOptions options);

  GatewayCommon& common_;
  GatewayTally tally_;
  RequestMetrics metrics_;
  Rng rng_;
  boost::asio::io_context io_{1};
  // A client that may open tunnels can ask for names that nobody answers for: ARM's must not wait behind them.
  net::NameResolver arm_names_;
  net::NameResolver tunnel_names_;
  std::unique_ptr<net::Interceptor> interceptor_;
  std::unique_ptr<net::UpstreamPool> upstream_;
  std::unique_ptr<UpstreamWatch> watch_;
  std::unique_ptr<net::Connector> connector_;
  std::unique_ptr<Parts> parts_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<std::unique_ptr<net::ProxyServer>> servers_;
  std::unique_ptr<net::ProxyServer> admin_;
};

}  // namespace armgate
