// Turns: who has one, what a read does to it, and what the lock table makes of it.
#include "proxy/state/lock/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <utility>

#include "proxy/async/spawn.h"

namespace armgate {
namespace {

using rules::LockMode;

const Hash128 kAnn{1, 1};
const Hash128 kBen{2, 2};

class TurnTable : public testing::Test {
 protected:
  QueuePosition join(ClaimInfo::Priority priority = ClaimInfo::Priority::None) {
    ClaimInfo info;
    info.priority = priority;
    return *locks.join({{"a", LockMode::Exclusive}}, std::move(info), nullptr, 1);
  }
  std::shared_ptr<Turn> give(const Hash128& client) {
    return turns.give(key, client, join(ClaimInfo::Priority::Turn), loop.get_executor());
  }

  boost::asio::io_context loop;
  LockTable locks{{}, Hasher(HashKey{1, 2})};
  const Hash128 key = locks.key_of("a");
  Turns turns{[] {
    Turns::Options options;
    options.turns_max = 2;
    return options;
  }()};
};

TEST_F(TurnTable, ReservesTheKeyForItsClientsWrite) {
  WriteLease running = join().into_lease();
  QueuePosition waiting = join();
  const auto turn = give(kAnn);
  ASSERT_NE(turn, nullptr);
  EXPECT_FALSE(turn->granted());
  running.release();
  EXPECT_TRUE(turn->granted()) << "it goes before who came earlier";
  EXPECT_FALSE(waiting.granted());

  auto taken = turns.take(key, kAnn);
  ASSERT_EQ(taken, turn);
  QueuePosition write = join(ClaimInfo::Priority::InTurn);
  taken->end();
  EXPECT_TRUE(turn->over());
  EXPECT_TRUE(write.granted());
  EXPECT_FALSE(waiting.granted());
  EXPECT_EQ(turns.size(), 0u);
}

TEST_F(TurnTable, ItsPlaceIsItsClientsWrites) {
  const auto turn = give(kAnn);
  const auto next = give(kBen);
  auto place = turns.take(key, kAnn)->take_position();
  ASSERT_TRUE(place.has_value());
  EXPECT_TRUE(place->is_for({{"a", LockMode::Exclusive}}));
  EXPECT_TRUE(turn->over());
  EXPECT_FALSE(turn->take_position().has_value()) << "once";
  ClaimInfo as_write;
  as_write.what = "PUT /a";
  as_write.bytes = {1, 1};
  place->become_write(std::move(as_write));
  const auto entries = locks.entries(2).oldest;
  EXPECT_TRUE(std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    const ClaimInfo& info = entry.info;
    return info.what == "PUT /a" && !info.is_turn && info.bytes == Hash128{1, 1};
  })) << "no turn any more: whoever asks what is at ARM is to find it";
  WriteLease write = place->into_lease();
  EXPECT_FALSE(next->granted());
  write.release();
  EXPECT_TRUE(next->granted());
}

TEST_F(TurnTable, TurnsFollowEachOther) {
  const auto first = give(kAnn);
  const auto second = give(kBen);
  EXPECT_TRUE(first->granted());
  EXPECT_FALSE(second->granted());
  turns.end(key, first);
  EXPECT_TRUE(first->over());
  EXPECT_TRUE(second->granted());
}

TEST_F(TurnTable, AClientHasOneAtMost) {
  const auto turn = give(kAnn);
  EXPECT_EQ(give(kAnn), nullptr);
  EXPECT_EQ(turns.size(), 1u);
  turns.end(key, turn);
  EXPECT_EQ(locks.counts().keys, 0u) << "the second place was given up";
  EXPECT_NE(give(kAnn), nullptr);
}

TEST_F(TurnTable, BeyondTheBoundNobodyGetsOne) {
  const Hash128 other = locks.key_of("b");
  EXPECT_NE(give(kAnn), nullptr);
  EXPECT_NE(give(kBen), nullptr);
  auto place = *locks.join({{"b", LockMode::Exclusive}}, {}, nullptr, 1);
  EXPECT_EQ(turns.give(other, kAnn, std::move(place), loop.get_executor()), nullptr);
  EXPECT_EQ(turns.take(other, kAnn), nullptr);
  EXPECT_EQ(turns.size(), 2u);
  EXPECT_EQ(locks.counts().keys, 1u);
}

TEST_F(TurnTable, AReadCountsOnceAndOnlyWhileNothingIsSent) {
  WriteLease running = join().into_lease();
  const auto turn = give(kAnn);
  turns.note_read(key, kAnn);
  EXPECT_FALSE(turn->has_read()) << "somebody's write is being sent";
  running.release();
  turns.note_read(key, kBen);
  turns.note_read(locks.key_of("b"), kAnn);
  EXPECT_FALSE(turn->has_read()) << "another's read, and one of something else";
  turns.note_read(key, kAnn);
  EXPECT_TRUE(turn->has_read());
  turns.end(key, turn);
  turns.note_read(key, kAnn);
  EXPECT_TRUE(turn->over());
}

Task<void> collect_turns(Waiter& waiter, uint32_t& bits, int times) {
  while (times-- > 0) bits += co_await waiter.wait();
}

TEST_F(TurnTable, ItsKeeperHearsOfEachStep) {
  WriteLease running = join().into_lease();
  const auto turn = give(kAnn);
  uint32_t heard = 0;
  spawn(loop.get_executor(), collect_turns(turn->waiter(), heard, 3));
  loop.poll();
  EXPECT_EQ(heard, 0u);
  running.release();
  loop.poll();
  EXPECT_EQ(heard, Turn::kGranted);
  turns.note_read(key, kAnn);
  turns.note_read(key, kAnn);
  loop.poll();
  EXPECT_EQ(heard, Turn::kGranted + Turn::kRead);
  turn->end();
  loop.poll();
  EXPECT_EQ(heard, Turn::kGranted + Turn::kRead + Turn::kOver);
}

TEST_F(TurnTable, WhatWasTakenOrEndedIsTakenByNobody) {
  const auto turn = give(kAnn);
  EXPECT_EQ(turns.take(key, kBen), nullptr);
  turns.end(key, turn);
  turns.end(key, turn);
  EXPECT_EQ(turns.take(key, kAnn), nullptr);
  EXPECT_EQ(turns.size(), 0u);
  EXPECT_EQ(locks.counts().keys, 0u);

  const auto next = give(kAnn);
  EXPECT_EQ(turns.take(key, kAnn), next);
  EXPECT_EQ(turns.take(key, kAnn), nullptr);
  EXPECT_TRUE(next->granted()) << "until its taker ends it";
}

}  // namespace
}  // namespace armgate
