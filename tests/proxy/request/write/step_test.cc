#include "proxy/request/write/step.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace armgate {
namespace {

TEST(Step, IsSomethingForTheNextOneOrAnEnd) {
  Step<int, std::string> goes_on(7);
  ASSERT_TRUE(goes_on);
  EXPECT_EQ(*goes_on, 7);
  Step<int, std::string> ended(std::string("why"));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.ended(), "why");
}

// Two of one type are told apart by their place.
TEST(Step, AnEndIsNoValueOfTheSameType) {
  Step<std::unique_ptr<int>, std::string> goes_on(std::make_unique<int>(1));
  const std::unique_ptr<int> taken = *std::move(goes_on);
  EXPECT_EQ(*taken, 1);
}

TEST(Step, OfNothingGoesOnUnlessItEnded) {
  Step<void, std::string> goes_on;
  EXPECT_TRUE(goes_on);
  Step<void, std::string> ended(std::string("why"));
  ASSERT_FALSE(ended);
  EXPECT_EQ(std::move(ended).ended(), "why");
}

}  // namespace
}  // namespace armgate
