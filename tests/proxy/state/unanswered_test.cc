#include "proxy/state/unanswered.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace armgate {
namespace {

using std::chrono::minutes;

struct Rig {
  UnansweredWrites table{UnansweredWrites::Options{minutes(5), 4, 100}};
  std::shared_ptr<Presence> asker = std::make_shared<Presence>();
  TimePoint now{std::chrono::hours(1)};
  uint64_t order = 0;

  UnansweredWrites::Arrival arrival(uint64_t request, std::string_view request_id = {}) {
    return {Hash128{request, 1}, std::string(request_id), Hash128{7, 7}, asker};
  }
  Moment tick() { return {++order, now}; }
  // A write that was sent and accepted, and whose answer of `size` bytes got lost.
  uint64_t orphan(uint64_t request, size_t size = 10, std::string_view request_id = {}) {
    const uint64_t write = table.add(arrival(request, request_id));
    table.sent(write);
    auto answer = std::make_shared<arm::Response>();
    answer->body.assign(size, 'x');
    table.end(write, {true, std::move(answer), "", 0}, tick());
    table.undelivered(write, now);
    return write;
  }
  bool finds(uint64_t request, std::string_view request_id = {}) { return table.knows(arrival(request, request_id), now); }
};

TEST(UnansweredWrites, AnOrphanIsFoundUntilItsTimeIsOver) {
  Rig rig;
  rig.orphan(1);
  EXPECT_TRUE(rig.finds(1));
  rig.now += minutes(5);
  EXPECT_TRUE(rig.finds(1));
  rig.now += std::chrono::seconds(1);
  EXPECT_FALSE(rig.finds(1));
  EXPECT_EQ(rig.table.size(), 0u);
}

TEST(UnansweredWrites, WithoutAnIdOnlyASentWriteWhoseClientIsGoneIsAnOrphan) {
  Rig rig;
  const uint64_t write = rig.table.add(rig.arrival(1));
  EXPECT_FALSE(rig.finds(1)) << "its client listens";
  rig.asker->gone = true;
  EXPECT_FALSE(rig.finds(1)) << "who leaves the queue is never sent";
  rig.table.sent(write);
  EXPECT_TRUE(rig.finds(1));
}

TEST(UnansweredWrites, OneIdIsOneRequestAlsoWhileItsClientListens) {
  Rig rig;
  rig.table.add(rig.arrival(1, "a"));
  EXPECT_TRUE(rig.finds(1, "a"));
  EXPECT_FALSE(rig.finds(1, "b"));
  EXPECT_FALSE(rig.finds(1));
}

TEST(UnansweredWrites, OverItsBoundsTheOldestAnswersAreForgotten) {
  Rig rig;
  for (uint64_t i = 1; i <= 3; ++i) rig.orphan(i, 45);
  EXPECT_FALSE(rig.finds(1)) << "three answers of 45 bytes are more than 100";
  EXPECT_TRUE(rig.finds(2));
  for (uint64_t i = 4; i <= 8; ++i) rig.orphan(i, 1);
  EXPECT_EQ(rig.table.size(), 4u);
  EXPECT_FALSE(rig.finds(3));
  EXPECT_TRUE(rig.finds(8));
}

TEST(UnansweredWrites, AWriteThatStillRunsIsNeverForgotten) {
  Rig rig;
  const uint64_t running = rig.table.add(rig.arrival(99));
  rig.table.sent(running);
  rig.asker->gone = true;
  for (uint64_t i = 1; i <= 10; ++i) rig.orphan(i);
  EXPECT_TRUE(rig.finds(99));
}

TEST(UnansweredWrites, AReadThatWasAskedForEarlierResolvesNothing) {
  Rig rig;
  const Moment before = rig.tick();
  rig.orphan(1);
  rig.orphan(2, 10, "id");
  rig.table.resolve(Hash128{7, 7}, before);
  EXPECT_TRUE(rig.finds(1));
  rig.table.resolve(Hash128{8, 8}, rig.tick());
  EXPECT_TRUE(rig.finds(1)) << "of another resource";
  rig.table.resolve(Hash128{7, 7}, rig.tick());
  EXPECT_FALSE(rig.finds(1));
  EXPECT_TRUE(rig.finds(2, "id")) << "its client says itself which request it is";
}

TEST(UnansweredWrites, WhoTakesTheAnswerOfAnOrphanIsItsAskerFromThenOn) {
  Rig rig;
  boost::asio::io_context loop;
  Waiter waiter(loop.get_executor());
  const uint64_t write = rig.orphan(1);
  rig.asker = std::make_shared<Presence>();
  EXPECT_EQ(rig.table.join_or_add(rig.arrival(1), &waiter, 1, rig.now).write, write);
  EXPECT_FALSE(rig.finds(1)) << "while it listens, the same bytes are a second write";
  rig.table.leave(write, &waiter, UnansweredWrites::With::Answer);
  rig.table.undelivered(write, rig.now);
  EXPECT_TRUE(rig.finds(1));
  EXPECT_EQ(rig.table.join_or_add(rig.arrival(1), &waiter, 1, rig.now).write, write);
  rig.table.leave(write, &waiter, UnansweredWrites::With::Nothing);
  EXPECT_TRUE(rig.finds(1)) << "who could not wait for it has given it up";
  rig.table.delivered(write);
  EXPECT_FALSE(rig.finds(1));
}

TEST(UnansweredWrites, OfThoseWhoJoinedAWriteThatEndedWithoutAnAnswerOneRunsItAndTheOthersJoinThatOne) {
  Rig rig;
  boost::asio::io_context loop;
  Waiter one(loop.get_executor());
  Waiter two(loop.get_executor());
  const auto first = rig.table.join_or_add(rig.arrival(1, "a"), nullptr, 0, rig.now);
  EXPECT_FALSE(first.to_earlier);
  EXPECT_TRUE(rig.table.join_or_add(rig.arrival(1, "a"), &one, 1, rig.now).to_earlier);
  EXPECT_TRUE(rig.table.join_or_add(rig.arrival(1, "a"), &two, 1, rig.now).to_earlier);
  rig.table.end(first.write, {false, nullptr, "", 0}, rig.tick());
  // As on two threads: both have seen the end before either has begun anew.
  rig.table.leave(first.write, &one, UnansweredWrites::With::Nothing);
  rig.table.leave(first.write, &two, UnansweredWrites::With::Nothing);
  const auto again = rig.table.join_or_add(rig.arrival(1, "a"), &one, 1, rig.now);
  EXPECT_FALSE(again.to_earlier);
  const auto other = rig.table.join_or_add(rig.arrival(1, "a"), &two, 1, rig.now);
  EXPECT_TRUE(other.to_earlier);
  EXPECT_EQ(other.write, again.write);
}

TEST(UnansweredWrites, OfTwoWhoAskForAnOrphanWithoutAnIdTheSecondIsAWriteOfItsOwn) {
  Rig rig;
  boost::asio::io_context loop;
  Waiter waiter(loop.get_executor());
  rig.orphan(1);
  rig.asker = std::make_shared<Presence>();
  EXPECT_TRUE(rig.table.join_or_add(rig.arrival(1), &waiter, 1, rig.now).to_earlier);
  EXPECT_FALSE(rig.table.join_or_add(rig.arrival(1), &waiter, 1, rig.now).to_earlier) << "the first listens";
}

TEST(UnansweredWrites, AnAcceptedWriteWhoseAnswerWasNotKeptIsKnownButNobodyWaitsForIt) {
  Rig rig;
  boost::asio::io_context loop;
  Waiter waiter(loop.get_executor());
  const uint64_t write = rig.table.add(rig.arrival(1, "a"));
  rig.table.sent(write);
  rig.table.end(write, {true, nullptr, "", 0}, rig.tick());
  rig.table.undelivered(write, rig.now);
  EXPECT_TRUE(rig.finds(1, "a"));
  EXPECT_FALSE(rig.table.join_or_add(rig.arrival(1, "a"), &waiter, 1, rig.now).to_earlier);
}

}  // namespace
}  // namespace armgate
