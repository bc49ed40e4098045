// Who was sent away from the queue, or left it, has its place when it comes back (docs/design.md, "Queue reservations").
#include <gtest/gtest.h>

#include "proxy/request/identify.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::reservation_test {
namespace {

using std::chrono::seconds;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1";
const std::string kPatch = patch(kScaleSet);

// A queue behind a running operation that nobody polls, so that the test says when it ends.
class Reservations : public testing::Test {
 protected:
  Reservations() : rig(options()) {
    rig.arm_lives([this](const arm::Request& request) { return answer_to(request); });
    rig.ask("one", kPatch, "first");
  }
  static PipelineOptions options() {
    PipelineOptions options = StageRig::default_options();
    options.poll_first = std::chrono::hours(1);
    options.poll_with_waiter = std::chrono::hours(1);
    options.poll_without_waiter = std::chrono::hours(1);
    return options;
  }
  Step answer_to(const arm::Request& request) {
    Step step;
    const bool poll = request.head.target.find("/operations/") != std::string::npos;
    step.body = poll ? R"({"status":"Succeeded"})" : kState;
    if (poll) return step;
    order += request.body;
    if (request.body == "first") {
      step.status = 202;
      step.fields = {{"Azure-AsyncOperation", kOperation}};
    } else {
      step.takes = takes;
    }
    return step;
  }
  std::shared_ptr<StageRig::Running> start(const std::string& client, const std::string& body) {
    return rig.start(client, kPatch, body);
  }
  // Stands in line for a while, and is gone.
  void come_and_leave(const std::string& client, const std::string& body) {
    const auto left = start(client, body);
    rig.pass(seconds(5));
    left->link->leave(Leaving::Reset);
  }
  // The client's own poll passes by.
  void end_operation() { rig.ask("one", "GET /subscriptions/s/operations/1"); }
  bool over() { return rig.shared().reservations.size() == 0 && rig.shared().locks.counts().keys == 0; }

