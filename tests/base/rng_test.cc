#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace armgate {
namespace {

// Goal: a seed written in a failing test's output gives the same run on every machine and in every later release.
TEST(Rng, TheSameSeedIsTheSameSequence) {
  Rng a(42);
  Rng b(42);
  Rng other(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t next = a.next();
    EXPECT_EQ(next, b.next());
    differs |= next != other.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Rng, StaysBelowItsBoundAndReachesEverythingBelow) {
  Rng rng(1);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = rng.below(7);
    ASSERT_LT(value, 7u);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(rng.below(1), 0u);
  EXPECT_EQ(rng.below(0), 0u);
}

TEST(Rng, UnitIsSpreadOverZeroToOne) {
  Rng rng(1);
  std::array<int, 10> tenths{};
  for (int i = 0; i < 10'000; ++i) {
    const double value = rng.unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    ++tenths[static_cast<size_t>(value * 10)];
  }
  for (const int count : tenths) EXPECT_NEAR(count, 1000, 150);
}

TEST(Rng, ChanceIsNeverAtZeroAndAlwaysAtOne) {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(rng.chance(0.0));
    EXPECT_TRUE(rng.chance(1.0));
  }
}

}  // namespace
}  // namespace armgate
