// The credential of a repair: what may stand in the variable.
#include "cli/heal/link/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace armgate::heal {
namespace {

Result<std::string> token_from(const std::string& value) {
  Token token({{kTokenVariable, value}}, "management.azure.com",
              [](const std::vector<std::string>&) -> Result<std::string> { return std::string(R"({"accessToken":"of az"})"); });
  return token.get();
}

TEST(HealToken, WhatStandsAroundItIsLeftOut) {
  for (const char* value : {"abc", "abc\n", "abc\r\n", " abc ", "\tabc\n\n"}) EXPECT_EQ(*token_from(value), "abc") << value;
  for (const char* value : {"", "\n", " \t\r\n"}) EXPECT_EQ(*token_from(value), "of az") << "it is not set";
}

TEST(HealToken, WhatNoTokenHasIsRefusedByName) {
  const auto broken = token_from("ab\nX-Other: 1\n");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().context,
            "the token in ARMGATE_HEAL_TOKEN has the byte 0x0a at place 3, which no token has: set it anew");
  for (const char* value : {"a b", "a\x7f", "a\tb", "a\x01", "\xc3\xa4"}) EXPECT_FALSE(token_from(value).ok()) << value;
}

}  // namespace
}  // namespace armgate::heal