  StageRig rig;
  std::string order;  // bodies, as ARM got them
  Duration takes = seconds(1);
};

TEST_F(Reservations, AWriteThatALeaseForARunLetsInDoesNotStandOnAPlaceOfBeforeBehindOthers) {
  const auto three = start("three", "3");
  rig.pass(seconds(1));
  come_and_leave("two", "2");
  auto& shared = rig.shared();
  const std::string id = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v";
  const auto lease = shared.run_leases.take({id}, client_key(shared.hasher, "two"), "two", "a repair", rig.now());
  ASSERT_TRUE(lease.ok());
  end_operation();
  rig.pass(seconds(1));
  ASSERT_TRUE(shared.run_leases.renew(lease->id, rig.now())->held);
  const auto again = start("two", "2");
  rig.pass(seconds(2));
  EXPECT_EQ(order, "first2") << "three stood before it, and waits for the lease";
  shared.run_leases.release(lease->id, rig.now());
  rig.run_until([&] { return three->done; });
  EXPECT_EQ(order, "first23");
  rig.pass(seconds(1));
  EXPECT_TRUE(over());
}

TEST_F(Reservations, WhoComesBackStandsOnItsPlaceAgain) {
  const auto two = start("two", "2");
  rig.run_until([&] { return two->done; });
  EXPECT_EQ(two->link->answer().head.status, 503);
  const auto three = start("three", "3");
  rig.pass(seconds(1));
  const auto again = start("two", "2");
  rig.pass(seconds(1));
  end_operation();
  rig.run_until([&] { return again->done && three->done; });
  EXPECT_EQ(order, "first23");
  EXPECT_EQ(again->link->answer().head.fields.get("x-armgate-reason"), "waited-for-another-write");
  rig.pass(seconds(1));
  EXPECT_TRUE(over());
}

TEST_F(Reservations, WhoLeftTheQueueDoesToo) {
  const auto two = start("two", "2");
  rig.pass(seconds(5));
  const auto three = start("three", "3");
  two->link->leave(Leaving::Reset);
  rig.pass(seconds(20));
  const auto again = start("two", "2");
  end_operation();
  rig.run_until([&] { return again->done && three->done; });
  EXPECT_EQ(order, "first23");
}

TEST_F(Reservations, ItsTurnIsReservedForAMomentAndThenOthersGoBy) {
  const auto two = start("two", "2");
  rig.pass(seconds(5));
  const auto three = start("three", "3");
  two->link->leave(Leaving::Reset);
  rig.pass(seconds(1));
  end_operation();
  rig.pass(seconds(4));
  EXPECT_EQ(order, "first") << "it may come at any moment";
  rig.pass(seconds(2));
  EXPECT_EQ(order, "first3");
  rig.run_until([&] { return three->done; });
  EXPECT_FALSE(over()) << "its place is still kept";
  rig.pass(std::chrono::minutes(2));
  EXPECT_TRUE(over());
  EXPECT_EQ(order, "first3") << "nothing is ever sent for who does not come";
}

TEST_F(Reservations, ACrowdThatVanishedHoldsUpOthersOnceNotOnceForEach) {
  for (const char* client : {"a", "b", "c", "d"}) come_and_leave(client, client);
  const auto live = start("live", "5");
  rig.pass(seconds(1));
  end_operation();
  rig.pass(seconds(4));
  EXPECT_EQ(order, "first");
  rig.pass(seconds(3));
  EXPECT_EQ(order, "first5");
  rig.run_until([&] { return live->done; });
  const auto back = start("c", "c");
  rig.run_until([&] { return back->done; });
  EXPECT_EQ(order, "first5c");
  rig.pass(std::chrono::minutes(5));
  EXPECT_TRUE(over());
}

TEST_F(Reservations, InTimeItsTurnIsTakenAtOnce) {
  come_and_leave("two", "2");
  rig.pass(seconds(1));
  end_operation();
  rig.pass(seconds(3));
  const auto again = rig.ask("two", kPatch, "2");
  EXPECT_EQ(again.head.status, 200);
  EXPECT_EQ(again.head.fields.get("x-armgate-waited-ms"), "0");
  EXPECT_EQ(again.head.fields.get("x-armgate-reason"), "claimed-its-reservation");
}

TEST_F(Reservations, WhoWasPassedIsStillBeforeThoseWhoWait) {
  takes = seconds(15);
  const auto two = start("two", "2");
  rig.pass(seconds(5));
  const auto three = start("three", "3");
  const auto four = start("four", "4");
  two->link->leave(Leaving::Reset);
  rig.pass(seconds(1));
  end_operation();
  rig.pass(seconds(10));
  EXPECT_EQ(order, "first3");
  const auto again = start("two", "2");
  rig.run_until([&] { return again->done && four->done && three->done; });
  EXPECT_EQ(order, "first324");
}

TEST_F(Reservations, ItsGraceDoesNotRunWhileOthersStandInItsWay) {
  come_and_leave("two", "2");
  rig.pass(std::chrono::minutes(10));
  const auto three = start("three", "3");
  const auto again = start("two", "2");
  end_operation();
  rig.run_until([&] { return again->done && three->done; });
  EXPECT_EQ(order, "first23");
}

TEST_F(Reservations, AfterItsGraceItStandsAtTheEnd) {
  takes = seconds(10);
  come_and_leave("two", "2");
  end_operation();
  rig.pass(seconds(70));
  EXPECT_TRUE(over());
  const auto three = start("three", "3");
  rig.pass(seconds(1));
  const auto four = start("four", "4");
  const auto again = start("two", "2");
  rig.run_until([&] { return again->done && four->done && three->done; });
  EXPECT_EQ(order, "first342");
}

TEST_F(Reservations, OneClientCanKeepOnlySoManyPlacesOfAResource) {
  for (int i = 0; i < 40; ++i) {
    const auto left = start("two", "2" + std::to_string(i));
    rig.pass(seconds(1));
    left->link->leave(Leaving::Reset);
    rig.pass(seconds(1));
  }
  EXPECT_EQ(rig.shared().reservations.size(), armgate::Reservations::Options().per_resource_max);
  end_operation();
  rig.pass(std::chrono::minutes(31));
  EXPECT_TRUE(over());
}

// Each reads again and comes back with something else: its old places are of no use to it.
TEST_F(Reservations, WhoAlwaysComesBackWithSomethingElseKeepsFewPlaces) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::shared_ptr<StageRig::Running>> all(9);
    for (size_t i = 0; i < all.size(); ++i) all[i] = start("client" + std::to_string(i), std::to_string(round * 10 + i));
    rig.pass(seconds(52));
    for (const auto& one : all) EXPECT_TRUE(one->done && one->link->answer().head.status == 503);
  }
  EXPECT_EQ(rig.shared().reservations.size(), 18u) << "the last place of each, and the one before";
}

