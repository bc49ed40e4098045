#include "proxy/policy/body_etag.h"

#include <gtest/gtest.h>

namespace armgate::policy {
namespace {

std::string counts(rules::GuardKind kind, bool guarded, std::string_view body) {
  auto rule = std::make_shared<rules::Rule>();
  rule->guard.kind = kind;
  rules::Plan plan;
  plan.rule = rule;
  plan.guarded = guarded;
  return body_etag(plan, body);
}

TEST(BodyEtag, CountsWhereTheTypeEnforcesIt) {
  const std::string_view body = R"({"etag":"W/\"1\"","properties":{}})";
  EXPECT_EQ(counts(rules::GuardKind::Etag, true, body), "W/\"1\"");
  EXPECT_EQ(counts(rules::GuardKind::Etag, false, body), "") << "not guarded";
  EXPECT_EQ(counts(rules::GuardKind::Verify, true, body), "") << "ARM would not compare it";
}

TEST(BodyEtag, IsNothingWhereTheBodyNamesNoState) {
  EXPECT_EQ(counts(rules::GuardKind::Etag, true, R"({"properties":{}})"), "");
  EXPECT_EQ(counts(rules::GuardKind::Etag, true, R"({"etag":"*"})"), "") << "whatever is there";
  EXPECT_EQ(counts(rules::GuardKind::Etag, true, "{"), "");
}

}  // namespace
}  // namespace armgate::policy
