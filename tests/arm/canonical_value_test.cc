// Goal: values give the same bytes if and only if they count as the same at their place.
#include "arm/canonical_value.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate::arm {
namespace {

const BodyFacts kFacts(DeclaredFacts{.arrays = {{"/zones", ArrayKind::Set, {}}},
                                     .same = {{"/where", SameAs::Location}, {"/sku", SameAs::Case}, {"/ref", SameAs::Id}}});

std::string canonical(const std::string& json, const char* member = "x") {
  const JsonDocument document(json);
  EXPECT_TRUE(document.usable()) << json;
  return canonical_value(document.root(), kFacts.top().member(member));
}

TEST(CanonicalValue, IsTheSameForWhatCountsAsTheSame) {
  EXPECT_EQ(canonical(R"({"a":1,"b":[true]})"), canonical(R"({ "b": [true], "a": 1.0 })"));
  EXPECT_EQ(canonical(R"({"a":null,"b":[]})"), canonical("{}")) << "nothing, said in three ways";
  EXPECT_EQ(canonical(R"({"etag":"1"})"), canonical(R"({"etag":"2"})"));
  EXPECT_EQ(canonical(R"("/subscriptions/S/resourceGroups/G")"), canonical(R"("/SUBSCRIPTIONS/s/resourcegroups/g")"));
  EXPECT_EQ(canonical(R"("West Europe")", "where"), canonical(R"("westeurope")", "where"));
  EXPECT_EQ(canonical(R"("Basic")", "sku"), canonical(R"("BASIC")", "sku"));
  EXPECT_EQ(canonical(R"("A/b/")", "ref"), canonical(R"("a/B")", "ref"));
  EXPECT_EQ(canonical(R"(["2","1","2"])", "zones"), canonical(R"(["1","2"])", "zones"));
}

TEST(CanonicalValue, DiffersForEverythingElse) {
  const char* const different[] = {
      "1",         "\"1\"",         "true",      "false",      "null",          "\"\"",     "[1]",           "[1,1]", "[[1]]",
      "{\"a\":1}", "{\"a\":\"1\"}", "{\"A\":1}", "{\"ab\":1}", "[\"a\",\"b\"]", "[\"ab\"]", "[\"b\",\"a\"]", "-1",    "1.5"};
  for (const char* one : different) {
    for (const char* other : different) {
      EXPECT_EQ(canonical(one) == canonical(other), one == other) << one << " and " << other;
    }
  }
  EXPECT_NE(canonical(R"("West Europe")"), canonical(R"("westeurope")")) << "only where it is a location";
}

TEST(CanonicalValue, TextsAreComparedAsTheyWouldBeSpelt) {
  const BodyPlace where = kFacts.top().member("where");
  const BodyPlace plain = kFacts.top().member("x");
  for (const auto& [a, b] :
       {std::pair("West Europe", "westeurope"), std::pair("a", "A"), std::pair("/subscriptions/A", "/subscriptions/a"),
        std::pair("a", "b"), std::pair("/subscriptions/A", "/subscriptions/b")}) {
    for (const BodyPlace& place : {where, plain}) {
      EXPECT_EQ(same_text(a, b, place), canonical_text(a, place) == canonical_text(b, place)) << a << " and " << b;
    }
  }
}

TEST(CanonicalValue, AnEmptyObjectIsAbsentInAMapAlone) {
  const auto absent = [](const char* json, const BodyPlace& place) {
    return counts_as_absent(JsonDocument(json).root(), place);
  };
  const BodyPlace tags = kFacts.top().member("tags");
  const BodyPlace plain = kFacts.top().member("x");
  EXPECT_TRUE(absent("{}", tags));
  EXPECT_FALSE(absent("{}", plain));
  for (const char* json : {"null", "[]"}) EXPECT_TRUE(absent(json, plain)) << json;
  for (const char* json : {"0", "false", "\"\"", "[null]", "{\"a\":1}"}) EXPECT_FALSE(absent(json, tags)) << json;
}

}  // namespace
}  // namespace armgate::arm
