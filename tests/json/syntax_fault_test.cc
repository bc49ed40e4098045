// What people write for JSON, and what they are told.
#include "json/syntax_fault.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate::syntax_fault_test {
namespace {

TEST(SyntaxFault, SaysWhereAndWhatToDo) {
  const struct {
    const char* text;
    int line, column;
    const char* told;  // a part of the message
  } cases[] = {
      {"", 1, 1, "nothing in it"},
      {" \n// a comment\n", 3, 1, "nothing in it"},
      {"{\"a\": [1, {\"b\": 2}", 1, 19, "needs \"]}\" at the end"},
      {"{\"a\": [\n1,\n]}", 3, 1, "a comma stands before ']'"},
      {"{\"a\": 1, /* last */ }", 1, 21, "a comma stands before '}'"},
      {"{'a': 1}", 1, 2, "double quotes"},
      {"{\"a\": 'b'}", 1, 7, "double quotes"},
      {"# no\n{}", 1, 1, "a comment begins with //"},
      {"{}\n{}", 2, 1, "behind the end"},
      {"{\"a\" 1}", 1, 6, "':' is missing"},
      {"{\"a\": 1\n\"b\": 2}", 2, 3, "',' is missing"},
      {"{\"a\": [1 2]}", 1, 10, "',' is missing"},
      {"{\"a\": [1}", 1, 9, "'}' closes what was opened with another bracket"},
      {"{a: 1}", 1, 2, "in double quotes"},
      {"{1: 1}", 1, 2, "a key is a text"},
      {"{\"a\": yes}", 1, 7, "in double quotes"},
      {"{\"a\": 1.}", 1, 9, "no number"},
      {"{\"a\": \"b\n\"}", 1, 9, "line end"},
      {"{\"a\": \"b", 1, 9, "close it"},
      {"{\"a\": \"C:\\dir\"}", 1, 11, "write \\\\"},
      {"{\"a\": \"\xff\"}", 1, 8, "UTF-8"},
      {"{\"a\":\n1e400}", 2, 1, "1e400 is too large"},
      {"{/* never ends", 1, 15, "has no end"},
  };
  for (const auto& c : cases) {
    const SyntaxFault fault = syntax_fault_in(c.text);
    EXPECT_EQ(fault.line, c.line) << c.text;
    EXPECT_EQ(fault.column, c.column) << c.text << ": " << fault.message;
    EXPECT_NE(fault.message.find(c.told), std::string::npos) << c.text << ": " << fault.message;
    for (const char ch : fault.message) EXPECT_TRUE(ch >= ' ' && ch < '\x7f') << c.text;
  }
}

TEST(SyntaxFault, OfWhatNoPersonHasWrittenTheMessageStaysShort) {
  const std::string with_nul("{\"a\":\0}", 7), utf_16("\xff\xfe{\0}\0", 6), deep(100'000, '[');
  EXPECT_NE(syntax_fault_in(with_nul).message.find("save the file as UTF-8"), std::string::npos)
      << syntax_fault_in(with_nul).message;
  EXPECT_NE(syntax_fault_in(utf_16).message.find("save the file as UTF-8"), std::string::npos)
      << syntax_fault_in(utf_16).message;
  EXPECT_EQ(syntax_fault_in(deep).message, "it ends too early; 100000 brackets in it are open");
}

}  // namespace
}  // namespace armgate::syntax_fault_test
