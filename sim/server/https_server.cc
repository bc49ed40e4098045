#include "sim/server/https_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

#include "proxy/async/asio_call.h"
#include "proxy/async/spawn.h"
#include "sim/server/http_stream.h"

namespace armgate::sim {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

constexpr auto kIdleMax = std::chrono::seconds(120);

asio::ssl::context make_tls_context(const ServerIdentity& identity) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  context.use_certificate_chain(asio::buffer(identity.chain_pem));
  context.use_private_key(asio::buffer(identity.key_pem), asio::ssl::context::pem);
  return context;
}

}  // namespace

HttpsServer::HttpsServer(asio::io_context& io, Clock& clock, const ServerIdentity& identity, ServerOptions options,
                         Handler handler)
    : io_(io),
      clock_(clock),
      options_(std::move(options)),
      tls_(make_tls_context(identity)),
      acceptor_(io),
      handler_(std::move(handler)),
      rng_(options_.seed + 1) {}

Result<uint16_t> HttpsServer::start() {
  ErrorCode error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) {
    return gateway_error(ErrorKind::BadInput, fmt::format("'{}' is no address to listen on.", options_.address));
  }
  const tcp::endpoint endpoint(address, options_.port);
  acceptor_.open(endpoint.protocol());
  acceptor_.set_option(asio::socket_base::reuse_address(true));
  acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return gateway_error(ErrorKind::Unreachable,
                         fmt::format("Cannot listen on {}:{}: {}.", options_.address, options_.port, error.message()));
  }
  spawn(io_.get_executor(), accept());
  return acceptor_.local_endpoint().port();
}

Task<void> HttpsServer::accept() {
  while (true) {
    ErrorCode error;
    tcp::socket socket(io_);
    co_await asio_call(error, [&](auto handler) { acceptor_.async_accept(socket, std::move(handler)); });
    if (error == asio::error::operation_aborted) co_return;
    // Out of descriptors or a connection that is gone already: the next one may do.
    if (error) {
      co_await clock_.sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    spawn(io_.get_executor(), serve(std::move(socket)));
  }
}

// A defect of the simulated ARM costs one answer, and is told: a run of hours must not end with it.
SimAnswer HttpsServer::handle(const arm::Request& request) {
  try {
    return handler_(request, clock_.now());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "armsim: defect at %s %s: %s\n", request.head.method_token.c_str(), request.head.target.c_str(),
                 error.what());
    arm::Response answer;
    answer.head.status = 500;
    return {std::move(answer), false};
  }
}

Task<void> HttpsServer::serve(tcp::socket socket) {
  ErrorCode error;
  socket.set_option(tcp::no_delay(true), error);
  HttpStream stream(std::move(socket));
  stream.expire_after(kIdleMax);
  error = co_await stream.accept_tls(tls_);
  if (error) co_return;
  bool open = true;
  while (open) {
    arm::Request request;
    const bool another = co_await stream.read_request(request);
    if (!another) break;
    const Duration latency =
        options_.latency_min + Duration(static_cast<Duration::rep>(rng_.below(static_cast<uint64_t>(
                                   std::max<Duration::rep>((options_.latency_max - options_.latency_min).count(), 0)))));
    stream.expire_after({});
    if (latency > Duration{}) co_await clock_.sleep_for(latency / 2);
    SimAnswer answer = handle(request);
    if (latency > Duration{}) co_await clock_.sleep_for(latency / 2);
    if (answer.drop) {
      stream.reset();
      co_return;
    }
    stream.expire_after(kIdleMax);
    open = co_await stream.write_response(std::move(answer.response));
  }
  stream.expire_after(std::chrono::seconds(2));
  co_await stream.close_tls();
}

}  // namespace armgate::sim
