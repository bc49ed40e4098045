// Goal: a pattern means the hosts below it and no others: it decides whose tokens armgate sees. Method: a table.
#include "proxy/net/upstream/host_pattern.h"

#include <gtest/gtest.h>

namespace armgate::net {
namespace {

TEST(HostPattern, MeansTheNameItselfOrAllBelowASuffix) {
  const std::vector<std::string> patterns = {"management.azure.com", "*.arm.example"};
  const std::pair<const char*, bool> hosts[] = {
      {"management.azure.com", true},
      {"x.management.azure.com", false},
      {"management.azure.com.evil.example", false},
      {"evilmanagement.azure.com", false},
      {"west.arm.example", true},
      {"a.b.arm.example", true},
      {"arm.example", false},
      {".arm.example", false},
      {"evilarm.example", false},
      {"", false},
  };
  for (const auto& [host, meant] : hosts) EXPECT_EQ(matches_host(host, patterns), meant) << host;
  EXPECT_FALSE(matches_host("management.azure.com", {}));
}

}  // namespace
}  // namespace armgate::net
