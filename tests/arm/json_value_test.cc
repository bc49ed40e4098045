// Goal: texts that can be read in only one way are usable, others are not; values that count as the same number are.
#include "arm/json_value.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate::arm {
namespace {

TEST(JsonDocument, ReadsWhatCanBeReadInOneWay) {
  for (const char* json :
       {"{}", "[1,2]", "\"a\"", "\xEF\xBB\xBF{\"a\":1}", R"({"a":{"a":1},"b":{"a":1}})", R"({"a":1,"A":2})"}) {
    EXPECT_TRUE(JsonDocument(json).usable()) << json;
  }
  for (const char* json :
       {"", "\xEF\xBB\xBF", "{", "{} {}", R"({"a":1,"a":1})", R"([{"b":{"c":1,"c":2}}])", "18446744073709551616"}) {
    EXPECT_FALSE(JsonDocument(json).usable()) << json;
  }
  std::string many = "{\"n0\":0";
  for (int i = 1; i < 40; ++i) many += ",\"n" + std::to_string(i) + "\":0";
  EXPECT_TRUE(JsonDocument(many + "}").usable());
  EXPECT_FALSE(JsonDocument(many + ",\"n20\":0}").usable());
}

TEST(JsonDocument, HasBoundsInDepthAndNumber) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(JsonDocument(nested(kJsonNestingMax - 1)).usable());
  EXPECT_FALSE(JsonDocument(nested(kJsonNestingMax + 1)).usable());
  EXPECT_TRUE(JsonDocument("[1,2]", 3).usable());
  EXPECT_FALSE(JsonDocument("[1,2,3]", 3).usable());
}

TEST(JsonValue, MembersComeByNameWithoutWhatTheServiceWrites) {
  const JsonDocument document(R"({"b":1,"etag":"x","a":2})");
  ASSERT_TRUE(document.usable());
  std::string names;
  for (const JsonMember& member : writable_members(document.root(), BodyFacts::generic()->top())) names += member.key;
  EXPECT_EQ(names, "ab");
}

TEST(JsonValue, NumbersAreComparedByTheirValue) {
  const auto number = [](const char* json) { return number_of(JsonDocument(json).root()); };
  for (const char* same : {"1.0", "1e0", "10e-1"}) EXPECT_EQ(number(same), number("1")) << same;
  EXPECT_EQ(number("-2.0"), number("-2"));
  EXPECT_EQ(number("-0.0"), number("0"));
  EXPECT_EQ(number("1e19"), number("10000000000000000000"));
  EXPECT_NE(number("1.5"), number("1"));
  EXPECT_NE(number("9007199254740993"), number("9007199254740992")) << "whole numbers are exact";
  EXPECT_NE(number("1e300"), number("1e299"));
}

}  // namespace
}  // namespace armgate::arm
