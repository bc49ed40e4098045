// link.h – how a demo client talks HTTPS: straight to the simulated ARM, or through armgate as a proxy.
//
// Why: the demo's clients must be as ordinary as real tools are, so this is Beast (http_stream.h), CONNECT and a proxy user
// name, and nothing of armgate's own transport.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/async/task.h"
#include "sim/server/http_stream.h"

namespace armgate::sim {

// Where requests for management.azure.com go.
struct Route {
  uint16_t port = 0;       // on 127.0.0.1
  std::string ca_pem;      // whom to trust
  bool via_proxy = false;  // the port is a proxy's: CONNECT first
};

// One connection at a time, kept alive; opened again when it is closed.
// Threads   one executor.
class DemoLink {
 public:
  DemoLink(Executor executor, const Route& route, std::string user);

  // One attempt. Reset or Closed if the connection breaks: the request may have arrived.
  Task<Result<arm::Response>> send(const arm::Request& request);

 private:
  Task<Result<void>> connect();
  Task<Result<arm::Response>> exchange(const arm::Request& request);

  Executor executor_;
  const Route route_;
  const std::string user_;
  boost::asio::ssl::context tls_;
  std::unique_ptr<HttpStream> connection_;
};

}  // namespace armgate::sim
