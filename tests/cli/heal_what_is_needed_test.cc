// Whose lease keeps a cluster, as the service's status page shows it.
#include "cli/heal/link/what_is_needed.h"

#include <gtest/gtest.h>

namespace armgate::heal {
namespace {

const Target kShop{"/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/shop", "system"};

std::string keeper_by(const std::string& what) {
  return keeper_of(
      R"({"writes": [{"what": "PUT /subscriptions/s", "client": "other"}, {"what": ")" + what + R"(", "client": "heal-1"}]})",
      kShop);
}

TEST(KeeperOf, ALeaseOfTheClusterOrOfWhatIsBelowItCounts) {
  const std::string lease = "LEASE /subscriptions/s/resourcegroups/g/providers/microsoft.containerservice/managedclusters/shop";
  EXPECT_EQ(keeper_by(lease), "heal-1");
  EXPECT_EQ(keeper_by(lease + "/agentpools/system"), "heal-1");
  EXPECT_EQ(keeper_by(lease + "2"), "") << "another cluster, whose name only begins alike";
  EXPECT_EQ(keeper_by(lease + "2/agentpools/system"), "");
  EXPECT_EQ(keeper_by("PUT " + lease.substr(6)), "");
  EXPECT_EQ(keeper_of("no page", kShop), "");
}

}  // namespace
}  // namespace armgate::heal
