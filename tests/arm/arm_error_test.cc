// Goal: the codes of an error are found in every spelling that providers use; what armgate writes is read back as it
// was.
#include "arm/arm_error.h"

#include <gtest/gtest.h>

#include "tests/json/hostile_json.h"

namespace armgate::arm {
namespace {

using Codes = std::vector<std::string>;

TEST(ArmErrorTest, EverySpellingIsRead) {
  const struct {
    std::string_view body, code, message;
    Codes details;
  } cases[] = {
      {R"({"error":{"code":"Conflict","message":"Busy."}})", "Conflict", "Busy.", {}},
      {R"({"code":"Conflict","message":"Busy."})", "Conflict", "Busy.", {}},
      {R"({"Code":"Conflict","Message":"Busy.","Target":null,"Details":[{"Message":"Busy."},{"Code":"Conflict"},
           {"ErrorEntity":{"ExtendedCode":"59203","MessageTemplate":"x","Code":"Other"}}],"Innererror":null})",
       "Conflict",
       "Busy.",
       {"Conflict", "Other", "59203"}},
      {R"({"error":{"code":"RetryableError","message":"m","details":[{"code":"ReferencedResourceNotProvisioned",
           "message":"x","details":[{"code":"Inner"}]},{"code":"Second"}]}})",
       "RetryableError",
       "m",
       {"ReferencedResourceNotProvisioned", "Inner", "Second"}},
      {R"({"status":"Failed","error":{"code":"OperationPreempted","message":"m"}})", "OperationPreempted", "m", {}},
      {R"({"error":{"message":"only words"}})", "", "only words", {}},
      {R"({"error":{"code":"A","message":{"value":"x"},"details":"none"}})", "A", "", {}},
      {R"({"error":{"code":"A","details":[null,1,"x",[],{"code":7},{"code":""},{"code":"B"}]}})", "A", "", {"B"}},
      {R"({"error":null,"code":"A"})", "A", "", {}},
      {"\xEF\xBB\xBF{\"code\":\"A\"}", "A", "", {}},
      {R"({"error":{"code":"\u0041\"","message":"a\nb"}})", "A\"", "a\nb", {}},
  };
  for (const auto& c : cases) {
    const auto error = parse_error(c.body);
    ASSERT_TRUE(error) << c.body;
    EXPECT_EQ(error->code, c.code) << c.body;
    EXPECT_EQ(error->message, c.message) << c.body;
    EXPECT_EQ(error->detail_codes, c.details) << c.body;
  }
}

TEST(ArmErrorTest, WhatIsNoErrorIsNone) {
  for (const std::string_view body :
       {"{}", R"({"error":{}})", R"({"error":"text"})", R"({"error":[]})", R"({"message":"x"})", R"({"code":7})",
        R"({"id":"/subscriptions/s","properties":{"error":{"code":"A"}}})", R"([{"code":"A"}])"}) {
    EXPECT_FALSE(parse_error(body)) << body;
  }
  for (const std::string& body : hostile_json()) EXPECT_FALSE(parse_error(body)) << body.substr(0, 80);
}

TEST(ArmErrorTest, DetailsNestedBeyondReasonAreNoError) {
  std::string body =
      R"({"code":"A","details":[)" + repeated(R"({"code":"B","details":[)", 10'000) + repeated("]}", 10'000) + "]}";
  EXPECT_FALSE(parse_error(body));
}

TEST(ArmErrorTest, CodesAreToldWithoutWords) {
  const struct {
    const char* body;
    ErrorCodes codes;
  } cases[] = {
      {R"({"error":{"code":"Conflict","message":"secret"}})", {"Conflict", ""}},
      {R"({"error":{"code":"DeploymentFailed","details":[{"code":"deploymentfailed"},{"code":"QuotaExceeded"}]}})",
       {"DeploymentFailed", "QuotaExceeded"}},
      {R"({"status":"Failed","error":{"code":"ReconcileFailed","message":"x: Code=\"NetworkingInternalOperationError\" Message=\"y\""}})",
       {"ReconcileFailed", "NetworkingInternalOperationError"}},
      {R"({"error":{"code":"A","message":"Code=\"no code, a text\" Code=B"}})", {"A", "B"}},
      {R"({"error":{"code":"a text with a secret"}})", {}},
      {R"({"error":{"code":"A","details":[{"code":"a text"}]}})", {"A", ""}},
      {R"({"status":"Succeeded"})", {}},
      {"", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(error_codes(c.body), c.codes) << c.body;
  EXPECT_TRUE(looks_like_code("Network.Error_1-a"));
  EXPECT_FALSE(looks_like_code(std::string(101, 'a')));
  EXPECT_FALSE(looks_like_code(""));
}

TEST(ArmErrorTest, CodesAreComparedWithoutCase) {
  const ArmError error{"RetryableError", "", {"AnotherOperationInProgress"}, {}};
  EXPECT_TRUE(error.has_code("retryableerror"));
  EXPECT_TRUE(error.has_code("ANOTHEROPERATIONINPROGRESS"));
  EXPECT_FALSE(error.has_code("Retryable"));
  EXPECT_FALSE(error.has_code(""));
}

TEST(ArmErrorTest, AnErrorBodyHasArmsShapeInArmsOrder) {
  EXPECT_EQ(error_body("ArmgateStaleWrite", "Read again."),
            R"({"error":{"code":"ArmgateStaleWrite","message":"Read again."}})");
  EXPECT_EQ(error_body("C", "M", "/t", {{"D", "dm", "/properties/x"}, {"E", "em", ""}}),
            R"({"error":{"code":"C","message":"M","target":"/t","details":[)"
            R"({"code":"D","message":"dm","target":"/properties/x"},{"code":"E","message":"em"}]}})");
}

TEST(ArmErrorTest, WhatIsWrittenIsReadBack) {
  for (const std::string& text : {std::string("a\"b\\c\r\n\t"), std::string("nul\0here", 8), std::string("gr\xc3\xbc\xc3\x9f"),
                                  std::string("\x01\x1f")}) {
    const auto error = parse_error(error_body(text, text, text, {{text, text, text}}));
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->code, text);
    EXPECT_EQ(error->message, text);
    EXPECT_EQ(error->detail_codes, Codes{text});
  }
}

TEST(ArmErrorTest, BytesThatAreNoTextAreReplaced) {
  const auto error = parse_error(error_body("C", "\xff\xfe bad"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "\xef\xbf\xbd\xef\xbf\xbd bad");
}

}  // namespace
}  // namespace armgate::arm
