#include "sim/server/arm_server.h"

#include <utility>

namespace armgate::sim {

ArmServer::ArmServer(boost::asio::io_context& io, Clock& clock, const ServerIdentity& identity, ServerOptions options,
                     SimOptions sim_options)
    : io_(io),
      clock_(clock),
      options_(std::move(options)),
      arm_(std::move(sim_options), options_.seed),
      kubernetes_(clock.now(), clock.wall()),
      server_(io, clock, identity, options_,
              [this](const arm::Request& request, TimePoint now) { return handle(request, now); }) {}

SimAnswer ArmServer::handle(const arm::Request& request, TimePoint now) {
  if (arm::path_of(request.head.target) == "/__sim/kubernetes") {
    arm_.advance(now);
    return {kubernetes_.control(request, arm_.pools(), now), false};
  }
  SimAnswer answer = arm_.handle(request, now);
  kubernetes_.observe(arm_.pools(), now);
  return answer;
}

Result<uint16_t> ArmServer::start_kubernetes(const ServerIdentity& identity) {
  ServerOptions options;
  options.address = options_.address;
  kubernetes_server_.emplace(io_, clock_, identity, options, [this](const arm::Request& request, TimePoint now) {
    arm_.advance(now);
    return SimAnswer{kubernetes_.handle(request, arm_.pools(), now), false};
  });
  return kubernetes_server_->start();
}

}  // namespace armgate::sim
