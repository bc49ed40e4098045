// A place whose owner is away, and a lease that its client may share (every interleaving: lock_table_search_test.cc).
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {
namespace {

using rules::LockKey;
using rules::LockMode;

class QueuePositions : public testing::Test {
 protected:
  QueuePosition join(const std::vector<LockKey>& keys = {{"a", LockMode::Exclusive}}, Waiter* waiter = nullptr) {
    return *locks.join(keys, {}, waiter, 1);
  }
  LockTable locks{LockTable::Options{2, 100}, Hasher(HashKey{1, 2})};
};

TEST_F(QueuePositions, WhoYieldsIsPassedAndCounted) {
  QueuePosition away = join();
  away.yield();
  EXPECT_TRUE(away.is_next());
  EXPECT_EQ(away.times_passed(), 0u);
  WriteLease other = join().into_lease();
  EXPECT_FALSE(away.is_next());
  EXPECT_EQ(away.times_passed(), 1u);
  other.release();
  EXPECT_TRUE(away.is_next());
  away.rejoin();
  EXPECT_TRUE(away.granted());
}

TEST_F(QueuePositions, WhatYieldedIsBeforeWhoCameLaterAlsoIfSeveralDo) {
  QueuePosition first = join();
  QueuePosition second = join();
  first.yield();
  ASSERT_TRUE(second.granted());
  second.yield();
  WriteLease passing = join().into_lease();
  second.rejoin();
  first.rejoin();
  passing.release();
  EXPECT_TRUE(first.granted());
  EXPECT_FALSE(second.granted());
}

Task<void> collect_grants(Waiter& waiter, uint32_t& bits) { bits += co_await waiter.wait(); }

TEST_F(QueuePositions, ItsTurnIsSignalledToWhoKeepsItNow) {
  boost::asio::io_context loop;
  Waiter before(loop.get_executor());
  Waiter keeper(loop.get_executor());
  uint32_t heard = 0;
  spawn(loop.get_executor(), collect_grants(keeper, heard));
  WriteLease held = join().into_lease();
  QueuePosition place = join({{"a", LockMode::Exclusive}}, &before);
  place.set_waiter(&keeper, 8);
  place.yield();
  held.release();
  loop.run();
  EXPECT_EQ(heard, 8u);
  EXPECT_FALSE(place.granted()) << "it is told, and nothing is taken";
}

TEST_F(QueuePositions, KnowsWhichKeysItIsFor) {
  const QueuePosition place = join({{"b", LockMode::Shared}, {"a", LockMode::Exclusive}});
  EXPECT_TRUE(place.is_for({{"a", LockMode::Exclusive}, {"b", LockMode::Shared}}));
  EXPECT_FALSE(place.is_for({{"a", LockMode::Exclusive}, {"b", LockMode::Exclusive}}));
  EXPECT_FALSE(place.is_for({{"a", LockMode::Exclusive}}));
}

TEST_F(QueuePositions, ALeaseBecomesAPlaceAgain) {
  WriteLease lease = join().into_lease();
  QueuePosition next = join();
  QueuePosition place = std::move(lease).into_position();
  EXPECT_TRUE(place.granted());
  place.yield();
  EXPECT_TRUE(next.granted());
}

TEST_F(QueuePositions, YieldingCountsAsWaiting) {
  QueuePosition one = join();
  QueuePosition two = join();
  QueuePosition three = join();
  EXPECT_EQ(locks.counts().waiting, 2u);
  EXPECT_FALSE(locks.join({{"a", LockMode::Exclusive}}, {}, nullptr, 1).ok()) << "the queue is full";
  one.yield();
  EXPECT_EQ(locks.counts().waiting, 2u) << "one waits again, and two is granted";
}

TEST_F(QueuePositions, ALeaseLetsInWhichOfItsOwnClientsItWasAskedTo) {
  const auto ask = [this](uint64_t client, bool is_reentrant) {
    ClaimInfo info;
    info.client = {client, client};
    info.is_reentrant = is_reentrant;
    return *locks.join({{"a", LockMode::Exclusive}}, std::move(info), nullptr, 1);
  };
  WriteLease lease = ask(1, false).into_lease();
  lease.admit_own(Own::Reentrant);
  EXPECT_FALSE(ask(1, false).granted());
  EXPECT_TRUE(ask(1, true).granted());
  lease.admit_own(Own::Any);
  EXPECT_TRUE(ask(1, false).granted());
  EXPECT_FALSE(ask(2, true).granted());
}

}  // namespace
}  // namespace armgate
