// Which addresses a tunnel may reach, at the edges of each block (RFC 6890), and in every spelling of an IPv4 address in IPv6.
#include "proxy/net/upstream/address_policy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <utility>

namespace armgate::net {
namespace {

std::string why_refused(const char* text) {
  const auto address = address_of(text);
  EXPECT_TRUE(address.has_value()) << text;
  return std::string(address ? refused_address(*address).value_or("") : "no address");
}

TEST(AddressPolicy, EachBlockEndsWhereItEnds) {
  const std::pair<const char*, const char*> rows[] = {
      {"0.0.0.0", "an address of this network"},
      {"0.255.255.255", "an address of this network"},
      {"1.0.0.0", ""},
      {"126.255.255.255", ""},
      {"127.0.0.0", "a loopback address"},
      {"127.255.255.255", "a loopback address"},
      {"128.0.0.0", ""},
      {"168.63.129.15", ""},
      {"168.63.129.16", "the address of Azure's platform services"},
      {"168.63.129.17", ""},
      {"169.253.255.255", ""},
      {"169.254.0.0", "a link-local or metadata address"},
      {"169.254.255.255", "a link-local or metadata address"},
      {"169.255.0.0", ""},
      {"223.255.255.255", ""},
      {"224.0.0.0", "a multicast address"},
      {"239.255.255.255", "a multicast address"},
      {"240.0.0.0", "a reserved address"},
      {"255.255.255.255", "a reserved address"},
      {"10.0.0.1", ""},
      {"192.168.1.1", ""},
      {"::", "an address of this network"},
      {"::1", "a loopback address"},
      {"fe80::1", "a link-local or metadata address"},
      {"febf:ffff::1", "a link-local or metadata address"},
      {"fec0::1", ""},
      {"ff02::1", "a multicast address"},
      {"fd00:ec2::254", "a link-local or metadata address"},
      {"fd00:ec2::253", ""},
      {"2001:db8::1", ""},
  };
  for (const auto& [address, why] : rows) EXPECT_EQ(why_refused(address), why) << address;
}

TEST(AddressPolicy, AnIpv4AddressInsideAnIpv6OneIsJudgedAsItself) {
  for (const char* prefix : {"::", "::ffff:", "64:ff9b::"}) {
    EXPECT_EQ(why_refused((prefix + std::string("127.0.0.1")).c_str()), "a loopback address") << prefix;
    EXPECT_EQ(why_refused((prefix + std::string("169.254.169.254")).c_str()), "a link-local or metadata address") << prefix;
    EXPECT_EQ(why_refused((prefix + std::string("20.1.2.3")).c_str()), "") << prefix;
  }
  EXPECT_EQ(why_refused("64:ff9b:0:0:0:1:127.0.0.1"), "") << "not the prefix of translators";
}

TEST(AddressPolicy, WhoIsOnThisMachine) {
  for (const char* own : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(is_loopback(*address_of(own))) << own;
  for (const char* other : {"10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "::2"})
    EXPECT_FALSE(is_loopback(*address_of(other))) << other;
}

TEST(AddressPolicy, EveryAddressOfAnInterfaceIsThisMachinesOwn) {
  ifaddrs* first = nullptr;
  ASSERT_EQ(::getifaddrs(&first), 0);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN];
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text, sizeof text);
    EXPECT_TRUE(is_own_address(*address_of(text))) << one->ifa_name << " " << text;
  }
  ::freeifaddrs(first);
  for (const char* other : {"192.0.2.1", "2001:db8::1"}) EXPECT_FALSE(is_own_address(*address_of(other))) << other;
}

TEST(AddressPolicy, NamesAreNoAddresses) {
  EXPECT_TRUE(address_of("[2001:db8::1]").has_value()) << "as CONNECT spells it";
  EXPECT_TRUE(address_of("2001:db8::1").has_value());
  for (const char* name : {"", "[]", "localhost", "127.1", "0x7f.0.0.1", "1.2.3.4.5", "[1.2.3.4", "management.azure.com"})
    EXPECT_FALSE(address_of(name).has_value()) << name;
}

}  // namespace
}  // namespace armgate::net
