#include "proxy/policy/error_class.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate::policy {
namespace {

std::string error(std::string_view code, std::string_view message = "m", std::string_view detail = "") {
  std::string text = R"({"error":{"code":")" + std::string(code) + R"(","message":")" + std::string(message) + "\"";
  if (!detail.empty()) text += R"(,"details":[{"code":")" + std::string(detail) + R"(","message":"d"}])";
  return text + "}}";
}

ErrorFacts classify(int status, std::string_view body, arm::Headers fields = {}) {
  arm::ResponseHead head;
  head.status = status;
  head.fields = std::move(fields);
  return classify_error(head, body, WallTime{});
}

struct Row {
  const char* name;
  int status;
  std::string body;
  ErrorClass expected;
  arm::Headers fields{};
};

void check(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    EXPECT_EQ(static_cast<int>(classify(row.status, row.body, row.fields).kind), static_cast<int>(row.expected)) << row.name;
  }
}

TEST(ClassifyError, KnowsWhatItKnowsInEverySpelling) {
  check({
      {"Compute", 409, error("ConflictingConcurrentWriteNotAllowed"), ErrorClass::Busy},
      {"Network", 409, error("AnotherOperationInProgress"), ErrorClass::Busy},
      {"any case", 409, error("anotheroperationinprogress"), ErrorClass::Busy},
      {"as a detail", 409, error("Conflict", "m", "AnotherOperationInProgress"), ErrorClass::Busy},
      {"without an error member", 409, R"({"code":"AnotherOperationInProgress","message":"m"})", ErrorClass::Busy},
      {"capitals", 409, R"({"Code":"AnotherOperationInProgress","Message":"m"})", ErrorClass::Busy},
      {"group, made by ARM", 404, error("ResourceGroupNotFound"), ErrorClass::GroupNotFound,
       {{"x-ms-failure-cause", "gateway"}}},
      {"group, any case", 404, error("ResourceGroupNotFound"), ErrorClass::GroupNotFound,
       {{"X-Ms-Failure-Cause", "Gateway"}}},
      {"group, no cause given", 404, error("ResourceGroupNotFound"), ErrorClass::GroupNotFound},
      {"ETag", 412, error("PreconditionFailed"), ErrorClass::Stale},
      {"412 without a body", 412, "", ErrorClass::Stale},
      {"412 with rubbish", 412, "<html>", ErrorClass::Stale},
  });
}

// What looks like a passing conflict and is none passes through at once, because a retry cannot help or would hide it.
TEST(ClassifyError, LetsLookAlikesPass) {
  check({
      {"quota", 409, error("OperationNotAllowed", "exceeding approved Total Regional Cores quota"), ErrorClass::None},
      {"lock by a person", 409, error("ScopeLocked"), ErrorClass::None},
      {"registration", 409, error("MissingSubscriptionRegistration"), ErrorClass::None},
      {"registration", 409, error("MissingRegistrationForLocation"), ErrorClass::None},
      {"registration, azcore registers on it", 409, error("SubscriptionNotRegistered"), ErrorClass::None},
      {"same assignment", 409, error("RoleAssignmentExists"), ErrorClass::None},
      {"plain conflict", 409, error("Conflict", "The name is taken"), ErrorClass::None},
      {"the words in the message only", 409, error("Conflict", "AnotherOperationInProgress"), ErrorClass::None},
      {"the code with something behind it", 409, error("AnotherOperationInProgressNot"), ErrorClass::None},
      {"the code as a 400", 400, error("AnotherOperationInProgress"), ErrorClass::None},
      {"the code as a 429", 429, error("AnotherOperationInProgress"), ErrorClass::None},
      {"the code as a success", 200, error("AnotherOperationInProgress"), ErrorClass::None},
      {"throttled", 429, error("TooManyRequests"), ErrorClass::None},
      {"broken inside", 500, error("InternalServerError"), ErrorClass::None},
      {"a provider's own group 404", 404, error("ResourceGroupNotFound"), ErrorClass::None,
       {{"x-ms-failure-cause", "service"}}},
      {"another 404", 404, error("ResourceNotFound"), ErrorClass::None, {{"x-ms-failure-cause", "gateway"}}},
      {"the group's code as a 409", 409, error("ResourceGroupNotFound"), ErrorClass::None},
  });
}

TEST(ClassifyError, WhatCannotBeReadIsNobodysBusiness) {
  const char* bodies[] = {"", " ", "null", "[]", "\"AnotherOperationInProgress\"", "AnotherOperationInProgress", "{",
                          R"({"error":"AnotherOperationInProgress"})", R"({"error":{"code":409}})",
                          R"({"error":{"code":"AnotherOperationInProgress")", R"({"error":{}})"};
  for (const int status : {404, 409, 500}) {
    for (const auto* body : bodies) {
      const auto facts = classify(status, body);
      EXPECT_EQ(facts.kind, ErrorClass::None) << status << " " << body;
      EXPECT_TRUE(facts.operation_url.empty()) << body;
    }
  }
}

TEST(ClassifyError, TellsTheCodeForTheLogWhateverItMeans) {
  EXPECT_EQ(classify(409, error("ScopeLocked")).code, "ScopeLocked");
  EXPECT_EQ(classify(412, error("PreconditionFailed")).code, "PreconditionFailed");
  EXPECT_EQ(classify(200, error("ScopeLocked")).code, "");
}

TEST(ClassifyError, TellsWhenToComeBackFromTheHeaderElseTheMessage) {
  const auto body = error("AnotherOperationInProgress", "The request can be retried in 11 seconds");
  EXPECT_EQ(classify(409, body).come_back, std::chrono::seconds(11));
  EXPECT_EQ(classify(409, body, {{"Retry-After", "3"}}).come_back, std::chrono::seconds(3));
  EXPECT_EQ(classify(409, body, {{"Retry-After", "soon"}}).come_back, std::chrono::seconds(11));
  EXPECT_EQ(classify(409, error("AnotherOperationInProgress")).come_back, std::nullopt);
  EXPECT_EQ(classify(412, error("PreconditionFailed"), {{"Retry-After", "3"}}).come_back, std::nullopt);
}

TEST(ClassifyError, FindsTheRunningOperationsUrlInTheMessage) {
  struct Case {
    const char* message;
    const char* expected;
  };
  const Case cases[] = {
      {"use uri: https://m.azure.com/s/op?api-version=1&t=a%2Fb.", "https://m.azure.com/s/op?api-version=1&t=a%2Fb"},
      {"use uri: 'https://m.azure.com/op', please", "https://m.azure.com/op"},
      {"see https://m.azure.com/a https://m.azure.com/b", "https://m.azure.com/a"},
      {"see http://m.azure.com/op", ""},
      {"see https://", ""},
      {"see https://user@m.azure.com/op", ""},
      {"nothing", ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(classify(409, error("AnotherOperationInProgress", c.message)).operation_url, c.expected) << c.message;
  }
}

}  // namespace
}  // namespace armgate::policy
