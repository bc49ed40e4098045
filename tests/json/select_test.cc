// What pointers with "*" select in a text, as a table; and texts that select nothing.
#include "json/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace armgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Strings = std::vector<std::string>;

Strings select(std::string_view json, const std::string& pointer) {
  const auto found = StringSelection({pointer}).in(json);
  return found.empty() ? Strings() : found.front();
}

TEST(PointerTokens, AreTakenApartAndUnescaped) {
  EXPECT_EQ(pointer_tokens("/a/*/b"), (Strings{"a", "*", "b"}));
  EXPECT_EQ(pointer_tokens("/a~1b/c~0d"), (Strings{"a/b", "c~d"}));
  for (const char* wrong : {"", "a", "a/b", "/", "//a", "/a/", "/a~", "/a~2"})
    EXPECT_THAT(pointer_tokens(wrong), IsEmpty()) << wrong;
}

TEST(SelectStrings, FollowsMembersElementsAndStars) {
  const char* json = R"({"Properties": {"list": [{"id": "one"}, {"ID": "two"}, {"id": 3}, "four", {"no": "x"}],
                         "map": {"k": {"id": "five"}, "l": {"id": "six"}}, "plain": ["a", "b", 1]}, "id": "top"})";
  EXPECT_THAT(select(json, "/id"), ElementsAre("top"));
  EXPECT_THAT(select(json, "/properties/list/*/id"), ElementsAre("one", "two"));
  EXPECT_THAT(select(json, "/properties/map/*/id"), ElementsAre("five", "six"));
  EXPECT_THAT(select(json, "/properties/plain/*"), ElementsAre("a", "b"));
  EXPECT_THAT(select(json, "/properties/plain"), IsEmpty()) << "no string";
  EXPECT_THAT(select(json, "/properties/list/0/id"), IsEmpty()) << "elements have no names";
  EXPECT_THAT(select(json, "/properties/plain/*/id"), IsEmpty());
  EXPECT_THAT(select(json, "/id/*"), IsEmpty());
  EXPECT_THAT(select(json, "/missing/*/id"), IsEmpty());
}

TEST(SelectStrings, AnswersEachPointerApart) {
  const char* json = "\xEF\xBB\xBF{\"a\": \"1\", \"b\": {\"c\": \"2\"}}";
  const StringSelection three({"/b/c", "/a", "/d"});
  EXPECT_THAT(StringSelection(three).in(json), ElementsAre(ElementsAre("2"), ElementsAre("1"), IsEmpty()));
  EXPECT_THAT(StringSelection({"/d", "/b/a"}).in(json), IsEmpty()) << "nobody found anything";
  EXPECT_THAT(StringSelection().in("{\"a\": \"1\"}"), IsEmpty());
}

TEST(SelectStrings, SelectsNothingInWhatIsNoJson) {
  for (const char* json : {"", " ", "{", "{\"a\": \"1\"", "{\"a\": \"1\"} x", "\"a\"", "[\"a\"]", "null", "<a/>"}) {
    EXPECT_THAT(select(json, "/a"), IsEmpty()) << json;
  }
  std::string deep;
  for (size_t i = 0; i < 2 * kSelectDepthMax; ++i) deep += "{\"a\":";
  deep += "\"x\"" + std::string(2 * kSelectDepthMax, '}');
  EXPECT_THAT(select(deep, "/a"), IsEmpty());
}

TEST(SelectStrings, FindsNamesHoweverTheyAreWritten) {
  for (const char* json :
       {R"({"routeTable": {"id": "1"}})", R"({"ROUTETABLE": {"ID": "1"}})", R"({"route\u0054able": {"id": "1"}})"}) {
    EXPECT_THAT(select(json, "/routeTable/id"), ElementsAre("1")) << json;
    EXPECT_THAT(select(json, "/*/id"), ElementsAre("1")) << json;
    EXPECT_THAT(select(json, "/natGateway/id"), IsEmpty()) << json;
  }
}
}  // namespace
}  // namespace armgate
