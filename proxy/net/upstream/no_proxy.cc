#include "proxy/net/upstream/no_proxy.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "certs/certificate.h"
#include "proxy/net/upstream/address_policy.h"

namespace armgate::net {
namespace {

namespace ip = boost::asio::ip;

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Takes ":443" off the end; an IPv6 address without brackets has no port. False if what stands there is no port.
bool take_port(std::string_view& text, std::optional<uint16_t>& port) {
  const size_t colon = text.rfind(':');
  const bool is_bare_ipv6 = colon != text.npos && text.find(':') != colon && !text.starts_with('[');
  if (colon == text.npos || is_bare_ipv6 || text.ends_with(']')) return true;
  port = number_of<uint16_t>(text.substr(colon + 1));
  text = text.substr(0, colon);
  return port.has_value();
}

bool begins_alike(const auto& one, const auto& other, int bits) {
  for (size_t i = 0; bits > 0; ++i, bits -= 8) {
    const int unused = std::max(0, 8 - bits);
    if ((one[i] ^ other[i]) >> unused != 0) return false;
  }
  return true;
}

ip::address without_mapping(const ip::address& address) {
  const bool is_mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  return is_mapped ? ip::address(ip::make_address_v4(ip::v4_mapped, address.to_v6())) : address;
}

}  // namespace

NoProxy::NoProxy(const std::vector<std::string>& entries) {
  for (const std::string& text : entries) {
    if (auto entry = parse(text)) entries_.push_back(*std::move(entry));
  }
}

bool NoProxy::is_entry(std::string_view text) { return parse(text).has_value(); }

std::optional<NoProxy::Entry> NoProxy::parse(std::string_view text) {
  Entry entry;
  entry.all = text == "*";
  if (entry.all) return entry;
  const size_t slash = text.find('/');
  if (slash == text.npos && !take_port(text, entry.port)) return std::nullopt;
  if (const auto address = address_of(text.substr(0, slash))) {
    entry.network = *address;
    const int all_bits = address->is_v4() ? 32 : 128;
    const auto bits = slash == text.npos ? std::optional(all_bits) : number_of<int>(text.substr(slash + 1));
    if (!bits || *bits < 0 || *bits > all_bits) return std::nullopt;
    entry.prefix_bits = *bits;
    return entry;
  }
  if (text.starts_with("*.")) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  entry.domain = lower_text(text);
  if (!certs::is_host_name(entry.domain)) return std::nullopt;
  return entry;
}

bool NoProxy::is_within(const Entry& entry, const ip::address& address) {
  if (entry.network.is_v4() != address.is_v4()) return false;
  if (address.is_v4()) return begins_alike(entry.network.to_v4().to_bytes(), address.to_v4().to_bytes(), entry.prefix_bits);
  return begins_alike(entry.network.to_v6().to_bytes(), address.to_v6().to_bytes(), entry.prefix_bits);
}

bool NoProxy::covers(std::string_view host, uint16_t port) const {
  const auto address = address_of(host);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    if (entry.all) return true;
    if (entry.port && *entry.port != port) return false;
    if (entry.domain.empty()) return address && is_within(entry, without_mapping(*address));
    return is_at_or_below(host, entry.domain);
  });
}

}  // namespace armgate::net
