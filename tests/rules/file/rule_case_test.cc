// Cases in rule files: what is fulfilled says nothing, what is not is a fault at its line.
#include "rules/file/rule_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"

namespace armgate::rules::rule_case_test {
namespace {

using testing::HasSubstr;

FaultList faults_of(const std::string& one) {
  FaultList faults;
  read_rules("r.json", R"({"rules": [
    {"name": "children", "match": {"types": ["A.B/c/d"], "actions": ["start"]}, "guard": {"kind": "etag"},
     "lock": {"parents": ["A.B/c"], "references": [{"pointer": "/properties/other/id"}]}, "lease": {"until": "request"}}],
   "cases": [
)" + one + "]}",
             faults);
  return faults;
}

const std::string kChild = "/subscriptions/s/resourceGroups/g/providers/A.B/c/x/d/y";

TEST(RuleCase, WhatIsFulfilledIsNoFault) {
  for (const std::string& one : std::vector<std::string>{
           R"({"request": "PUT )" + kChild +
               R"(?api-version=2024-01-01", "rule": "children", "guard": "etag", "lease": "request",
               "body": {"properties": {"other": {"id": "/subscriptions/s/resourceGroups/G"}}},
               "locks": ["/subscriptions/S/resourceGroups/g/providers/A.B/c/X/d/y", "/subscriptions/s/resourceGroups/g/providers/A.B/c/x",
                         "shared /subscriptions/s/resourceGroups/g"]})",
           R"({"request": "PUT )" + kChild + R"(", "rule": "children"})",
           R"({"request": "DELETE )" + kChild + R"(", "rule": "children", "guard": "none"})",
           R"({"request": "POST )" + kChild + R"(/start", "rule": "children", "lease": "request"})",
           R"({"request": "POST )" + kChild + R"(/abort", "rule": ""})",
           R"({"request": "GET )" + kChild + R"(", "rule": "children", "guard": "none"})",
       }) {
    for (const Fault& fault : faults_of(one)) ADD_FAILURE() << to_text(fault);
  }
}

TEST(RuleCase, WhatFailsIsTheFaultOfItsLine) {
  struct Case {
    std::string one;
    std::string pointer;
    std::string message;
  };
  const std::string put = R"({"request": "PUT )" + kChild + R"(", "rule": "children", )";
  for (const Case& c : std::vector<Case>{
           {R"({"request": "PUT )" + kChild + R"(", "rule": "other"})", "/rule", R"(the rule that decides is "children")"},
           {R"({"request": "PUT )" + kChild + R"(", "rule": ""})", "/rule", R"(the rule that decides is "children")"},
           {R"({"request": "POST )" + kChild + R"(/stop", "rule": "children"})", "/rule",
            "no rule of this file touches the request"},
           {put + R"("guard": "verify"})", "/guard", R"(the guard is "etag")"},
           {put + R"("guard": "none"})", "/guard", R"(the guard is "etag")"},
           {put + R"("locks": [")" + kChild + R"("]})", "/locks",
            "providers/a.b/c/x, /subscriptions/s/resourcegroups/g/providers/a.b/c/x/d/y"},
           {put + R"("lease": "operation"})", "/lease", "it is held until the other one"},
           {R"({"request": "GET )" + kChild + R"(", "rule": "children", "lease": "request"})", "/lease", "holds nothing"},
           {R"({"request": "GET )" + kChild + R"(", "rule": "children", "locks": ["/subscriptions/s"]})", "/locks",
            "what is locked is nothing"},
           {R"({"request": "PUT", "rule": ""})", "/request", "is not a request such as"},
           {R"({"request": "FETCH /subscriptions/s", "rule": ""})", "/request", "is not a request such as"},
           {R"({"request": "PUT /subscriptions/s/../t", "rule": ""})", "/request", "is not a request such as"},
           {R"({"request": "PUT /subscriptions/s"})", "", R"("rule" is missing)"},
           {put + R"("locks": ["x"]})", "/locks/0", "is not a resource id"},
           {put + R"("lock": ["/subscriptions/s"]})", "/lock", R"(did you mean "locks"?)"},
       }) {
    const FaultList faults = faults_of(c.one);
    ASSERT_EQ(faults.size(), 1u) << c.one;
    EXPECT_EQ(faults[0].line, 5) << to_text(faults[0]);
    EXPECT_EQ(faults[0].pointer, "/cases/0" + c.pointer) << to_text(faults[0]);
    EXPECT_THAT(faults[0].message, HasSubstr(c.message));
  }
}

TEST(RuleCase, EveryCaseIsTried) {
  const auto faults =
      faults_of(R"({"request": "PUT )" + kChild + R"(", "rule": "a"}, {"request": "PUT )" + kChild + R"(", "rule": "b"})");
  EXPECT_EQ(faults.size(), 2u);
}

// What the facts say of a body: tried at the request's type and api-version.
TEST(RuleCase, BodiesAreComparedByTheFactsOfTheFile) {
  const auto faults_with = [](const std::string& said) {
    FaultList faults;
    read_rule_book("f.json",
                   R"({"facts": [
    {"types": ["A.B/c"], "body": {"read_only": ["/properties/seen"], "arrays": [{"pointer": "/parts", "key": ["number"]}]}},
    {"types": ["A.B/c"], "api_version": {"from": "2024-01-01"}, "body": {"kept": ["/properties/more"]}}],
  "cases": [
{"rule": "", "request": "PUT /subscriptions/s/resourceGroups/g/providers/A.B/c/x?api-version=)" +
                       said + "}]}",
                   faults);
    return faults;
  };
  const std::string moved = R"("shown": {"properties": {"seen": 1, "more": 1}}, "body": {"properties": {"seen": 2}})";
  const std::string parts =
      R"("shown": {"parts": [{"number": 1, "a": 1}, {"number": 2}]}, "body": {"parts": [{"number": 2}, {"number": 1, "a": 2}]})";
  for (const std::string& good : {"2024-01-01\", " + moved, "2023-01-01\", " + moved + R"(, "changed": ["/properties/more"])",
                                  "\", " + parts + R"(, "changed": ["/parts/[number=1]/a"])"}) {
    for (const Fault& fault : faults_with(good)) ADD_FAILURE() << to_text(fault);
  }
  const std::pair<std::string, std::string> bad[] = {
      {"2023-01-01\", " + moved, "what counts as changed is /properties/more"},
      {"2024-01-01\", " + moved + R"(, "changed": ["/properties/seen"])", "what counts as changed is nothing"},
      {R"(", "body": {}, "changed": ["/a"])", "there is no \"shown\""},
      {R"(", "shown": {"a": 1})", "must both be there"},
  };
  for (const auto& [said, message] : bad) {
    const auto faults = faults_with(said);
    ASSERT_EQ(faults.size(), 1u) << said;
    EXPECT_EQ(faults[0].line, 5) << said;
    EXPECT_THAT(faults[0].message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace armgate::rules::rule_case_test
