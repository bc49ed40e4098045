#include "proxy/net/socket/log_throttle.h"

#include <gtest/gtest.h>

namespace armgate::net {
namespace {

using std::chrono::seconds;

TEST(LogThrottle, TheFirstIsToldAtOnceAndTheNextWithTheirNumber) {
  const TimePoint start = TimePoint{} + seconds(100);
  LogThrottle seldom(seconds(10));
  EXPECT_EQ(seldom.count(start), 1u);
  for (int second = 1; second < 10; ++second) EXPECT_EQ(seldom.count(start + seconds(second)), 0u);
  EXPECT_EQ(seldom.count(start + seconds(10)), 10u);
  EXPECT_EQ(seldom.count(start + seconds(11)), 0u);
  EXPECT_EQ(seldom.count(start + seconds(60)), 2u);
}

}  // namespace
}  // namespace armgate::net
