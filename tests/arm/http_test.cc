// Goal: header lookups ignore case and keep bytes and order; targets are cut apart without being changed.
#include "arm/http.h"

#include <gtest/gtest.h>

namespace armgate::arm {
namespace {

std::string text_of(const Headers& fields) {
  std::string text;
  for (const Field& field : fields) text.append(field.name).append("=").append(field.value).append(";");
  return text;
}

TEST(HttpTest, MethodsAreExactTokens) {
  for (const auto method : {Method::Get, Method::Head, Method::Put, Method::Patch, Method::Post, Method::Delete,
                            Method::Options, Method::Connect}) {
    EXPECT_EQ(method_of(to_text(method)), method) << to_text(method);
  }
  for (const std::string_view token : {"", "get", "Head", "options", "connect", "GETS", "PUT ", "TRACE"}) {
    EXPECT_EQ(method_of(token), Method::Other) << token;
  }
  EXPECT_EQ(to_text(Method::Other), "OTHER");
}

TEST(HttpTest, WhatMayChangeSomethingIsKnownInAnyCase) {
  EXPECT_EQ(method_of("put"), Method::Put);
  EXPECT_EQ(method_of("patch"), Method::Patch);
  EXPECT_EQ(method_of("Post"), Method::Post);
  EXPECT_EQ(method_of("dELETE"), Method::Delete);
  EXPECT_EQ(method_of("patches"), Method::Other);
}

TEST(HttpTest, FieldsKeepTheirBytesAndOrder) {
  Headers fields{{"B", "1"}, {"a", ""}};
  fields.add("b", "2");
  EXPECT_EQ(text_of(fields), "B=1;a=;b=2;");
  EXPECT_EQ(fields.get("b"), "1");
  EXPECT_EQ(fields.count("B"), 2u);
  EXPECT_TRUE(fields.has("A"));
  EXPECT_EQ(fields.find("A"), "");
  EXPECT_EQ(fields.find("c"), std::nullopt);
  EXPECT_EQ(fields.get("c"), "");
}

TEST(HttpTest, SettingAFieldReplacesTheFirstAndRemovesTheOthers) {
  Headers fields{{"X", "0"}, {"If-Match", "1"}, {"Y", "0"}, {"if-match", "2"}};
  fields.set("IF-MATCH", "3");
  EXPECT_EQ(text_of(fields), "X=0;If-Match=3;Y=0;");
  fields.set("Z", "4");
  EXPECT_EQ(text_of(fields), "X=0;If-Match=3;Y=0;Z=4;");
  fields.remove("x");
  fields.remove("absent");
  EXPECT_EQ(text_of(fields), "If-Match=3;Y=0;Z=4;");
}

TEST(HttpTest, TargetsAreCutAtTheFirstQuestionMark) {
  const struct {
    std::string_view target, path, query;
  } cases[] = {
      {"/a/b", "/a/b", ""}, {"/a?", "/a", ""}, {"/a?b=c?d", "/a", "b=c?d"}, {"?x", "", "x"}, {"", "", ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(path_of(c.target), c.path) << c.target;
    EXPECT_EQ(query_of(c.target), c.query) << c.target;
  }
}

TEST(HttpTest, QueryParametersAreFoundByNameInAnyCase) {
  const std::pair<std::string_view, std::optional<std::string_view>> cases[] = {
      {"/a?api-version=1", "1"},
      {"/a?x=2&API-Version=1&y=3", "1"},
      {"/a?api-version=1&api-version=2", "1"},
      {"/a?api-version=%2F=x", "%2F=x"},
      {"/a?api-version", ""},
      {"/a?api-version=", ""},
      {"/a?&&api-version=1", "1"},
      {"/a?my-api-version=1", std::nullopt},
      {"/a?x=api-version=1", std::nullopt},
      {"/api-version=1", std::nullopt},
      {"/a?", std::nullopt},
  };
  for (const auto& [target, expected] : cases) {
    EXPECT_EQ(query_parameter(target, "api-version"), expected) << target;
  }
}

TEST(HeadersTest, OnlyWhatCameAsCheckedCountsAsChecked) {
  Headers fields;
  const std::string_view lines = "A: 1\r\nC: 3\r\n\r\n";
  fields.take_lines(lines, 4);
  fields.add_part(lines, lines.substr(0, 1), lines.substr(3, 1));
  fields.add("B", "2");
  fields.add_part(lines, lines.substr(6, 1), lines.substr(9, 1));
  fields.set("c", "4");
  std::string checked;
  for (const Field& field : fields) checked.append(field.name).append(field.is_checked ? "+" : "-");
  EXPECT_EQ(checked, "A+B-C-");
}
}  // namespace
}  // namespace armgate::arm
