// Goal: what ARM tells is kept by subscription and principal, in bounded memory, and holds back armgate's own questions and nobody else's.
#include "proxy/state/budgets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace armgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kBudgetStart = TimePoint(std::chrono::hours(1));
const Hash128 kAlice{0x1111111111111111, 1};
const Hash128 kBob{0x2222222222222222, 2};
constexpr std::string_view kTarget = "/subscriptions/AA-1/resourceGroups/g?api-version=1";

arm::ResponseHead answer(int status, arm::Headers fields) { return {status, "", std::move(fields)}; }
arm::ResponseHead reads_left(const std::string& left) {
  return answer(200, {{"x-ms-ratelimit-remaining-subscription-reads", left}});
}

class BudgetsTable : public testing::Test {
 protected:
  void note(const Hash128& who, std::string_view target, const arm::ResponseHead& head, TimePoint now = kBudgetStart,
            arm::Method method = arm::Method::Get) {
    budgets_.note({who, target}, method, head, {now, WallTime{}});
  }
  // What is spent stays spent.
  bool may_ask(const Hash128& who, std::string_view target, TimePoint now = kBudgetStart) {
    return budgets_.ask({who, target}, now) <= now;
  }
  void exhaust(const Hash128& who, std::string_view target) {
    note(who, target, reads_left("250"));
    note(who, target, reads_left("5"));
    EXPECT_TRUE(may_ask(who, target)) << "one question goes";
  }

  Budgets budgets_{{}, Hasher(HashKey{1, 2})};
};

TEST_F(BudgetsTable, HoldBackWhoAsksForTheSamePrincipalAndSubscription) {
  exhaust(kAlice, kTarget);
  EXPECT_FALSE(may_ask(kAlice, kTarget));
  EXPECT_FALSE(may_ask(kAlice, "/Subscriptions/aa-1/providers/Microsoft.X/locations/w/operations/o")) << "in any spelling";
  EXPECT_TRUE(may_ask(kBob, kTarget));
  EXPECT_TRUE(may_ask(kAlice, "/subscriptions/aa-2"));
  EXPECT_TRUE(may_ask(kAlice, "/providers/Microsoft.X/operations"));
  EXPECT_EQ(budgets_.may_ask_from({kAlice, kTarget}, kBudgetStart), kBudgetStart + seconds(10));
  EXPECT_EQ(budgets_.report(kBudgetStart).own_reads, 4u);
}

TEST_F(BudgetsTable, OfWritesHoldNoReadBack) {
  for (const char* left : {"200", "0"})
    note(kAlice, kTarget, answer(200, {{"x-ms-ratelimit-remaining-subscription-writes", left}}));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(may_ask(kAlice, kTarget));
}

TEST_F(BudgetsTable, A429OfAReadIsObeyedAndToldFor) {
  note(kAlice, kTarget, answer(429, {{"Retry-After", "30"}}));
  EXPECT_EQ(budgets_.may_ask_from({kAlice, kTarget}, kBudgetStart), kBudgetStart + seconds(30));
  EXPECT_FALSE(may_ask(kAlice, kTarget, kBudgetStart + seconds(29)));
  EXPECT_EQ(budgets_.report(kBudgetStart + seconds(10)).rows.at(0).come_again, seconds(20));
  EXPECT_TRUE(may_ask(kAlice, kTarget, kBudgetStart + seconds(30)));
  EXPECT_TRUE(budgets_.report(kBudgetStart + seconds(30)).rows.empty());
}

TEST_F(BudgetsTable, A429WithoutAWordOrForEverIsBounded) {
  note(kAlice, kTarget, answer(429, {}));
  EXPECT_EQ(budgets_.may_ask_from({kAlice, kTarget}, kBudgetStart), kBudgetStart + seconds(5));
  note(kBob, kTarget, answer(429, {{"Retry-After", "999999999999"}}));
  EXPECT_EQ(budgets_.may_ask_from({kBob, kTarget}, kBudgetStart), kBudgetStart + minutes(5));
}

TEST_F(BudgetsTable, A429OfAWriteIsToldAndHoldsNoReadBack) {
  note(kAlice, kTarget, answer(429, {{"Retry-After", "30"}}), kBudgetStart, arm::Method::Put);
  EXPECT_TRUE(may_ask(kAlice, kTarget));
  EXPECT_EQ(budgets_.report(kBudgetStart).rows.at(0).come_again, seconds(30));
}

TEST_F(BudgetsTable, AreReportedByNamesThatTellNobody) {
  note(kBob, kTarget, answer(200, {{"x-ms-ratelimit-remaining-subscription-writes", "180"}}));
  note(kAlice, kTarget, reads_left("250"));
  note(kAlice, kTarget, reads_left("249"), kBudgetStart + seconds(1));
  note(kAlice, "/tenants", answer(200, {{"x-ms-ratelimit-remaining-tenant-reads", "7"}}));
  const auto rows = budgets_.report(kBudgetStart + seconds(1)).rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].subscription, "");
  EXPECT_EQ(rows[1].subscription, "aa-1");
  EXPECT_EQ(rows[1].principal, kAlice.tag());
  ASSERT_EQ(rows[1].told.size(), 1u);
  EXPECT_EQ(rows[1].told[0].budget, arm::Budget::Reads);
  EXPECT_EQ(rows[1].told[0].left, 249u);
  EXPECT_EQ(rows[1].told[0].most, 250u);
  EXPECT_EQ(rows[2].told[0].left, 180u);
  EXPECT_TRUE(budgets_.report(kBudgetStart + minutes(11)).rows.empty()) << "nobody knows what is left now";
}

TEST_F(BudgetsTable, NonsenseIsCountedAndLeavesWhatWasKnown) {
  note(kAlice, kTarget, reads_left("250"));
  for (const char* nonsense : {"-1", "many", "99999999999999"}) note(kAlice, kTarget, reads_left(nonsense));
  const auto report = budgets_.report(kBudgetStart);
  EXPECT_EQ(report.unreadable, 3u);
  EXPECT_EQ(report.rows.at(0).told.at(0).left, 250u);
}

TEST_F(BudgetsTable, OfNobodyAreNotKept) {
  note(Hash128{}, kTarget, reads_left("1"));
  note(kAlice, kTarget, answer(200, {{"Content-Type", "text/plain"}}));
  EXPECT_TRUE(budgets_.report(kBudgetStart).rows.empty());
}

TEST_F(BudgetsTable, AreBoundedAndTheOneHeardOfLongestAgoGoesFirst) {
  const auto target = [](size_t i) { return "/subscriptions/s" + std::to_string(i); };
  for (size_t i = 0; i < Budgets::kKeptMax; ++i) note(kAlice, target(i), reads_left("250"), kBudgetStart + milliseconds(i));
  note(kAlice, target(0), reads_left("249"), kBudgetStart + seconds(1));
  note(kAlice, target(1000), reads_left("250"), kBudgetStart + seconds(2));
  const auto report = budgets_.report(kBudgetStart + seconds(2));
  EXPECT_EQ(report.rows.size(), Budgets::kKeptMax);
  EXPECT_EQ(report.forgotten, 1u);
  const auto is_kept = [&](const std::string& id) {
    return std::any_of(report.rows.begin(), report.rows.end(), [&](const auto& row) { return row.subscription == id; });
  };
  EXPECT_TRUE(is_kept("s0"));
  EXPECT_FALSE(is_kept("s1"));
}

}  // namespace
}  // namespace armgate
