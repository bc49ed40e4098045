// What a body says about absence; what it says about states is in evidence_corpus_test.cc and tests/arm/evidence_test.cc.
#include "proxy/policy/evidence.h"

#include <gtest/gtest.h>

namespace armgate::policy {
namespace {

constexpr uint64_t kAbsent = 9;
const std::string kMade = R"({"location":"w","tags":{"a":"1"},"properties":{"provisioningState":"Succeeded"}})";
const std::string kTagged = R"({"location":"w","tags":{"a":"1","b":"1"},"properties":{"provisioningState":"Succeeded"}})";

// One letter for each state, and what it says of absence if that was shown.
std::string weighed(std::string_view put, const std::vector<StateBody>& states, uint64_t absent) {
  std::string text;
  for (const auto& one : weigh(put, states, absent, *arm::BodyFacts::generic())) {
    text += one.version == kAbsent ? "absent:" : "";
    text += one.says == arm::Evidence::Agrees ? '+' : one.says == arm::Evidence::Silent ? '?' : 'x';
  }
  return text;
}

TEST(Weigh, AbsenceIsRuledOutByABodyThatHasAllOfAState) {
  struct {
    const char* name;
    std::string_view put;
    std::vector<StateBody> states;
    std::string_view expected;
  } cases[] = {
      {"adds to what was made", R"({"location":"w","tags":{"a":"1","c":"1"}})", {{1, kMade}}, "+absent:x"},
      {"is what was made", R"({"location":"w","tags":{"a":"1"},"properties":{}})", {{1, kMade}}, "+absent:x"},
      {"changes it, or was made from nothing", R"({"location":"w","tags":{"a":"2"}})", {{1, kMade}}, "?"},
      {"has nothing of it", R"({"location":"w","tags":{"c":"1"}})", {{1, kMade}}, "?"},
      {"adds to the second of two",
       R"({"location":"w","tags":{"a":"1","b":"1","c":"1"}})",
       {{1, kMade}, {2, kTagged}},
       "x+absent:x"},
      {"has all of the first, and lacks what the second has",
       R"({"location":"w","tags":{"a":"1","c":"1"}})",
       {{1, kMade}, {2, kTagged}},
       "+xabsent:x"},
      {"has all of what was there before the 404", R"({"location":"w","tags":{"a":"1"}})", {{1, kMade, false}}, "?"},
      {"nothing was shown but a 404", R"({"location":"w"})", {}, ""},
  };
  for (const auto& c : cases) EXPECT_EQ(weighed(c.put, c.states, kAbsent), c.expected) << c.name;
}

TEST(Weigh, WhatWasNeverToldAsA404IsNotRuledOut) {
  EXPECT_EQ(weighed(R"({"location":"w","tags":{"a":"1","c":"1"}})", {{1, kMade}}, 0), "?");
}

}  // namespace
}  // namespace armgate::policy
