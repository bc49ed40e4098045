#include "proxy/state/recent_creations.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate {
namespace {

using std::chrono::seconds;

TimePoint at(int second) { return TimePoint(seconds(second)); }

class RecentCreationsTable : public testing::Test {
 protected:
  RecentCreations recent_creations{RecentCreations::Options{3}, Hasher(HashKey{1, 2})};
};

TEST_F(RecentCreationsTable, APrincipalIsKnownSinceItWasSeenInAnyCase) {
  recent_creations.principal("AAAA-1", at(5));
  EXPECT_EQ(recent_creations.principal_since("aaaa-1"), at(5));
  EXPECT_EQ(recent_creations.principal_since("aaaa-2"), std::nullopt);
}

TEST_F(RecentCreationsTable, ARoleIsThatOfItsPrincipalAtItsScope) {
  recent_creations.role("/subscriptions/s", "p", at(5));
  EXPECT_EQ(recent_creations.role_since("/subscriptions/s", "P"), at(5));
  EXPECT_EQ(recent_creations.role_since("/subscriptions/s", "q"), std::nullopt);
  EXPECT_EQ(recent_creations.role_since("/subscriptions/t", "p"), std::nullopt);
  EXPECT_EQ(recent_creations.principal_since("p"), std::nullopt) << "that it has a role does not make it new";
}

TEST_F(RecentCreationsTable, TheOldestAreForgottenUnlessTheyCameAgain) {
  recent_creations.principal("a", at(1));
  recent_creations.principal("b", at(2));
  recent_creations.principal("a", at(3));
  recent_creations.principal("c", at(4));
  recent_creations.principal("d", at(5));
  EXPECT_EQ(recent_creations.principal_since("a"), at(3));
  EXPECT_EQ(recent_creations.principal_since("b"), std::nullopt);
  EXPECT_EQ(recent_creations.principal_since("d"), at(5));
}

}  // namespace
}  // namespace armgate
