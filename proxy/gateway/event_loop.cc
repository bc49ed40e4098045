#include "proxy/gateway/event_loop.h"

#include <boost/asio/post.hpp>
#include <string>
#include <utility>

#include "proxy/gateway/common.h"
#include "proxy/gateway/events.h"
#include "proxy/gateway/options.h"
#include "proxy/net/client/intercept.h"
#include "proxy/net/client/server.h"
#include "proxy/net/upstream/upstream_pool.h"
#include "proxy/observability/admin.h"
#include "proxy/request/pipeline.h"

namespace armgate {

EventLoop::EventLoop(GatewayCommon& common, uint64_t seed)
    : common_(common),
      rng_(seed),
      arm_names_(common.clock, common.config.upstream.lookups_max),
      tunnel_names_(common.clock, common.config.upstream.lookups_max) {}
EventLoop::~EventLoop() = default;

Result<void> EventLoop::open(ListenerPorts& ports, const Admin& admin) {
  auto interceptor = net::Interceptor::make(common_.cert_cache, common_.clock, intercept_options(common_.config));
  if (!interceptor) return std::move(interceptor).error();
  interceptor_ = *std::move(interceptor);
  net::UpstreamOptions to_arm = upstream_options(common_.config, common_.parent);
  to_arm.via = "1.1 " + common_.mark;
  auto upstream = net::UpstreamPool::make(common_.clock, io_.get_executor(), std::move(to_arm), arm_names_.as_resolve());
  if (!upstream) return std::move(upstream).error();
  upstream_ = *std::move(upstream);
  watch_ = std::make_unique<UpstreamWatch>(*upstream_);
  connector_ = std::make_unique<net::Connector>(common_.clock, io_.get_executor(),
                                                tunnel_options(common_.config, common_.parent), tunnel_names_.as_resolve());
  parts_ = std::make_unique<Parts>(Parts{common_.shared, common_.clock, *watch_, *common_.store, common_.faults, rng_,
                                         io_.get_executor(), [this](const Exchange& exchange) { note_finished(exchange); },
                                         [this](const std::string& message) {
                                           common_.log_line(LogLevel::Error, "attention", {{"text", message}});
                                         },
                                         [this](const ObserveFinding& would) {
                                           tally_.count(would);
                                           log_finding(*common_.log, common_.clock.wall(), would);
                                         }});
  parts_->cluster = common_.replica();
  pipeline_ = std::make_unique<Pipeline>(*parts_);
  return open_listeners(ports, admin);
}

void EventLoop::start() {
  if (admin_) admin_->start();
  for (auto& server : servers_) server->start();
}

void EventLoop::drain(std::function<void()> drained) {
  boost::asio::post(io_, [this, drained = std::move(drained)] {
    const auto left = std::make_shared<size_t>(servers_.size());
    for (auto& server : servers_) {
      server->drain([left, drained] {
        if (--*left == 0) drained();
      });
    }
  });
}

void EventLoop::stop_waiting() {
  boost::asio::post(io_, [this] {
    for (auto& server : servers_) server->stop_waiting();
  });
}

void EventLoop::note_finished(const Exchange& exchange) {
  const TimePoint now = common_.clock.now();
  tally_.count(exchange);
  metrics_.count(exchange, now);
  const WallTime wall = common_.clock.wall();
  if (!common_.config.listen.admin.empty()) common_.decisions.note(exchange, wall, now);
  common_.log->request(exchange, wall, now);
}

// Before the others: who finds the proxy open finds the pages too.
Result<void> EventLoop::open_listeners(ListenerPorts& ports, const Admin& admin) {
  const bool is_first_loop = ports.proxy == 0;
  if (is_first_loop) {
    if (auto opened = open_admin(ports, admin); !opened) return opened;
  }
  auto proxy = open_listener(proxy_listener(common_.config, ports.proxy));
  if (!proxy) return std::move(proxy).error();
  ports.proxy = *proxy;
  const auto direct = direct_listener(common_.config, ports.direct);
  if (!direct) return {};
  auto port = open_listener(*direct);
  if (!port) return std::move(port).error();
  ports.direct = *port;
  return {};
}

// Stays open while the others drain.
Result<void> EventLoop::open_admin(ListenerPorts& ports, const Admin& admin) {
  auto listener = admin_listener(common_.config);
  if (!listener) return {};
  const auto answer = [&admin](Exchange& exchange, ClientLink& client) { return admin.serve(exchange, client); };
  auto server = open_server(*std::move(listener), answer, common_.admin_connections, nullptr);
  if (!server) return std::move(server).error();
  admin_ = *std::move(server);
  ports.admin = admin_->port();
  return {};
}

Result<std::unique_ptr<net::ProxyServer>> EventLoop::open_server(net::ServerOptions options, Handler handler,
                                                                 net::ConnectionCounter& counter, net::BodyRoom* bodies) {
  return net::ProxyServer::open(
      net::ServerParts{common_.clock, io_.get_executor(), *interceptor_, *connector_, std::move(handler), counter,
                       [this](const net::NetEvent& event) {
                         common_.connection_events.count(event.kind);
                         log_event(*common_.log, common_.clock.wall(), event);
                       },
                       bodies},
      std::move(options));
}

Result<uint16_t> EventLoop::open_listener(net::ServerOptions options) {
  options.connections_max = common_.connections_max;
  options.connect.own_mark = options.session.own_mark = common_.mark;
  const auto serve = [this](Exchange& exchange, ClientLink& client) { return pipeline_->serve(exchange, client); };
  auto server = open_server(std::move(options), serve, common_.connections, common_.bodies.get());
  if (!server) return std::move(server).error();
  servers_.push_back(*std::move(server));
  return servers_.back()->port();
}

}  // namespace armgate
