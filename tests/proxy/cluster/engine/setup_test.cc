// What is told of an engine that is weaker than it could be.
#include "proxy/cluster/engine/setup.h"

#include <gtest/gtest.h>

namespace armgate::cluster {
namespace {

Found with_standbys(std::optional<size_t> synchronous) {
  Found found;
  found.waits_for_standby = true;
  found.synchronous = synchronous;
  return found;
}

TEST(ClusterSetup, ARoleThatIsNotToldOfStandbysIsNoAlarm) {
  EXPECT_TRUE(warnings_of(with_standbys(1)).empty());
  const auto untold = warnings_of(with_standbys(std::nullopt));
  ASSERT_EQ(untold.size(), 1u);
  EXPECT_NE(untold.front().find("cannot be told without pg_monitor"), std::string::npos) << untold.front();
  EXPECT_FALSE(waits_in_vain(with_standbys(std::nullopt)));
}

TEST(ClusterSetup, WithoutAStandbyACommitWaitsInVain) {
  EXPECT_EQ(warnings_of(with_standbys(0)), std::vector<std::string>{kNoStandby});
  EXPECT_TRUE(waits_in_vain(with_standbys(0)));
  EXPECT_FALSE(waits_in_vain({})) << "it does not wait at all";
  Found local = with_standbys(0);
  local.commits_locally = true;
  EXPECT_FALSE(waits_in_vain(local));
  Found standby;
  standby.is_standby = true;
  EXPECT_TRUE(warnings_of(standby).empty()) << "it is not the one that is written to";
}

TEST(ClusterSetup, OnlyWhatChangedIsToldAgain) {
  EXPECT_EQ(changes_of({"a"}, {"a", "b"}), std::vector<std::string>{"b"});
  EXPECT_EQ(changes_of({"a", "b"}, {"b"}), std::vector<std::string>{"no longer so: a"});
  EXPECT_TRUE(changes_of({"a"}, {"a"}).empty());
}

}  // namespace
}  // namespace armgate::cluster
