// Goal: a write that has what an older state had, where the newest one shown has something else, looks stale; and what a PUT leads
// to is recognised. Method: tables.
#include <gtest/gtest.h>

#include "tests/arm/body/compared.h"

namespace armgate::arm {
namespace {

struct Case {
  const char* name;
  std::string_view wanted, old, newest;
  bool stale;
};

void expect_stale(const std::vector<Case>& cases, const BodyFacts& facts = *BodyFacts::generic()) {
  for (const Case& c : cases) {
    EXPECT_EQ(compared({c.wanted, c.old, c.newest}, facts).looks_stale(0, std::vector<size_t>{1}, 2), c.stale) << c.name;
  }
}

constexpr std::string_view kOf3 = R"({"etag":"1","sku":{"name":"a","capacity":3},"tags":{"team":"shop"}})";
constexpr std::string_view kOf4 = R"({"etag":"2","sku":{"name":"a","capacity":4},"tags":{"team":"shop"}})";

TEST(LooksStale, LeavesMapsAndElements) {
  expect_stale({
      {"built on the old one", R"({"sku":{"name":"b","capacity":3},"tags":{"team":"shop"}})", kOf3, kOf4, true},
      {"built on the newest", R"({"sku":{"name":"b","capacity":4},"tags":{"team":"shop"}})", kOf3, kOf4, false},
      {"counted on", R"({"sku":{"name":"a","capacity":5},"tags":{"team":"shop"}})", kOf3, kOf4, false},
      {"a value taken back", kOf3, kOf3, kOf4, true},
      {"two that counted from 3", kOf4, kOf3, kOf4, true},
      {"written again as it is, and only tags moved", R"({"a":1,"tags":{"t":"1"}})", R"({"a":1,"tags":{}})",
       R"({"a":1,"tags":{"t":"1"}})", false},
      {"written again as it is, and only the service wrote", R"({"a":1})", R"({"a":1,"etag":"1"})", R"({"a":1,"etag":"2"})",
       false},
      {"a tag that was not there", R"({"tags":{"own":"1"}})", R"({"tags":{}})", R"({"tags":{"t":"1"}})", true},
      {"a tag that is gone again", R"({"tags":{"t":"1"}})", R"({"tags":{"t":"1"}})", R"({"tags":{}})", true},
      {"a tag of both", R"({"tags":{"t":"2"}})", R"({"tags":{}})", R"({"tags":{"t":"1"}})", false},
      {"a rule that was not there", R"({"r":[{"name":"a"}]})", R"({"r":[{"name":"a"}]})",
       R"({"r":[{"name":"a"},{"name":"b"}]})", true},
      {"a rule as it was", R"({"r":[{"name":"a","p":1},{"name":"b","p":1}]})", R"({"r":[{"name":"a","p":1}]})",
       R"({"r":[{"name":"a","p":2}]})", true},
      {"a rule that is gone", R"({"r":[{"name":"a","p":1}]})", R"({"r":[{"name":"a","p":1}]})", R"({"r":[]})", true},
      {"a rule of that name, but another", R"({"r":[{"name":"a","p":3}]})", R"({"r":[{"name":"a","p":1}]})", R"({"r":[]})",
       false},
      {"a list as it was", R"({"l":["a"]})", R"({"l":["a"]})", R"({"l":["a","b"]})", true},
      {"a list of its own", R"({"l":["c"]})", R"({"l":["a"]})", R"({"l":["a","b"]})", false},
      {"left out as it was", R"({"a":1})", R"({"a":1})", R"({"a":1,"b":1})", true},
      {"ids in another case", R"({"r":"/subscriptions/S/x","a":2})", R"({"r":"/subscriptions/s/x","a":1})",
       R"({"r":"/subscriptions/s/y","a":1})", true},
  });
}

TEST(LooksStale, AmongSeveral) {
  const Difference difference = compared({R"({"c":3,"t":1})", R"({"c":1,"t":1})", R"({"c":2,"t":1})", R"({"c":3,"t":2})"});
  EXPECT_FALSE(difference.looks_stale(0, {}, 3));
  EXPECT_TRUE(difference.looks_stale(0, std::vector<size_t>{1, 2}, 3));
  EXPECT_FALSE(compared({R"({"c":4})", R"({"c":1})", R"({"c":2})", R"({"c":3})"}).looks_stale(0, std::vector<size_t>{1, 2}, 3));
}

TEST(LooksStale, WhatIsUnknownOrFilledInIsNoValue) {
  constexpr std::string_view kSent = R"({"a":1})";
  constexpr std::string_view kAnswer = R"({"a":1,"filled":7})";
  constexpr std::string_view kNext = R"({"a":2})";
  const ComparedBody bodies[] = {{kNext}, {kSent, BodyKind::Partial}, {kAnswer}};
  EXPECT_FALSE(Difference(bodies, *BodyFacts::generic()).looks_stale(0, std::vector<size_t>{1}, 2));
  EXPECT_TRUE(compared({kNext, kSent, kAnswer}).looks_stale(0, std::vector<size_t>{1}, 2));
  EXPECT_FALSE(compared({kNext, kSent, kAnswer}, *BodyFacts::generic(), {{1, 2}}).looks_stale(0, std::vector<size_t>{1}, 2));
  // A value of it is one like any other.
  const std::vector<std::string_view> texts{R"({"a":2,"filled":7})", kSent, kAnswer, R"({"a":1,"filled":8})"};
  EXPECT_TRUE(compared(texts, *BodyFacts::generic(), {{1, 2}}).looks_stale(0, std::vector<size_t>{2}, 3));
}

TEST(Satisfied, AStateThatIsWhatAPutAskedFor) {
  const BodyFacts facts({.write_only = {"/p/password"}, .arrays = {{"/p/zones", ArrayKind::Set, {}}}});
  const struct {
    std::string_view state, wanted;
    bool satisfied;
  } cases[] = {
      {R"({"id":"/s","a":1,"b":{"c":2,"d":3}})", R"({"a":1,"b":{"c":2.0}})", true},
      {R"({"a":1})", "{}", true},
      {R"({"a":1})", R"({"a":1,"b":null})", true},
      {R"({"a":1,"b":2})", R"({"a":1,"b":null})", false},
      {R"({"a":1})", R"({"a":1,"b":2})", false},
      {R"({"etag":"2","properties":{"provisioningState":"Updating","x":1}})",
       R"({"etag":"1","properties":{"provisioningState":"Succeeded","x":1},"systemData":{}})", true},
      {R"({"s":[{"name":"a","id":"/x"},{"name":"b"}]})", R"({"s":[{"name":"b"},{"name":"a"}]})", true},
      {R"({"s":[{"name":"a"},{"name":"b"}]})", R"({"s":[{"name":"a"}]})", false},
      {R"({"s":[{"name":"a"}]})", R"({"s":[{"name":"a"},{"name":"b"}]})", false},
      {R"({"s":[{"name":"a","p":1}]})", R"({"s":[{"name":"a","p":2}]})", false},
      {R"({"s":[{"name":"a"}],"x":1})", R"({"x":1})", true},
      {R"({"s":[{"name":"a"}],"x":1})", R"({"s":[],"x":1})", false},
      {R"({"tags":{"a":"1"},"x":1})", R"({"x":1})", true},
      {R"({"tags":{"a":"1"},"x":1})", R"({"tags":{},"x":1})", false},
      {R"({"tags":{"a":"1","b":"2"}})", R"({"tags":{"a":"1"}})", false},
      {"{}", R"({"s":[],"tags":{}})", true},
      {"{}", R"({"s":{}})", false},
      // Without keys: in order, each as far as it is asked for.
      {R"({"s":[{"a":1,"d":9},{"a":2}]})", R"({"s":[{"a":1},{"a":2}]})", true},
      {R"({"s":[{"a":1,"tags":{"x":"1","y":"2"}},{"a":2}]})", R"({"s":[{"a":1,"tags":{"x":"1"}},{"a":2}]})", false},
      {R"({"s":[{"a":1,"l":[1]}]})", R"({"s":[{"a":1,"l":[]}]})", false},
      {R"({"s":[{"a":1}]})", R"({"s":[{"a":1,"l":[],"n":null}]})", true},
      {R"({"s":[{"a":2},{"a":1}]})", R"({"s":[{"a":1},{"a":2}]})", false},
      {R"({"s":[{"a":1},{"a":2}]})", R"({"s":[{"a":1}]})", false},
      {R"({"s":[1,2]})", R"({"s":[2,1]})", false},
      {R"({"p":{"zones":["1","2"]}})", R"({"p":{"zones":["2","1"]}})", true},
      {R"({"r":{"id":"/subscriptions/S/resourcegroups/G"}})", R"({"r":{"id":"/Subscriptions/s/resourceGroups/g"}})", true},
      {R"({"r":"/subscriptions/s/x"})", R"({"r":"/subscriptions/s/y"})", false},
      {R"({"properties":{},"name":"A"})", R"({"properties":{},"name":"a"})", true},
      {R"({"properties":{}})", R"({"properties":{},"name":"a"})", true},
      {R"({"name":"b"})", R"({"name":"a"})", false},
      {R"({"p":{"user":"x"}})", R"({"p":{"user":"x","password":"y"}})", false},
      {R"({"p":{"user":"x","password":"y"}})", R"({"p":{"user":"x"}})", true},
      {R"({"a":{}})", R"({"a":[1]})", false},
      {R"({"a":1})", "[]", false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(compared({c.wanted, c.state}, facts).satisfied(0, 1), c.satisfied) << c.state << c.wanted;
  }
  const ComparedBody bodies[] = {{R"({"a":1})"}, {R"({"a":1})", BodyKind::Partial}};
  EXPECT_FALSE(Difference(bodies, facts).satisfied(0, 1)) << "what it leaves out is unknown";
  EXPECT_TRUE(Difference(bodies, facts).satisfied(0, 0));
}

}  // namespace
}  // namespace armgate::arm
