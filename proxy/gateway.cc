#include "proxy/gateway.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "certs/authority.h"
#include "certs/cert_cache.h"
#include "proxy/cli.h"
#include "proxy/gateway_options.h"
#include "proxy/log.h"
#include "proxy/net/server.h"
#include "proxy/net/upstream_pool.h"
#include "proxy/seams/real_clock.h"
#include "proxy/stages/parts.h"
#include "proxy/state/memory_store.h"

namespace armgate {
namespace {

// What all event loops share; every part guards itself.
struct Common {
  Common(const Config& settings, Hasher hasher, std::unique_ptr<Log> log_, certs::LeafMinter minter)
      : config(settings),
        log(std::move(log_)),
        cert_cache(std::move(minter), certs::CertCacheOptions{}),
        shared({pipeline_options(settings), client_options(settings), {}, lock_options(settings)}, hasher,
               std::make_shared<const rules::Ruleset>(settings.rules)) {}

  const Config& config;
  std::unique_ptr<Log> log;
  RealClock clock;
  certs::CertCache cert_cache;
  SharedState shared;
  MemoryStore store;
  NoFaults faults;
  net::ConnectionCounter connections;

  void tell(LogLevel level, std::string_view name, Log::Fields fields = {}) {
    log->event(level, clock.wall(), name, fields);
  }
};

void log_net_event(Common& common, const net::NetEvent& event) {
  using net::NetEventKind;
  const auto say = [&](LogLevel level, std::string_view name) {
    common.tell(level, name, {{"peer", event.peer}, {"host", event.host}, {"text", event.text}});
  };
  switch (event.kind) {
    case NetEventKind::ConnectionLimit: return say(LogLevel::Warning, "connection-limit");
    case NetEventKind::AcceptFailed: return say(LogLevel::Error, "accept-failed");
    case NetEventKind::ProxyRefused: return say(LogLevel::Warning, "connect-refused");
    case NetEventKind::HandshakeFailed: return say(LogLevel::Warning, "handshake-failed");
    case NetEventKind::RequestRefused: return say(LogLevel::Warning, "request-refused");
    case NetEventKind::TunnelFailed: return say(LogLevel::Warning, "tunnel-failed");
    case NetEventKind::TunnelOpened: return say(LogLevel::Debug, "tunnel-opened");
    case NetEventKind::TunnelClosed: return say(LogLevel::Debug, "tunnel-closed");
    case NetEventKind::ConnectionAccepted: return say(LogLevel::Debug, "connection-accepted");
    case NetEventKind::Intercepted: return say(LogLevel::Debug, "intercepted");
  }
}

// One thread's event loop with everything that lives on it. Members are destroyed in the reverse order: servers before the
// pipeline, everything before the loop.
class EventLoop {
 public:
  EventLoop(Common& common, uint64_t seed) : common_(common), rng_(seed) {}

  // Binds and wires everything; `ports` carries the first loop's ports to the others.
  Result<void> open(DoorPorts& ports) {
    auto interceptor = net::Interceptor::make(common_.cert_cache, common_.clock, intercept_options(common_.config));
    if (!interceptor) return std::move(interceptor).error();
    interceptor_ = *std::move(interceptor);
    auto upstream = net::UpstreamPool::make(common_.clock, io_.get_executor(), upstream_options(common_.config),
                                            net::system_resolve(common_.clock));
    if (!upstream) return std::move(upstream).error();
    upstream_ = *std::move(upstream);
    connector_ = std::make_unique<net::Connector>(common_.clock, io_.get_executor(), connector_options(common_.config),
                                                  net::system_resolve(common_.clock));
    parts_ = std::make_unique<Pipeline::Parts>(Pipeline::Parts{
        common_.shared, common_.clock, *upstream_, common_.store, common_.faults, rng_, io_.get_executor(),
        [this](const Exchange& exchange) { common_.log->request(exchange, common_.clock.wall(), common_.clock.now()); },
        [this](const std::string& message) { common_.tell(LogLevel::Error, "attention", {{"text", message}}); }});
    pipeline_ = std::make_unique<Pipeline>(*parts_);
    return open_doors(ports);
  }

  void start() {
    for (auto& server : servers_) server->start();
  }
  void run() { io_.run(); }
  void stop() { io_.stop(); }
  boost::asio::io_context& io() { return io_; }

  // Any thread. `drained` runs on this loop.
  void drain(std::function<void()> drained) {
    boost::asio::post(io_, [this, drained = std::move(drained)] {
      const auto left = std::make_shared<size_t>(servers_.size());
      for (auto& server : servers_) {
        server->drain([left, drained] {
          if (--*left == 0) drained();
        });
      }
    });
  }

 private:
  Result<void> open_doors(DoorPorts& ports) {
    auto proxy = open_door(proxy_door(common_.config, ports.proxy));
    if (!proxy) return std::move(proxy).error();
    ports.proxy = *proxy;
    const auto direct = direct_door(common_.config, ports.direct);
    if (!direct) return {};
    auto port = open_door(*direct);
    if (!port) return std::move(port).error();
    ports.direct = *port;
    return {};
  }

