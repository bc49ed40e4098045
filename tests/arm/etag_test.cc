// Goal: the ETag that is taken is the resource's own, byte for byte, and never that of something inside it.
#include "arm/etag.h"

#include <gtest/gtest.h>

#include "tests/json/hostile_json.h"

namespace armgate::arm {
namespace {

using Found = std::optional<std::string>;

TEST(EtagTest, TheEtagOfABodyIsItsOwn) {
  const std::pair<std::string_view, Found> cases[] = {
      {R"({"etag":"\"3\""})", "\"3\""},
      {R"({"etag":"W/\"0a1b\""})", "W/\"0a1b\""},
      {R"({"eTag":"0a1b-bare"})", "0a1b-bare"},
      {R"({"ETag":"x"})", "x"},
      {R"( { "name" : "v" , "etag" : "x" , "id" : "/s" } )", "x"},
      {"\xEF\xBB\xBF{\"etag\":\"x\"}", "x"},
      {R"({"\u0065tag":"x"})", "x"},
      {R"({"properties":{"eTag":"pool"}})", "pool"},
      {R"({"properties":{"etag":"pool","x":[1,{"etag":"no"}]}})", "pool"},
      {R"({"properties":{"etag":"inner"},"etag":"outer"})", "outer"},
      {R"({"etag":"","properties":{"etag":"inner"}})", "inner"},
      {R"({"etag":null,"properties":{"etag":"inner"}})", "inner"},
      // Sub-resources carry ETags of their own.
      {R"({"properties":{"subnets":[{"name":"a","etag":"no"}]}})", std::nullopt},
      {R"({"properties":{"subnets":[{"etag":"no"}]},"etag":"yes"})", "yes"},
      {R"({"properties":{"agentPoolProfiles":[{"eTag":"no"}],"properties":{"etag":"no"}}})", std::nullopt},
      {R"({"tags":{"etag":"no"},"sku":{"etag":"no"}})", std::nullopt},
      {R"({"value":[{"etag":"no"}]})", std::nullopt},
      {R"({"etags":"no","xetag":"no"})", std::nullopt},
      {R"({"etag":3})", std::nullopt},
      {R"({"etag":{"etag":"no"}})", std::nullopt},
      {R"({"etag":["no"]})", std::nullopt},
      {R"({"properties":["etag"]})", std::nullopt},
      {R"({})", std::nullopt},
      // What would end a header line never becomes a header.
      {R"({"etag":"a\r\nX-Evil: 1"})", std::nullopt},
      {R"({"etag":"a\u0000b"})", std::nullopt},
      {R"({"etag":"a\u007f"})", std::nullopt},
      {R"({"etag":"a\qb"})", std::nullopt},
      {R"({"etag":"a\ud800b"})", std::nullopt},
      // Nor what would match whatever is there.
      {R"({"etag":"*"})", std::nullopt},
      {R"({"etag":" * "})", std::nullopt},
      {R"({"etag":"*","properties":{"etag":"inner"}})", std::nullopt},
      {R"({"etag":"\"*\""})", std::nullopt},
      {R"({"etag":"W/\"*\""})", std::nullopt},
      {R"({"etag":"\"*1\""})", "\"*1\""},
      // Two different answers are none.
      {R"({"etag":"a","etag":"b"})", std::nullopt},
      {R"({"etag":"a","eTag":"b"})", std::nullopt},
      {R"({"etag":"a","eTag":"a"})", "a"},
      {R"({"properties":{"etag":"a"},"properties":{"etag":"b"}})", std::nullopt},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(etag_in_body(body), expected) << body;
}

