// What a configuration must have to be one of a cluster.
#include "proxy/gateway/cluster/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armgate {
namespace {

TEST(ClusterRequirements, EachIsToldWithItsOption) {
  Config config;
  EXPECT_TRUE(cluster_faults(config).empty()) << "it names no cluster";
  config.journal.file = "journal.db";
  EXPECT_TRUE(cluster_faults(config).empty());
  config.cluster.engine = "postgres://u@db/x?connect_timeoutt=3";
  std::vector<std::string> pointers;
  for (const auto& fault : cluster_faults(config)) pointers.push_back(fault.pointer);
  EXPECT_THAT(pointers, testing::ElementsAre("/journal/file", "/cluster/experimental", "/cluster/key_file", "/cluster/engine"));
  EXPECT_EQ(check_cluster_options(config).error().kind, ErrorKind::BadInput);

  config.journal.file.clear();
  config.cluster.experimental = true;
  config.cluster.key_file = "cluster.key";
  config.cluster.engine = "postgres://u@db/x?connect_timeout=3";
  EXPECT_TRUE(check_cluster_options(config));
}

}  // namespace
}  // namespace armgate
