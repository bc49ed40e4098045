#include "proxy/state/newcomers.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate {
namespace {

using std::chrono::seconds;

TimePoint at(int second) { return TimePoint(seconds(second)); }

class NewcomersTable : public testing::Test {
 protected:
  Newcomers newcomers{Newcomers::Options{3}, Hasher(HashKey{1, 2})};
};

TEST_F(NewcomersTable, APrincipalIsKnownSinceItWasSeenInAnyCase) {
  newcomers.principal("AAAA-1", at(5));
  EXPECT_EQ(newcomers.principal_since("aaaa-1"), at(5));
  EXPECT_EQ(newcomers.principal_since("aaaa-2"), std::nullopt);
}

TEST_F(NewcomersTable, ARoleIsThatOfItsPrincipalAtItsScope) {
  newcomers.role("/subscriptions/s", "p", at(5));
  EXPECT_EQ(newcomers.role_since("/subscriptions/s", "P"), at(5));
  EXPECT_EQ(newcomers.role_since("/subscriptions/s", "q"), std::nullopt);
  EXPECT_EQ(newcomers.role_since("/subscriptions/t", "p"), std::nullopt);
  EXPECT_EQ(newcomers.principal_since("p"), std::nullopt) << "that it has a role does not make it new";
}

TEST_F(NewcomersTable, TheOldestAreForgottenUnlessTheyCameAgain) {
  newcomers.principal("a", at(1));
  newcomers.principal("b", at(2));
  newcomers.principal("a", at(3));
  newcomers.principal("c", at(4));
  newcomers.principal("d", at(5));
  EXPECT_EQ(newcomers.principal_since("a"), at(3));
  EXPECT_EQ(newcomers.principal_since("b"), std::nullopt);
  EXPECT_EQ(newcomers.principal_since("d"), at(5));
}

}  // namespace
}  // namespace armgate
