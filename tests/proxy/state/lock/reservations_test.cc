#include "proxy/state/lock/reservations.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

namespace armgate {
namespace {

using rules::LockKey;
using rules::LockMode;

const Reservations::Holder kHolder{{1, 1}, {5, 5}};
const Hash128 kBytes{2, 2};
const std::vector<LockKey> kKeys{{"a", LockMode::Exclusive}};

class ReservationTable : public testing::Test {
 protected:
  std::shared_ptr<Reservation> keep(TimePoint now = TimePoint{}) { return keep(kHolder, {kBytes, now, now}); }
  std::shared_ptr<Reservation> keep(const Reservations::Holder& holder, const Reservations::Away& away,
                                    const std::vector<LockKey>& keys = kKeys) {
    return reservations.keep(holder, away, *locks.join(keys, {}, nullptr, 1), loop.get_executor());
  }
  boost::asio::io_context loop;
  LockTable locks{{}, Hasher(HashKey{1, 2})};
  Reservations reservations{[] {
    Reservations::Options options;
    options.per_resource_max = 3;
    return options;
  }()};
};

TEST_F(ReservationTable, GivesTheOldestPlaceForTheSameBytesOnce) {
  const auto first = keep();
  const auto second = keep();
  EXPECT_EQ(first->state(), Reservation::State::Claimable);
  EXPECT_EQ(second->state(), Reservation::State::InLine);
  auto place = reservations.take(kHolder, kBytes, kKeys);
  ASSERT_TRUE(place.has_value());
  EXPECT_TRUE(place->granted());
  EXPECT_EQ(first->state(), Reservation::State::Gone);
  EXPECT_EQ(reservations.size(), 1u);
  EXPECT_FALSE(reservations.take(kHolder, Hash128{3, 3}, kKeys).has_value());
  EXPECT_FALSE(reservations.take({{4, 4}, kHolder.resource}, kBytes, kKeys).has_value());
}

TEST_F(ReservationTable, APlaceForOtherKeysIsOver) {
  keep();
  EXPECT_FALSE(reservations.take(kHolder, kBytes, {{"b", LockMode::Exclusive}}).has_value());
  EXPECT_EQ(reservations.size(), 0u);
  EXPECT_EQ(locks.counts().keys, 0u);
}

TEST_F(ReservationTable, WhoYieldsIsPassedUntilItIsTaken) {
  const auto reservation = keep();
  reservation->yield();
  EXPECT_EQ(reservation->state(), Reservation::State::Passing);
  WriteLease other = locks.join(kKeys, {}, nullptr, 1)->into_lease();
  EXPECT_EQ(reservation->state(), Reservation::State::InLine);
  EXPECT_EQ(reservation->times_passed(), 1u);
  other.release();
  EXPECT_EQ(reservation->state(), Reservation::State::Passing);
}

TEST_F(ReservationTable, WhoWasAwayWhenTheMomentBeganLetsOthersBy) {
  const TimePoint began(std::chrono::seconds(10));
  const auto first = keep();
  const auto second = keep(began);
  const auto later = keep(began + std::chrono::seconds(1));
  const auto stranger = keep({{4, 4}, {7, 7}}, {kBytes}, {{"elsewhere", LockMode::Exclusive}});
  reservations.let_others_by(stranger->keys(), began);
  EXPECT_EQ(first->state(), Reservation::State::Claimable) << "other keys";
  reservations.let_others_by(first->keys(), began);
  EXPECT_EQ(later->state(), Reservation::State::Claimable) << "it has a moment of its own";
  later->yield();
  EXPECT_EQ(first->state(), Reservation::State::Passing);
  EXPECT_EQ(second->state(), Reservation::State::Passing);
}

// Children lock their parent: who wants another child of it stands behind the same key.
TEST_F(ReservationTable, WhoWaitsForTheSameParentLetsOthersByToo) {
  const TimePoint began(std::chrono::seconds(10));
  const std::vector<rules::LockKey> one{{"parent", LockMode::Exclusive}, {"parent/one", LockMode::Exclusive}};
  const std::vector<rules::LockKey> two{{"parent", LockMode::Exclusive}, {"parent/two", LockMode::Exclusive}};
  const auto first = keep({{1, 1}, {8, 8}}, {kBytes}, one);
  const auto second = keep({{2, 2}, {9, 9}}, {kBytes}, two);
  reservations.let_others_by(first->keys(), began);
  const WriteLease live =
      locks.join({{"parent", LockMode::Exclusive}, {"parent/live", LockMode::Exclusive}}, {}, nullptr, 1)->into_lease();
  EXPECT_TRUE(live.held());
  EXPECT_EQ(second->state(), Reservation::State::InLine);
}

TEST_F(ReservationTable, TooManyOfOneClientEndTheOldest) {
  const auto first = keep();
  for (int i = 0; i < 3; ++i) keep();
  EXPECT_EQ(first->state(), Reservation::State::Gone);
  EXPECT_EQ(reservations.size(), 3u);
}

// The minute of grace runs, too, while its client stands in line with something else; but each second counts once, however many
// writes it stands there with.
TEST_F(ReservationTable, WhoseClientCameBackWithoutItIsOver) {
  const auto at = [](int64_t second) { return TimePoint(std::chrono::seconds(second)); };
  const auto old = keep(kHolder, {{1, 0}, at(0), at(50)});
  const auto of_another = keep({{9, 9}, kHolder.resource}, {{1, 0}, at(0), at(50)});
  const auto elsewhere = keep({kHolder.client, {6, 6}}, {{1, 0}, at(0), at(50)}, {{"elsewhere", LockMode::Exclusive}});
  keep(kHolder, {{2, 0}, at(52), at(102)});
  keep(kHolder, {{3, 0}, at(60), at(102)});
  EXPECT_NE(old->state(), Reservation::State::Gone) << "50 s: perhaps another of its client's actors came";
  keep(kHolder, {{4, 0}, at(104), at(114)});
  EXPECT_EQ(old->state(), Reservation::State::Gone);
  EXPECT_EQ(reservations.size(), 5u) << "the newer ones, another client's and another resource's";
  EXPECT_NE(of_another->state(), Reservation::State::Gone);
  EXPECT_NE(elsewhere->state(), Reservation::State::Gone);
}

TEST_F(ReservationTable, WhatEndedIsTakenByNobody) {
  const auto reservation = keep();
  reservations.end(kHolder.resource, reservation);
  reservations.end(kHolder.resource, reservation);
  EXPECT_FALSE(reservations.take(kHolder, kBytes, kKeys).has_value());
  EXPECT_EQ(locks.counts().keys, 0u);
}

}  // namespace
}  // namespace armgate
