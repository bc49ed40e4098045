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

TEST(ClusterPositions, ARowsTimeIsNeverLaterThanNow) {
  Known known;
  EXPECT_EQ(known.positions.time_of(101 * kSecond, at(milliseconds(500))), at(milliseconds(500)));
  EXPECT_EQ(known.positions.time_of(100 * kSecond, at(seconds(9))), at(milliseconds(4)));
}

}  // namespace
}  // namespace armgate::cluster
