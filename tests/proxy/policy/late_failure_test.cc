// Which writes go again whose operations have failed, and on what.
#include "proxy/policy/late_failure.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/shipped_errors.h"

namespace armgate::policy {
namespace {

using std::chrono::seconds;

std::string failed(const std::string& code, const std::string& message = "m") {
  return R"({"status":"Failed","error":{"code":")" + code + R"(","message":")" + message + "\"}}";
}

TEST(LateFailure, IsOfTheClassThatItsCodeHasWhateverTheStatusOfThePoll) {
  struct {
    std::string body;
    ErrorClass kind;
  } const rows[] = {
      {failed("AnotherOperationInProgress"), ErrorClass::Busy},
      {failed("ConflictingConcurrentWriteNotAllowed"), ErrorClass::Busy},
      {R"({"status":"Canceled","error":{"code":"Canceled","details":[{"code":"CanceledAndSupersededDueToAnotherOperation"}]}})",
       ErrorClass::Superseded},
      {failed("OperationPreempted"), ErrorClass::Superseded},
      {failed("ReferencedResourceNotProvisioned"), ErrorClass::Dependency},
      {R"({"error":{"code":"AnotherOperationInProgress","message":"of a Location"}})", ErrorClass::Busy},
      {failed("QuotaExceeded"), ErrorClass::Final},
      {failed("OperationNotAllowed", "exceeding approved quota"), ErrorClass::Final},
      {failed("OperationNotAllowed", "Another operation (Updating) is in progress"), ErrorClass::Busy},
      {failed("NetworkingInternalOperationError"), ErrorClass::Final},
      {R"({"status":"Failed"})", ErrorClass::Final},
      {"", ErrorClass::Final},
      {"no JSON", ErrorClass::Final},
  };
  for (const auto& row : rows) EXPECT_EQ(classify_late_failure(shipped(), row.body).kind, row.kind) << row.body;
}

TEST(LateFailure, GoesAgainWithinTheRulesAttemptsAndTime) {
  rules::LateRetry rule;
  rule.backoff.attempts = 3;
  rule.backoff.deadline = seconds(100);
  Rng rng(1);
  const LateFailure busy{ErrorClass::Busy, std::nullopt};
  const LateFailure superseded{ErrorClass::Superseded, std::nullopt};
  struct {
    const char* what;
    LateFailure failure;
    SentSoFar so_far;
    bool goes;
  } const rows[] = {
      {"the first", busy, {1, 0, seconds(1)}, true},
      {"the second", busy, {2, 0, seconds(1)}, true},
      {"as often as it may", busy, {3, 0, seconds(1)}, false},
      {"too late", busy, {1, 0, seconds(100)}, false},
      {"superseded", superseded, {1, 0, seconds(1)}, true},
      {"superseded twice", superseded, {2, 1, seconds(1)}, false},
      {"busy after superseded", busy, {2, 1, seconds(1)}, true},
      {"dependency", {ErrorClass::Dependency, std::nullopt}, {1, 0, seconds(1)}, true},
      {"propagation", {ErrorClass::Propagation, std::nullopt}, {1, 0, seconds(1)}, true},
      {"final", {ErrorClass::Final, std::nullopt}, {1, 0, seconds(1)}, false},
      {"told to come when it is too late", {ErrorClass::Busy, seconds(200)}, {1, 0, seconds(1)}, false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(pause_before_next(row.failure, row.so_far, rule, rng).has_value(), row.goes) << row.what;
  EXPECT_EQ(pause_before_next({ErrorClass::Busy, seconds(7)}, {}, rule, rng), seconds(7)) << "ARM's own word first";
  EXPECT_FALSE(pause_before_next(busy, {}, rules::LateRetry{}, rng)) << "off by default";
}

BaseState base_with(const char* json) {
  BaseState base;
  base.body = kept_body(json);
  return base;
}

TEST(LateFailure, OnlyTheBaseAtRestShowsThatNothingWasDone) {
  const arm::BodyFacts& facts = *rules::generic_type_facts().body;
  const BaseState base = base_with(R"({"etag":"1","tags":{"a":"1"},"properties":{"x":1,"provisioningState":"Succeeded"}})");
  struct {
    const char* what;
    const char* there;
    bool still;
  } const rows[] = {
      {"as it was", R"({"etag":"1","tags":{"a":"1"},"properties":{"x":1,"provisioningState":"Succeeded"}})", true},
      {"failed, and with another ETag", R"({"etag":"3","tags":{"a":"1"},"properties":{"x":1,"provisioningState":"Failed"}})",
       true},
      {"at work", R"({"etag":"3","tags":{"a":"1"},"properties":{"x":1,"provisioningState":"Updating"}})", false},
      {"a member set", R"({"etag":"3","tags":{"a":"1"},"properties":{"x":2,"provisioningState":"Failed"}})", false},
      {"a member added", R"({"etag":"3","tags":{"a":"1","b":"2"},"properties":{"x":1,"provisioningState":"Failed"}})", false},
      {"a member gone", R"({"etag":"3","properties":{"x":1,"provisioningState":"Failed"}})", false},
      {"not readable", "no JSON", false},
  };
  for (const auto& row : rows) EXPECT_EQ(is_base_still(base, {false, row.there}, facts), row.still) << row.what;
  EXPECT_FALSE(is_base_still(base, {true, ""}, facts)) << "gone";
  BaseState absent;
  absent.absent = true;
  EXPECT_TRUE(is_base_still(absent, {true, ""}, facts)) << "a create that left nothing";
  EXPECT_FALSE(is_base_still(absent, {false, "{}"}, facts)) << "a create that left something";
  BaseState unknown;
  EXPECT_FALSE(is_base_still(unknown, {false, "{}"}, facts)) << "its body was not kept";
  BaseState partial = base;
  partial.is_partial = true;
  EXPECT_FALSE(is_base_still(partial, {false, rows[0].there}, facts)) << "what an item of a list lacks is not known";
}

}  // namespace
}  // namespace armgate::policy
