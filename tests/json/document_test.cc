// Goal: a text is read in one way or not at all. Method: tables.
#include "json/document.h"

#include <gtest/gtest.h>

#include "tests/json/hostile_json.h"

namespace armgate {
namespace {

TEST(JsonValue, ATextThatCanBeReadInTwoWaysIsNotRead) {
  std::string many = "{", twins;
  for (int i = 0; i < 40; ++i) many += "\"" + std::to_string(i) + "\":1,";
  twins = many + "\"7\":1}";
  many += "\"x\":1}";
  const std::pair<std::string, bool> cases[] = {
      {"{}", true},
      {"17", true},
      {"\xEF\xBB\xBF{\"a\":1}", true},
      {R"({"a":1,"A":1})", true},
      {R"({"a":{"a":1}})", true},
      {R"({"a":1,"a":1})", false},
      {R"([{"b":1,"\u0062":1}])", false},
      {R"({"a":18446744073709551615})", true},
      {R"({"a":18446744073709551616})", false},
      {many, true},
      {twins, false},
      {nested_json("a", kJsonNestingMax - 1), true},
      {nested_json("a", kJsonNestingMax + 1), false},
  };
  for (const auto& [text, usable] : cases) EXPECT_EQ(JsonDocument(text).usable(), usable) << text.substr(0, 80);
}

TEST(JsonValue, ValuesAreCounted) {
  EXPECT_TRUE(JsonDocument(R"({"a":[1,{"b":2}]})", 5).usable());
  EXPECT_FALSE(JsonDocument(R"({"a":[1,{"b":2}]})", 4).usable());
}

TEST(JsonValue, NumbersAreWhatTheyAreWorth) {
  const struct {
    const char *a, *b;
    bool same;
  } cases[] = {
      {"1", "1.0", true},
      {"1e3", "1000", true},
      {"0", "-0.0", true},
      {"-7", "-7.0", true},
      {"18446744073709551615", "-1", false},
      {"1.5", "1", false},
      {"9007199254740993", "9007199254740992", false},
      {"1e30", "1.0e+30", true},
  };
  for (const auto& c : cases) {
    const JsonDocument a(c.a), b(c.b);
    EXPECT_EQ(number_of(a.root()) == number_of(b.root()), c.same) << c.a << " " << c.b;
  }
}

}  // namespace
}  // namespace armgate
