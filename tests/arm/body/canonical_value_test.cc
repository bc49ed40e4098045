// Goal: equal bytes for what counts as the same, and different ones for everything else. Method: tables of pairs.
#include "arm/body/canonical_value.h"

#include <gtest/gtest.h>

namespace armgate::arm {
namespace {

const BodyFacts kFacts({.read_only = {"/l/*/status"},
                        .arrays = {{"/set", ArrayKind::Set, {}}},
                        .same = {{"/scope", SameAs::Id}, {"/where", SameAs::Location}, {"/word", SameAs::Case}}});

std::string canonical(std::string_view json) {
  const JsonDocument document(json);
  return canonical_value(document.root(), kFacts.top());
}

TEST(CanonicalValue, SameBytesForWhatCountsAsTheSame) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"a":1,"b":2})", R"({"b":2.0,"a":1})"},
      {R"({"a":1,"etag":"x"})", R"({"a":1,"etag":"y"})"},
      {R"({"l":[{"a":1,"status":"x"}]})", R"({"l":[{"status":"y","a":1}]})"},
      {R"({"a":null,"l":[],"tags":{}})", "{}"},
      {R"({"set":["b","a"]})", R"({"set":["a","b","a"]})"},
      {R"({"l":["/subscriptions/S"]})", R"({"l":["/Subscriptions/s"]})"},
      {R"({"scope":"/A/b/","where":"A B","word":"X"})", R"({"scope":"/a/B","where":"ab","word":"x"})"},
  };
  for (const auto& [a, b] : cases) EXPECT_EQ(canonical(a), canonical(b)) << a << "\n" << b;
}

TEST(CanonicalValue, OtherBytesForEverythingElse) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"ab":"c"})", R"({"a":"bc"})"},
      {R"({"l":[[1],[2]]})", R"({"l":[[1,2]]})"},
      {R"({"l":[1,2]})", R"({"l":[2,1]})"},
      {R"({"l":[null]})", R"({"l":[]})"},
      {R"({"a":{}})", "{}"},
      {R"({"a":0})", R"({"a":false})"},
      {R"({"a":1})", R"({"a":"1"})"},
      {R"({"a":{"b":1},"c":2})", R"({"a":{"b":1,"c":2}})"},
      {R"({"set":["a"]})", R"({"set":[]})"},
      {R"({"tags":{"etag":"1"}})", R"({"tags":{"etag":"2"}})"},
      {R"({"a":"x"})", R"({"a":"X"})"},
      {R"({"a":-1})", R"({"a":18446744073709551615})"},
  };
  for (const auto& [a, b] : cases) EXPECT_NE(canonical(a), canonical(b)) << a << "\n" << b;
}

TEST(CanonicalValue, TextsAreTheSameIfTheirCanonicalFormsAre) {
  const std::string_view texts[] = {
      "", "a", "A", "/a", "/A/", "a b", "AB", "/subscriptions/s", "/SUBSCRIPTIONS/S", "/subscriptions/s/"};
  for (const auto* name : {"scope", "where", "word", "other"}) {
    const BodyPlace place = kFacts.top().member(name);
    for (const auto a : texts) {
      for (const auto b : texts) {
        EXPECT_EQ(same_text(a, b, place), canonical_text(a, place) == canonical_text(b, place)) << name << " " << a << " " << b;
      }
    }
  }
  EXPECT_FALSE(same_text("/a", "/A", kFacts.top().member("other")));
  EXPECT_TRUE(same_text("/a", "/A/", kFacts.top().member("scope")));
  EXPECT_FALSE(same_text("/a", "/A/", kFacts.top().member("word")));
}

TEST(CanonicalValue, MembersStandInTheOrderOfTheirNames) {
  const JsonDocument document(R"({"b":1,"etag":"x","a":2,"c":3})");
  std::string names;
  for (const JsonMember& member : writable_members(document.root(), BodyFacts::generic()->top())) names += member.key;
  EXPECT_EQ(names, "abc");
}

}  // namespace
}  // namespace armgate::arm
