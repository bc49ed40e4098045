// Guards, one row a case: unknown and unsaid count against it.
#include "cli/heal/facts/guards.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/utc.h"

namespace armgate::heal {
namespace {

using std::chrono::minutes;
using Says = Guard::Says;

const Target kGuarded{"/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c", "system"};

Pool pool_of(std::string name, std::string mode, std::string state, std::optional<int64_t> count = 1) {
  Pool pool;
  pool.name = std::move(name);
  pool.mode = std::move(mode);
  pool.state = std::move(state);
  pool.count = count;
  return pool;
}

Says says(const Seen& seen, std::string_view name) {
  for (const auto& guards : {cheap_guards(kGuarded, seen, {}), log_guards(kGuarded, seen, {})}) {
    for (const Guard& guard : guards) {
      if (guard.name == name) return guard.says;
    }
  }
  ADD_FAILURE() << "no guard " << name;
  return Says::Refuse;
}

Seen wedged() {
  Seen seen;
  seen.cluster.state = "Updating";
  seen.pools = {pool_of("system", "System", "Updating"), pool_of("work", "User", "Succeeded")};
  seen.failures = 10;
  seen.now = *parse_utc("2026-01-01T01:00:00Z");
  seen.operation_started = *parse_utc("2026-01-01T00:30:00Z");
  return seen;
}

TEST(Guards, AllPassForAWedgedCluster) {
  EXPECT_EQ(first_objection(cheap_guards(kGuarded, wedged(), {})), nullptr);
  EXPECT_EQ(first_objection(log_guards(kGuarded, wedged(), {})), nullptr);
}

TEST(Guards, TheStatesOfTheClusterAreComparedWithCase) {
  for (const char* state : {"Succeeded", "Canceled", "Failed", "Updating", "Upgrading"}) {
    Seen seen = wedged();
    seen.cluster.state = state;
    EXPECT_EQ(says(seen, "cluster state"), Says::Pass) << state;
  }
  for (const char* state : {"", "Creating", "Deleting", "updating", "Canceling", "Odd"}) {
    Seen seen = wedged();
    seen.cluster.state = state;
    EXPECT_EQ(says(seen, "cluster state"), Says::Refuse) << state;
  }
}

TEST(Guards, ThePoolMustBeUnwellInAKnownWay) {
  const std::pair<const char*, Says> cases[] = {
      {"Failed", Says::Pass},           {"Canceled", Says::Pass},   {"Updating", Says::Pass},   {"Upgrading", Says::Pass},
      {"Succeeded", Says::NothingToDo}, {"Creating", Says::Refuse}, {"Deleting", Says::Refuse}, {"", Says::Refuse},
      {"failed", Says::Refuse}};
  for (const auto& [state, expected] : cases) {
    Seen seen = wedged();
    seen.pools[0].state = state;
    EXPECT_EQ(says(seen, "pool state"), expected) << state;
  }
}

TEST(Guards, EveryOtherPoolHasNodes) {
  const std::pair<std::optional<int64_t>, Says> cases[] = {
      {2, Says::Pass}, {0, Says::NothingToDo}, {std::nullopt, Says::Refuse}};
  for (const auto& [count, expected] : cases) {
    Seen seen = wedged();
    seen.pools[1].count = count;
    EXPECT_EQ(says(seen, "other pools"), expected);
  }
  Seen seen = wedged();
  seen.pools[0].count = 0;
  EXPECT_EQ(says(seen, "other pools"), Says::Pass) << "of the wedged pool itself it does not matter";
}

TEST(Guards, ExactlyOneSystemPoolMayBeTouched) {
  Seen seen = wedged();
  seen.pools[1].mode = "System";
  EXPECT_EQ(says(seen, "system pool"), Says::Refuse);
  seen.pools.erase(seen.pools.begin());
  EXPECT_EQ(says(seen, "system pool"), Says::Refuse);
}

TEST(Guards, TheStormNeedsItsThreshold) {
  const std::pair<std::optional<size_t>, Says> cases[] = {
      {10, Says::Pass}, {11, Says::Pass}, {9, Says::NothingToDo}, {0, Says::NothingToDo}, {std::nullopt, Says::Refuse}};
  for (const auto& [failures, expected] : cases) {
    Seen seen = wedged();
    seen.failures = failures;
    EXPECT_EQ(says(seen, "failure storm"), expected);
  }
}

TEST(Guards, AnOperationMustBeHalfAnHourOld) {
  Seen seen = wedged();
  seen.operation_started = seen.now - minutes(29);
  EXPECT_EQ(says(seen, "operation age"), Says::NothingToDo);
  seen.operation_started.reset();
  EXPECT_EQ(says(seen, "operation age"), Says::Refuse);
  seen.cluster.state = "Canceled";
  EXPECT_EQ(says(seen, "operation age"), Says::Pass);
}

TEST(Guards, WithoutDetectionTheOthersStay) {
  GuardOptions options;
  options.skip_detection = true;
  Seen seen = wedged();
  seen.pools[0].state = "Succeeded";
  seen.failures.reset();
  EXPECT_EQ(first_objection(cheap_guards(kGuarded, seen, options)), nullptr);
  EXPECT_EQ(first_objection(log_guards(kGuarded, seen, options)), nullptr);
  seen.operation_started = seen.now;
  EXPECT_NE(first_objection(log_guards(kGuarded, seen, options)), nullptr);
  seen.cluster.state = "Deleting";
  EXPECT_NE(first_objection(cheap_guards(kGuarded, seen, options)), nullptr);
}

// What keeps from harm is no detection.
TEST(Guards, WithoutDetectionOtherPoolsAndUnknownStatesAreStillAskedAbout) {
  GuardOptions options;
  options.skip_detection = true;
  const auto objection = [&](const Seen& seen) {
    const auto guards = cheap_guards(kGuarded, seen, options);
    const Guard* const first = first_objection(guards);
    return first == nullptr ? std::string() : first->name;
  };
  for (const char* state : {"", "Deleting", "Creating", "Weird", "failed"}) {
    Seen seen = wedged();
    seen.pools[0].state = state;
    EXPECT_EQ(objection(seen), "pool state") << state;
  }
  for (const auto count : {std::optional<int64_t>(0), std::optional<int64_t>()}) {
    Seen seen = wedged();
    seen.pools[1].count = count;
    EXPECT_EQ(objection(seen), "other pools");
  }
}

}  // namespace
}  // namespace armgate::heal
