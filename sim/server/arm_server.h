// arm_server.h – the simulated ARM behind TLS and HTTP/1.1, and beside it the Kubernetes API of its clusters.
//
// Threads   the io_context's, which must be one.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <optional>

#include "arm/http.h"
#include "base/result.h"
#include "base/time.h"
#include "proxy/seams/clock.h"
#include "sim/kubernetes/kubernetes_api.h"
#include "sim/server/https_server.h"
#include "sim/server/self_made_ca.h"
#include "sim/sim_arm.h"

namespace armgate::sim {

class ArmServer {
 public:
  ArmServer(boost::asio::io_context& io, Clock& clock, const ServerIdentity& identity, ServerOptions options,
            SimOptions sim_options);

  // Starts to accept; returns the port. The server must outlive the io_context's run.
  Result<uint16_t> start() { return server_.start(); }
  // The same for the Kubernetes API, on a port of its own; any free one.
  Result<uint16_t> start_kubernetes(const ServerIdentity& identity);

 private:
  SimAnswer handle(const arm::Request& request, TimePoint now);

  boost::asio::io_context& io_;
  Clock& clock_;
  const ServerOptions options_;
  SimArm arm_;
  KubernetesApi kubernetes_;
  HttpsServer server_;
  std::optional<HttpsServer> kubernetes_server_;
};

}  // namespace armgate::sim
