#include "proxy/http/syntax.h"

namespace armgate::http {
namespace {

constexpr size_t kHostBytesMax = 253;  // of a DNS name (RFC 1035 §2.3.4, without the final dot)
constexpr size_t kLabelBytesMax = 63;

bool is_host_name(std::string_view text) {
  size_t label = 0;
  for (const char c : text) {
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
      continue;
    }
    if (!is_host_char(c) || ++label > kLabelBytesMax) return false;
  }
  return label > 0 && text.size() <= kHostBytesMax;
}

// Only the shape: whether the address exists is for whoever connects.
bool is_bracketed_ipv6(std::string_view text) {
  if (text.size() < 4 || text.size() > 47 || text.front() != '[' || text.back() != ']') return false;
  size_t colons = 0;
  for (const char c : text.substr(1, text.size() - 2)) {
    if (c == ':')
      ++colons;
    else if (!is_digit(c) && !(lower(c) >= 'a' && lower(c) <= 'f') && c != '.')
      return false;
  }
  return colons >= 2;
}

}  // namespace

std::optional<uint64_t> parse_decimal(std::string_view text) {
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) return std::nullopt;
  }
  return value;
}

std::optional<Authority> parse_authority(std::string_view text) {
  Authority authority;
  std::string_view host = text;
  const size_t host_end = text.starts_with('[') ? text.find(']') : 0;
  if (host_end == std::string_view::npos) return std::nullopt;
  if (const size_t colon = text.find(':', host_end); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    const std::optional<uint64_t> port = parse_decimal(digits);
    if (!port || *port == 0 || *port > 65535 || digits.front() == '0') return std::nullopt;
    authority.port = static_cast<uint16_t>(*port);
  }
  const bool is_ipv6 = is_bracketed_ipv6(host);
  if (!is_ipv6 && host.ends_with('.')) host.remove_suffix(1);
  if (!is_ipv6 && !is_host_name(host)) return std::nullopt;
  authority.host = host;
  return authority;
}

}  // namespace armgate::http
