#include "rules/rule.h"

#include <gtest/gtest.h>

namespace armgate::rules {
namespace {

TEST(RuleValues, OnlyTwoThatShareMayHoldAKeyTogether) {
  EXPECT_TRUE(compatible(LockMode::Shared, LockMode::Shared));
  EXPECT_FALSE(compatible(LockMode::Shared, LockMode::Exclusive));
  EXPECT_FALSE(compatible(LockMode::Exclusive, LockMode::Shared));
  EXPECT_FALSE(compatible(LockMode::Exclusive, LockMode::Exclusive));
}

TEST(RuleValues, WhatAKindOfGuardRemembersAndSends) {
  const struct {
    GuardKind kind;
    bool remembers;
    bool sends_etags;
  } rows[] = {
      {GuardKind::None, false, false},
      {GuardKind::Auto, true, false},
      {GuardKind::Etag, true, true},
      {GuardKind::Verify, true, true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(is_remembered(row.kind), row.remembers) << static_cast<int>(row.kind);
    EXPECT_EQ(sends_etags(row.kind), row.sends_etags) << static_cast<int>(row.kind);
  }
}

TEST(RuleValues, TheRuleForAnyTypeNamesNothingElse) {
  EXPECT_TRUE(is_for_any_type({{"*"}, "", "", {}}));
  EXPECT_FALSE(is_for_any_type({{}, "", "", {}}));
  EXPECT_FALSE(is_for_any_type({{"microsoft.network/*"}, "", "", {}}));
  EXPECT_FALSE(is_for_any_type({{"*", "a.b/c"}, "", "", {}}));
}

TEST(RuleValues, AnOperationThatFailedLaterGoesAgainOnlyIfMoreThanOneSendingIsAllowed) {
  LateRetry late;
  EXPECT_FALSE(late.is_on()) << "off as shipped";
  late.backoff.attempts = 2;
  EXPECT_TRUE(late.is_on());
}

}  // namespace
}  // namespace armgate::rules
