// Goal: two states are the same exactly if no client could tell them apart; in doubt they differ. Method: one table of
// pairs that equality and pointers must agree on.
#include "arm/body/content.h"
#include "arm/long_running.h"
#include "json/scan.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "tests/json/hostile_json.h"

namespace armgate::arm {
namespace {

const BodyFacts kNoFacts;

void expect_same(std::string_view a, std::string_view b, bool same) {
  EXPECT_EQ(same_writable_content(a, b, kNoFacts), same) << a << "\n" << b;
  EXPECT_EQ(same_writable_content(b, a, kNoFacts), same) << b << "\n" << a;
  EXPECT_EQ(changed_pointers(a, b, kNoFacts, 9).empty(), same) << a << "\n" << b;
}

TEST(ContentTest, PairsThatAreTheSame) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"{}", " { } "},
      {R"({"a":1,"b":[true,null,"x"]})", R"({"b":[true,null,"x"],"a":1})"},
      {R"({"a":1})", R"({"a":1.0})"},
      {R"({"a":1e3})", R"({"a":1000})"},
      {R"({"a":0})", R"({"a":-0.0})"},
      {R"({"a":-7})", R"({"a":-7.0})"},
      {R"({"a":18446744073709551615})", R"({"a":18446744073709551615})"},
      {R"({"a":1e30})", R"({"a":1.0e+30})"},
      {R"({"a":"A\/b"})", R"({"\u0061":"\u0041/b"})"},
      {R"({"a":1,"etag":"x"})", R"({"a":1})"},
      {R"({"a":1,"ETag":"x"})", R"({"a":1,"eTag":"y"})"},
      {R"({"properties":{"provisioningState":"Updating","x":1}})", R"({"properties":{"x":1}})"},
      {R"({"p":[{"p":{"ProvisioningState":"A","resourceGuid":"1"}}]})", R"({"p":[{"p":{}}]})"},
      {R"({"systemData":{"createdAt":"1","anything":{}}})", "{}"},
      {R"({"p":{"timeCreated":"1","lastModifiedTime":"2","changedTime":3,"createdTime":4}})", R"({"p":{}})"},
      {"\xEF\xBB\xBF{\"a\":1}", R"({"a":1})"},
      {"17", "17.0"},
  };
  for (const auto& [a, b] : cases) expect_same(a, b, true);
}

TEST(ContentTest, PairsThatDiffer) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"a":1})", R"({"a":2})"},
      {R"({"a":1})", R"({"a":"1"})"},
      {R"({"a":1})", R"({"a":true})"},
      {R"({"a":0})", R"({"a":null})"},
      {R"({"a":null})", "{}"},
      {R"({"a":[]})", "{}"},
      {R"({"a":[]})", R"({"a":{}})"},
      {R"({"a":false})", R"({"a":true})"},
      {R"({"a":""})", R"({"a":null})"},
      {R"({"a":"x"})", R"({"a":"X"})"},
      {R"({"a":"x"})", R"({"A":"x"})"},
      {R"({"a":"/subscriptions/s"})", R"({"a":"/Subscriptions/s"})"},
      {R"({"a":[1,2]})", R"({"a":[2,1]})"},
      {R"({"a":[1]})", R"({"a":[1,1]})"},
      {R"({"a":[[1],[2]]})", R"({"a":[[1,2]]})"},
      {R"({"a":9007199254740993})", R"({"a":9007199254740992})"},
      {R"({"a":18446744073709551615})", R"({"a":18446744073709551614})"},
      {R"({"a":18446744073709551615})", R"({"a":-1})"},
      {R"({"a":9223372036854775807})", R"({"a":9223372036854775808.0})"},
      {R"({"a":1.5})", R"({"a":1})"},
      {R"({"a":{"b":1}})", R"({"a":{"b":1,"c":1}})"},
      {R"({"ab":"c"})", R"({"a":"bc"})"},
      {R"({"a":{"b":1},"c":2})", R"({"a":{"b":1,"c":2}})"},
      {R"({"etags":1})", "{}"},
      {"{}", "[]"},
      {"null", "{}"},
      // Tags are the client's own words, whatever they are called.
      {R"({"tags":{"createdAt":"monday"}})", R"({"tags":{"createdAt":"tuesday"}})"},
      {R"({"Tags":{"etag":"a"}})", R"({"Tags":{}})"},
  };
  for (const auto& [a, b] : cases) expect_same(a, b, false);
}

