#include "base/text.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

TEST(Text, OnlyAsciiLettersAreFolded) {
  EXPECT_EQ(lower_text("AZaz09-_[]@`{\xC3\x84"), "azaz09-_[]@`{\xC3\x84");
  EXPECT_FALSE(equal_ignoring_case("@", "`")) << "one bit apart like a letter and its capital";
  EXPECT_FALSE(equal_ignoring_case("[", "{"));
  EXPECT_TRUE(equal_ignoring_case("ETag", "eTAG"));
}

TEST(Text, ComparesWholesBeginningsAndParts) {
  EXPECT_FALSE(equal_ignoring_case("etag", "etags"));
  EXPECT_TRUE(equal_ignoring_case("", ""));
  const std::string name = "X-MS-Client-Request-Id-@[`{";
  for (size_t size = 0; size <= name.size(); ++size) {
    const std::string prefix = name.substr(0, size);
    EXPECT_TRUE(equal_ignoring_case(prefix, lower_text(prefix)));
    for (size_t i = 0; i < size; ++i) {
      std::string other = lower_text(prefix);
      other[i] = static_cast<char>(other[i] == '~' ? '!' : '~');
      EXPECT_FALSE(equal_ignoring_case(prefix, other)) << prefix << " " << i;
      other[i] = static_cast<char>(lower_text(prefix)[i] ^ 0x20);
      EXPECT_EQ(equal_ignoring_case(prefix, other), lower(prefix[i]) == lower(other[i])) << prefix << " " << i;
    }
  }
  EXPECT_TRUE(starts_with_ignoring_case("Bearer x", "bearer "));
  EXPECT_FALSE(starts_with_ignoring_case("Bear", "bearer"));
  EXPECT_TRUE(contains_ignoring_case("is In Progress now", "in progress"));
  EXPECT_TRUE(contains_ignoring_case("x", ""));
  EXPECT_FALSE(contains_ignoring_case("", "x"));
}

TEST(Text, TrimTakesSpacesAndTabsOffTheEndsOnly) {
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim("a\r\n"), "a\r\n");
}

TEST(Text, WhatCouldSteerATerminalIsReplaced) {
  EXPECT_EQ(printable("plain text-1"), "plain text-1");
  EXPECT_EQ(printable("a\x1b[2Jb\n\x7f"), "a?[2Jb??");
  EXPECT_EQ(printable("stra\xc3\x9f"
                      "e \xc2\xa9"),
            "stra\xc3\x9f"
            "e \xc2\xa9")
      << "letters stay";
  EXPECT_EQ(printable("x\xc2\x9b"
                      "2J"),
            "x?2J")
      << "CSI as one character";
  EXPECT_EQ(printable("\xc2"), "\xc2");
}

TEST(Text, WhatTurnsTextAroundOrIsNotSeenIsReplaced) {
  EXPECT_EQ(printable("x\u202enimda"), "x?nimda");
  for (const char* hidden : {"\u00ad", "\u061c", "\u180e", "\u200b", "\u200f", "\u2028", "\u202e", "\u2060", "\u2066", "\u206f",
                             "\ufeff", "\U000e0041"}) {
    EXPECT_EQ(printable(std::string("ad") + hidden + "min"), "ad?min") << hidden;
  }
  for (const char* seen :
       {"\u00ae", "\u200a", "\u2010", "\u2027", "\u202f", "\u2070", "\ufefe", "\uff21", "\U0001f600", "\u0430"}) {
    EXPECT_EQ(printable(std::string("ad") + seen + "min"), std::string("ad") + seen + "min");
  }
  for (const char* broken : {"\xe2\x80", "\xe2", "a\xe2\x80z", "\x80\xae", "\xf3\xa0\x80", "\xff\xfe"})
    EXPECT_EQ(printable(broken), broken) << "no UTF-8, and not what is hidden";
}

TEST(Text, ALongCellIsCutBetweenCharacters) {
  EXPECT_EQ(printable_cell("terraform"), "terraform");
  EXPECT_EQ(printable_cell(std::string(64, 'n')), std::string(64, 'n'));
  EXPECT_EQ(printable_cell(std::string(65, 'n')), std::string(64, 'n') + "\u2026");
  EXPECT_EQ(printable_cell("ab\u00dfcd", 3), "ab\u2026");
  EXPECT_EQ(printable_cell("a\x1b", 1), "a\u2026");
}

}  // namespace
}  // namespace armgate
