#include "proxy/policy/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace armgate::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

rules::Backoff shipped() { return {seconds(1), 2.0, seconds(20), 20, minutes(10)}; }

TEST(NextDelay, IsSpreadBetweenATenthAndTheWholeOfItsCeiling) {
  struct Case {
    int next_attempt;
    Duration ceiling;
  };
  const Case cases[] = {{2, seconds(1)},  {3, seconds(2)},  {4, seconds(4)},  {6, seconds(16)},
                        {7, seconds(20)}, {8, seconds(20)}, {20, seconds(20)}};
  Rng rng(7);
  for (const auto& c : cases) {
    Duration least = Duration::max();
    Duration most{};
    for (int i = 0; i < 2000; ++i) {
      const auto delay = next_delay(shipped(), c.next_attempt, {}, std::nullopt, rng);
      ASSERT_TRUE(delay);
      least = std::min(least, *delay);
      most = std::max(most, *delay);
    }
    EXPECT_GE(least, c.ceiling / 10) << c.next_attempt;
    EXPECT_LE(most, c.ceiling) << c.next_attempt;
    EXPECT_LT(least, c.ceiling * 2 / 10) << "jitter is full";
    EXPECT_GT(most, c.ceiling * 9 / 10) << "jitter is full";
  }
}

TEST(NextDelay, TheSameSeedGivesTheSameDelays) {
  Rng a(3);
  Rng b(3);
  for (int i = 2; i < 20; ++i) {
    EXPECT_EQ(next_delay(shipped(), i, {}, std::nullopt, a), next_delay(shipped(), i, {}, std::nullopt, b));
  }
}

TEST(NextDelay, WhatArmAsksForWins) {
  Rng rng(1);
  EXPECT_EQ(next_delay(shipped(), 2, {}, seconds(33), rng), seconds(33)) << "also above the rule's max";
  EXPECT_EQ(next_delay(shipped(), 9, {}, milliseconds(5), rng), milliseconds(5));
}

// ARM answers "Retry-After: 0" at times; twenty sendings in a row would use up the rule's attempts within a second.
TEST(NextDelay, IsNeverImmediate) {
  Rng rng(1);
  const auto delay = next_delay(shipped(), 2, {}, Duration{}, rng);
  ASSERT_TRUE(delay);
  EXPECT_GE(*delay, milliseconds(100));
}

TEST(NextDelay, EndsWithTheRulesAttempts) {
  Rng rng(1);
  EXPECT_TRUE(next_delay(shipped(), 20, {}, std::nullopt, rng));
  EXPECT_FALSE(next_delay(shipped(), 21, {}, std::nullopt, rng));
  EXPECT_FALSE(next_delay(shipped(), 21, {}, seconds(1), rng));
  rules::Backoff never = shipped();
  never.attempts = 1;
  EXPECT_FALSE(next_delay(never, 2, {}, std::nullopt, rng));
}

TEST(NextDelay, EndsWhenTheWaitWouldPassTheDeadline) {
  Rng rng(1);
  const rules::Backoff backoff = shipped();
  EXPECT_TRUE(next_delay(backoff, 2, minutes(9), seconds(60), rng));
  EXPECT_FALSE(next_delay(backoff, 2, minutes(9), seconds(61), rng));
  EXPECT_FALSE(next_delay(backoff, 2, minutes(10), std::nullopt, rng));
  EXPECT_FALSE(next_delay(backoff, 2, {}, std::chrono::hours(366 * 24), rng)) << "the longest that a header can say";
}

TEST(NextDelay, SurvivesARuleThatGrowsWithoutBound) {
  Rng rng(1);
  rules::Backoff wild{seconds(1), 1e300, seconds(20), 1000, minutes(10)};
  const auto delay = next_delay(wild, 1000, {}, std::nullopt, rng);
  ASSERT_TRUE(delay);
  EXPECT_LE(*delay, seconds(20));
  EXPECT_GE(*delay, seconds(2));
}

}  // namespace
}  // namespace armgate::policy
