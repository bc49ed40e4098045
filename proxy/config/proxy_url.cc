#include "proxy/config/proxy_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "certs/certificate.h"
#include "proxy/net/upstream/address_policy.h"

namespace armgate {
namespace {

Error bad(std::string context) { return gateway_error(ErrorKind::BadInput, std::move(context)); }

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = lower(c);
  if (low >= 'a' && low <= 'f') return low - 'a' + 10;
  return std::nullopt;
}

// What is no escape stays as it is: passwords in variables are often written without any.
std::string percent_decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
    result += low ? static_cast<char>(*high * 16 + *low) : text[i];
    if (low) i += 2;
  }
  return result;
}

// Takes the host and the port of "host:port", "[::1]:port" or "host".
Result<void> read_authority(std::string_view text, ProxyLocation& location) {
  constexpr auto kComplaint = "names no host and port, such as \"http://proxy.corp.example:3128\"";
  const size_t bracket = text.starts_with('[') ? text.find(']') : text.npos;
  const size_t colon = text.find(':', bracket == text.npos ? 0 : bracket);
  location.host = lower_text(text.substr(0, colon));
  if (bracket != text.npos) location.host = location.host.substr(1, bracket - 1);
  if (!net::address_of(location.host) && !certs::is_host_name(location.host)) return bad(kComplaint);
  if (colon == text.npos) return {};
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), location.port);
  if (error != std::errc{} || end != text.data() + text.size() || location.port == 0) return bad(kComplaint);
  return {};
}

}  // namespace

std::string ProxyLocation::address() const {
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string ProxyLocation::place() const { return host == "localhost" ? fmt::format("127.0.0.1:{}", port) : address(); }

Result<ProxyLocation> parse_proxy_url(std::string_view url) {
  constexpr std::string_view kMark = "://";
  if (url.empty() || url == kDirect) return bad("names no proxy");
  if (const size_t scheme = url.find(kMark); scheme != url.npos) {
    if (!equal_ignoring_case(url.substr(0, scheme), "http")) {
      return bad(
          "names a proxy that is no HTTP proxy; armgate speaks to one in plain HTTP: \"http://proxy.corp.example:3128\"");
    }
    url.remove_prefix(scheme + kMark.size());
  }
  ProxyLocation location;
  const size_t at = url.rfind('@');  // a password may hold one
  if (at != url.npos) {
    const std::string_view user = url.substr(0, at);
    const size_t colon = std::min(user.find(':'), user.size());
    location.user = percent_decoded(user.substr(0, colon));
    location.password = percent_decoded(user.substr(std::min(colon + 1, user.size())));
    url.remove_prefix(at + 1);
  }
  if (auto read = read_authority(url.substr(0, url.find('/')), location); !read) return std::move(read).error();
  return location;
}

}  // namespace armgate
