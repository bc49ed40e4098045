// https_server.h – answers HTTP/1.1 requests behind TLS with what a function says.
//
// Why: it is built on Beast and Asio's TLS (http_stream.h) and shares nothing with proxy/http and proxy/net, which it checks.
// Limits    http_stream.h's, and 120 s between requests.
// Threads   the io_context's, which must be one.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <string>

#include "arm/http.h"
#include "base/result.h"
#include "base/rng.h"
#include "proxy/async/task.h"
#include "proxy/seams/clock.h"
#include "sim/server/self_made_ca.h"
#include "sim/sim_options.h"

namespace armgate::sim {

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;       // 0: any free one
  Duration latency_min{};  // per request, half of it before and half after it takes effect
  Duration latency_max{};
  uint64_t seed = 1;
};

class HttpsServer {
 public:
  using Handler = std::function<SimAnswer(const arm::Request& request, TimePoint now)>;

  HttpsServer(boost::asio::io_context& io, Clock& clock, const ServerIdentity& identity, ServerOptions options,
              Handler handler);

  // Starts to accept; returns the port. The server must outlive the io_context's run.
  Result<uint16_t> start();

 private:
  Task<void> accept();
  SimAnswer handle(const arm::Request& request);
  Task<void> serve(boost::asio::ip::tcp::socket socket);

  boost::asio::io_context& io_;
  Clock& clock_;
  const ServerOptions options_;
  boost::asio::ssl::context tls_;
  boost::asio::ip::tcp::acceptor acceptor_;
  const Handler handler_;
  Rng rng_;
};

}  // namespace armgate::sim
