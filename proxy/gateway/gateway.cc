#include "proxy/gateway/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "certs/authority.h"
#include "certs/cert_cache.h"
#include "proxy/gateway/cluster_member.h"
#include "proxy/gateway/events.h"
#include "proxy/gateway/options.h"
#include "proxy/gateway/parent.h"
#include "proxy/gateway/records.h"
#include "proxy/net/client/server.h"
#include "proxy/net/upstream/upstream_pool.h"
#include "proxy/observability/admin.h"
#include "proxy/observability/decision_log.h"
#include "proxy/observability/log.h"
#include "proxy/observability/metrics.h"
#include "proxy/observability/timeline.h"
#include "proxy/observability/upstream_watch.h"
#include "proxy/request/identify.h"
#include "proxy/request/operation/restore.h"
#include "proxy/request/operation/unlock.h"
#include "proxy/request/parts.h"
#include "proxy/request/pipeline.h"
#include "proxy/seams/real_clock.h"

namespace armgate {
// What all event loops share; every part guards itself.
struct Gateway::Common {
  Common(Config settings, Parent behind, Records records, std::unique_ptr<Log> log_, certs::LeafMinter minter)
      : config(std::move(settings)),
        parent(std::move(behind)),
        log(std::move(log_)),
        clock_kept(std::move(records.clock)),
        clock(*clock_kept),
        memory(records.memory),
        store(std::move(records.store)),
        cluster(std::move(records.cluster)),
        cert_cache(std::move(minter), certs::CertCacheOptions{}),
        shared(shared_options(config, cluster.get()), Hasher(records.hash_key),
               std::make_shared<const rules::Ruleset>(config.rules, config.errors, config.patience, config.facts)) {}

  const Config config;
  const Parent parent;
  std::unique_ptr<Log> log;
  const std::unique_ptr<RealClock> clock_kept;
  RealClock& clock;
  const MemoryStore* const memory;  // the store, if there is no journal; else null
  std::unique_ptr<Store> store;
  const std::unique_ptr<ClusterMember> cluster;  // null: this process is alone
  certs::CertCache cert_cache;
  SharedState shared;
  NoFaults faults;
  DecisionLog decisions;
  Timeline timeline;  // the first loop's
  net::ConnectionCounter connections;
  const WallTime started = clock.wall();
  const TimePoint began = clock.now();
  std::atomic<bool> draining{false};
  net::ConnectionCounter admin_connections;

  ServiceState state() const;
  void tell(LogLevel level, std::string_view name, Log::Fields fields = {}) { log->event(level, clock.wall(), name, fields); }
};

ServiceState Gateway::Common::state() const {
  return {.mode = shared.rules.mode(),
          .rules = shared.rules.rules(),
          .config = config.source,
          .started = started,
          .up = clock.now() - began,
          .draining = draining,
          .apart = cluster && cluster->replica().is_apart(),
          .connections = connections.open,
          .journal_writable = store->writable(),
          .unfinished = store->unfinished_count(),
          .locks = shared.locks.counts()};
}

// One thread's event loop with everything that lives on it. Members are destroyed in the reverse order: servers before
// the pipeline, everything before the loop.
class Gateway::EventLoop {
 public:
  EventLoop(Common& common, uint64_t seed) : common_(common), rng_(seed) {}

  Parts& parts() { return *parts_; }

