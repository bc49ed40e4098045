#include "proxy/gateway_status.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <iterator>

#include "proxy/cli_environment.h"
#include "proxy/http/head_parser.h"

namespace armgate {
namespace {

constexpr auto kAnswerMax = std::chrono::seconds(5);

Error no_status(const std::string& address, std::string_view why) {
  return gateway_error(
      ErrorKind::Unreachable,
      fmt::format("no status from {} (listen.admin): {}; is armgate running with this configuration?", address, why));
}

}  // namespace

Result<std::string> fetch_status(const Config& config) {
  if (config.listen.admin.empty()) {
    return gateway_error(ErrorKind::BadInput,
                         "the service has no admin listener to ask; set listen.admin in its configuration, to "
                         "\"127.0.0.1:9478\" for instance, and start it anew");
  }
  const std::string address = reachable(config.listen.admin);
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(kAnswerMax);
  stream.connect(host, address.substr(colon + 1));
  if (!stream) return no_status(address, stream.error().message());
  stream << "GET /status HTTP/1.0\r\nHost: " << address << "\r\n\r\n" << std::flush;
  const std::string answer((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto end = http::find_head_end(answer, 0);
  if (!end) return no_status(address, "nothing that could be read came back");
  const auto head = http::parse_response_head(std::string_view(answer).substr(0, *end), http::Limits{}, arm::Method::Get);
  if (!head) return no_status(address, head.error().context);
  if (head->head.status != 200) return no_status(address, fmt::format("it answers {}", head->head.status));
  return answer.substr(*end);
}

}  // namespace armgate
