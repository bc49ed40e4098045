#include "sim/demo/link.h"

#include <openssl/evp.h>

#include <boost/asio/ssl/host_name_verification.hpp>
#include <chrono>
#include <utility>

namespace armgate::sim {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

constexpr const char* kHost = "management.azure.com";
constexpr auto kAnswerMax = std::chrono::seconds(100);

Error broken(const ErrorCode& error) { return upstream_error(ErrorKind::Reset, Sent::Maybe, error.message()); }

std::string base64_text(const std::string& text) {
  std::string encoded(4 * (text.size() / 3 + 1) + 1, '\0');  // OpenSSL ends it with a zero
  const int bytes = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                    reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  encoded.resize(static_cast<size_t>(bytes));
  return encoded;
}

Task<Result<void>> open_tunnel(HttpStream& stream, const std::string& user) {
  arm::Request connect;
  connect.head.method_token = "CONNECT";
  connect.head.target = std::string(kHost) + ":443";
  connect.head.fields.add("Host", connect.head.target);
  connect.head.fields.add("Proxy-Authorization", "Basic " + base64_text(user + ":x"));
  ErrorCode error = co_await stream.write_request(std::move(connect));
  if (error) co_return broken(error);
  arm::Response answer;
  error = co_await stream.read_response(answer, false);
  if (error) co_return broken(error);
  if (answer.head.status != 200) co_return upstream_error(ErrorKind::Unreachable, Sent::No, "The proxy refused CONNECT.");
  co_return Result<void>();
}

}  // namespace

DemoLink::DemoLink(Executor executor, const Route& route, std::string user)
    : executor_(std::move(executor)), route_(route), user_(std::move(user)), tls_(asio::ssl::context::tls_client) {
  tls_.add_certificate_authority(asio::buffer(route_.ca_pem));
  tls_.set_verify_mode(asio::ssl::verify_peer);
  tls_.set_verify_callback(asio::ssl::host_name_verification(kHost));
}

Task<Result<void>> DemoLink::connect() {
  auto fresh = std::make_unique<HttpStream>(tcp::socket(executor_));
  fresh->expire_after(kAnswerMax);
  ErrorCode error = co_await fresh->connect(tcp::endpoint(asio::ip::address_v4::loopback(), route_.port));
  if (error) co_return upstream_error(ErrorKind::Unreachable, Sent::No, error.message());
  if (route_.via_proxy) {
    Result<void> tunnel = co_await open_tunnel(*fresh, user_);
    if (!tunnel) co_return tunnel;
  }
  error = co_await fresh->connect_tls(tls_, kHost);
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
  if (!answer || !connection_->is_open()) connection_.reset();
  co_return answer;
}

Task<Result<arm::Response>> DemoLink::exchange(const arm::Request& request) {
  connection_->expire_after(kAnswerMax);
  arm::Request message = request;
  message.head.fields.set("Host", kHost);
  message.head.fields.set("User-Agent", "armgate-demo");
  message.head.fields.set("Authorization", "Bearer demo-" + user_);
  if (!request.body.empty()) message.head.fields.set("Content-Type", "application/json");
  ErrorCode error = co_await connection_->write_request(std::move(message));
  if (error) co_return broken(error);
  arm::Response answer;
  error = co_await connection_->read_response(answer);
  if (error) co_return broken(error);
  co_return answer;
}

}  // namespace armgate::sim
