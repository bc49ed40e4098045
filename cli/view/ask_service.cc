#include "cli/view/ask_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "arm/resource_id.h"
#include "base/client_name.h"
#include "proxy/config/tool_environment.h"
#include "proxy/gateway/listeners.h"
#include "proxy/http/head_parser.h"
#include "proxy/observability/record_view.h"
#include "proxy/seams/which_writes.h"

namespace armgate {
namespace {

constexpr auto kAnswerMax = std::chrono::seconds(5);
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr size_t kHeadBytesMax = 4 * 1024;
constexpr size_t kPageBytesMax = 16 * 1024 * 1024;

Error no_answer(const std::string& address, std::string_view why) {
  return gateway_error(
      ErrorKind::Unreachable,
      fmt::format("no answer from {} (listen.admin): {}; is armgate running with this configuration?", address, why));
}

// A canonical id as it stands in a URL (RFC 3986 §2.3).
std::string in_url(std::string_view id) {
  std::string text;
  for (const char c : id) {
    const bool stands_for_itself = is_client_name(std::string_view(&c, 1)) || c == '/';
    text += stands_for_itself ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

struct Answer {
  int status = 0;
  std::string type;
  std::string body;
};

// What the service says of a request that it does not do as it was asked; nothing if another program says so: armgate's own
// refusals are lines of plain text.
std::optional<std::string> refusal_in(const Answer& answer) {
  constexpr std::array kOwn = {400, 403, 404, 409};
  const bool is_own = std::find(kOwn.begin(), kOwn.end(), answer.status) != kOwn.end() && answer.type.starts_with("text/plain");
  return is_own ? std::optional(answer.body.substr(0, answer.body.find('\n'))) : std::nullopt;
}

// `request` is its first line without the version, and `fields` the lines that it needs besides the usual ones.
Result<Answer> ask(const Config& config, std::string_view request, std::string_view fields, std::string_view body = "") {
  if (config.listen.admin.empty()) {
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("listen.admin is not set in {}, from where the configuration was read, so nobody can be "
                                     "asked; name the service's own with --config FILE, or set listen.admin in that, to "
                                     "\"127.0.0.1:9478\" for instance, and start the service anew",
                                     source_text(config)));
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
  if (!stream) return no_answer(address, stream.error().message());
  stream << request << " HTTP/1.1\r\nHost: " << address << "\r\nConnection: close\r\n" << fields;
  if (!body.empty()) stream << "Content-Length: " << body.size() << "\r\n";
  stream << "\r\n" << body << std::flush;
  std::string text;
  for (char c = 0; text.size() < kHeadBytesMax && !text.ends_with(kHeadEnd) && stream.get(c);) text += c;
  if (!text.ends_with(kHeadEnd)) return no_answer(address, "nothing that could be read came back");
  const auto head = http::parse_response_head(text, http::Limits{}, arm::Method::Get);
  if (!head) return no_answer(address, head.error().context);
  if (head->framing.kind != http::Framing::Kind::Length || head->framing.bytes > kPageBytesMax) {
    return no_answer(address, "what answers is no armgate");
  }
  Answer answer{head->head.status, std::string(head->head.fields.get("Content-Type")), std::string(head->framing.bytes, '\0')};
  stream.read(answer.body.data(), static_cast<std::streamsize>(answer.body.size()));
  if (!stream) return no_answer(address, "the answer broke off");
  return answer;
}

Error strange_answer(const Config& config, int status) {
  return no_answer(config.listen.admin, fmt::format("it answers {}", status));
}

Result<std::string> fetch(const Config& config, const std::string& page) {
  auto answer = ask(config, "GET " + page, "");
  if (!answer) return std::move(answer).error();
  if (answer->status != 200) return strange_answer(config, answer->status);
  return std::move(answer->body);
}

Result<std::string> ask_for_lease(const Config& config, std::string_view request, std::string_view who,
                                  std::string_view body = "") {
  auto answer = ask(config, request, fmt::format("x-armgate-operator: {}\r\n", who), body);
  if (!answer) return std::move(answer).error();
  if (answer->status == 200 || answer->status == 201) return std::move(answer->body);
  const auto why = refusal_in(*answer);
  if (!why) return strange_answer(config, answer->status);
  return gateway_error(answer->status == 404 ? ErrorKind::Closed : ErrorKind::BadInput, fmt::format("no lease: {}", *why));
}

}  // namespace

Result<std::string> fetch_status(const Config& config) { return fetch(config, "/status"); }

Result<std::string> fetch_history(const Config& config, size_t most, std::string_view resource, WhichWrites which) {
  const std::string only = which == WhichWrites::All ? "" : fmt::format("&only={}", kOnlyWritten);
  return fetch(config, fmt::format("/history{}?last={}{}", in_url(resource), std::min(most, kHistoryMax), only));
}

Result<std::string> take_run_lease(const Config& config, std::string_view wanted, std::string_view who) {
  return ask_for_lease(config, "POST /leases", who, wanted);
}

Result<std::string> renew_run_lease(const Config& config, std::string_view lease, std::string_view who) {
  return ask_for_lease(config, fmt::format("POST /leases/{}", lease), who);
}

Result<std::string> release_lease(const Config& config, std::string_view lease, std::string_view who) {
  return ask_for_lease(config, fmt::format("DELETE /leases/{}", lease), who);
}

Result<std::string> unlock_resource(const Config& config, std::string_view resource, std::string_view who) {
  const auto id = arm::parse_resource_id(resource);
  if (!id) return gateway_error(ErrorKind::BadInput, fmt::format("\"{}\" is no resource id (/subscriptions/...)", resource));
  auto answer = ask(config, fmt::format("POST /unlock{}", in_url(id->id)), fmt::format("x-armgate-operator: {}\r\n", who));
  if (!answer) return std::move(answer).error();
  if (answer->status == 200) return std::move(answer->body);
  const auto why = refusal_in(*answer);
  if (!why) return strange_answer(config, answer->status);
  return gateway_error(ErrorKind::BadInput, fmt::format("nothing was released: {}", *why));
}

}  // namespace armgate
