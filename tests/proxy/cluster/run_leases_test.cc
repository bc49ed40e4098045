// A resource is in one lease for a run, whichever replica was asked for it, and what a lease lets in waits for no other lease.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/async/spawn.h"
#include "proxy/state/lock/run_leases.h"
#include "tests/proxy/cluster/replica_rig.h"

namespace armgate::cluster::run_leases_test {
namespace {

using std::chrono::seconds;
using Rig = ReplicaRig;

constexpr Hash128 kFirst{1, 1}, kSecond{2, 2};
const std::vector<std::string> kResources{"cluster", "pool"};

struct Side {
  explicit Side(Rig& rig_) : rig(rig_), process(rig.begin()) {
    leases.claim_through([this](const std::vector<rules::LockKey>& keys, ClaimInfo info) {
      return process.replica.claim_to_poll(keys, std::move(info));
    });
  }
  ~Side() { process.member->leave(); }

  Result<RunLeases::Lease> ask(const Hash128& client, const std::vector<std::string>& resources = kResources) {
    return leases.take(resources, client, client == kFirst ? "first" : "second", "a repair", rig.clock.now());
  }
  Result<RunLeases::Lease> take(const Hash128& client, const std::vector<std::string>& resources = kResources) {
    auto lease = ask(client, resources);
    rig.pass(seconds(2));
    return lease;
  }
  bool holds(const Result<RunLeases::Lease>& lease) {
    const auto renewed = leases.renew(lease->id, rig.clock.now());
    rig.pass(seconds(2));
    return renewed && renewed->held;
  }
  // Why leases were over.
  std::vector<std::string> expire() {
    std::vector<std::string> why;
    for (const auto& lease : leases.expire(rig.clock.now())) why.push_back(lease.over);
    rig.pass(seconds(2));
    return why;
  }
  // A write of the client's; as long as it is kept it waits, or has the resource.
  std::shared_ptr<std::optional<Replica::ClaimAnswer>> write(const Hash128& client) {
    ClaimInfo info;
    info.client = client;
    if (leases.lets_in(client, {{"pool", rules::LockMode::Exclusive}})) info.priority = ClaimInfo::Priority::InRunLease;
    auto place = std::make_shared<std::optional<Replica::ClaimAnswer>>();
    spawn(rig.loop.get_executor(), claim(std::move(info), place));
    rig.pass(seconds(2));
    return place;
  }

  Rig& rig;
  Rig::Process& process;
  RunLeases leases{{}, process.locks, Hasher(HashKey{1, 2})};

 private:
  Task<void> claim(ClaimInfo info, std::shared_ptr<std::optional<Replica::ClaimAnswer>> place) {
    const std::vector<rules::LockKey> keys{{"pool", rules::LockMode::Exclusive}};
    *place = co_await process.replica.claim(keys, std::move(info), nullptr, 0, rig.loop.get_executor(),
                                            rig.clock.now() + seconds(9));
  }
};

bool is_granted(const std::shared_ptr<std::optional<Replica::ClaimAnswer>>& write) {
  return *write && (*write)->position.granted();
}

struct ClusterRunLeases : testing::Test {
  Rig rig;
  Side a{rig}, b{rig};
};

TEST_F(ClusterRunLeases, OneThatAnotherReplicaGaveIsToldByName) {
  const auto lease = a.take(kFirst);
  ASSERT_TRUE(a.holds(lease));
  const auto refused = b.take(kSecond, {"elsewhere", "pool"});
  ASSERT_FALSE(refused.ok()) << "it stands in the first one's way";
  EXPECT_EQ(refused.error().context.substr(0, 33), "pool is in a lease of first since");
  EXPECT_NE(refused.error().context.find("(a repair)"), std::string::npos) << refused.error().context;
  EXPECT_FALSE(b.take(kFirst, {"pool"}).ok()) << "of the same client, but other resources";
  EXPECT_EQ(a.process.locks.counts().waiting, 0u);
  ASSERT_TRUE(a.leases.release(lease->id, rig.clock.now()));
  rig.pass(seconds(2));
  EXPECT_TRUE(b.holds(b.take(kSecond)));
}

TEST_F(ClusterRunLeases, WhatIsGivenBackCanBeAskedForAtOnce) {
  const auto lease = a.take(kFirst);
  ASSERT_TRUE(a.holds(lease));
  ASSERT_TRUE(a.leases.release(lease->id, rig.clock.now()));
  EXPECT_TRUE(a.holds(a.take(kSecond))) << "though the log did not know yet";
}

TEST_F(ClusterRunLeases, OfTwoThatAreAskedForAtTheSameMomentOneIsHad) {
  const auto first = a.ask(kFirst), second = b.ask(kSecond);
  ASSERT_TRUE(first.ok() && second.ok()) << "neither can know of the other";
  rig.pass(seconds(2));
  const bool is_first = a.holds(first);
  ASSERT_NE(is_first, b.holds(second));
  Side& won = is_first ? a : b;
  Side& lost = is_first ? b : a;
  EXPECT_EQ(lost.expire(), (std::vector<std::string>{std::string(is_first ? "first" : "second") +
                                                     " has asked first through another armgate (a repair)"}));
  EXPECT_FALSE(lost.take(is_first ? kSecond : kFirst).ok());
  EXPECT_TRUE(won.expire().empty());
  EXPECT_TRUE(won.holds(is_first ? first : second));
  EXPECT_EQ(won.process.locks.counts().waiting, 0u);
}

TEST_F(ClusterRunLeases, AWriteThatALeaseLetsInWaitsForNoOtherLease) {
  const auto first = a.ask(kFirst), second = b.ask(kSecond);
  rig.pass(seconds(2));
  const bool is_first = a.leases.lets_in(kFirst, {{"pool", rules::LockMode::Exclusive}});
  ASSERT_TRUE(is_first ? a.holds(first) : b.holds(second));
  EXPECT_EQ(a.process.locks.counts().waiting, 1u) << "the other one, which its replica has not looked at yet";
  for (Side* side : {&a, &b}) EXPECT_TRUE(is_granted(side->write(is_first ? kFirst : kSecond)));
}

TEST_F(ClusterRunLeases, EndWithTheirReplica) {
  const auto lease = a.take(kFirst);
  ASSERT_TRUE(a.holds(lease));
  a.process.member->leave();
  rig.pass(seconds(60));
  b.process.resources.apply({5, 5}, policy::Found{1});  // whoever tells something finds out who is dead
  rig.pass(seconds(2));
  EXPECT_TRUE(b.holds(b.take(kSecond)));
}

TEST_F(ClusterRunLeases, AClientThatComesAgainThroughAnotherReplicaGetsItThereAndNobodyComesBetween) {
  const auto before = a.take(kFirst);
  ASSERT_TRUE(a.holds(before));
  const auto other = a.write(kSecond);
  const auto again = b.take(kFirst);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(b.holds(again)) << "beside the one of before, which its replica has not looked at yet";
  EXPECT_FALSE(is_granted(other));
  EXPECT_EQ(a.expire(), (std::vector<std::string>{"its client has come again through another armgate"}));
  EXPECT_FALSE(a.holds(before));
  EXPECT_TRUE(b.holds(again));
  EXPECT_FALSE(is_granted(other));
  EXPECT_TRUE(is_granted(a.write(kFirst)));
}

}  // namespace
}  // namespace armgate::cluster::run_leases_test