  // Binds and wires everything; `ports` carries the first loop's ports to the others.
  Result<void> open(DoorPorts& ports, const Admin& admin) {
    auto interceptor = net::Interceptor::make(common_.cert_cache, common_.clock, intercept_options(common_.config));
    if (!interceptor) return std::move(interceptor).error();
    interceptor_ = *std::move(interceptor);
    auto upstream = net::UpstreamPool::make(common_.clock, io_.get_executor(), upstream_options(common_.config, common_.parent),
                                            net::system_resolve(common_.clock));
    if (!upstream) return std::move(upstream).error();
    upstream_ = *std::move(upstream);
    watch_ = std::make_unique<UpstreamWatch>(*upstream_);
    connector_ = std::make_unique<net::Connector>(
        common_.clock, io_.get_executor(), tunnel_options(common_.config, common_.parent), net::system_resolve(common_.clock));
    parts_ = std::make_unique<Parts>(Parts{common_.shared, common_.clock, *watch_, *common_.store, common_.faults, rng_,
                                           io_.get_executor(), [this](const Exchange& exchange) { note_finished(exchange); },
                                           [this](const std::string& message) {
                                             common_.tell(LogLevel::Error, "attention", {{"text", message}});
                                           },
                                           [this](const WouldHave& would) {
                                             tally_.count(would);
                                             log_finding(*common_.log, common_.clock.wall(), would);
                                           }});
    if (common_.cluster) parts_->cluster = &common_.cluster->replica();
    pipeline_ = std::make_unique<Pipeline>(*parts_);
    return open_doors(ports, admin);
  }

  void start() {
    if (admin_) admin_->start();
    for (auto& server : servers_) server->start();
  }
  void run() { io_.run(); }
  void stop() { io_.stop(); }
  boost::asio::io_context& io() { return io_; }
  const GatewayTally& tally() const { return tally_; }        // any thread
  const RequestMetrics& metrics() const { return metrics_; }  // any thread
  const UpstreamWatch& watch() const { return *watch_; }      // any thread

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

  // Any thread.
  void stop_waiting() {
    boost::asio::post(io_, [this] {
      for (auto& server : servers_) server->stop_waiting();
    });
  }

 private:
  void note_finished(const Exchange& exchange) {
    const TimePoint now = common_.clock.now();
    tally_.count(exchange);
    metrics_.count(exchange, now);
    const WallTime wall = common_.clock.wall();
    if (!common_.config.listen.admin.empty()) common_.decisions.note(exchange, wall, now);
    common_.log->request(exchange, wall, now);
  }

