#include "proxy/state/lock/lock_table.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "proxy/async/spawn.h"

namespace armgate {
namespace {

using rules::LockKey;
using rules::LockMode;

constexpr uint32_t kGranted = 1;

struct Table {
  explicit Table(LockTable::Options options = {}) : locks(options, Hasher(HashKey{1, 2})) {}

  QueuePosition join(const std::vector<LockKey>& keys, Waiter* waiter = nullptr) {
    auto place = locks.join(keys, {}, waiter, kGranted);
    EXPECT_TRUE(place.ok());
    return *std::move(place);
  }
  bool refuses(const std::vector<LockKey>& keys) {
    const auto place = locks.join(keys, {}, nullptr, kGranted);
    if (place.ok()) return false;
    EXPECT_EQ(place.error().kind, ErrorKind::TooLarge);
    return true;
  }
  void expect_empty() {
    EXPECT_EQ(locks.counts().keys, 0u);
    EXPECT_EQ(locks.counts().waiting, 0u);
  }
  LockTable locks;
};

Task<void> collect(Waiter& waiter, uint32_t& bits) { bits += co_await waiter.wait(); }

LockKey exclusive(std::string id) { return {std::move(id), LockMode::Exclusive}; }
LockKey shared(std::string id) { return {std::move(id), LockMode::Shared}; }

TEST(LockTable, AFreeKeyIsGrantedAtOnceAndForgottenAfterwards) {
  Table table;
  {
    auto place = table.join({exclusive("a")});
    ASSERT_TRUE(place.granted());
    const WriteLease lease = place.into_lease();
    EXPECT_TRUE(lease.held());
    EXPECT_FALSE(lease.has_waiter());
    EXPECT_EQ(table.locks.counts().keys, 1u);
  }
  table.expect_empty();
}

TEST(LockTable, TheNextInLineIsGrantedWhenTheHolderLetsGo) {
  Table table;
  WriteLease lease = table.join({exclusive("a")}).into_lease();
  auto second = table.join({exclusive("a")});
  auto third = table.join({exclusive("a")});
  EXPECT_FALSE(second.granted());
  EXPECT_TRUE(lease.has_waiter());
  lease.release();
  EXPECT_TRUE(second.granted());
  EXPECT_FALSE(third.granted());
  { const WriteLease next = second.into_lease(); }
  EXPECT_TRUE(third.granted());
}

TEST(LockTable, AGrantThatNobodyTakesIsPassedOn) {
  Table table;
  std::optional<QueuePosition> first(table.join({exclusive("a")}));
  auto second = table.join({exclusive("a")});
  ASSERT_TRUE(first->granted());
  first.reset();
  EXPECT_TRUE(second.granted());
}

TEST(LockTable, WhoLeavesTheQueueMakesWayForThoseBehind) {
  Table table;
  const WriteLease a = table.join({exclusive("a")}).into_lease();
  std::optional<QueuePosition> both(table.join({exclusive("a"), exclusive("b")}));
  auto behind = table.join({exclusive("b")});
  EXPECT_FALSE(behind.granted()) << "first come, first served, although b is free";
  both.reset();
  EXPECT_TRUE(behind.granted());
}

TEST(LockTable, AClaimHoldsNothingWhileItWaits) {
  Table table;
  WriteLease a = table.join({exclusive("a")}).into_lease();
  auto both = table.join({exclusive("a"), exclusive("b")});
  EXPECT_FALSE(both.granted());
  EXPECT_EQ(table.locks.counts().waiting, 1u);
  a.release();
  EXPECT_TRUE(both.granted());
}

TEST(LockTable, SharersShareAndAWriterWaitsForAllOfThem) {
  Table table;
  WriteLease one = table.join({shared("net")}).into_lease();
  WriteLease two = table.join({shared("net")}).into_lease();
  auto writer = table.join({exclusive("net")});
  auto late = table.join({shared("net")});
  EXPECT_FALSE(late.granted()) << "a sharer does not overtake a waiting writer";
  one.release();
  EXPECT_FALSE(writer.granted());
  two.release();
  EXPECT_TRUE(writer.granted());
  EXPECT_FALSE(late.granted());
  { const WriteLease lease = writer.into_lease(); }
  EXPECT_TRUE(late.granted());
}

TEST(LockTable, AllSharersBehindAWriterAreGrantedTogether) {
  Table table;
  WriteLease writer = table.join({exclusive("net")}).into_lease();
  auto one = table.join({shared("net")});
  auto two = table.join({shared("net")});
  writer.release();
  EXPECT_TRUE(one.granted());
  EXPECT_TRUE(two.granted());
}

TEST(LockTable, AKeyNamedTwiceCountsOnceInTheStrongerMode) {
  Table table;
  {
    const WriteLease lease = table.join({shared("a"), exclusive("a"), shared("a")}).into_lease();
    EXPECT_EQ(lease.keys().size(), 1u);
    EXPECT_EQ(lease.keys()[0], table.locks.key_of("a"));
    EXPECT_FALSE(table.join({shared("a")}).granted());
  }
  table.expect_empty();
}

TEST(LockTable, AGrantSignalsTheWaiterOnce) {
  boost::asio::io_context io;
  Table table;
  Waiter waiter(io.get_executor());
  WriteLease lease = table.join({exclusive("a")}).into_lease();
  auto place = table.join({exclusive("a")}, &waiter);
  uint32_t seen = 0;
  spawn(io.get_executor(), collect(waiter, seen));
  io.poll();
  EXPECT_EQ(seen, 0u);
  lease.release();
  io.restart();
  io.poll();
  EXPECT_EQ(seen, kGranted);
}

TEST(LockTable, ALeaseMovesAndIsReleasedOnce) {
  Table table;
  WriteLease first = table.join({exclusive("a")}).into_lease();
  WriteLease second = std::move(first);
  EXPECT_TRUE(second.held());
  first.release();  // NOLINT(bugprone-use-after-move): releasing an empty lease does nothing
  EXPECT_EQ(table.locks.counts().keys, 1u);
  second = table.join({exclusive("b")}).into_lease();
  EXPECT_TRUE(table.join({exclusive("a")}).granted()) << "assignment released what was held";
  second.release();
  second.release();
  table.expect_empty();
}

// ---- limits

TEST(LockTable, AFullQueueRefusesAndLeavesNoTrace) {
  Table table({2, 100});
  WriteLease lease = table.join({exclusive("a")}).into_lease();
  auto one = table.join({exclusive("a")});
  auto two = table.join({exclusive("a")});
  EXPECT_TRUE(table.refuses({exclusive("b"), exclusive("a"), exclusive("c")}));
  EXPECT_EQ(table.locks.counts().keys, 1u);
  EXPECT_EQ(table.locks.counts().waiting, 2u);
  EXPECT_TRUE(table.join({exclusive("b")}).granted()) << "other keys are not concerned";
  lease.release();
  EXPECT_TRUE(one.granted());
  EXPECT_FALSE(table.refuses({exclusive("a")}));
}

TEST(LockTable, AFullTableRefusesOnlyThoseWhoWouldWait) {
  Table table({1000, 2});
  const WriteLease lease = table.join({exclusive("a")}).into_lease();
  const auto one = table.join({exclusive("a")});
  const auto two = table.join({exclusive("a")});
  EXPECT_TRUE(table.refuses({exclusive("a")}));
  EXPECT_TRUE(table.join({exclusive("free")}).granted()) << "one crowded resource must not stop all others";
}

TEST(LockTable, ARefusalSaysWhatIsFull) {
  Table table({1, 100});
  const WriteLease lease = table.join({exclusive("a")}).into_lease();
  const auto one = table.join({exclusive("a")});
  const auto refused = table.locks.join({exclusive("a")}, {}, nullptr, kGranted);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().context.find("1 writes wait"), std::string::npos) << refused.error().context;
}

TEST(LockTableDeathTest, MisuseStopsTheProcess) {
  Table table;
  const WriteLease lease = table.join({exclusive("a")}).into_lease();
  auto waiting = table.join({exclusive("a")});
  EXPECT_DEATH(waiting.into_lease(), "only a granted position becomes a lease");
  EXPECT_DEATH((void)table.locks.join({}, {}, nullptr, kGranted), "at least one key");
}

TEST(LockTable, KeysThatAreGivenBackBeforeTheOthersGoToWhoWaitsForThem) {
  Table table;
  auto holder = table.join({exclusive("a"), shared("b"), exclusive("c")});
  WriteLease lease = holder.into_lease();
  auto on_b = table.join({exclusive("b")});
  auto on_both = table.join({exclusive("b"), exclusive("a")});
  ASSERT_FALSE(on_b.granted());
  lease.release({table.locks.key_of("b"), table.locks.key_of("unknown")});
  EXPECT_TRUE(on_b.granted());
  EXPECT_FALSE(on_both.granted()) << "it waits for a too";
  EXPECT_EQ(lease.keys().size(), 2u);
  EXPECT_TRUE(lease.has_waiter());
  lease.release({table.locks.key_of("b"), table.locks.key_of("c")});
  EXPECT_EQ(lease.keys().size(), 1u);
  EXPECT_TRUE(lease.held());
  lease.release();
  EXPECT_FALSE(on_both.granted()) << "b is held by the one before";
  on_b.into_lease().release();
  EXPECT_TRUE(on_both.granted());
  on_both.into_lease().release();
  table.expect_empty();
}

TEST(LockTable, APlaceKnowsWhoHasWhatItWaitsFor) {
  Table table;
  ClaimInfo info;
  info.what = "PUT /a";
  auto place = table.locks.join({shared("other"), exclusive("a")}, info, nullptr, kGranted);
  const WriteLease runs = place->into_lease();
  const auto waits = table.join({exclusive("a"), exclusive("b"), shared("other")});
  const auto behind = table.join({exclusive("b")});
  ASSERT_TRUE(waits.holder().has_value());
  EXPECT_EQ(waits.holder()->what, "PUT /a");
  EXPECT_FALSE(behind.holder().has_value()) << "nobody has b, it is only somebody's turn before";
}

}  // namespace
}  // namespace armgate
