// Where things stand in a JSON text, in spite of strings, escapes and comments.
#include "rules/file/json_positions.h"

#include <gtest/gtest.h>

namespace armgate::rules {
namespace {

TEST(JsonPositions, EveryMemberAndElementHasTheLineItBeginsOn) {
  const JsonPositions positions(
      "{\n"
      "  \"a\": 1,\n"
      "  \"b\": {\"c\":\n"
      "    true},\n"
      "  \"d\": [\n"
      "    1, 2,\n"
      "    {\"e\": null},\n"
      "    [\n"
      "     \"x\"]],\n"
      "  \"f\": \"end\"\n"
      "}\n");
  struct Case {
    std::string pointer;
    int line;
  };
  for (const Case& c : std::vector<Case>{{"", 1},
                                         {"/a", 2},
                                         {"/b", 3},
                                         {"/b/c", 3},
                                         {"/d", 5},
                                         {"/d/0", 6},
                                         {"/d/1", 6},
                                         {"/d/2", 7},
                                         {"/d/2/e", 7},
                                         {"/d/3", 8},
                                         {"/d/3/0", 9},
                                         {"/f", 10}}) {
    EXPECT_EQ(positions.line_of(c.pointer), c.line) << c.pointer;
  }
  EXPECT_TRUE(positions.duplicates().empty());
}

TEST(JsonPositions, CommentsAndStringsDoNotConfuseIt) {
  const JsonPositions positions(
      "// {\"no\": 1\n"
      "/* \"a\": 1,\n"
      "   }]} **/ {\n"
      "  \"a\": \"// no comment, \\\" { [ , : \\\\\", // a comment, \"b\": 1\n"
      "  /* , */ \"b\"/*x*/:/*\n"
      "*/ 12/* after a number */, \"c\"\n"
      "  : [] }");
  EXPECT_EQ(positions.line_of(""), 3);
  EXPECT_EQ(positions.line_of("/a"), 4);
  EXPECT_EQ(positions.line_of("/b"), 5);
  EXPECT_EQ(positions.line_of("/c"), 6);
  EXPECT_EQ(positions.line_of("/no"), 3);
  EXPECT_TRUE(positions.duplicates().empty());
}

TEST(JsonPositions, NamesAreUnescapedAndPointersEscaped) {
  const JsonPositions positions("{\n\"a/b\": 1,\n\"m~n\": 2,\n\"\\u0061\\n\": 3,\n\"\": {\n\"\": 4}}");
  EXPECT_EQ(positions.line_of("/a~1b"), 2);
  EXPECT_EQ(positions.line_of("/m~0n"), 3);
  EXPECT_EQ(positions.line_of("/a\n"), 4);
  EXPECT_EQ(positions.line_of("/"), 5);
  EXPECT_EQ(positions.line_of("//"), 6);
  EXPECT_EQ(pointer_token("a/b~c"), "a~1b~0c");
}

TEST(JsonPositions, WhatDoesNotExistStandsWithItsNearestAncestor) {
  const JsonPositions positions("{\n\"a\": {\n\"b\": [\n1]}}");
  EXPECT_EQ(positions.line_of("/a/b/7/x"), 3);
  EXPECT_EQ(positions.line_of("/a/zzz"), 2);
  EXPECT_EQ(positions.line_of("/zzz/y"), 1);
}

TEST(JsonPositions, DuplicateKeysAreFoundWhateverTheirSpelling) {
  const JsonPositions positions("{\n\"a\": 1,\n\"b\": [{\"c\": 1,\n\"c\": 2}, {\"c\": 3}],\n\"\\u0061\": 4,\n\"A\": 5}");
  ASSERT_EQ(positions.duplicates().size(), 2u);
  EXPECT_EQ(positions.duplicates()[0].pointer, "/b/0/c");
  EXPECT_EQ(positions.duplicates()[0].first_line, 3);
  EXPECT_EQ(positions.duplicates()[0].line, 4);
  EXPECT_EQ(positions.duplicates()[1].pointer, "/a");
  EXPECT_EQ(positions.duplicates()[1].first_line, 2);
  EXPECT_EQ(positions.duplicates()[1].line, 5);
}

TEST(JsonPositions, DepthIsBounded) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_FALSE(JsonPositions(nested(JsonPositions::kDepthMax)).too_deep());
  EXPECT_TRUE(JsonPositions(nested(JsonPositions::kDepthMax + 1)).too_deep());
}

TEST(JsonPositions, CutTextIsReadToItsEnd) {
  const std::string whole = "{\"a\": [1, \"x\\\"\", {\"b\": null}], /* c */ \"d\": -1.5e3} // end";
  for (size_t length = 0; length <= whole.size(); ++length) {
    EXPECT_EQ(JsonPositions(whole.substr(0, length)).line_of("/a"), 1);
  }
  EXPECT_EQ(JsonPositions("}]},,").line_of(""), 1);
}

}  // namespace
}  // namespace armgate::rules
