// Leases for runs of writes: who gets in, who waits, and when they are over.
#include "proxy/state/lock/run_leases.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace armgate {
namespace {

using rules::LockMode;
using std::chrono::seconds;

const Hash128 kHeal{1, 1};
const Hash128 kOther{2, 2};

class RunLeaseTable : public testing::Test {
 protected:
  QueuePosition write(const Hash128& client, const std::string& key = "cluster") {
    const std::vector<rules::LockKey> keys{{key, LockMode::Exclusive}};
    ClaimInfo info;
    info.client = client;
    info.client_label = client == kHeal ? "heal" : "other";
    info.what = "PUT " + key;
    info.since = now;
    if (leases.lets_in(client, keys)) info.priority = ClaimInfo::Priority::InRunLease;
    return *locks.join(keys, std::move(info), nullptr, 1);
  }
  Result<RunLeases::Lease> take(const std::vector<std::string>& resources = {"cluster", "pool"}) {
    return leases.take(resources, kHeal, "heal", "a repair", now);
  }

  TimePoint now{seconds(100)};
  LockTable locks{{}, Hasher(HashKey{1, 2})};
  RunLeases leases{[] {
                     RunLeases::Options options;
                     options.leases_max = 2;
                     options.resources_max = 3;
                     return options;
                   }(),
                   locks, Hasher(HashKey{1, 2})};
};

TEST_F(RunLeaseTable, ItsClientsWritesPassBeforeEverybodyWhoWaits) {
  const auto lease = take();
  ASSERT_TRUE(lease.ok());
  EXPECT_TRUE(lease->held);
  const QueuePosition waits = write(kOther);
  const QueuePosition waits_too = write(kOther, "pool");
  EXPECT_FALSE(waits.granted());
  EXPECT_FALSE(waits_too.granted());
  WriteLease own = write(kHeal).into_lease();
  const QueuePosition next = write(kHeal);
  EXPECT_FALSE(next.granted()) << "one write at a time, among its own too";
  own.release();
  EXPECT_TRUE(next.granted());
  EXPECT_FALSE(waits.granted());
  EXPECT_TRUE(write(kOther, "elsewhere").granted());
  EXPECT_EQ(waits.holder()->what, "LEASE cluster");
  EXPECT_EQ(waits.holder()->run_purpose, "a repair");
}

TEST_F(RunLeaseTable, BehindARunningWriteItWaitsAndNobodyElseBegins) {
  WriteLease runs = write(kOther).into_lease();
  const QueuePosition earlier = write(kOther);
  const auto lease = take();
  ASSERT_TRUE(lease.ok());
  EXPECT_FALSE(lease->held);
  EXPECT_EQ(lease->behind, "PUT cluster of other, since 0 s");
  EXPECT_EQ(lease->behind_age, seconds(0));
  runs.set_phase(WritePhase::Again);
  EXPECT_EQ(leases.renew(lease->id, now)->behind_age, std::nullopt) << "ARM refused it, and is at none of it";
  runs.set_phase(WritePhase::Sent);
  EXPECT_EQ(leases.renew(lease->id, now + seconds(9))->behind_age, seconds(0)) << "it may be sent right now";
  runs.note_at_arm(now + seconds(6));
  runs.set_phase(WritePhase::Runs);
  EXPECT_EQ(leases.renew(lease->id, now + seconds(9))->behind_age, seconds(3)) << "not since it came";
  EXPECT_FALSE(leases.lets_in(kHeal, {{"cluster", LockMode::Exclusive}})) << "not before it is held";
  runs.release();
  EXPECT_FALSE(earlier.granted());
  now += seconds(5);
  const auto renewed = leases.renew(lease->id, now);
  ASSERT_TRUE(renewed.has_value());
  EXPECT_TRUE(renewed->held);
  EXPECT_EQ(renewed->behind, "");
  EXPECT_EQ(renewed->age, seconds(5));
}

// A resource that is wedged has a full queue: just then somebody wants to repair it.
TEST(RunLeaseLimits, AFullQueueKeepsNoLeaseOff) {
  LockTable::Options few;
  few.waiters_per_key_max = 1;
  LockTable locks(few, Hasher(HashKey{1, 2}));
  RunLeases leases({}, locks, Hasher(HashKey{1, 2}));
  const std::vector<rules::LockKey> keys{{"cluster", LockMode::Exclusive}};
  const auto holds = locks.join(keys, {}, nullptr, 0);
  const auto waits = locks.join(keys, {}, nullptr, 0);
  ASSERT_FALSE(locks.join(keys, {}, nullptr, 0).ok());
  const auto lease = leases.take({"cluster"}, kHeal, "heal", "a repair", TimePoint(seconds(100)));
  ASSERT_TRUE(lease.ok());
  EXPECT_FALSE(lease->held);
}

TEST_F(RunLeaseTable, GivenBackItLetsTheOthersGoOn) {
  const auto lease = take();
  const QueuePosition waits = write(kOther);
  ASSERT_TRUE(leases.release(lease->id, now).has_value());
  EXPECT_TRUE(waits.granted());
  EXPECT_FALSE(leases.release(lease->id, now).has_value());
  EXPECT_FALSE(leases.renew(lease->id, now).has_value());
}

TEST_F(RunLeaseTable, WhatIsNotRenewedInTimeIsOver) {
  const auto lease = take();
  const QueuePosition waits = write(kOther);
  now += seconds(59);
  EXPECT_TRUE(leases.renew(lease->id, now).has_value());
  now += seconds(59);
  EXPECT_TRUE(leases.expire(now).empty());
  now += seconds(1);
  EXPECT_FALSE(leases.renew(lease->id, now).has_value());
  const auto expired = leases.expire(now);
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(expired[0].client, "heal");
  EXPECT_EQ(expired[0].over, "it was not renewed");
  EXPECT_TRUE(waits.granted());
}

TEST_F(RunLeaseTable, AResourceIsInOneLeaseAndLimitsHold) {
  ASSERT_TRUE(take({"a"}).ok());
  const auto second = leases.take({"b", "a"}, kOther, "other", "theirs", now);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().context, "a is in a lease of heal since 0 s (a repair)");
  EXPECT_TRUE(write(kOther, "b").granted()) << "a refused lease leaves nothing behind";
  EXPECT_EQ(take({"c", "d", "e", "f"}).error().kind, ErrorKind::TooLarge);
  ASSERT_TRUE(take({"c"}).ok());
  EXPECT_EQ(take({"d"}).error().kind, ErrorKind::TooLarge);
}