  // Before the others: who finds the proxy open finds the pages too.
  Result<void> open_doors(DoorPorts& ports, const Admin& admin) {
    const bool is_first_loop = ports.proxy == 0;
    if (is_first_loop) {
      if (auto opened = open_admin(ports, admin); !opened) return opened;
    }
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

  // Stays open while the others drain.
  Result<void> open_admin(DoorPorts& ports, const Admin& admin) {
    auto door = admin_door(common_.config);
    if (!door) return {};
    const auto answer = [&admin](Exchange& exchange, ClientLink& client) { return admin.serve(exchange, client); };
    auto server = open_server(*std::move(door), answer, common_.admin_connections);
    if (!server) return std::move(server).error();
    admin_ = *std::move(server);
    ports.admin = admin_->port();
    return {};
  }

  Result<std::unique_ptr<net::ProxyServer>> open_server(net::ServerOptions options, net::RequestHandler handler,
                                                        net::ConnectionCounter& counter) {
    return net::ProxyServer::open(
        net::ServerParts{common_.clock, io_.get_executor(), *interceptor_, *connector_, std::move(handler), counter,
                         [this](const net::NetEvent& event) { log_event(*common_.log, common_.clock.wall(), event); }},
        std::move(options));
  }

  Result<uint16_t> open_door(net::ServerOptions options) {
    if (common_.parent) options.connect.own_mark = common_.parent->mark;
    const auto serve = [this](Exchange& exchange, ClientLink& client) { return pipeline_->serve(exchange, client); };
    auto server = open_server(std::move(options), serve, common_.connections);
    if (!server) return std::move(server).error();
    servers_.push_back(*std::move(server));
    return servers_.back()->port();
  }

  Common& common_;
  GatewayTally tally_;
  RequestMetrics metrics_;
  Rng rng_;
  boost::asio::io_context io_{1};
  std::unique_ptr<net::Interceptor> interceptor_;
  std::unique_ptr<net::UpstreamPool> upstream_;
  std::unique_ptr<UpstreamWatch> watch_;
  std::unique_ptr<net::Connector> connector_;
  std::unique_ptr<Parts> parts_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<std::unique_ptr<net::ProxyServer>> servers_;
  std::unique_ptr<net::ProxyServer> admin_;
};

namespace {

constexpr Duration kLastCallMax = std::chrono::seconds(5);  // for answers to those who only waited, before what is left is cut

Result<certs::LeafMinter> load_minter(const Config& config) {
  auto authority = certs::load_authority(config.ca.directory, config.intercept, RealClock().wall(), ca_init_command(config));
  if (!authority) return std::move(authority).error();
  return certs::LeafMinter::make(*std::move(authority));
}

}  // namespace

Gateway::Gateway(std::unique_ptr<Common> common)
    : common_(std::move(common)),
      admin_(std::make_unique<const Admin>(
          AdminSources{common_->clock,
                       common_->shared.locks,
                       common_->shared.results,
                       common_->shared.holds,
                       [this] { return common_->state(); },
                       [this] { return tally(); },
                       [this] { return metrics(); },
                       [this] { return common_->shared.budgets.report(common_->clock.now()); },
                       [this](const Hash128& key, std::string_view who) { return unlock(loops_.front()->parts(), key, who); },
                       [this](size_t most, const std::string& resource) { return history(most, resource); },
                       [this] { return common_->timeline.json(); },
                       [this] { return common_->decisions.json(common_->clock.wall(), common_->clock.now()); },
                       {common_->clock, common_->shared.run_leases, [this] { return common_->shared.rules.mode(); },
                        [this](std::string_view name) { return client_key(common_->shared.hasher, name); },
                        [this](std::string_view event, const RunLeases::Lease& lease, std::string_view who) {
                          log_lease(*common_->log, common_->clock.wall(), event, lease, who);
                        }}})) {}

Gateway::~Gateway() {
  if (runner_.joinable()) runner_.join();
}

Result<std::unique_ptr<Gateway>> Gateway::open(Config config) {
  auto log = Log::open(config.log.file, config.log.level);
  if (!log) return std::move(log).error();
  auto parent = parent_proxy(config);
  if (!parent) return std::move(parent).error();
  auto minter = load_minter(config);
  if (!minter) return std::move(minter).error();
  auto records = open_records(config, **log);
  if (!records) return std::move(records).error();
  const auto former = std::exchange(records->former, std::nullopt);
  std::unique_ptr<Gateway> gateway(new Gateway(std::make_unique<Common>(
      std::move(config), *std::move(parent), *std::move(records), *std::move(log), *std::move(minter))));
  const auto asked = static_cast<size_t>(gateway->common_->config.threads);
  for (size_t i = asked > 0 ? asked : std::max(1u, std::thread::hardware_concurrency()); i > 0; --i) {
    gateway->loops_.push_back(std::make_unique<EventLoop>(*gateway->common_, random_hash_key().first));
    if (auto opened = gateway->loops_.back()->open(gateway->ports_, *gateway->admin_); !opened)
      return std::move(opened).error();
  }
  gateway->common_->shared.begin(gateway->common_->clock);
  if (former) gateway->take_up(*former);
  auto* const cluster = gateway->common_->cluster.get();
  if (auto started = cluster ? cluster->start(gateway->loops_.front()->parts()) : Result<void>(); !started)
    return started.error();
  return gateway;
}

void Gateway::take_up(const FormerLife& former) {
  const Restored restored = restore(loops_.front()->parts(), former);
  if (former.open.empty()) return;
  tell(LogLevel::Warning, "journal-taken-up",
       {{"running", restored.running}, {"in_doubt", restored.in_doubt}, {"dropped", restored.dropped}});
}

const Config& Gateway::config() const { return common_->config; }
std::string Gateway::parent() const { return common_->parent ? common_->parent->text() : std::string(); }
GatewayTally::Counts Gateway::tally() const {
  GatewayTally::Counts all;
  for (const auto& loop : loops_) all += loop->tally().counts();
  return all;
}
struct Gateway::Counted {  // by all loops
  RequestMetrics::Counts requests;
  UpstreamCounts upstream;
};

std::string Gateway::metrics() const {
  const Counted all = counted();
  return metrics_text(common_->state(), all.requests, all.upstream, tally(), common_->shared.counters,
                      common_->shared.results.counts(), common_->shared.budgets.report(common_->clock.now()));
}

std::optional<std::string> Gateway::history(size_t most, const std::string& resource) const {
  if (common_->memory == nullptr) return std::nullopt;
  return remembered_json(*common_->memory, most, resource,
                         common_->shared.results.state_of(common_->shared.locks.key_of(resource)));
}
Gateway::Counted Gateway::counted() const {
  Counted all;
  for (const auto& loop : loops_) {
    all.requests += loop->metrics().counts();
    all.upstream += loop->watch().counts();
  }
  return all;
}
void Gateway::look() {
  for (const auto& lease : common_->shared.run_leases.expire(common_->clock.now())) {
    common_->tell(LogLevel::Error, "attention",
                  {{"text", fmt::format("lease of {} is over because it was not renewed: {}", lease.client, lease.purpose)}});
  }
  const Counted all = counted();
  common_->timeline.add({tally(), all.requests.waited, all.upstream, common_->shared.locks.counts().waiting});
  next_look_ = common_->clock.call_at(io().get_executor(), common_->clock.now() + Timeline::kEvery, [this] { look(); });
}
Log& Gateway::log() { return *common_->log; }
boost::asio::io_context& Gateway::io() { return loops_.front()->io(); }
void Gateway::tell(LogLevel level, std::string_view name, Log::Fields fields) { common_->tell(level, name, fields); }

void Gateway::use(std::shared_ptr<const rules::Ruleset> rules, rules::Mode mode) {
  common_->shared.rules.replace(std::move(rules), mode);
}

void Gateway::run() {
  if (ports_.admin != 0) look();
  for (auto& loop : loops_) loop->start();
  std::vector<std::thread> others;
  for (size_t i = 1; i < loops_.size(); ++i) {
    EventLoop* loop = loops_[i].get();
    others.emplace_back([loop] { loop->run(); });
  }
  loops_.front()->run();
  for (auto& thread : others) thread.join();
}

void Gateway::start() { runner_ = std::thread(&Gateway::run, this); }
void Gateway::join() { runner_.join(); }

void Gateway::drain(Duration limit) {
  boost::asio::post(io(), [this, limit] {
    if (common_->draining.exchange(true)) return;
    common_->tell(LogLevel::Info, "draining");
    const TimePoint last_call = common_->clock.now() + limit - std::min<Duration>(kLastCallMax, limit / 5);
    last_call_ = common_->clock.call_at(io().get_executor(), last_call, [this] {
      for (auto& loop : loops_) loop->stop_waiting();
    });
    limit_ = common_->clock.call_at(io().get_executor(), common_->clock.now() + limit, [this] { cut("drain-limit"); });
    for (auto& loop : loops_) {
      loop->drain([this] {
        boost::asio::post(io(), [this] {
          if (++drained_ == loops_.size()) stop("drained");
        });
      });
    }
  });
}

void Gateway::cut(std::string_view why) {
  for (const Store::Unfinished& write : common_->store->unfinished()) {
    common_->tell(LogLevel::Warning, "write-cut-off",
                  {{"method", write.method},
                   {"resource", write.resource},
                   {"message", "whether it took effect is not known: read the resource"}});
  }
  stop(why);
}

void Gateway::stop(std::string_view why) {
  if (std::exchange(stopped_, true)) return;
  common_->tell(LogLevel::Info, "stopped", {{"why", why}});
  last_call_.reset();
  limit_.reset();
  next_look_.reset();
  for (auto& loop : loops_) loop->stop();
}

void Gateway::leave(int exit_code) {
  if (common_->cluster) common_->cluster->leave();
  common_->store.reset();  // the last records are written
  common_->log.reset();    // and the last lines
  std::_Exit(exit_code);
}

}  // namespace armgate
