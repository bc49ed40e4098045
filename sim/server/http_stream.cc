#include "sim/server/http_stream.h"

#include <openssl/ssl.h>

#include <array>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace armgate::sim {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

struct HttpStream::Transport {
  explicit Transport(tcp::socket given) : socket(std::move(given)), timer(socket.get_executor()) {}
  tcp::socket socket;
  asio::steady_timer timer;
  std::optional<asio::ssl::stream<tcp::socket&>> tls;
};

namespace {

constexpr uint64_t kBodyBytesMax = 8 * 1024 * 1024;
constexpr uint32_t kHeadBytesMax = 64 * 1024;

template <class View>  // boost's, of before std had one
std::string text_of(View view) {
  return std::string(view.data(), view.size());
}

// The handler of every operation here: one type, so that each operation is compiled once.
struct GoesOn {
  ErrorCode* error;
  size_t* bytes;
  Parked parked;
  void operator()(const ErrorCode& failed, size_t count = 0) {
    *error = failed;
    *bytes = count;
    parked();
  }
};

template <class Start>
auto wait_for(ErrorCode& error, size_t& bytes, Start start) {
  return park([&error, &bytes, start](Parked parked) { start(GoesOn{&error, &bytes, std::move(parked)}); });
}

}  // namespace

HttpStream::HttpStream(tcp::socket socket) : transport_(std::make_shared<Transport>(std::move(socket))) {}

HttpStream::~HttpStream() {
  ErrorCode ignored;
  transport_->socket.close(ignored);
  transport_->timer.cancel();
}

void HttpStream::expire_after(Duration duration) {
  transport_->timer.cancel();
  if (duration <= Duration{}) return;
  transport_->timer.expires_after(duration);
  transport_->timer.async_wait([transport = std::weak_ptr<Transport>(transport_)](const ErrorCode& error) {
    const auto held = transport.lock();
    // Set again while this was already on its way: then it is not due yet.
    if (error || held == nullptr || held->timer.expiry() > asio::steady_timer::clock_type::now()) return;
    ErrorCode ignored;
    held->socket.close(ignored);
  });
}

void HttpStream::reset() {
  ErrorCode ignored;
  transport_->socket.set_option(tcp::socket::linger(true, 0), ignored);
  transport_->socket.close(ignored);
}

Task<ErrorCode> HttpStream::connect(tcp::endpoint endpoint) {
  ErrorCode error;
  size_t none = 0;
  co_await wait_for(error, none, [&](GoesOn done) { transport_->socket.async_connect(endpoint, std::move(done)); });
  ErrorCode ignored;
  transport_->socket.set_option(tcp::no_delay(true), ignored);
  co_return error;
}

Task<ErrorCode> HttpStream::accept_tls(asio::ssl::context& context) {
  ErrorCode error;
  size_t none = 0;
  transport_->tls.emplace(transport_->socket, context);
  co_await wait_for(error, none,
                    [&](GoesOn done) { transport_->tls->async_handshake(asio::ssl::stream_base::server, std::move(done)); });
  co_return error;
}

Task<ErrorCode> HttpStream::connect_tls(asio::ssl::context& context, std::string host) {
  ErrorCode error;
  size_t none = 0;
  transport_->tls.emplace(transport_->socket, context);
  SSL_set_tlsext_host_name(transport_->tls->native_handle(), host.c_str());
  co_await wait_for(error, none,
                    [&](GoesOn done) { transport_->tls->async_handshake(asio::ssl::stream_base::client, std::move(done)); });
  co_return error;
}

Task<void> HttpStream::close_tls() {
  ErrorCode error;
  size_t none = 0;
  co_await wait_for(error, none, [&](GoesOn done) { transport_->tls->async_shutdown(std::move(done)); });
}

Task<ErrorCode> HttpStream::write_text(std::string text) {
  ErrorCode error;
  for (std::string_view rest = text; !rest.empty() && !error;) {
    size_t bytes = 0;
    co_await wait_for(error, bytes, [&](GoesOn done) {
      const auto buffer = asio::buffer(rest.data(), rest.size());
      transport_->tls ? transport_->tls->async_write_some(buffer, std::move(done))
                      : transport_->socket.async_write_some(buffer, std::move(done));
    });
    rest.remove_prefix(bytes);
  }
  co_return error;
}

