// scripts/census on a small table of types and a few rules: each number is what can be counted by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "base/source_tree.h"

namespace armgate::rules {
namespace {

struct Ran {
  std::string out;
  int status = 0;
};

Ran census(const std::string& words) {
  Ran ran;
  FILE* const pipe = popen(("'" + source_path("scripts/census") + "' " + words + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {"it could not be started", -1};
  std::array<char, 4096> buffer{};
  for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) ran.out.append(buffer.data(), got);
  ran.status = pclose(pipe);
  return ran;
}

int number_behind(const std::string& text, const std::string& words) {
  std::smatch found;
  return std::regex_search(text, found, std::regex("(^|\n) *" + words + " +([0-9]+)\n")) ? std::stoi(found[2]) : -1;
}

TEST(Census, CountsWhatCanBeCountedByHand) {
  const Ran ran = census("'" + source_path("tests/rules/samples/types.json") + "' --rules '" +
                         source_path("tests/rules/samples/census") + "'");
  ASSERT_EQ(ran.status, 0) << ran.out;
  const struct {
    const char* words;
    int count;
  } cases[] = {
      {"types that can be written", 5},
      {"with a rule of their own", 2},
      {"guard etag", 1},
      {"guard off", 1},
      {"by the rule for all", 2},
      {"by no rule", 1},
      {"with facts", 1},
      {"whose schema has an ETag", 2},
      {"whose PUT declares If-Match", 2},
      {"guarded by an ETag", 1},
      {"error codes that are classified", 2},
      {"types and patterns of azurerm's lock table", 2},
      {"with a shipped rule of their own", 1},
  };
  for (const auto& c : cases) EXPECT_EQ(number_behind(ran.out, c.words), c.count) << c.words << " in\n" << ran.out;
  EXPECT_TRUE(std::regex_search(ran.out, std::regex("^types.json: sha256 [0-9a-f]{64}\n"))) << ran.out;
}

TEST(Census, ReadsTheShippedRulesAndSaysWhatItCannotRead) {
  const Ran shipped = census("'" + source_path("tests/rules/samples/types.json") + "'");
  ASSERT_EQ(shipped.status, 0) << shipped.out;
  EXPECT_GE(number_behind(shipped.out, "error codes that are classified"), 40);
  EXPECT_EQ(number_behind(shipped.out, "by the rule for all"), 3);
  const Ran none = census("/nowhere");
  EXPECT_NE(none.status, 0);
  EXPECT_THAT(none.out, ::testing::HasSubstr("census: /nowhere or the rule files"));
}

}  // namespace
}  // namespace armgate::rules
