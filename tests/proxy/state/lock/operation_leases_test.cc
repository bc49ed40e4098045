#include "proxy/state/lock/operation_leases.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>
#include <vector>

#include "proxy/async/spawn.h"

namespace armgate::operation_leases_test {
namespace {

// {"oid":"o"} and {"oid":"p"}, unsigned.
constexpr char kOldToken[] = "Bearer e30.eyJvaWQiOiJvIn0.b2xk";
constexpr char kNewToken[] = "Bearer e30.eyJvaWQiOiJvIn0.bmV3";
constexpr char kNewestToken[] = "Bearer e30.eyJvaWQiOiJvIn0.bmV3ZXN0";
constexpr char kOtherPrincipal[] = "Bearer e30.eyJvaWQiOiJwIn0.bmV3";

using arm::Progress;
using arm::TrackedBy;

const std::string kResource = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v";
const std::string kStatus = "https://management.azure.com/op/1?t=a%2Fb";
const std::string kLocation = "https://management.azure.com/result/1";

const Hasher kHasher(HashKey{1, 2});

class OperationLeasesTest : public testing::Test {
 protected:
  std::shared_ptr<OperationLease> open(arm::Tracking tracking, arm::Method method = arm::Method::Put, uint64_t client = 1) {
    return open(LeasedWrite{}, std::move(tracking), method, client, kOldToken);
  }
  // Of an earlier process.
  std::shared_ptr<OperationLease> open_inherited() {
    LeasedWrite write;
    write.inherited = true;
    return open(std::move(write), {TrackedBy::ResourceState, "", ""}, arm::Method::Put, 1, "");
  }
  std::shared_ptr<OperationLease> open(LeasedWrite write, arm::Tracking tracking, arm::Method method, uint64_t client,
                                       std::string token) {
    auto plan = std::make_shared<KeyedPlan>();
    plan->resource_key = kHasher.hash(kResource);
    write.planned.plan = std::move(plan);
    write.method = method;
    write.tracking = std::move(tracking);
    write.client = {client, client};
    auto place = locks_.join({{"key" + std::to_string(++op_leases_), rules::LockMode::Exclusive}}, {}, nullptr, 1);
    auto op_lease =
        std::make_shared<OperationLease>(std::move(write), place->into_lease(), std::move(token), io_.get_executor());
    table_.add(op_lease);
    return op_lease;
  }
  std::vector<TrackedBy> find(std::string_view target, std::string_view resource = {},
                              std::string_view host = "management.azure.com") {
    std::vector<TrackedBy> ways;
    for (const auto& match : table_.find(host, target, resource.empty() ? Hash128{} : kHasher.hash(resource)))
      ways.push_back(match.by);
    return ways;
  }

  boost::asio::io_context io_;
  LockTable locks_{{}, kHasher};
  OperationLeases table_{kHasher};
  int op_leases_ = 0;
};

using Ways = std::vector<TrackedBy>;

TEST_F(OperationLeasesTest, ALeaseIsFoundByTheUrlsThatTellItsEnd) {
  const auto op_lease = open({TrackedBy::StatusUrl, kStatus, kLocation});
  EXPECT_EQ(find("/op/1?t=a%2Fb"), Ways{TrackedBy::StatusUrl});
  EXPECT_EQ(find("/result/1"), Ways{TrackedBy::LocationUrl});
  EXPECT_EQ(find("/op/1?t=a/b"), Ways{}) << "signed URLs are compared byte by byte";
  EXPECT_EQ(find("/op/1?t=a%2Fb", {}, "management.usgovcloudapi.net"), Ways{});
  EXPECT_EQ(find("/x", kResource), Ways{}) << "the resource's own state does not tell the operation's end";
}

TEST_F(OperationLeasesTest, ALeaseWithoutUrlsIsFoundByItsResource) {
  const auto op_lease = open({TrackedBy::ResourceState, "", ""});
  EXPECT_EQ(find("/x", kResource), Ways{TrackedBy::ResourceState});
  EXPECT_EQ(find("/x", kResource + "/subnets/a"), Ways{});
  EXPECT_EQ(find("/x"), Ways{});
}

TEST_F(OperationLeasesTest, ADeleteEndsWhenItsResourceIsGoneWhateverElseTellsIt) {
  const auto op_lease = open({TrackedBy::StatusUrl, kStatus, ""}, arm::Method::Delete);
  EXPECT_EQ(find("/x", kResource), Ways{TrackedBy::ResourceGone});
}

TEST_F(OperationLeasesTest, OneUrlForBothIsTheStatusUrl) {
  const auto op_lease = open({TrackedBy::StatusUrl, kStatus, kStatus});
  for (const auto way : find("/op/1?t=a%2Fb")) EXPECT_EQ(way, TrackedBy::StatusUrl);
  table_.close(op_lease);
  EXPECT_EQ(find("/op/1?t=a%2Fb"), Ways{});
}

TEST_F(OperationLeasesTest, AClosedLeaseIsNotFound) {
  const auto op_lease = open({TrackedBy::ResourceState, kStatus, kLocation}, arm::Method::Delete);
  EXPECT_EQ(table_.size(), 1u);
  table_.close(op_lease);
  EXPECT_TRUE(table_.empty());
  EXPECT_EQ(find("/op/1?t=a%2Fb", kResource), Ways{});
  EXPECT_EQ(op_lease.use_count(), 1) << "no index keeps it";
}

TEST_F(OperationLeasesTest, TwoLeasesOfOneResourceAreBothFoundAndClosedApart) {
  const auto first = open({TrackedBy::ResourceState, "", ""});
  const auto second = open({TrackedBy::ResourceState, "", ""});
  EXPECT_EQ(find("/x", kResource).size(), 2u);
  table_.close(first);
  const auto left = table_.find("management.azure.com", "/x", kHasher.hash(kResource));
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].op_lease, second);
}

