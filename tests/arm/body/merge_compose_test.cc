// Goal: a merged body is what is there, byte for byte, but for what the write changes. Method: whole merges, for every way in which a
// value can come, change and go.
#include "arm/body/merge_compose.h"

#include <gtest/gtest.h>

#include "tests/arm/body/merged.h"

namespace armgate::arm {
namespace {

TEST(MergeCompose, WhatNobodyChangesKeepsItsBytes) {
  expect_stories({
      {"nothing is asked for", R"({"a":1})", R"({"a":1.0})", " {\t\"a\" : 1e0 } ", " {\t\"a\" : 1e0 } "},
      {"a byte order mark", R"({"a":1})", R"({"a":1})", "\xEF\xBB\xBF{\"a\":1}", "\xEF\xBB\xBF{\"a\":1}"},
      {"blanks", R"({"a":1,"b":1})", R"({"a":1,"b":2})", "{ \"b\" : 1 ,\n  \"a\": 2\n}", "{ \"b\" : 2 ,\n  \"a\": 2\n}"},
      {"escapes", R"({"a":"A","b":1})", R"({"a":"\u0041","b":"\"\\\u00e9"})", R"({"b":1,"\u0061":"\u0041","c":"\/"})",
       R"({"b":"\"\\\u00e9","\u0061":"\u0041","c":"\/"})"},
      {"brackets in texts", R"({"a":"}],{[","b":1})", R"({"a":"}],{[","b":2})", R"({"b":1,"a":"}],{[","c":"\"]"})",
       R"({"b":2,"a":"}],{[","c":"\"]"})"},
      {"digits", R"({"a":18446744073709551615,"b":1})", R"({"a":18446744073709551615,"b":0.10})",
       R"({"a":18446744073709551615,"b":1,"c":1E+2})", R"({"a":18446744073709551615,"b":0.10,"c":1E+2})"},
  });
}

TEST(MergeCompose, Members) {
  expect_stories({
      {"added", R"({"p":{"x":1}})", R"({"p":{"x":1,"a":{"v":[1]}}})", R"({"p":{"x":2}})", R"({"p":{"x":2,"a":{"v":[1]}}})"},
      {"an object each", R"({"p":{}})", R"({"p":{"a":{"v":1}}})", R"({"p":{"a":{"w":1}}})", R"({"p":{"a":{"w":1,"v":1}}})"},
      {"removed", R"({"a":1,"b":1,"c":1})", R"({"c":1,"a":1})", R"({"a":1,"b":1,"c":2})", R"({"a":1,"c":2})"},
      {"set to null", R"({"a":1,"b":1})", R"({"a":null,"b":1})", R"({"a":1,"b":2})", R"({"a":null,"b":2})"},
      {"an object goes with what the service wrote there", R"({"identity":{"type":"S","principalId":"1"},"b":1})", R"({"b":1})",
       R"({"identity":{"type":"S","principalId":"1","etag":"2"},"b":2})", R"({"b":2})"},
      {"it is set to null", R"({"identity":{"type":"S"},"b":1})", R"({"identity":null,"b":1})",
       R"({"identity":{"type":"S","etag":"2"},"b":2})", R"({"identity":null,"b":2})"},
      {"others put something there", R"({"identity":{"type":"S"},"b":1})", R"({"b":1})",
       R"({"identity":{"type":"S","more":1},"b":1})", "412 at /identity/more"},
      {"it is emptied", R"({"identity":{"type":"S"},"b":1})", R"({"identity":{},"b":1})", R"({"identity":{"type":"S"},"b":2})",
       R"({"identity":{},"b":2})"},
      {"both add one leaf", R"({"b":1})", R"({"a":1,"b":1})", R"({"a":1,"b":1})", "412 at /a"},
      {"both remove one leaf", R"({"a":1,"b":1})", R"({"b":1})", R"({"b":1})", "412 at /a"},
      {"another kind of value", R"({"a":1,"b":1})", R"({"a":{"x":[{}]},"b":1})", R"({"a":1,"b":2})",
       R"({"a":{"x":[{}]},"b":2})"},
      {"what only the service writes", R"({"etag":"1","a":1})", R"({"etag":"1","systemData":{},"a":2})",
       R"({"etag":"3","a":1,"b":1})", R"({"etag":"3","a":2,"b":1})"},
      {"an id in another case", R"({"v":"/subscriptions/s/V","a":1})", R"({"v":"/Subscriptions/S/v","a":2})",
       R"({"v":"/subscriptions/S/v","a":1,"b":1})", R"({"v":"/subscriptions/S/v","a":2,"b":1})"},
  });
}

TEST(MergeCompose, WhereTheOrderCounts) {
  const BodyFacts facts({.arrays = {{"/r", ArrayKind::Ordered, {"name"}}}});
  constexpr std::string_view kAB = R"({"r":[{"name":"a","v":1},{"name":"b","v":1}]})";
  expect_stories(
      {
          {"the write turns them round", kAB, R"({"r":[{"name":"b","v":1},{"name":"a","v":1}]})",
           R"({"r":[{"name":"a","v":2},{"name":"b","v":1}]})", R"({"r":[{"name":"b","v":1},{"name":"a","v":2}]})"},
          {"others turned them round", kAB, R"({"r":[{"name":"a","v":2},{"name":"b","v":1}]})",
           R"({"r":[{"name":"b","v":1},{"name":"a","v":1}]})", R"({"r":[{"name":"b","v":1},{"name":"a","v":2}]})"},
          {"the write puts one between", kAB, R"({"r":[{"name":"a","v":1},{"name":"c"},{"name":"b","v":1}]})",
           R"({"r":[{"name":"a","v":1},{"name":"b","v":3}]})", R"({"r":[{"name":"a","v":1},{"name":"c"},{"name":"b","v":3}]})"},
          {"the write removes one", kAB, R"({"r":[{"name":"b","v":1}]})", R"({"r":[{"name":"a","v":1},{"name":"b","v":3}]})",
           R"({"r":[{"name":"b","v":3}]})"},
          {"both did", kAB, R"({"r":[{"name":"a","v":1},{"name":"c"},{"name":"b","v":1}]})",
           R"({"r":[{"name":"d"},{"name":"a","v":1},{"name":"b","v":1}]})", "412 at /r"},
      },
      facts);
}

}  // namespace
}  // namespace armgate::arm
