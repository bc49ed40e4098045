// One process at a time has a cluster, and others see which.
#include "cli/heal/cluster_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_directory.h"

namespace armgate::heal {
namespace {

using testing::HasSubstr;

const Target kLocked{"/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/l", "system"};

class HealLock : public testing::Test {
 protected:
  const TemporaryDirectory directory;
};

TEST_F(HealLock, OneProcessAtATimeHasACluster) {
  {
    const auto lock = ClusterLock::take(directory.path() / "runs", kLocked);
    ASSERT_TRUE(lock.ok());
    Target same = kLocked;
    same.cluster[1] = 'S';
    const auto second = ClusterLock::take(directory.path() / "runs", same);
    ASSERT_FALSE(second.ok());
    EXPECT_THAT(second.error().context, HasSubstr("another process repairs"));
    Target other = kLocked;
    other.cluster += "2";
    EXPECT_TRUE(ClusterLock::take(directory.path() / "runs", other).ok());
  }
  EXPECT_TRUE(ClusterLock::take(directory.path() / "runs", kLocked).ok());
}

TEST_F(HealLock, WhoeverComesNextKnowsTheNameOfTheRunBefore) {
  const std::filesystem::path runs = directory.path() / "runs";
  for (const std::string& id : {std::string(), std::string("20260101T000000Z-1a2b"), std::string("short")}) {
    auto lock = ClusterLock::take(runs, kLocked);
    ASSERT_TRUE(lock.ok());
    ASSERT_TRUE(lock->note_run(id).ok());
    EXPECT_EQ(lock->last_run(), id);
  }
  EXPECT_EQ(ClusterLock::take(runs, kLocked)->last_run(), "short");
  for (const auto& entry : std::filesystem::directory_iterator(runs)) std::ofstream(entry.path()) << "../x";
  EXPECT_EQ(ClusterLock::take(runs, kLocked)->last_run(), "") << "it becomes the name of a directory";
}

TEST_F(HealLock, WhoLooksSeesTheRunAndTakesNothing) {
  const std::filesystem::path runs = directory.path() / "runs";
  EXPECT_EQ(ClusterLock::holder(runs, kLocked), std::nullopt) << "there is no file yet";
  {
    auto lock = ClusterLock::take(runs, kLocked);
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(ClusterLock::holder(runs, kLocked), "");
    ASSERT_TRUE(lock->note_run("20260101T000000Z-1a2b").ok());
    EXPECT_EQ(ClusterLock::holder(runs, kLocked), "20260101T000000Z-1a2b");
  }
  EXPECT_EQ(ClusterLock::holder(runs, kLocked), std::nullopt);
  EXPECT_EQ(ClusterLock::last_run(runs, kLocked), "20260101T000000Z-1a2b");
}

}  // namespace
}  // namespace armgate::heal