TEST(EtagTest, HostileBodiesHaveNone) {
  for (const std::string& body : hostile_json()) EXPECT_EQ(etag_in_body(body), std::nullopt) << body.substr(0, 80);
  EXPECT_EQ(etag_in_body(nested_json("properties", 50'000)), std::nullopt);
  EXPECT_EQ(etag_in_body(nested_json("etag", 50'000)), std::nullopt);
}

TEST(EtagTest, ABodyCutAnywhereHasNone) {
  const std::string whole = R"({"name":"v","etag":"W/\"1\"","properties":{"a":[1,2,{"b":"}"}],"etag":"x"},"t":"u"})";
  ASSERT_TRUE(etag_in_body(whole));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(etag_in_body(whole.substr(0, length)), std::nullopt) << whole.substr(0, length);
  }
}

TEST(EtagTest, ABigBodyIsReadToItsEnd) {
  const std::string body =
      "{\"properties\":{\"subnets\":[" + repeated("{\"etag\":\"no\",\"name\":\"n\"},", 150'000) + "{}]},\"etag\":\"yes\"}";
  EXPECT_EQ(etag_in_body(body), "yes");
}

TEST(EtagTest, TheHeaderWinsAndOnlySuccessCounts) {
  const std::string body = R"({"etag":"from body"})";
  const struct {
    int status;
    Headers fields;
    Found expected;
  } cases[] = {
      {200, {{"etag", "\"h\""}}, "\"h\""},
      {201, {{"ETag", " W/\"h\" "}}, "W/\"h\""},
      {200, {{"ETag", ""}}, "from body"},
      {202, {}, "from body"},
      {200, {{"ETag", "*"}}, "from body"},
      {200, {{"ETag", "W/\"*\""}}, "from body"},
      {304, {{"ETag", "\"h\""}}, std::nullopt},
      {404, {{"ETag", "\"h\""}}, std::nullopt},
      {412, {}, std::nullopt},
  };
  for (const auto& c : cases) EXPECT_EQ(etag_of(ResponseHead{c.status, "", c.fields}, body), c.expected) << c.status;
  EXPECT_EQ(etag_of(ResponseHead{202, "", {}}, ""), std::nullopt);
}

TEST(EtagTest, AnEmptyPreconditionIsNone) {
  const std::pair<Headers, bool> cases[] = {
      {{}, false},
      {{{"If-Match", ""}}, false},
      {{{"If-Match", " \t"}}, false},
      {{{"ETag", "\"1\""}, {"If-Range", "\"1\""}}, false},
      {{{"If-Match", "\"1\""}}, true},
      {{{"if-match", "*"}}, true},
      {{{"If-None-Match", "*"}}, true},
      {{{"If-Modified-Since", "x"}}, true},
      {{{"IF-UNMODIFIED-SINCE", "x"}}, true},
      {{{"If-Match", ""}, {"If-Match", "\"1\""}}, true},
      {{{"If-Match", ""}, {"If-None-Match", "*"}}, true},
  };
  for (const auto& [fields, expected] : cases) {
    EXPECT_EQ(has_own_precondition(fields), expected) << (fields.empty() ? std::string_view() : (*fields.begin()).name);
  }
}

TEST(EtagTest, AStarAloneAsksForAnyState) {
  const std::pair<Headers, bool> cases[] = {
      {{{"if-match", " * "}}, true},
      {{{"If-Match", "*"}, {"If-None-Match", ""}}, true},
      {{{"If-Match", "\"*\""}}, false},
      {{{"If-Match", "*, \"1\""}}, false},
      {{{"If-Match", "*"}, {"If-Match", "\"1\""}}, false},
      {{{"If-Match", "*"}, {"If-None-Match", "\"1\""}}, false},
      {{{"If-None-Match", "*"}}, false},
      {{}, false},
  };
  for (const auto& [fields, expected] : cases) {
    EXPECT_EQ(asks_for_any_state(fields), expected) << (fields.empty() ? std::string_view() : (*fields.begin()).value);
  }
}

TEST(Etag, IsOneInSeveralSpellings) {
  for (const auto* one : {"1", "\"1\"", "W/\"1\"", " W/\"1\""}) {
    EXPECT_TRUE(is_same_etag(one, "\"1\"")) << one;
    EXPECT_TRUE(is_same_etag("1", one)) << one;
    EXPECT_FALSE(is_same_etag(one, "\"2\"")) << one;
  }
  EXPECT_FALSE(is_same_etag("\"a\"", "\"A\"")) << "opaque";
  EXPECT_FALSE(is_same_etag("\"", "")) << "one quote is no pair";
}

}  // namespace
}  // namespace armgate::arm