TEST(ContentTest, WhatDoesNotParseIsEqualToNothing) {
  std::vector<std::string> texts = {R"({"a":1,"a":1})",
                                    R"({"etag":"x","etag":"x"})",
                                    R"({"x":[{"b":1,"\u0062":1}]})",
                                    R"({"a":18446744073709551616})",
                                    R"({"a":1e999})",
                                    R"({"a":01})",
                                    R"({"a":NaN})",
                                    R"({"a":"\q"})",
                                    R"({"a":"\ud800"})",
                                    nested_json("a", 1'000)};
  for (const std::string& text : hostile_json()) {
    if (text != "null" && text != "[]" && text != "17" && text != "\"text\"") texts.push_back(text);
  }
  for (const std::string& text : texts) {
    EXPECT_FALSE(same_writable_content(text, text, kNoFacts)) << text.substr(0, 80);
    EXPECT_FALSE(satisfies(text, "{}", kNoFacts)) << text.substr(0, 80);
    EXPECT_FALSE(satisfies("{}", text, kNoFacts)) << text.substr(0, 80);
    EXPECT_EQ(changed_pointers(text, "{}", kNoFacts, 5), std::vector<std::string>{""}) << text.substr(0, 80);
    EXPECT_EQ(provisioning_state(text), std::nullopt) << text.substr(0, 80);
  }
}

TEST(ContentTest, ARuleMayNameMoreThatTheServiceWrites) {
  const BodyFacts facts({.read_only = {"/properties/instanceView", "/properties/subnets/*/ipConfigurations"}});
  constexpr std::string_view kBefore = R"({"properties":{"instanceView":1,"a":1,"subnets":[{"b":1,"ipConfigurations":[]}]}})";
  constexpr std::string_view kAfter = R"({"properties":{"INSTANCEVIEW":2,"a":1,"subnets":[{"b":1}]}})";
  EXPECT_TRUE(same_writable_content(kBefore, kAfter, facts));
  EXPECT_EQ(changed_pointers(kBefore, kAfter, kNoFacts, 9),
            (std::vector<std::string>{"/properties/INSTANCEVIEW", "/properties/instanceView",
                                      "/properties/subnets/0/ipConfigurations"}));
}

TEST(ContentTest, AStateSatisfiesWhatAPutAskedFor) {
  const struct {
    std::string_view state, wanted;
    bool satisfied;
  } cases[] = {
      {R"({"id":"/s","a":1,"b":{"c":2,"d":3}})", R"({"a":1,"b":{"c":2.0}})", true},
      {R"({"a":1})", "{}", true},
      {R"({"a":1})", R"({"a":1,"b":null})", true},
      {R"({"a":1,"b":null})", R"({"a":1,"b":null})", true},
      {R"({"a":1,"b":2})", R"({"a":1,"b":null})", false},
      {R"({"etag":"2","properties":{"provisioningState":"Updating","x":1}})",
       R"({"etag":"1","properties":{"provisioningState":"Succeeded","x":1},"systemData":{}})", true},
      {R"({"s":[{"name":"a","id":"/x"},{"name":"b"}]})", R"({"s":[{"name":"a"},{"name":"b"}]})", true},
      {R"({"s":[{"name":"b"},{"name":"a"}]})", R"({"s":[{"name":"a"},{"name":"b"}]})", true},
      {R"({"location":"westeurope","a":1})", R"({"location":"West Europe","a":1})", true},
      {R"({"s":[{"name":"a"},{"name":"b"}]})", R"({"s":[{"name":"a"}]})", false},
      {R"({"s":[]})", R"({"s":[]})", true},
      {"{}", R"({"s":[]})", true},
      {R"({"r":{"id":"/subscriptions/S/resourcegroups/G"}})", R"({"r":{"id":"/Subscriptions/s/resourceGroups/g"}})", true},
      {R"({"r":"/subscriptions/s/x"})", R"({"r":"/subscriptions/s/y"})", false},
      {R"({"name":"A"})", R"({"name":"a"})", true},
      {R"({"user":"x"})", R"({"user":"x","adminPassword":"y"})", false},
      {R"({"a":{}})", R"({"a":[]})", false},
      {R"({"tags":{"a":"1","etag":"x"}})", R"({"tags":{"a":"1","etag":"y"}})", false},
      {R"({"a":1})", "[]", false},
  };
  for (const auto& c : cases) EXPECT_EQ(satisfies(c.state, c.wanted, kNoFacts), c.satisfied) << c.state << c.wanted;
}

TEST(ContentTest, ChangedPointersNameEachPlaceOnce) {
  const struct {
    std::string_view before, after;
    std::vector<std::string> pointers;
  } cases[] = {
      {"{}", "{}", {}},
      {R"({"b":1,"a":{"x":1,"y":[1,{"z":2}]}})", R"({"a":{"x":2,"y":[1,{"z":3}]},"c":0})", {"/a/x", "/a/y/1/z", "/b", "/c"}},
      {R"({"a":[1,2,3]})", R"({"a":[1,2]})", {"/a"}},
      {R"({"a/b":1,"c~d":1,"":1})", R"({"a/b":2,"c~d":2,"":2})", {"/", "/a~1b", "/c~0d"}},
      {R"({"etag":1,"a":1})", R"({"etag":2,"a":2})", {"/a"}},
      {"1", "2", {""}},
      {R"({"a":{"b":1}})", R"({"a":1})", {"/a"}},
  };
  for (const auto& c : cases) EXPECT_EQ(changed_pointers(c.before, c.after, kNoFacts, 99), c.pointers) << c.before;
  const auto& [before, after, pointers] = cases[1];
  EXPECT_EQ(changed_pointers(before, after, kNoFacts, 2), (std::vector<std::string>{"/a/x", "/a/y/1/z"}));
  EXPECT_TRUE(changed_pointers(before, after, kNoFacts, 0).empty());
}

TEST(ContentTest, TheProvisioningStateIsThatOfTheResource) {
  const std::pair<std::string_view, std::optional<std::string>> cases[] = {
      {R"({"properties":{"provisioningState":"Updating"}})", "Updating"},
      {R"({"Properties":{"ProvisioningState":"succeeded"}})", "succeeded"},
      {R"({"provisioningState":"no"})", std::nullopt},
      {R"({"properties":{"subnets":[{"properties":{"provisioningState":"no"}}]}})", std::nullopt},
      {R"({"properties":null})", std::nullopt},
      {R"({"properties":{"provisioningState":null}})", std::nullopt},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(provisioning_state(body), expected) << body;
}

// A random value written down in random member order and number form: `shape` decides the value, `style` the writing.
std::string random_json(Rng& shape, Rng& style, int depth) {
  switch (shape.below(depth > 0 ? 6 : 4)) {
    case 0: {
      const uint64_t number = shape.below(3);
      return std::to_string(number) + (style.chance(0.5) ? ".0" : "");
    }
    case 1: return shape.chance(0.5) ? "true" : "null";
    case 2: return shape.chance(0.5) ? "\"x\"" : (style.chance(0.5) ? "\"y\"" : "\"\\u0079\"");
    case 3: return style.chance(0.5) ? "{}" : R"({"etag":"noise"})";
    case 4: {
      std::string text = "[";
      for (uint64_t i = shape.below(3); i > 0; --i) text += random_json(shape, style, depth - 1) + (i > 1 ? "," : "");
      return text + "]";
    }
    default: {
      std::vector<std::string> members;
      for (const std::string_view name : {"a", "b", "c"}) {
        if (!shape.chance(0.6)) continue;
        members.push_back("\"" + std::string(name) + "\":" + random_json(shape, style, depth - 1));
      }
      if (style.chance(0.3)) members.push_back(R"("systemData":{"createdBy":"noise"})");
      std::string text = "{";
      while (!members.empty()) {
        const auto pick = members.begin() + static_cast<ptrdiff_t>(style.below(members.size()));
        text += (text.size() > 1 ? "," : "") + *pick;
        members.erase(pick);
      }
      return text + "}";
    }
  }
}

TEST(ContentTest, EqualityAndPointersAgreeOnRandomValues) {
  Rng style(7);
  size_t same = 0;
  for (uint64_t seed = 0; seed < 1'500; ++seed) {
    Rng first(seed), again(seed), other(seed / 3 * 3 + 1);
    const std::string a = random_json(first, style, 3);
    const std::string a_rewritten = random_json(again, style, 3);
    expect_same(a, a_rewritten, true);
    EXPECT_TRUE(satisfies(a, a_rewritten, kNoFacts)) << a << "\n" << a_rewritten;
    const std::string b = random_json(other, style, 3);
    const bool equal = same_writable_content(a, b, kNoFacts);
    expect_same(a, b, equal);
    same += equal ? 1 : 0;
  }
  EXPECT_GT(same, 500u);
  EXPECT_LT(same, 1'400u);
}

TEST(ContentTest, BigBodiesAreCompared) {
  const std::string item = R"({"name":"n","properties":{"addressPrefix":"10.0.0.0/24","n":1},"etag":"\"1\""})";
  std::string a = "{\"p\":[" + item, b = a;
  for (int i = 0; i < 5'000; ++i) a += "," + item, b += "," + item;
  expect_same(a + "]}", b + "]}", true);
  expect_same(a + "]}", b + ",1]}", false);
}

}  // namespace
}  // namespace armgate::arm
