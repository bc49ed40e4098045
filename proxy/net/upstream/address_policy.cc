#include "proxy/net/upstream/address_policy.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <string>

namespace armgate::net {
namespace {

namespace ip = boost::asio::ip;

struct Block {
  uint32_t network;
  int prefix_bits;
  std::string_view what;
};

// RFC 6890 and Azure's virtual public address (learn.microsoft.com, "What is IP address 168.63.129.16").
constexpr std::array<Block, 6> kRefused4{{
    {0x00000000, 8, "an address of this network"},
    {0x7f000000, 8, "a loopback address"},
    {0xa9fe0000, 16, "a link-local or metadata address"},
    {0xa83f8110, 32, "the address of Azure's platform services"},
    {0xe0000000, 4, "a multicast address"},
    {0xf0000000, 4, "a reserved address"},
}};

std::optional<std::string_view> refused(const ip::address_v4& address) {
  for (const Block& block : kRefused4) {
    if ((address.to_uint() ^ block.network) >> (32 - block.prefix_bits) == 0) return block.what;
  }
  return std::nullopt;
}

// ::ffff:a.b.c.d, and the forms that translators turn into IPv4: ::a.b.c.d and 64:ff9b::a.b.c.d (RFC 6052).
std::optional<ip::address_v4> embedded(const ip::address_v6& address) {
  const auto bytes = address.to_bytes();
  constexpr std::array<unsigned char, 12> kCompatible{};
  constexpr std::array<unsigned char, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr std::array<unsigned char, 12> kTranslated{0, 0x64, 0xff, 0x9b};
  for (const auto& prefix : {kCompatible, kMapped, kTranslated}) {
    if (std::equal(prefix.begin(), prefix.end(), bytes.begin())) {
      return ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]});
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> refused_address(const ip::address& address) {
  if (address.is_v4()) return refused(address.to_v4());
  const ip::address_v6 wide = address.to_v6();
  if (wide.is_loopback()) return "a loopback address";
  if (wide.is_unspecified()) return "an address of this network";
  if (wide.is_link_local()) return "a link-local or metadata address";
  if (wide.is_multicast()) return "a multicast address";
  static const ip::address_v6 kMetadata6 = ip::make_address_v6("fd00:ec2::254");
  if (wide.to_bytes() == kMetadata6.to_bytes()) return "a link-local or metadata address";
  if (const auto narrow = embedded(wide)) return refused(*narrow);
  return std::nullopt;
}

bool is_own_address(const ip::address& address) {
  const ip::udp::endpoint target(address, 9);
  const int fd = ::socket(target.protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
  if (fd < 0) return false;
  ip::udp::endpoint source;
  auto size = static_cast<socklen_t>(source.capacity());
  // What goes to an address of this machine comes from that same address.
  const bool is_known =
      ::connect(fd, target.data(), static_cast<socklen_t>(target.size())) == 0 && ::getsockname(fd, source.data(), &size) == 0;
  ::close(fd);
  return is_known && source.address() == address;
}

bool is_loopback(const ip::address& address) {
  if (address.is_v4()) return address.to_v4().is_loopback();
  const ip::address_v6 wide = address.to_v6();
  return wide.is_loopback() || (wide.is_v4_mapped() && ip::make_address_v4(ip::v4_mapped, wide).is_loopback());
}

std::optional<ip::address> address_of(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  boost::system::error_code failure;
  const ip::address address = ip::make_address(std::string(host), failure);
  return failure ? std::nullopt : std::optional(address);
}

}  // namespace armgate::net