TEST_F(Reservations, ANamesakesWaitInVainCostsNobodyItsPlace) {
  come_and_leave("two", "2");
  const auto namesake = start("two", "3");
  const auto three = start("three", "4");
  rig.run_until([&] { return namesake->done; });
  EXPECT_EQ(namesake->link->answer().head.status, 503);
  const auto again = start("two", "2");
  const auto fresh = start("three", "5");
  end_operation();
  rig.run_until([&] { return again->done && fresh->done; });
  EXPECT_EQ(order.substr(0, 6), "first2");
}

// A pool stands behind its cluster's operation, and names a subnet. Its client is gone for good.
TEST_F(Reservations, WhoIsAwayKeepsNobodyForLongFromKeysThatNobodyHas) {
  const std::string cluster = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c";
  const std::string subnet = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/s";
  rig.ask("one", patch(cluster + "?api-version=2025-01-01"), "first");
  const auto pool = rig.start("two", put(cluster + "/agentPools/p?api-version=2025-01-01"),
                              R"({"properties":{"vnetSubnetID":")" + subnet + R"("}})");
  rig.pass(seconds(5));
  pool->link->leave(Leaving::Reset);
  rig.pass(seconds(1));
  const TimePoint asked = rig.now();
  EXPECT_EQ(rig.ask("three", patch(subnet + "?api-version=2024-05-01"), "s").head.status, 200);
  EXPECT_LT(rig.now() - asked, seconds(6));
  EXPECT_EQ(order, "firstfirsts") << "the pool was never sent";
}

// ARM would have it wait for longer than it does: it is told when, and others go by once it was sent away twice.
TEST(BusyForLong, WhoIsToldToComeAgainIsToldWhenAndKeepsNobodyOffTwice) {
  StageRig rig;
  const arm::Headers in_a_minute{{"Retry-After", "60"}};
  const std::string busy = R"({"error":{"code":"RetryableError","message":"m"}})";
  for (int i = 0; i < 2; ++i) rig.arm(kPatch, 429, in_a_minute, busy);
  rig.arm(kPatch, 200, {}, kState);
  for (int i = 0; i < 2; ++i) {
    const auto answer = rig.ask("one", kPatch, "1");
    EXPECT_EQ(answer.head.status, 503) << answer.body;
    EXPECT_EQ(answer.head.fields.get("Retry-After"), "60");
    rig.pass(seconds(2));
  }
  const TimePoint asked = rig.now();
  EXPECT_EQ(rig.ask("two", kPatch, "2").head.status, 200);
  EXPECT_LT(rig.now() - asked, seconds(1));
}

TEST(ClientWait, HowLongAClientMayWaitDependsOnItsUserAgent) {
  const struct {
    const char* user_agent;
    const char* waited;
  } rows[] = {
      {"AZURECLI/2.56.0 (MSI) (AAZ) azsdk-python-core/1.28.0", "200000"},
      {"azsdk-net-ResourceManager/1.4", "90000"},
      {"curl/7.88.1", "50000"},
  };
  for (const auto& row : rows) {
    StageRig rig;
    rig.arm("PATCH", 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "1000"}});
    rig.ask("one", kPatch, "{}");
    const auto busy = rig.ask("two", kPatch, "{}", {{"User-Agent", row.user_agent}});
    EXPECT_EQ(busy.head.status, 503) << row.user_agent;
    EXPECT_EQ(busy.head.fields.get("x-armgate-waited-ms"), row.waited) << row.user_agent;
  }
}

}  // namespace
}  // namespace armgate::world::reservation_test