TEST_F(OperationLeasesTest, ALeaseEndsOnceAndWakesItsWatcher) {
  const auto op_lease = open({TrackedBy::ResourceState, "", ""});
  EXPECT_TRUE(op_lease->is_open());
  EXPECT_EQ(op_lease->finished(), std::nullopt);
  EXPECT_TRUE(op_lease->finish(Progress::Succeeded));
  EXPECT_FALSE(op_lease->finish(Progress::Failed));
  EXPECT_EQ(op_lease->finished(), Progress::Succeeded);
  EXPECT_FALSE(op_lease->is_open());
}

TEST_F(OperationLeasesTest, ItsKeysStayHeldUntilItIsReleased) {
  const auto op_lease = open({TrackedBy::ResourceState, "", ""});
  auto next = locks_.join({{"key1", rules::LockMode::Exclusive}}, {}, nullptr, 1);
  EXPECT_TRUE(op_lease->has_waiter());
  op_lease->finish(Progress::Succeeded);
  EXPECT_FALSE(next->granted());
  op_lease->release();
  EXPECT_TRUE(next->granted());
  EXPECT_FALSE(op_lease->has_waiter());
  op_lease->release();
  EXPECT_EQ(op_lease->keys(), (std::vector<Hash128>{locks_.key_of("key1")})) << "for closing it";
}

TEST_F(OperationLeasesTest, TheNewestTokenOfItsOwnClientIsUsedAndForgottenAtTheEnd) {
  const auto mine = open({TrackedBy::ResourceState, "", ""});
  const auto theirs = open({TrackedBy::ResourceState, "", ""}, arm::Method::Put, 2);
  table_.renew_token({1, 1}, kNewToken);
  EXPECT_EQ(mine->authorization(), kNewToken);
  EXPECT_EQ(theirs->authorization(), kOldToken);
  table_.renew_token({1, 1}, kOtherPrincipal);
  EXPECT_EQ(mine->authorization(), kNewToken) << "a client of two tenants must not poll the one with the other's token";
  table_.renew_token({1, 1}, "");
  EXPECT_EQ(mine->authorization(), kNewToken) << "a request without a token takes none away";
  mine->finish(Progress::Succeeded);
  EXPECT_EQ(mine->authorization(), "");
  table_.renew_token({1, 1}, kNewestToken);
  EXPECT_EQ(mine->authorization(), "") << "a token is kept only while the operation runs";
}

TEST_F(OperationLeasesTest, AnInheritedLeaseIsLentTokensUntilItHasOneOfItsClient) {
  const auto inherited = open_inherited();
  const auto other = open({TrackedBy::ResourceState, "", ""});
  {
    OperationLeases::CredentialLoan first;
    OperationLeases::CredentialLoan second;
    table_.lend_credentials({locks_.key_of("key1"), locks_.key_of("key2")}, kNewToken, first);
    table_.lend_credentials({locks_.key_of("key1")}, kNewestToken, second);
    EXPECT_EQ(inherited->authorization(), kNewToken);
    EXPECT_EQ(other->authorization(), kOldToken) << "who has one needs none";
  }
  EXPECT_EQ(inherited->authorization(), "") << "taken back with what it came with";
  table_.renew_token({1, 1}, kOtherPrincipal);
  EXPECT_EQ(inherited->authorization(), kOtherPrincipal);
  OperationLeases::CredentialLoan late;
  table_.lend_credentials({locks_.key_of("key1")}, kNewToken, late);
  EXPECT_EQ(inherited->authorization(), kOtherPrincipal);
  inherited->distrust(kOtherPrincipal);
  EXPECT_EQ(inherited->authorization(), kNewToken) << "its client's was not good for it";
  inherited->distrust(kNewToken);
  EXPECT_EQ(inherited->authorization(), kNewToken) << "there is no other";
  inherited->finish(Progress::Succeeded);
  EXPECT_EQ(inherited->authorization(), "");
}

