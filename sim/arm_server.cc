#include "sim/arm_server.h"

#include <fmt/format.h>

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/text.h"
#include "proxy/async/asio_call.h"
#include "proxy/async/spawn.h"

namespace armgate::sim {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Stream = beast::ssl_stream<beast::tcp_stream>;
using HttpRequest = http::request<http::string_body>;
using HttpResponse = http::response<http::string_body>;

constexpr uint64_t kBodyBytesMax = 8 * 1024 * 1024;
constexpr uint32_t kHeadBytesMax = 64 * 1024;
constexpr auto kIdleMax = std::chrono::seconds(120);

std::string text_of(beast::string_view view) { return std::string(view.data(), view.size()); }

asio::ssl::context make_tls_context(const ServerIdentity& identity) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  context.use_certificate_chain(asio::buffer(identity.chain_pem));
  context.use_private_key(asio::buffer(identity.key_pem), asio::ssl::context::pem);
  return context;
}

arm::Request arm_request(HttpRequest&& message) {
  arm::Request request;
  request.head.method_token = text_of(message.method_string());
  request.head.method = arm::method_of(request.head.method_token);
  request.head.target = text_of(message.target());
  const std::string host = lower_text(text_of(message[http::field::host]));
  request.head.host = host.substr(0, host.find(':'));
  for (const auto& field : message) request.head.fields.add(text_of(field.name_string()), text_of(field.value()));
  request.body = std::move(message.body());
  return request;
}

HttpResponse http_response(arm::Response&& answer, const HttpRequest& request) {
  HttpResponse message(static_cast<http::status>(answer.head.status), request.version());
  for (const arm::Field& field : answer.head.fields) message.insert(field.name, field.value);
  message.keep_alive(request.keep_alive());
  message.body() = std::move(answer.body);
  if (answer.head.status != 204) message.prepare_payload();
  return message;
}

// A reset rather than an orderly close: the client must learn nothing.
void break_connection(Stream& stream) {
  beast::error_code ignored;
  tcp::socket& socket = beast::get_lowest_layer(stream).socket();
  socket.set_option(tcp::socket::linger(true, 0), ignored);
  socket.close(ignored);
}

// The next request, its body whole; false at the end of the connection.
Task<bool> read_request(Stream& stream, beast::flat_buffer& buffer, HttpRequest& request) {
  beast::error_code error;
  http::request_parser<http::string_body> parser;
  parser.body_limit(kBodyBytesMax);
  parser.header_limit(kHeadBytesMax);
  beast::get_lowest_layer(stream).expires_after(kIdleMax);
  co_await asio_call(error, [&](auto handler) { http::async_read_header(stream, buffer, parser, std::move(handler)); });
  if (error) co_return false;
  if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
    http::response<http::empty_body> go_on(http::status::continue_, parser.get().version());
    co_await asio_call(error, [&](auto handler) { http::async_write(stream, go_on, std::move(handler)); });
    if (error) co_return false;
  }
  co_await asio_call(error, [&](auto handler) { http::async_read(stream, buffer, parser, std::move(handler)); });
  request = parser.release();
  co_return !error;
}

// True if the answer was written and the connection can take another request.
Task<bool> write_answer(Stream& stream, HttpResponse& answer, http::verb method) {
  beast::error_code error;
  if (method == http::verb::head) {
    http::response_serializer<http::string_body> serializer(answer);
    co_await asio_call(error, [&](auto handler) { http::async_write_header(stream, serializer, std::move(handler)); });
  } else {
    co_await asio_call(error, [&](auto handler) { http::async_write(stream, answer, std::move(handler)); });
  }
  co_return !error && answer.keep_alive();
}

}  // namespace

ArmServer::ArmServer(asio::io_context& io, Clock& clock, const ServerIdentity& identity, ServerOptions options,
                     SimOptions sim_options)
    : io_(io),
      clock_(clock),
      options_(std::move(options)),
      tls_(make_tls_context(identity)),
      acceptor_(io),
      arm_(std::move(sim_options), options_.seed),
      rng_(options_.seed + 1) {}

Result<uint16_t> ArmServer::start() {
  beast::error_code error;
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

Task<void> ArmServer::accept() {
  while (true) {
    beast::error_code error;
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
SimAnswer ArmServer::handle(const arm::Request& request) {
  try {
    return arm_.handle(request, clock_.now());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "armsim: defect at %s %s: %s\n", request.head.method_token.c_str(), request.head.target.c_str(),
                 error.what());
    arm::Response answer;
    answer.head.status = 500;
    return {std::move(answer), false};
  }
}

Task<void> ArmServer::serve(tcp::socket socket) {
  beast::error_code error;
  socket.set_option(tcp::no_delay(true), error);
  Stream stream(std::move(socket), tls_);
  beast::get_lowest_layer(stream).expires_after(kIdleMax);
  co_await asio_call(error, [&](auto handler) { stream.async_handshake(asio::ssl::stream_base::server, std::move(handler)); });
  if (error) co_return;
  beast::flat_buffer buffer;
  bool open = true;
  while (open) {
    HttpRequest message;
    if (!co_await read_request(stream, buffer, message)) break;
    const Duration latency =
        options_.latency_min + Duration(static_cast<Duration::rep>(rng_.below(static_cast<uint64_t>(
                                   std::max<Duration::rep>((options_.latency_max - options_.latency_min).count(), 0)))));
    beast::get_lowest_layer(stream).expires_never();
    if (latency > Duration{}) co_await clock_.sleep_for(latency / 2);
    const http::verb method = message.method();
    const HttpRequest head(message.base());
    SimAnswer answer = handle(arm_request(std::move(message)));
    if (latency > Duration{}) co_await clock_.sleep_for(latency / 2);
    if (answer.drop) {
      break_connection(stream);
      co_return;
    }
    HttpResponse response = http_response(std::move(answer.response), head);
    beast::get_lowest_layer(stream).expires_after(kIdleMax);
    open = co_await write_answer(stream, response, method);
  }
  beast::get_lowest_layer(stream).expires_after(std::chrono::seconds(2));
  co_await asio_call(error, [&](auto handler) { stream.async_shutdown(std::move(handler)); });
}

}  // namespace armgate::sim
