#include "proxy/state/lock/tickets.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

namespace armgate {
namespace {

using rules::LockKey;
using rules::LockMode;

const Tickets::Holder kHolder{{1, 1}, {5, 5}};
const Hash128 kBytes{2, 2};
const std::vector<LockKey> kKeys{{"a", LockMode::Exclusive}};

class TicketTable : public testing::Test {
 protected:
  std::shared_ptr<Ticket> keep(TimePoint now = TimePoint{}) { return keep(kHolder, {kBytes, now, now}); }
  std::shared_ptr<Ticket> keep(const Tickets::Holder& holder, const Tickets::Away& away,
                               const std::vector<LockKey>& keys = kKeys) {
    return tickets.keep(holder, away, *locks.join(keys, {}, nullptr, 1), loop.get_executor());
  }
  boost::asio::io_context loop;
  LockTable locks{{}, Hasher(HashKey{1, 2})};
  Tickets tickets{[] {
    Tickets::Options options;
    options.per_resource_max = 3;
    return options;
  }()};
};

TEST_F(TicketTable, GivesTheOldestPlaceForTheSameBytesOnce) {
  const auto first = keep();
  const auto second = keep();
  EXPECT_EQ(first->standing(), Ticket::Standing::Reserved);
  EXPECT_EQ(second->standing(), Ticket::Standing::InLine);
  auto place = tickets.take(kHolder, kBytes, kKeys);
  ASSERT_TRUE(place.has_value());
  EXPECT_TRUE(place->granted());
  EXPECT_EQ(first->standing(), Ticket::Standing::Gone);
  EXPECT_EQ(tickets.size(), 1u);
  EXPECT_FALSE(tickets.take(kHolder, Hash128{3, 3}, kKeys).has_value());
  EXPECT_FALSE(tickets.take({{4, 4}, kHolder.resource}, kBytes, kKeys).has_value());
}

TEST_F(TicketTable, APlaceForOtherKeysIsOver) {
  keep();
  EXPECT_FALSE(tickets.take(kHolder, kBytes, {{"b", LockMode::Exclusive}}).has_value());
  EXPECT_EQ(tickets.size(), 0u);
  EXPECT_EQ(locks.counts().keys, 0u);
}

TEST_F(TicketTable, WhoYieldsIsPassedUntilItIsTaken) {
  const auto ticket = keep();
  ticket->yield();
  EXPECT_EQ(ticket->standing(), Ticket::Standing::Passing);
  WriteLease other = locks.join(kKeys, {}, nullptr, 1)->take();
  EXPECT_EQ(ticket->standing(), Ticket::Standing::InLine);
  EXPECT_EQ(ticket->times_passed(), 1u);
  other.release();
  EXPECT_EQ(ticket->standing(), Ticket::Standing::Passing);
}

TEST_F(TicketTable, WhoWasAwayWhenTheMomentBeganLetsOthersBy) {
  const TimePoint began(std::chrono::seconds(10));
  const auto first = keep();
  const auto second = keep(began);
  const auto later = keep(began + std::chrono::seconds(1));
  const auto stranger = keep({{4, 4}, {7, 7}}, {kBytes}, {{"elsewhere", LockMode::Exclusive}});
  tickets.let_others_by(*stranger, began);
  EXPECT_EQ(first->standing(), Ticket::Standing::Reserved) << "other keys";
  tickets.let_others_by(*first, began);
  EXPECT_EQ(later->standing(), Ticket::Standing::Reserved) << "it has a moment of its own";
  later->yield();
  EXPECT_EQ(first->standing(), Ticket::Standing::Passing);
  EXPECT_EQ(second->standing(), Ticket::Standing::Passing);
}

// Children lock their parent: who wants another child of it stands behind the same key.
TEST_F(TicketTable, WhoWaitsForTheSameParentLetsOthersByToo) {
  const TimePoint began(std::chrono::seconds(10));
  const std::vector<rules::LockKey> one{{"parent", LockMode::Exclusive}, {"parent/one", LockMode::Exclusive}};
  const std::vector<rules::LockKey> two{{"parent", LockMode::Exclusive}, {"parent/two", LockMode::Exclusive}};
  const auto first = keep({{1, 1}, {8, 8}}, {kBytes}, one);
  const auto second = keep({{2, 2}, {9, 9}}, {kBytes}, two);
  tickets.let_others_by(*first, began);
  const WriteLease live =
      locks.join({{"parent", LockMode::Exclusive}, {"parent/live", LockMode::Exclusive}}, {}, nullptr, 1)->take();
  EXPECT_TRUE(live.held());
  EXPECT_EQ(second->standing(), Ticket::Standing::InLine);
}

TEST_F(TicketTable, TooManyOfOneClientEndTheOldest) {
  const auto first = keep();
  for (int i = 0; i < 3; ++i) keep();
  EXPECT_EQ(first->standing(), Ticket::Standing::Gone);
  EXPECT_EQ(tickets.size(), 3u);
}

// The minute of grace runs, too, while its client stands in line with something else; but each second counts once, however many
// writes it stands there with.
TEST_F(TicketTable, WhoseClientCameBackWithoutItIsOver) {
  const auto at = [](int64_t second) { return TimePoint(std::chrono::seconds(second)); };
  const auto old = keep(kHolder, {{1, 0}, at(0), at(50)});
  const auto of_another = keep({{9, 9}, kHolder.resource}, {{1, 0}, at(0), at(50)});
  const auto elsewhere = keep({kHolder.client, {6, 6}}, {{1, 0}, at(0), at(50)}, {{"elsewhere", LockMode::Exclusive}});
  keep(kHolder, {{2, 0}, at(52), at(102)});
  keep(kHolder, {{3, 0}, at(60), at(102)});
  EXPECT_NE(old->standing(), Ticket::Standing::Gone) << "50 s: perhaps another of its client's actors came";
  keep(kHolder, {{4, 0}, at(104), at(114)});
  EXPECT_EQ(old->standing(), Ticket::Standing::Gone);
  EXPECT_EQ(tickets.size(), 5u) << "the newer ones, another client's and another resource's";
  EXPECT_NE(of_another->standing(), Ticket::Standing::Gone);
  EXPECT_NE(elsewhere->standing(), Ticket::Standing::Gone);
}

TEST_F(TicketTable, WhatEndedIsTakenByNobody) {
  const auto ticket = keep();
  tickets.end(kHolder.resource, ticket);
  tickets.end(kHolder.resource, ticket);
  EXPECT_FALSE(tickets.take(kHolder, kBytes, kKeys).has_value());
  EXPECT_EQ(locks.counts().keys, 0u);
}

}  // namespace
}  // namespace armgate