  Result<uint16_t> open_door(net::ServerOptions options) {
    auto server = net::ProxyServer::open(
        net::ServerParts{common_.clock, io_.get_executor(), *interceptor_, *connector_,
                         [this](Exchange& exchange, ClientLink& client) { return pipeline_->serve(exchange, client); },
                         common_.connections, [this](const net::NetEvent& event) { log_net_event(common_, event); }},
        std::move(options));
    if (!server) return std::move(server).error();
    servers_.push_back(*std::move(server));
    return servers_.back()->port();
  }

  Common& common_;
  Rng rng_;
  boost::asio::io_context io_{1};
  std::unique_ptr<net::Interceptor> interceptor_;
  std::unique_ptr<net::UpstreamPool> upstream_;
  std::unique_ptr<net::Connector> connector_;
  std::unique_ptr<Pipeline::Parts> parts_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<std::unique_ptr<net::ProxyServer>> servers_;
};

// Ends the service in order: no new connections, running exchanges finish, then the loops stop.
class Shutdown {
 public:
  Shutdown(Common& common, std::vector<std::unique_ptr<EventLoop>>& loops)
      : common_(common), loops_(loops), signals_(loops.front()->io(), SIGTERM, SIGINT) {}

  // True if the loops were stopped with exchanges still running.
  bool forced() const { return forced_; }

  void wait() {
    signals_.async_wait([this](const boost::system::error_code& failed, int) {
      if (!failed) begin();
    });
  }

 private:
  void begin() {
    if (draining_) return force("second-signal");
    draining_ = true;
    common_.tell(LogLevel::Info, "draining");
    limit_ = common_.clock.call_at(loops_.front()->io().get_executor(), common_.clock.now() + common_.config.drain_max,
                                   [this] { force("drain-limit"); });
    for (auto& loop : loops_) {
      loop->drain([this] {
        boost::asio::post(loops_.front()->io(), [this] {
          if (++drained_ == loops_.size()) stop("drained");
        });
      });
    }
    wait();
  }

  void force(std::string_view why) {
    forced_ = true;
    stop(why);
  }

  void stop(std::string_view why) {
    if (std::exchange(stopped_, true)) return;
    common_.tell(LogLevel::Info, "stopped", {{"why", why}});
    limit_.reset();
    signals_.cancel();
    for (auto& loop : loops_) loop->stop();
  }

  Common& common_;
  std::vector<std::unique_ptr<EventLoop>>& loops_;
  boost::asio::signal_set signals_;
  std::unique_ptr<TimerHandle> limit_;
  size_t drained_ = 0;
  bool draining_ = false;
  bool stopped_ = false;
  bool forced_ = false;
};

int fail(const Error& error) {
  std::fprintf(stderr, "armgate: %s\n", error.context.c_str());
  return error.kind == ErrorKind::BadInput ? kExitBadInput : kExitRuntime;
}

Result<std::unique_ptr<Common>> make_common(const Config& config) {
  auto log = Log::open(config.log.file, config.log.level);
  if (!log) return std::move(log).error();
  auto authority = certs::load_authority(config.ca.directory, config.intercept, RealClock().wall());
  if (!authority) return std::move(authority).error();
  auto minter = certs::LeafMinter::make(*std::move(authority));
  if (!minter) return std::move(minter).error();
  return std::make_unique<Common>(config, Hasher(random_hash_key()), *std::move(log), *std::move(minter));
}

void announce(Common& common, const DoorPorts& ports) {
  const auto proxy = door_text(common.config.listen.proxy, ports.proxy);
  const auto direct = common.config.listen.tls.empty() ? std::string() : door_text(common.config.listen.tls, ports.direct);
  const auto ca = certs::files_in(common.config.ca.directory).root.string();
  common.tell(LogLevel::Info, "started",
              {{"version", ARMGATE_VERSION},
               {"proxy", proxy},
               {"tls", direct},
               {"ca", ca},
               {"config", common.config.source},
               {"mode", common.config.mode == rules::Mode::Off ? "off" : "protect"},
               {"rules", std::to_string(common.config.rules.size())}});
  if (::isatty(STDERR_FILENO) != 0) {
    std::fprintf(stderr, "armgate: use it with  HTTPS_PROXY=http://NAME:x@%s  and trust  %s\n", proxy.c_str(), ca.c_str());
  }
}

}  // namespace

int run_gateway(const Config& config) {
  auto common = make_common(config);
  if (!common) return fail(common.error());

  std::vector<std::unique_ptr<EventLoop>> loops;
  DoorPorts ports;
  const size_t threads = config.threads > 0 ? static_cast<size_t>(config.threads)
                                            : std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 0; i < threads; ++i) {
    loops.push_back(std::make_unique<EventLoop>(**common, random_hash_key().first));
    if (auto opened = loops.back()->open(ports); !opened) return fail(opened.error());
  }
  Shutdown shutdown(**common, loops);
  shutdown.wait();
  announce(**common, ports);

  for (auto& loop : loops) loop->start();
  std::vector<std::thread> others;
  for (size_t i = 1; i < loops.size(); ++i) {
    EventLoop* loop = loops[i].get();
    others.emplace_back([loop] { loop->run(); });
  }
  loops.front()->run();
  for (auto& thread : others) thread.join();
  // Exchanges that were cut are parked in tables and on timers of each other's loops: unwinding them in any order would touch
  // what is gone. Their writes are in doubt either way, and the process ends here.
  if (shutdown.forced()) {
    (*common)->log.reset();  // the last lines are written
    std::_Exit(kExitDone);
  }
  return kExitDone;
}

}  // namespace armgate
