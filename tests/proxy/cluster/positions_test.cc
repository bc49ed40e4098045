// Which rows were there at a moment: only those of which that is certain.
#include "proxy/cluster/positions.h"

#include <gtest/gtest.h>

namespace armgate::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr EngineTime kSecond = 1'000'000;

TimePoint at(Duration since) { return TimePoint(std::chrono::hours(1)) + since; }

struct Known {
  Positions positions;
  Known() {
    positions.learn(at(milliseconds(0)), at(milliseconds(4)), 100 * kSecond);  // so its 100 s lay between these
    positions.add(1, 100 * kSecond);
    positions.add(2, 101 * kSecond);
  }
};

TEST(ClusterPositions, ARowCountsWhenItWasThereAtTheEarliest) {
  Known known;
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(1001))), 1u) << "by the other end of the bounds it was not there yet";
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(1010))), 2u);
}

TEST(ClusterPositions, ACloserAnswerNarrowsTheBounds) {
  Known known;
  known.positions.learn(at(milliseconds(500)), at(milliseconds(501)), 100 * kSecond + 500'200);
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(1003))), 2u);
}

TEST(ClusterPositions, NothingIsCertainWithoutAnAnswer) {
  Positions positions;
  positions.add(1, kSecond);
  EXPECT_EQ(positions.surely_before(at(seconds(100))), 0u);
  EXPECT_EQ(positions.time_of(kSecond, at(seconds(3))), at(seconds(3)));
}

TEST(ClusterPositions, AnotherEnginesClockIsNotComparedWithThisOnes) {
  Known known;
  known.positions.begin_anew();
  known.positions.learn(at(seconds(10)), at(seconds(10)), 500 * kSecond);
  EXPECT_EQ(known.positions.surely_before(at(seconds(20))), 0u);
  known.positions.add(3, 501 * kSecond);
  EXPECT_EQ(known.positions.surely_before(at(seconds(20))), 3u);
}

TEST(ClusterPositions, AfterAJumpBackNothingIsReckonedByTheClockOfBefore) {
  Known known;
  known.positions.learn(at(seconds(5)), at(milliseconds(5020)), 85 * kSecond);  // 20 s back, and asked on a slower way
  known.positions.add(3, 101 * kSecond);                                        // the log's times never go back
  EXPECT_EQ(known.positions.surely_before(at(seconds(3))), 0u) << "by the clock of before this was at 103 s";
  EXPECT_EQ(known.positions.surely_before(at(seconds(20))), 0u);
  EXPECT_EQ(known.positions.surely_before(at(seconds(22))), 3u) << "it was there by any clock";
}

TEST(ClusterPositions, AfterAJumpForwardRowsOfBeforeCountAsBegunThen) {
  Known known;
  known.positions.learn(at(seconds(5)), at(milliseconds(5020)), 125 * kSecond);
  known.positions.add(3, 104 * kSecond);  // it is of before, too, and came late
  EXPECT_EQ(known.positions.surely_before(at(seconds(3))), 0u) << "by the clock of now this was at 123 s";
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(5030))), 3u);
  known.positions.add(4, 126 * kSecond);
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(5030))), 3u);
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(6030))), 4u);
  EXPECT_EQ(known.positions.time_of(104 * kSecond, at(seconds(9))), at(milliseconds(5020))) << "at the latest";
}

TEST(ClusterPositions, WhatFitsIsNoJump) {
  Known known;
  known.positions.learn(at(seconds(5)), at(milliseconds(5020)), 105 * kSecond + 20'000);
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(1010))), 2u) << "a slow answer says less, and nothing else";
  known.positions.learn(at(seconds(8)), at(milliseconds(8004)), 108 * kSecond - 10'000);  // drifted by a thousandth
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(1100))), 2u);
}

// What it has not yet read of the engine before it was begun by that one's clock.
TEST(ClusterPositions, ARowOfTheEngineBeforeCountsAsBegunWhenTheNewOneFirstAnswered) {
  Known known;
  known.positions.begin_anew();
  known.positions.learn(at(seconds(10)), at(seconds(10)), 500 * kSecond);
  known.positions.add(3, 108 * kSecond);
  EXPECT_EQ(known.positions.surely_before(at(milliseconds(9900))), 0u);
  EXPECT_EQ(known.positions.surely_before(at(seconds(11))), 3u);
}

TEST(ClusterPositions, TheEngineIsToBeAskedAgainAfterAWhileAndAtOnceWhenItIsAnother) {
  Known known;
  EXPECT_FALSE(known.positions.is_due(at(milliseconds(999)), seconds(1)));
  EXPECT_TRUE(known.positions.is_due(at(seconds(1)), seconds(1)));
  known.positions.begin_anew();
  EXPECT_TRUE(known.positions.is_due(at(milliseconds(5)), seconds(1)));
}

TEST(ClusterPositions, ARowsTimeIsNeverLaterThanNow) {
  Known known;
  EXPECT_EQ(known.positions.time_of(101 * kSecond, at(milliseconds(500))), at(milliseconds(500)));
  EXPECT_EQ(known.positions.time_of(100 * kSecond, at(seconds(9))), at(milliseconds(4)));
}

}  // namespace
}  // namespace armgate::cluster