TEST_F(OperationLeasesTest, AClientsDeadTokenIsReplacedByALentOneUntilItsNewOneComes) {
  const auto op_lease = open({TrackedBy::ResourceState, "", ""});
  op_lease->distrust(kOldToken);
  EXPECT_EQ(op_lease->authorization(), kOldToken) << "there is no other";
  {
    OperationLeases::CredentialLoan loan;
    table_.lend_credentials({locks_.key_of("key1")}, kOtherPrincipal, loan);
    EXPECT_EQ(op_lease->authorization(), kOtherPrincipal);
    op_lease->distrust(kOtherPrincipal);
    table_.renew_token({1, 1}, kOldToken);
    EXPECT_EQ(op_lease->authorization(), kOtherPrincipal) << "the same token again is no newer one";
    table_.renew_token({1, 1}, kNewToken);
    EXPECT_EQ(op_lease->authorization(), kNewToken);
  }
  EXPECT_EQ(op_lease->authorization(), kNewToken);
}

TEST_F(OperationLeasesTest, WhoWaitsForSeveralOfItsKeysLendsOneToken) {
  const auto op_lease = open_inherited();
  OperationLeases::CredentialLoan first;
  OperationLeases::CredentialLoan second;
  const Hash128 key = locks_.key_of("key1");
  table_.lend_credentials({key, key}, kNewToken, first);
  table_.lend_credentials({key, key}, kNewestToken, second);
  EXPECT_EQ(op_lease->authorization(), kNewToken);
  op_lease->distrust(kNewToken);
  EXPECT_EQ(op_lease->authorization(), kNewestToken) << "another's";
}

Task<void> collect(Waiter& waiter, uint32_t& bits) { bits |= co_await waiter.wait(); }

class HoldWatchers : public OperationLeasesTest {
 protected:
  // With what the watchers of "key1" and of "key2" are woken by this.
  std::vector<uint32_t> woken_by(const std::function<void()>& what) {
    std::vector<std::shared_ptr<OperationLease>> op_leases;
    std::vector<uint32_t> woken(2);
    for (uint32_t& bits : woken) {
      op_leases.push_back(open({TrackedBy::ResourceState, "", ""}));
      spawn(io_.get_executor(), collect(op_leases.back()->waiter(), bits));
    }
    what();
    io_.poll();
    std::vector<uint32_t> by_this = woken;
    for (const auto& op_lease : op_leases) op_lease->finish(Progress::Succeeded);
    io_.restart();
    io_.poll();
    EXPECT_EQ(woken, (std::vector<uint32_t>{OperationLease::kWake, OperationLease::kWake})) << "by the end";
    return by_this;
  }
};

TEST_F(HoldWatchers, AreWokenByWhoeverBeginsToWaitForTheirKeys) {
  ClaimInfo lease;
  lease.run_purpose = "a repair";  // waits as a write does
  std::optional<QueuePosition> place;
  const auto wait = [&] { place = *locks_.join({{"key2", rules::LockMode::Exclusive}}, lease, nullptr, 0); };
  EXPECT_EQ(woken_by(wait), (std::vector<uint32_t>{0, OperationLease::kWake}));
}

TEST_F(HoldWatchers, AreWokenByATokenThatIsLent) {
  OperationLeases::CredentialLoan loan;
  const auto lend_credentials = [&] {
    table_.lend_credentials({locks_.key_of("key2"), locks_.key_of("unknown")}, kNewToken, loan);
  };
  EXPECT_EQ(woken_by(lend_credentials), (std::vector<uint32_t>{0, OperationLease::kWake}));
}

TEST_F(OperationLeasesTest, WhatTookItsLeaseOverIsToldInItsPlace) {
  auto op_lease = open({TrackedBy::ResourceState, "", ""});
  op_lease->finish(Progress::Succeeded);
  WriteLease lease = op_lease->take_lease();
  table_.close(op_lease);
  op_lease.reset();  // whoever waits from now on must not wake it
  const auto place = locks_.join({{"key1", rules::LockMode::Exclusive}}, {}, nullptr, 0);
  const auto next =
      std::make_shared<OperationLease>(LeasedWrite{}, std::move(lease), std::string(kNewToken), io_.get_executor());
  EXPECT_TRUE(next->has_waiter());
  uint32_t woken = 0;
  spawn(io_.get_executor(), collect(next->waiter(), woken));
  const auto another = locks_.join({{"key1", rules::LockMode::Exclusive}}, {}, nullptr, 0);
  io_.poll();
  EXPECT_EQ(woken, OperationLease::kWake);
  next->finish(Progress::Succeeded);
  io_.restart();
  io_.poll();
}

}  // namespace
}  // namespace armgate::operation_leases_test
