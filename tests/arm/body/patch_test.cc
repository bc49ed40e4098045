// Goal: what a PATCH says about a state. Method: tables of PATCH and states.
#include "arm/body/patch.h"

#include <gtest/gtest.h>

#include "arm/body/content.h"
#include "tests/json/hostile_json.h"

namespace armgate::arm {
namespace {

const BodyFacts& facts() { return *BodyFacts::generic(); }

constexpr std::string_view kState =
    R"({"id":"/x","sku":{"name":"S","capacity":1.0},"tags":{"a":"1","b":"2"},"properties":{"nics":[{"name":"n"}],"size":1,"provisioningState":"Succeeded"}})";

TEST(Patch, OfAStateItSpeaksAboutWhatItNames) {
  struct Row {
    std::string_view patch, part;
  };
  for (const Row& row : {
           Row{R"({"sku":{"capacity":7}})", R"({"sku":{"capacity":1.0}})"},
           Row{R"({"tags":{"c":"3"}})", R"({"tags":{"a":"1","b":"2"}})"},
           Row{R"({"properties":{"nics":[],"size":9}})", R"({"properties":{"nics":[{"name":"n"}],"size":1}})"},
           Row{R"({"properties":{"nothing":1}})", R"({"properties":{}})"},
           Row{R"({"plan":{"name":"p"},"tags":null})", R"({"tags":{"a":"1","b":"2"}})"},
           Row{"{}", "{}"},
       }) {
    EXPECT_EQ(patched_part(kState, row.patch, facts()).value_or("unreadable"), row.part) << row.patch;
  }
}

TEST(Patch, LeavesCanBeThoseOfAnotherState) {
  const auto part = patched_part(kState, R"({"sku":{"capacity":7},"tags":{},"properties":{"zone":1}})", facts(),
                                 R"({"sku":{"capacity":5},"tags":{"z":"9"},"properties":{"zone":2}})");
  EXPECT_EQ(part.value_or("unreadable"), R"({"sku":{"capacity":5},"tags":{"a":"1","b":"2"},"properties":{"zone":2}})");
}

TEST(Patch, LeavesAStateAsItAsks) {
  struct Row {
    std::string_view patch, state;
  };
  for (const Row& row : {
           Row{R"({"sku":{"capacity":7}})",
               R"({"sku":{"name":"S","capacity":7},"tags":{"a":"1"},"p":{"nics":[1],"size":1.0}})"},
           Row{R"({"TAGS":{"b":"2"}})", R"({"sku":{"name":"S","capacity":1},"TAGS":{"b":"2"},"p":{"nics":[1],"size":1.0}})"},
           Row{R"({"tags":null,"p":{"nics":[],"size":null}})", R"({"sku":{"name":"S","capacity":1},"p":{"nics":[]}})"},
           Row{R"({"p":{"zone":{"n":1}},"plan":{}})",
               R"({"sku":{"name":"S","capacity":1},"tags":{"a":"1"},"p":{"nics":[1],"size":1.0,"zone":{"n":1}},"plan":{}})"},
           Row{R"({"sku":null,"none":null})", R"({"tags":{"a":"1"},"p":{"nics":[1],"size":1.0}})"},
           Row{R"({"sku":)", "unreadable"},
       }) {
    constexpr std::string_view kBefore = R"({"sku":{"name":"S","capacity":1},"tags":{"a":"1"},"p":{"nics":[1],"size":1.0}})";
    EXPECT_EQ(patched_state(kBefore, row.patch, facts()).value_or("unreadable"), row.state) << row.patch;
  }
}

TEST(Patch, MayBeACopyOfMapsOfArraysOrOfValuesBesideAChange) {
  struct Row {
    std::string_view patch;
    bool may_be;
  };
  for (const Row& row : {
           Row{R"({"sku":{"capacity":2}})", false},                          // sets one value
           Row{R"({"sku":{"capacity":2},"properties":{"size":2}})", false},  // or two
           Row{R"({"sku":{"capacity":1}})", false},                          // sets it again
           Row{R"({"sku":{"name":"S","capacity":2}})", true},                // repeats one beside another
           Row{R"({"tags":{"a":"1"}})", true},
           Row{R"({"tags":null})", true},
           Row{R"({"properties":{"nics":[]}})", true},
           Row{R"({"sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})", false},  // that is the service's
           Row{R"({"sku":{"capacity":2},"plan":null})", true},  // repeats that there is none
           Row{R"({"sku":)", true},
       }) {
    EXPECT_EQ(may_be_copy(row.patch, kState, facts()), row.may_be) << row.patch;
  }
}

TEST(Patch, TakesBackWhatOthersChangedIfItRepeatsThatBesideAChangeOfItsOwn) {
  constexpr std::string_view kThere = R"({"sku":{"name":"S","capacity":4},"tags":{"a":"1","b":"2"},"properties":{"size":1}})";
  EXPECT_TRUE(takes_back(R"({"sku":{"name":"S","capacity":1},"properties":{"size":2}})", kState, kThere, facts()));
  EXPECT_TRUE(takes_back(R"({"sku":{"capacity":1},"tags":{"new":"1"}})", kState, kThere, facts())) << "a change in a map";
  EXPECT_FALSE(takes_back(R"({"sku":{"capacity":1}})", kState, kThere, facts())) << "nothing but that value: it is meant";
  EXPECT_FALSE(takes_back(R"({"sku":{"capacity":1},"tags":{"a":"1","b":"2"}})", kState, kThere, facts())) << "no change at all";
  EXPECT_FALSE(takes_back(R"({"sku":{"name":"S","capacity":9}})", kState, kThere, facts())) << "what it repeats is there still";
}

TEST(Patch, AByteOrderMarkBeforeItSaysNothing) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string patch = R"({"tags":{"c":"3"}})";
  EXPECT_EQ(patched_part(mark + std::string(kState), mark + patch, facts()).value_or("unreadable"),
            R"({"tags":{"a":"1","b":"2"}})");
  EXPECT_TRUE(may_be_copy(mark + patch, mark + std::string(kState), facts()));
}

