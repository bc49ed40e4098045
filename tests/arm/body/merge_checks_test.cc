// Goal: nobody's secret is lost or invented, and no two elements share what ARM wants to be unique. Method: single bodies, then merges.
#include "arm/body/merge_checks.h"

#include <gtest/gtest.h>

#include "tests/arm/body/merged.h"

namespace armgate::arm {
namespace {

TEST(MergeChecks, WhereASecretMayBe) {
  const BodyFacts facts(
      {.read_only = {"/p/shown"}, .write_only = {"/p/password", "/p/kept", "/l/*/key", "/m/*"}, .kept = {"/p/kept"}});
  const struct {
    std::string_view json;
    bool has, hides;
  } cases[] = {
      {"{}", false, false},
      {R"({"q":{"password":"x"}})", false, false},
      {R"({"p":{"password":"x"}})", true, true},
      {R"({"p":{"password":{"a":[1]}}})", true, true},
      {R"({"p":{"password":null}})", false, true},
      {R"({"p":{}})", false, true},
      {R"({"p":null})", false, false},
      {R"({"l":[]})", false, false},
      {R"({"l":[{"key":"x"}]})", true, true},
      {R"({"l":[{"v":1}]})", false, true},
      {R"({"m":{"a":1}})", true, true},
      {R"({"v":["a",{"w":"***"}]})", false, true},
      {R"({"v":["*","**","* **"],"tags":{"a":"***"}})", false, false},
      {R"({"etag":"***"})", false, false},
  };
  for (const auto& c : cases) {
    const JsonDocument document(c.json);
    EXPECT_EQ(has_secret(document.root(), facts.top()), c.has) << c.json;
    EXPECT_EQ(hides_secret(document.root(), facts.top()), c.hides) << c.json;
  }
}

TEST(MergeChecks, TwinsAreNamed) {
  const BodyFacts facts({.arrays = {{"/a/*/r", ArrayKind::Keyed, {"name"}, {"/port"}}}});
  const JsonDocument document(R"({"a":[{"r":[{"port":1},{"port":2},{"port":1.0},{},{}]},{"r":[{"port":1}]}]})");
  const JsonDocument none("{}"), first(R"({"a":[{"r":[{"port":1},{"port":2}]}]})");
  const std::vector<std::string> both{"/a/0/r/0", "/a/0/r/2"};
  EXPECT_EQ(twins(document.root(), {&none.root(), &none.root()}, facts), both);
  EXPECT_EQ(twins(document.root(), {&first.root(), &none.root()}, facts), both);
}

// Found by the fuzzer of merges: one turn took the array as it is, the other refused it.
TEST(MergeChecks, TwinsOfOneSideAreNotTheMerges) {
  const BodyFacts facts({.arrays = {{"/o", ArrayKind::Ordered, {"k"}, {"/p"}}}});
  constexpr std::string_view kBase = R"({"o":[{"k":"a","p":1},{"k":"b"}]})";
  for (const std::string_view twins : {R"({"o":[{"p":1},{"p":1}]})", R"({"o":[{"k":"a","p":1},{"k":"b","p":1}]})"}) {
    EXPECT_EQ(merge({{{{kBase}}}, {twins}, {kBase}}, facts, MergeScope::All).kind, Merge::Kind::Merged) << twins;
    EXPECT_EQ(merge({{{{kBase}}}, {kBase}, {twins}}, facts, MergeScope::All).kind, Merge::Kind::Merged) << twins;
  }
}

TEST(MergeChecks, WhatMayNotBeTheSame) {
  constexpr std::string_view kNone = R"({"properties":{"securityRules":[]}})";
  const auto rule = [](const char* name, const char* properties) {
    return R"({"properties":{"securityRules":[{"name":")" + std::string(name) + R"(","properties":{)" + properties + "}}]}}";
  };
  const auto merged = [&](const std::string& wanted, const std::string& there) {
    return merge({{{{kNone}}}, {wanted}, {there}}, *BodyFacts::generic(), MergeScope::All).kind;
  };
  const auto in100 = rule("a", R"("priority":100,"direction":"Inbound")");
  EXPECT_EQ(merged(in100, rule("b", R"("priority":100.0,"direction":"inbound")")), Merge::Kind::Conflict);
  EXPECT_EQ(merged(in100, rule("b", R"("priority":101,"direction":"Inbound")")), Merge::Kind::Merged);
  EXPECT_EQ(merged(in100, rule("b", R"("priority":100,"direction":"Outbound")")), Merge::Kind::Merged);
  EXPECT_EQ(merged(in100, rule("b", R"("priority":100)")), Merge::Kind::Merged);  // ARM knows what that means
  const BodyFacts facts({.arrays = {{"/r", ArrayKind::Keyed, {"name"}, {"/port"}}}});
  expect_stories({{"a fact of the type", R"({"r":[]})", R"({"r":[{"name":"a","port":1}]})", R"({"r":[{"name":"b","port":1}]})",
                   "412 at /r/[name=b] /r/[name=a]"}},
                 facts);
}

TEST(MergeChecks, Secrets) {
  const BodyFacts facts({.write_only = {"/p/password", "/p/both", "/l/*/key"}, .kept = {"/p/both"}});
  const BodyFacts kept({.write_only = {"/p/both"}, .kept = {"/p/both"}});
  constexpr std::string_view kSecret = "412, not merged: secret";
  expect_stories({{"nobody shows it", R"({"a":1,"p":{}})", R"({"a":2,"p":{}})", R"({"a":1,"b":1,"p":{"x":1}})", kSecret},
                  {"nor would there be a place for it", R"({"a":1})", R"({"a":2})", R"({"a":1,"b":1})", R"({"a":2,"b":1})"},
                  {"in an element", R"({"a":1})", R"({"a":2})", R"({"a":1,"l":[{"name":"x"}]})", kSecret},
                  {"the write sets it", R"({"a":1})", R"({"a":1,"p":{"password":"x"}})", R"({"a":2})", kSecret}},
                 facts);
  expect_stories({{"a PUT keeps it", R"({"a":1,"p":{}})", R"({"a":2,"p":{}})", R"({"a":1,"b":1,"p":{"x":1}})",
                   R"({"a":2,"b":1,"p":{"x":1}})"},
                  {"the write sets it", R"({"a":1})", R"({"a":1,"p":{"both":"x"}})", R"({"a":2})", kSecret},
                  {"it is shown in part", R"({"a":1})", R"({"a":2})", R"({"a":1,"b":1,"p":{"both":"x*"}})", kSecret}},
                 kept);
  expect_stories({{"masked", R"({"a":1,"k":"abc"})", R"({"a":2,"k":"abc"})", R"({"a":1,"k":"****"})", kSecret},
                  {"stars of a client's own", R"({"tags":{"k":"****"},"a":1})", R"({"tags":{"k":"****"},"a":2})",
                   R"({"tags":{"k":"****"},"a":1,"b":"*"})", R"({"tags":{"k":"****"},"a":2,"b":"*"})"}});
}

}  // namespace
}  // namespace armgate::arm
