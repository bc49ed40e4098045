#include "rules/file/fault_list.h"

#include <gtest/gtest.h>

namespace armgate::rules {
namespace {

TEST(FaultList, AFaultIsOneLineThatEditorsJumpTo) {
  EXPECT_EQ(to_text({"a.json", 3, "/rules/0", "is wrong"}), "a.json:3: /rules/0: is wrong");
  EXPECT_EQ(to_text({"a.json", 0, "", "cannot be read"}), "a.json: cannot be read") << "the file as a whole";
  EXPECT_EQ(to_text({"a.json", 1, "", "is no JSON"}), "a.json:1: is no JSON");
}

TEST(FaultList, WhatATerminalWouldObeyIsShownAsAQuestionMark) {
  EXPECT_EQ(to_text({"a\n.json", 1, "/\x1b[2J", "na\tme\x7f"}), "a?.json:1: /?[2J: na?me?");
  EXPECT_EQ(to_text({"stra\xc3\x9f"
                     "e.json",
                     1, "", "x"}),
            "stra\xc3\x9f"
            "e.json:1: x")
      << "letters stay";
}

}  // namespace
}  // namespace armgate::rules
