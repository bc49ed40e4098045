#include "proxy/observability/troubles.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

constexpr TimePoint kStart = TimePoint(std::chrono::hours(5));

Troubles::Event waited(int64_t ms) { return {.waited_ms = ms, .words = "waited"}; }

TEST(Troubles, AreCountedByNameAndTheWorstComesFirst) {
  Troubles troubles;
  troubles.add("calm", {}, kStart);
  troubles.add("slow", waited(5000), kStart);
  troubles.add("slower", waited(9000), kStart);
  troubles.add("refused", {.refused = true, .words = "stale"}, kStart);
  troubles.add("refused", {.conflict = true, .repeated = true, .words = "busy"}, kStart + std::chrono::seconds(1));
  const auto most = troubles.most(10, kStart + std::chrono::seconds(2));
  ASSERT_EQ(most.size(), 3u) << "who has no trouble is not named";
  EXPECT_EQ(most[0].name, "refused");
  EXPECT_EQ(most[0].all(), 3u);
  EXPECT_EQ(most[0].last_words, "busy");
  EXPECT_EQ(most[1].name, "slower");
  EXPECT_EQ(most[1].waited_ms, 9000);
  EXPECT_EQ(troubles.most(1, kStart).size(), 1u);
}

TEST(Troubles, AreForgottenAfterAnHourAtMost) {
  Troubles troubles;
  troubles.add("old", waited(1), kStart);
  troubles.add("young", waited(1), kStart + std::chrono::minutes(31));
  EXPECT_EQ(troubles.most(9, kStart + std::chrono::minutes(32)).size(), 2u);
  troubles.add("young", waited(1), kStart + std::chrono::minutes(62));
  auto most = troubles.most(9, kStart + std::chrono::minutes(63));
  ASSERT_EQ(most.size(), 1u);
  EXPECT_EQ(most[0].waited, 2u) << "both windows count";
  EXPECT_TRUE(troubles.most(9, kStart + std::chrono::hours(3)).empty()) << "also if nothing has happened since";
  troubles.add("new", waited(1), kStart + std::chrono::hours(9));
  most = troubles.most(9, kStart + std::chrono::hours(9));
  ASSERT_EQ(most.size(), 1u);
  EXPECT_EQ(most[0].name, "new");
}

TEST(Troubles, OfTooManyNamesTheFirstAreCounted) {
  Troubles troubles;
  for (size_t i = 0; i < Troubles::kNamesMax + 10; ++i) troubles.add(std::to_string(i), waited(1), kStart);
  troubles.add("0", waited(1), kStart);
  const auto most = troubles.most(Troubles::kNamesMax * 2, kStart);
  EXPECT_EQ(most.size(), Troubles::kNamesMax);
  EXPECT_EQ(most[0].name, "0");
}

}  // namespace
}  // namespace armgate
