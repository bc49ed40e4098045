// What armgate's own answers say, and what is said beside ARM's.
#include "proxy/request/answer.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

using std::chrono::milliseconds;

std::string code_of(const arm::Response& answer) {
  const auto error = arm::parse_error(answer.body);
  return error ? error->code : "";
}

// Clients take "0" for "at once".
TEST(Answers, RetryAfterIsRoundedUpAndNeverZero) {
  const std::pair<Duration, const char*> rows[] = {{milliseconds(0), "1"},
                                                   {milliseconds(1), "1"},
                                                   {milliseconds(1000), "1"},
                                                   {milliseconds(1001), "2"},
                                                   {milliseconds(59'500), "60"}};
  for (const auto& [wait, text] : rows) {
    EXPECT_EQ(make_busy("Why.", wait).head.fields.get("Retry-After"), text) << wait.count();
  }
  EXPECT_FALSE(make_error(412, "ArmgateStaleWrite", "x").head.fields.has("Retry-After")) << "waiting does not help";
}

TEST(Answers, ARefusalHasArmsShapeAndAStatusThatItsClientsUnderstand) {
  const struct {
    arm::Response answer;
    int status;
    const char* code;
    bool comes_again;
  } rows[] = {
      {make_stale("ArmgateStaleWrite", "Why.", {}), 412, "ArmgateStaleWrite", false},
      {make_sick("/r", "it fails", std::chrono::minutes(5)), 412, "ArmgateResourceSick", false},
      {make_busy("Why.", milliseconds(1)), 503, "ArmgateBusy", true},
      {make_still_running(milliseconds(1)), 503, "ArmgateBusy", true},
      {make_outcome_unknown("/r", "Why."), 409, "ArmgateOutcomeUnknown", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.answer.head.status, row.status) << row.code;
    EXPECT_EQ(code_of(row.answer), row.code);
    EXPECT_EQ(row.answer.head.fields.has("Retry-After"), row.comes_again) << row.code;
  }
}

TEST(Answers, ABusyAnswerSaysTrulyWhetherSomethingWasSent) {
  EXPECT_NE(make_busy("Why.", milliseconds(1)).body.find("Nothing was sent"), std::string::npos);
  EXPECT_NE(make_busy("Why.", milliseconds(1), Tried::WithoutEffect).body.find("had no effect"), std::string::npos);
}

TEST(Answers, AStaleWriteIsToldEachMemberThatChanged) {
  const auto answer = make_stale("ArmgateConflict", "Why.", {"/tags/a", "/sku/capacity"});
  const auto error = arm::parse_error(answer.body);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->detail_codes, (std::vector<std::string>{"ArmgateChangedMember", "ArmgateChangedMember"}));
  EXPECT_NE(answer.body.find(R"("target":"/sku/capacity")"), std::string::npos) << answer.body;
}

constexpr Duration kSoon = std::chrono::seconds(2);

// 503 where waiting helps, 502 where nothing was sent or the answer broke off, 504 where time ran out after something may have been.
TEST(Answers, AFailureOfTheUpstreamSaysWhetherARequestWasSent) {
  EXPECT_EQ(code_of(make_upstream_failure(upstream_error(ErrorKind::TimedOut, Sent::No, "x"), kSoon)),
            "ArmgateUpstreamUnreachable");
  const auto late = make_upstream_failure(upstream_error(ErrorKind::TimedOut, Sent::Maybe, "x"), kSoon);
  EXPECT_EQ(late.head.status, 504);
  EXPECT_EQ(code_of(late), "ArmgateUpstreamTimeout");
  EXPECT_EQ(code_of(make_upstream_failure(upstream_error(ErrorKind::Reset, Sent::Maybe, "x"), kSoon)), "ArmgateUpstreamBroken");
  EXPECT_EQ(code_of(make_upstream_failure(upstream_error(ErrorKind::Reset, Sent::Answered, "x"), kSoon)),
            "ArmgateUpstreamBroken");
  const auto busy = make_upstream_failure(gateway_error(ErrorKind::Busy, "All are in use"), kSoon);
  EXPECT_EQ(code_of(busy), "ArmgateBusy");
  EXPECT_EQ(busy.head.status, 503);
  EXPECT_EQ(busy.head.fields.get("Retry-After"), "2");
  const auto unreadable = make_upstream_failure(upstream_error(ErrorKind::BadInput, Sent::Maybe, "x"), kSoon);
  EXPECT_EQ(code_of(unreadable), "ArmgateUpstreamBroken");
  EXPECT_NE(unreadable.body.find("ARM's answer cannot be read: x."), std::string::npos) << unreadable.body;
}

TEST(Answers, WhatWasDoneIsSaidAndTakenOffAgain) {
  Report report;
  report.waited = milliseconds(1500);
  report.attempts = 2;
  report.locks = {"/a", "/b"};
  report.guard = "newest";
  report.merged.count = 3;
  report.replayed = true;
  report.reason = "waited-for-another-write";
  arm::ResponseHead head;
  head.fields.add("ETag", "\"1\"");
  explain(head, report);
  EXPECT_EQ(head.fields.get("x-armgate-waited-ms"), "1500");
  EXPECT_EQ(head.fields.get("x-armgate-attempts"), "2");
  EXPECT_EQ(head.fields.get("x-armgate-locks"), "/a, /b");
  EXPECT_EQ(head.fields.get("x-armgate-guard"), "newest");
  EXPECT_EQ(head.fields.get("x-armgate-merged"), "3");
  EXPECT_EQ(head.fields.get("x-armgate-replayed"), "true");
  EXPECT_EQ(head.fields.get("x-armgate-reason"), "waited-for-another-write");
  unexplain(head);
  for (const auto& field : head.fields) EXPECT_EQ(field.name, "ETag") << "said of another request";
  EXPECT_EQ(head.fields.get("ETag"), "\"1\"");
}

// A name in an id may be anything, a field's value is one line of printable ASCII.
TEST(Answers, NoNameBreaksAField) {
  Report report;
  report.locks = {
      "/subscriptions/s/resourcegroups/stra\xc3\x9f"
      "e\r\nSet-Cookie: x"};
  arm::ResponseHead head;
  explain(head, report);
  EXPECT_EQ(head.fields.get("x-armgate-locks"), "/subscriptions/s/resourcegroups/stra??e??Set-Cookie: x");
}

}  // namespace
}  // namespace armgate
