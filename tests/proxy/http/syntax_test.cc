// Goal: the character classes and small grammars are exactly those of the RFCs. Method: every byte at every place, and
// tables.
#include "proxy/http/syntax.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace armgate::http {
namespace {

TEST(Syntax, FieldValueChecksEveryByteAtEveryPlace) {
  for (const size_t size :
       {size_t{1}, size_t{7}, size_t{15}, size_t{16}, size_t{17}, size_t{31}, size_t{32}, size_t{33}, size_t{64}, size_t{65}}) {
    for (size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        for (const char other : {'a', '\t', '\x80'}) {
          std::string text(size, other);
          text[at] = static_cast<char>(byte);
          const bool allowed = byte == '\t' || (byte >= 0x20 && byte != 0x7f);
          ASSERT_EQ(is_field_value(text), allowed) << byte << " at " << at << " of " << size;
        }
      }
    }
  }
  EXPECT_TRUE(is_field_value(""));
}

TEST(Syntax, TokensAndTargets) {
  const std::string_view token = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    EXPECT_EQ(is_token_char(c), token.find(c) != std::string_view::npos) << byte;
    EXPECT_EQ(is_target_char(c), byte > 0x20 && byte < 0x7f && c != '#') << byte;
  }
  EXPECT_FALSE(is_token(""));
  EXPECT_FALSE(is_target(""));
}

TEST(Syntax, TargetIsTheSameWhereverAByteStands) {
  for (size_t place = 0; place < 20; ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string target(20, '/');
      target[place] = static_cast<char>(byte);
      EXPECT_EQ(is_target(target), is_target_char(static_cast<char>(byte))) << place << " " << byte;
    }
  }
}

TEST(Syntax, Decimal) {
  EXPECT_EQ(parse_decimal("0"), 0u);
  EXPECT_EQ(parse_decimal("007"), 7u);
  EXPECT_EQ(parse_decimal("18446744073709551615"), 18446744073709551615u);
  for (const std::string_view bad : {"", "+1", "-1", " 1", "1 ", "1a", "0x1", "18446744073709551616", "99999999999999999999"}) {
    EXPECT_EQ(parse_decimal(bad), std::nullopt) << bad;
  }
}

TEST(Syntax, Authority) {
  const auto text = [](std::string_view authority) -> std::string {
    const std::optional<Authority> parsed = parse_authority(authority);
    if (!parsed) return "none";
    return std::string(parsed->host) + (parsed->port ? " " + std::to_string(*parsed->port) : "");
  };
  EXPECT_EQ(text("A-b_c.Example"), "A-b_c.Example");
  EXPECT_EQ(text("a:1"), "a 1");
  EXPECT_EQ(text("10.0.0.1:65535"), "10.0.0.1 65535");
  EXPECT_EQ(text("[::1]:443"), "[::1] 443");
  EXPECT_EQ(text("[2001:DB8::1.2.3.4]"), "[2001:DB8::1.2.3.4]");
  EXPECT_EQ(text(std::string(63, 'a') + ".b"), std::string(63, 'a') + ".b");
  EXPECT_EQ(text(std::string(64, 'a') + ".b"), "none");
  std::string longest = "a";
  while (longest.size() < 253) longest += ".a";
  EXPECT_EQ(text(longest), longest);
  EXPECT_EQ(text(longest + ".a"), "none");
  EXPECT_EQ(text("a.b."), "a.b") << "the root's dot";
  EXPECT_EQ(text("a.b.:443"), "a.b 443");
  EXPECT_EQ(text("127.0.0.1.:443"), "127.0.0.1 443");
  EXPECT_EQ(text(longest + "."), longest);
  for (const std::string_view bad : {"",    ":",      ":1",     "a:",    "a:0",    "a:01",   "a:65536", "a:1:2", "a b", "a,b",
                                     "a@b", ".",      ".a",     "a..",   "a..b",   "a/",     "[]",      "[:]",   "[1]", "[::1",
                                     "::1", "[::1]x", "[::1]1", "[::g]", "[::1]:", "x[::1]", "[::1]]",  "[::1]."}) {
    EXPECT_EQ(text(bad), "none") << bad;
  }
}

TEST(Syntax, ListElements) {
  std::string seen;
  EXPECT_TRUE(for_each_element(" a ,,\tb c, ", [&](std::string_view element) {
    seen += "<" + std::string(element) + ">";
    return true;
  }));
  EXPECT_EQ(seen, "<a><b c>");
  EXPECT_FALSE(for_each_element("a, b", [](std::string_view element) { return element != "b"; }));
}

}  // namespace
}  // namespace armgate::http
