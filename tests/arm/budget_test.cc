#include "arm/budget.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace armgate::arm {
namespace {

std::optional<uint32_t> left(const BudgetsLeft& told, Budget budget) { return told.left[static_cast<size_t>(budget)]; }

TEST(Budgets, AreReadFromTheHeadersThatArmSends) {
  const auto told = budgets_left({{"Content-Type", "application/json"},
                                  {"x-ms-ratelimit-remaining-subscription-reads", "249"},
                                  {"X-MS-RateLimit-Remaining-Subscription-Global-Reads", " 3749 "},
                                  {"x-ms-ratelimit-remaining-tenant-writes", "0"}});
  EXPECT_TRUE(told.any);
  EXPECT_EQ(told.unreadable, 0u);
  EXPECT_EQ(left(told, Budget::Reads), 249u);
  EXPECT_EQ(left(told, Budget::GlobalReads), 3749u);
  EXPECT_EQ(left(told, Budget::TenantWrites), 0u);
  EXPECT_EQ(left(told, Budget::Writes), std::nullopt);
}

TEST(Budgets, OfAProviderCountByTheScarcest) {
  const auto told = budgets_left({{"x-ms-ratelimit-remaining-resource",
                                   "Microsoft.Compute/GetVMScaleSet3Min;197,Microsoft.Compute/GetVMScaleSet30Min;12"}});
  EXPECT_EQ(left(told, Budget::Resource), 12u);
  EXPECT_EQ(told.unreadable, 0u);
}

TEST(Budgets, OfOneNameTwiceCountTheLower) {
  const auto told = budgets_left({{"x-ms-ratelimit-remaining-subscription-writes", "7"},
                                  {"x-ms-ratelimit-remaining-subscription-writes", "3"},
                                  {"x-ms-ratelimit-remaining-subscription-writes", "5"}});
  EXPECT_EQ(left(told, Budget::Writes), 3u);
}

TEST(Budgets, OfNonsenseAreIgnoredAndCounted) {
  for (const char* nonsense : {"", " ", "-1", "+1", "1.5", "many", "12 34", "0x10", "4294967296", "1000000001",
                               "99999999999999999999999", "12;13", "1e3"}) {
    const auto told = budgets_left({{"x-ms-ratelimit-remaining-subscription-reads", nonsense}});
    EXPECT_FALSE(told.any) << nonsense;
    EXPECT_EQ(told.unreadable, 1u) << nonsense;
  }
  const auto mixed = budgets_left({{"x-ms-ratelimit-remaining-resource", "a/b;5,;7,no count,c/d;-2,,e/f;9"}});
  EXPECT_EQ(left(mixed, Budget::Resource), 5u);
  EXPECT_EQ(mixed.unreadable, 4u);
}

TEST(Budgets, OfOtherNamesAreNobodysBusiness) {
  const auto told = budgets_left({{"x-ms-ratelimit-remaining-", "x"},
                                  {"x-ms-ratelimit-remaining-subscription-reads-more", "x"},
                                  {"x-ms-ratelimit-limit", "x"}});
  EXPECT_FALSE(told.any);
  EXPECT_EQ(told.unreadable, 0u);
}

TEST(Budgets, EachNameIsReadAsItself) {
  for (size_t i = 0; i < kBudgets; ++i) {
    const auto budget = static_cast<Budget>(i);
    const std::string name = "x-ms-ratelimit-remaining-" + std::string(to_text(budget));
    const auto told = budgets_left({{name, budget == Budget::Resource ? "a/b;41" : "41"}});
    EXPECT_EQ(left(told, budget), 41u) << name;
  }
}

TEST(Budgets, BelongToTheSubscriptionOfTheTarget) {
  EXPECT_EQ(subscription_of("/subscriptions/ab-12/resourceGroups/g?api-version=1"), "ab-12");
  EXPECT_EQ(subscription_of("/SUBSCRIPTIONS/AB-12?api-version=1"), "AB-12");
  EXPECT_EQ(subscription_of("/subscriptions/ab"), "ab");
  EXPECT_EQ(subscription_of("//subscriptions/ab?api-version=1"), "ab");
  EXPECT_EQ(subscription_of("/subscriptions?api-version=1"), "");
  EXPECT_EQ(subscription_of("/providers/Microsoft.X/y"), "");
  EXPECT_EQ(subscription_of("/subscriptions/a%22b/x"), "");
  EXPECT_EQ(subscription_of("/subscriptions/" + std::string(65, 'a')), "");
}

}  // namespace
}  // namespace armgate::arm
