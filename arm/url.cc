#include "arm/url.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace armgate::arm {
namespace {

constexpr std::string_view kScheme = "https://";
constexpr size_t kHostBytesMax = 253;  // RFC 1035 §2.3.4

bool is_host_character(char c) {
  const char letter = lower(c);
  return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// What may stand in a request line: visible ASCII without a fragment mark (RFC 9112 §3.2).
constexpr auto is_target_character = [](char c) { return c > 0x20 && c < 0x7f && c != '#'; };

std::optional<uint16_t> parse_port(std::string_view digits) {
  uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc{} || stop != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<Url> parse_url(std::string_view text) {
  if (!starts_with_ignoring_case(text, kScheme)) return std::nullopt;
  text.remove_prefix(kScheme.size());
  if (!std::all_of(text.begin(), text.end(), is_target_character)) return std::nullopt;

  const size_t path_at = std::min(text.find_first_of("/?"), text.size());
  std::string_view host = text.substr(0, path_at);
  Url url;
  if (const size_t colon = host.find(':'); colon != std::string_view::npos) {
    const auto port = parse_port(host.substr(colon + 1));
    if (!port) return std::nullopt;
    url.port = *port;
    host = host.substr(0, colon);
  }
  // Userinfo and IP literals fail here: '@' and '[' are no host characters.
  if (host.empty() || host.size() > kHostBytesMax || !std::all_of(host.begin(), host.end(), is_host_character)) {
    return std::nullopt;
  }
  url.host = lower_text(host);
  const std::string_view target = text.substr(path_at);
  if (target.empty() || target.front() == '?') url.target = "/";
  url.target += target;
  return url;
}

}  // namespace armgate::arm