template <class Serializer>
Task<ErrorCode> HttpStream::write(Serializer& serializer) {
  std::string text;
  ErrorCode error;
  const bool head_only = serializer.split();
  while (!error && !(head_only ? serializer.is_header_done() : serializer.is_done())) {
    serializer.next(error, [&](ErrorCode& fine, const auto& buffers) {
      fine = {};
      size_t bytes = 0;
      for (const asio::const_buffer buffer : boost::beast::buffers_range_ref(buffers)) {
        text.append(static_cast<const char*>(buffer.data()), buffer.size());
        bytes += buffer.size();
      }
      serializer.consume(bytes);
    });
  }
  if (!error) error = co_await write_text(std::move(text));
  co_return error;
}

template <class Parser>
Task<ErrorCode> HttpStream::read(Parser& parser) {
  parser.body_limit(kBodyBytesMax);
  parser.header_limit(kHeadBytesMax);
  parser.eager(true);
  bool was_told_to_go_on = false;
  std::array<char, 16 * 1024> piece;
  while (true) {
    ErrorCode error;
    received_.erase(0, parser.put(asio::buffer(std::as_const(received_)), error));
    if (parser.is_done()) co_return ErrorCode();
    if (error && error != http::error::need_more) co_return error;
    const bool asks =
        parser.is_header_done() && equal_ignoring_case(text_of(parser.get()[http::field::expect]), "100-continue");
    if (asks && !std::exchange(was_told_to_go_on, true)) {
      error = co_await write_text("HTTP/1.1 100 Continue\r\n\r\n");
      if (error) co_return error;
    }
    size_t bytes = 0;
    co_await wait_for(error, bytes, [&](GoesOn done) {
      transport_->tls ? transport_->tls->async_read_some(asio::buffer(piece), std::move(done))
                      : transport_->socket.async_read_some(asio::buffer(piece), std::move(done));
    });
    received_.append(piece.data(), bytes);
    if (!error) continue;
    // Where nothing says how long a body is, the end of the connection ends it.
    ErrorCode at_end;
    if (parser.got_some()) parser.put_eof(at_end);
    co_return parser.is_done() ? ErrorCode() : error;
  }
}

Task<bool> HttpStream::read_request(arm::Request& request) {
  http::request_parser<http::string_body> parser;
  if (co_await read(parser)) co_return false;
  http::request<http::string_body> message = parser.release();
  request = {};
  request.head.method_token = text_of(message.method_string());
  request.head.method = arm::method_of(request.head.method_token);
  request.head.target = text_of(message.target());
  const std::string host = lower_text(text_of(message[http::field::host]));
  request.head.host = host.substr(0, host.find(':'));
  for (const auto& field : message) request.head.fields.add(text_of(field.name_string()), text_of(field.value()));
  request.body = std::move(message.body());
  version_ = message.version();
  keep_alive_ = message.keep_alive();
  is_head_ = request.head.method == arm::Method::Head;
  co_return true;
}

Task<bool> HttpStream::write_response(arm::Response response) {
  http::response<http::string_body> message(static_cast<http::status>(response.head.status), version_);
  for (const arm::Field& field : response.head.fields) message.insert(text_of(field.name), text_of(field.value));
  message.keep_alive(keep_alive_);
  message.body() = std::move(response.body);
  if (response.head.status != 204) message.prepare_payload();
  http::response_serializer<http::string_body> serializer(message);
  serializer.split(is_head_);
  const ErrorCode error = co_await write(serializer);
  co_return !error && message.keep_alive();
}

Task<ErrorCode> HttpStream::write_request(arm::Request request) {
  http::request<http::string_body> message(http::string_to_verb(request.head.method_token), request.head.target, version_);
  for (const arm::Field& field : request.head.fields) message.set(text_of(field.name), text_of(field.value));
  message.body() = std::move(request.body);
  message.prepare_payload();
  http::request_serializer<http::string_body> serializer(message);
  co_return co_await write(serializer);
}

Task<ErrorCode> HttpStream::read_response(arm::Response& response, bool body_follows) {
  http::response_parser<http::string_body> parser;
  parser.skip(!body_follows);
  const ErrorCode error = co_await read(parser);
  if (error) co_return error;
  http::response<http::string_body> message = parser.release();
  response = {};
  response.head.status = static_cast<int>(message.result_int());
  for (const auto& field : message) response.head.fields.add(text_of(field.name_string()), text_of(field.value()));
  response.body = std::move(message.body());
  keep_alive_ = message.keep_alive();
  co_return error;
}

}  // namespace armgate::sim