TEST(Patch, NamesCountWithoutCase) {
  EXPECT_EQ(patched_part(kState, R"({"Tags":{"c":"3"}})", facts()).value_or("unreadable"), R"({"tags":{"a":"1","b":"2"}})");
  EXPECT_TRUE(may_be_copy(R"({"SKU":{"Name":"S","capacity":2}})", kState, facts()));
}

TEST(Patch, OfAVeryLargeOneTheWorkIsBounded) {
  std::string large = "{";
  for (int i = 0; i < 400'000; ++i) large += "\"a" + std::to_string(i) + "\":1,";
  large.back() = '}';
  EXPECT_EQ(patched_part(large, large, facts()), std::nullopt) << "more values than are compared";
  large = "{";
  for (int i = 0; i < 40'000; ++i) large += "\"a" + std::to_string(i) + "\":1,";
  large.back() = '}';
  EXPECT_EQ(patched_part(large, large, facts()), large);
}

TEST(Patch, WhatCannotBeReadMayBeAnything) {
  for (const auto& json : hostile_json()) {
    EXPECT_EQ(patched_part(kState, json, facts()), std::nullopt) << json.substr(0, 60);
    EXPECT_EQ(patched_part(json, R"({"tags":{}})", facts()), std::nullopt) << json.substr(0, 60);
    EXPECT_TRUE(may_be_copy(json, kState, facts())) << json.substr(0, 60);
    EXPECT_TRUE(may_be_copy(R"({"size":1})", json, facts())) << json.substr(0, 60);
    EXPECT_TRUE(takes_back(R"({"tags":{}})", kState, json, facts())) << json.substr(0, 60);
  }
  EXPECT_EQ(patched_part("[]", "{}", facts()), std::nullopt);
  EXPECT_EQ(patched_part("{}", "7", facts()), std::nullopt);
}

}  // namespace
}  // namespace armgate::arm