TEST_F(RunLeaseTable, AClientThatComesAgainGetsItsLeaseUnderANewId) {
  const auto first = take();
  const QueuePosition waits = write(kOther);
  now += seconds(30);
  const auto again = take();
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->held);
  EXPECT_NE(again->id, first->id);
  EXPECT_EQ(again->age, seconds(30));
  EXPECT_FALSE(leases.renew(first->id, now).has_value());
  EXPECT_FALSE(waits.granted()) << "nobody came in between";
  EXPECT_FALSE(leases.take({"cluster", "pool"}, kOther, "other", "theirs", now).ok());
}

TEST_F(RunLeaseTable, AnOperatorEndsItByItsResource) {
  const auto lease = take();
  EXPECT_FALSE(leases.release_on(locks.key_of("elsewhere"), now).has_value());
  const auto ended = leases.release_on(locks.key_of("pool"), now);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->id, lease->id);
  EXPECT_TRUE(write(kOther).granted());
}

// Only of several processes (below) can one wait beside another's: as long as the later one has not ended.
TEST_F(RunLeaseTable, WhatAHeldLeaseLetsInGoesBeforeALeaseThatWaits) {
  ASSERT_TRUE(take()->held);
  ClaimInfo info;
  info.client = kOther;
  info.run_purpose = "theirs";
  info.priority = ClaimInfo::Priority::RunLease;
  const auto waits = locks.join({{"pool", LockMode::Exclusive}, {"cluster", LockMode::Exclusive}}, info, nullptr, 0);
  for (const char* key : {"cluster", "pool"}) EXPECT_TRUE(write(kHeal, key).granted()) << key;
  EXPECT_FALSE(waits->granted());
}

TEST_F(RunLeaseTable, ALeaseGoesBeforeAWriteThatHasItsTurn) {
  WriteLease runs = write(kOther).into_lease();
  ClaimInfo info;
  info.client = kOther;
  info.priority = ClaimInfo::Priority::InTurn;
  const auto in_turn = locks.join({{"cluster", LockMode::Exclusive}}, info, nullptr, 0);
  const auto lease = take();
  runs.release();
  EXPECT_TRUE(leases.renew(lease->id, now)->held);
  EXPECT_FALSE(in_turn->granted());
}

// In a cluster a place comes when it stands in the log of all, and its client's writes may come through a process that gave no lease.
TEST_F(RunLeaseTable, OfSeveralProcessesALeaseIsHeldWhenItsPlaceHasComeAndAllLetItsClientIn) {
  RunLeases elsewhere{RunLeases::Options{}, locks, Hasher(HashKey{1, 2})};
  elsewhere.claim_through([](const std::vector<rules::LockKey>&, const ClaimInfo&) -> ComingPosition { return nullptr; });
  bool is_logged = false;
  leases.claim_through([&](const std::vector<rules::LockKey>& keys, ClaimInfo info) -> ComingPosition {
    return [&, keys, info]() -> std::optional<QueuePosition> {
      if (!is_logged) return std::nullopt;
      return std::move(*locks.join(keys, info, nullptr, 0));
    };
  });
  const std::vector<rules::LockKey> keys{{"pool", LockMode::Exclusive}};
  const auto lease = take();
  ASSERT_TRUE(lease.ok());
  EXPECT_FALSE(lease->held);
  EXPECT_EQ(lease->behind, "the other armgates, which are being told");
  EXPECT_FALSE(elsewhere.lets_in(kHeal, keys));
  is_logged = true;
  EXPECT_TRUE(leases.renew(lease->id, now)->held);
  EXPECT_TRUE(elsewhere.lets_in(kHeal, keys));
  EXPECT_FALSE(elsewhere.lets_in(kOther, keys));
  const QueuePosition waits = write(kOther);
  EXPECT_FALSE(waits.granted());
  EXPECT_TRUE(write(kHeal).granted());
  leases.release(lease->id, now);
  EXPECT_TRUE(waits.granted());
}

}  // namespace
}  // namespace armgate
