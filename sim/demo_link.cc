#include "sim/demo_link.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/core/detail/base64.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <utility>

#include "proxy/async/asio_call.h"

namespace armgate::sim {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

struct DemoLink::Connection {
  Connection(const Executor& executor, asio::ssl::context& tls) : stream(executor, tls) {}
  beast::ssl_stream<beast::tcp_stream> stream;
  beast::flat_buffer buffer;
};

namespace {

constexpr const char* kHost = "management.azure.com";
constexpr auto kAnswerMax = std::chrono::seconds(100);

std::string text_of(beast::string_view view) { return std::string(view.data(), view.size()); }

Error broken(const beast::error_code& error) { return upstream_error(ErrorKind::Reset, Sent::Maybe, error.message()); }

std::string base64_text(const std::string& text) {
  std::string encoded(beast::detail::base64::encoded_size(text.size()), '\0');
  encoded.resize(beast::detail::base64::encode(encoded.data(), text.data(), text.size()));
  return encoded;
}

Task<Result<void>> open_tunnel(beast::tcp_stream& stream, const std::string& user) {
  beast::error_code error;
  http::request<http::empty_body> connect(http::verb::connect, std::string(kHost) + ":443", 11);
  connect.set(http::field::host, std::string(kHost) + ":443");
  connect.set(http::field::proxy_authorization, "Basic " + base64_text(user + ":x"));
  co_await asio_call(error, [&](auto handler) { http::async_write(stream, connect, std::move(handler)); });
  if (error) co_return broken(error);
  http::response_parser<http::empty_body> answer;
  answer.skip(true);
  beast::flat_buffer buffer;
  co_await asio_call(error, [&](auto handler) { http::async_read_header(stream, buffer, answer, std::move(handler)); });
  if (error) co_return broken(error);
  if (answer.get().result() != http::status::ok) {
    co_return upstream_error(ErrorKind::Unreachable, Sent::No, "The proxy refused CONNECT.");
  }
  co_return Result<void>();
}

}  // namespace

DemoLink::DemoLink(Executor executor, const Route& route, std::string user)
    : executor_(std::move(executor)), route_(route), user_(std::move(user)), tls_(asio::ssl::context::tls_client) {
  tls_.add_certificate_authority(asio::buffer(route_.ca_pem));
  tls_.set_verify_mode(asio::ssl::verify_peer);
  tls_.set_verify_callback(asio::ssl::host_name_verification(kHost));
}

DemoLink::~DemoLink() = default;

Task<Result<void>> DemoLink::connect() {
  beast::error_code error;
  auto fresh = std::make_unique<Connection>(executor_, tls_);
  beast::tcp_stream& lowest = beast::get_lowest_layer(fresh->stream);
  lowest.expires_after(kAnswerMax);
  const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), route_.port);
  co_await asio_call(error, [&](auto handler) { lowest.async_connect(endpoint, std::move(handler)); });
  if (error) co_return upstream_error(ErrorKind::Unreachable, Sent::No, error.message());
  lowest.socket().set_option(tcp::no_delay(true), error);
  if (route_.via_proxy) {
    Result<void> tunnel = co_await open_tunnel(lowest, user_);
    if (!tunnel) co_return tunnel;
  }
  SSL_set_tlsext_host_name(fresh->stream.native_handle(), kHost);
  co_await asio_call(error,
                     [&](auto handler) { fresh->stream.async_handshake(asio::ssl::stream_base::client, std::move(handler)); });
  if (error) co_return upstream_error(ErrorKind::Untrusted, Sent::No, error.message());
  connection_ = std::move(fresh);
  co_return Result<void>();
}

Task<Result<arm::Response>> DemoLink::send(const arm::Request& request) {
  if (!connection_) {
    Result<void> connected = co_await connect();
    if (!connected) co_return std::move(connected).error();
  }
  Result<arm::Response> answer = co_await exchange(request);
  if (!answer) connection_.reset();
  co_return answer;
}

Task<Result<arm::Response>> DemoLink::exchange(const arm::Request& request) {
  beast::error_code error;
  beast::get_lowest_layer(connection_->stream).expires_after(kAnswerMax);
  http::request<http::string_body> message(http::string_to_verb(request.head.method_token), request.head.target, 11);
  message.set(http::field::host, kHost);
  message.set(http::field::user_agent, "armgate-demo");
  message.set(http::field::authorization, "Bearer demo-" + user_);
  for (const arm::Field& field : request.head.fields) message.set(field.name, field.value);
  if (!request.body.empty()) message.set(http::field::content_type, "application/json");
  message.body() = request.body;
  message.prepare_payload();
  co_await asio_call(error, [&](auto handler) { http::async_write(connection_->stream, message, std::move(handler)); });
  if (error) co_return broken(error);
  http::response<http::string_body> received;
  co_await asio_call(
      error, [&](auto handler) { http::async_read(connection_->stream, connection_->buffer, received, std::move(handler)); });
  if (error) co_return broken(error);
  arm::Response answer;
  answer.head.status = static_cast<int>(received.result_int());
  for (const auto& field : received) answer.head.fields.add(text_of(field.name_string()), text_of(field.value()));
  answer.body = std::move(received.body());
  if (!received.keep_alive()) connection_.reset();
  co_return answer;
}

}  // namespace armgate::sim
