#include "proxy/gateway_status.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "proxy/cli_environment.h"
#include "proxy/gateway_options.h"
#include "proxy/http/head_parser.h"

namespace armgate {
namespace {

constexpr auto kAnswerMax = std::chrono::seconds(5);
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr size_t kHeadBytesMax = 4 * 1024;
constexpr size_t kPageBytesMax = 16 * 1024 * 1024;

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
  const auto [host, port] = split_address(address);
  if (port == 0) {
    return gateway_error(ErrorKind::BadInput,
                         "listen.admin has port 0, so nobody knows where armgate can be asked; give it a port");
  }
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(kAnswerMax);
  stream.connect(host, std::to_string(port));
  if (!stream) return no_status(address, stream.error().message());
  stream << "GET /status HTTP/1.1\r\nHost: " << address << "\r\nConnection: close\r\n\r\n" << std::flush;
  std::string text;
  for (char c = 0; text.size() < kHeadBytesMax && !text.ends_with(kHeadEnd) && stream.get(c);) text += c;
  if (!text.ends_with(kHeadEnd)) return no_status(address, "nothing that could be read came back");
  const auto head = http::parse_response_head(text, http::Limits{}, arm::Method::Get);
  if (!head) return no_status(address, head.error().context);
  if (head->head.status != 200) return no_status(address, fmt::format("it answers {}", head->head.status));
  if (head->framing.kind != http::Framing::Kind::Length || head->framing.bytes > kPageBytesMax) {
    return no_status(address, "what answers is no armgate");
  }
  std::string page(head->framing.bytes, '\0');
  stream.read(page.data(), static_cast<std::streamsize>(page.size()));
  if (!stream) return no_status(address, "the answer broke off");
  return page;
}

}  // namespace armgate
