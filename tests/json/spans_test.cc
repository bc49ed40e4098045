// Goal: each value of a text is found where it stands. Method: texts as people and programs write them, and broken ones.
#include "json/spans.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/json/hostile_json.h"

namespace armgate {
namespace {

TEST(JsonSpans, EachValueAndWhatIsAroundIt) {
  const std::string text = " { \"a\\\"\" :\t[ 1 ,-2.0e5,[ ] ,{} ] , \"}\":\"],\\\\\",\"n\":null\n} ";
  const JsonSpans spans(text);
  EXPECT_EQ(spans.piece(0), text);
  EXPECT_EQ(spans.before(0), " ");
  EXPECT_EQ(spans.after(0), " ");
  const auto members = spans.items(0);
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(spans.before(members[0]), " \"a\\\"\" :\t");
  EXPECT_EQ(spans.value(members[0]), "[ 1 ,-2.0e5,[ ] ,{} ]");
  EXPECT_EQ(spans.after(members[0]), " ");
  EXPECT_EQ(spans.value(members[1]), "\"],\\\\\"");
  EXPECT_EQ(spans.piece(members[2]), "\"n\":null\n");
  EXPECT_EQ(spans.value(members[2]), "null");
  std::string elements;
  for (const auto item : spans.items(members[0])) elements += "<" + std::string(spans.value(item)) + ">";
  EXPECT_EQ(elements, "<1><-2.0e5><[ ]><{}>");
  EXPECT_TRUE(spans.items(spans.items(members[0])[2]).empty());
}

TEST(JsonSpans, ATextOfOneValue) {
  for (const auto* text : {"1", "\"a\"", "[]", "{}", "true"}) EXPECT_EQ(JsonSpans(text).value(0), text);
}

// They are for texts that can be read; of others they only have to end, and to stay within.
TEST(JsonSpans, BrokenTextsDoNoHarm) {
  auto texts = hostile_json();
  std::erase_if(texts, [](const std::string& text) { return text.size() > 10'000; });  // as deep is not read
  for (const std::string& text : texts) EXPECT_LE(JsonSpans(text).piece(0).size(), text.size());
}

}  // namespace
}  // namespace armgate
