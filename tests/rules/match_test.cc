// Goal: what a rule is for, and what two of them share. Method: tables.
#include "rules/match.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate::rules {
namespace {

TEST(Match, APatternCoversWhatBeginsAsItDoes) {
  const struct {
    const char *pattern, *type;
    bool covers, takes;
  } cases[] = {
      {"a.b/c", "a.b/c", true, true},   {"a.b/c", "a.b/cd", false, false}, {"a.b/*", "a.b/c", true, true},
      {"a.b/*", "a.b/c/d", true, true}, {"a.b/*", "a.b/c/*", true, true},  {"a.b/c/*", "a.b/*", false, false},
      {"*", "a.b/c", true, false},  // matched last: it takes nothing from a later rule
      {"*", "*", true, true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(covers_type(c.pattern, c.type), c.covers) << c.pattern << " " << c.type;
    EXPECT_EQ(takes_type(c.pattern, c.type), c.takes) << c.pattern << " " << c.type;
  }
}

Match versions(const char* from, const char* to) {
  Match match;
  match.api_version_from = from;
  match.api_version_to = to;
  return match;
}

TEST(Match, BothEndsOfARangeBelongToIt) {
  const Match match = versions("2023-01-01", "2024-01-01");
  EXPECT_FALSE(covers_version(match, "2022-12-31"));
  EXPECT_TRUE(covers_version(match, "2023-01-01"));
  EXPECT_TRUE(covers_version(match, "2024-01-01"));
  EXPECT_FALSE(covers_version(match, "2024-01-02"));
  EXPECT_TRUE(covers_version(versions("", ""), "2024-01-02"));
}

TEST(Match, RangesCoverAndShareByTheirEnds) {
  const struct {
    Match wide, narrow;
    bool covers, shares;
  } cases[] = {
      {versions("", ""), versions("2023", "2024"), true, true},
      {versions("2023", "2024"), versions("", ""), false, true},
      {versions("2023", ""), versions("2023", "2024"), true, true},
      {versions("2023", "2024"), versions("2024", "2025"), false, true},
      {versions("2023", "2024"), versions("2025", ""), false, false},
      {versions("2025", ""), versions("", "2024"), false, false},
  };
  for (const auto& c : cases) {
    const auto text = c.wide.api_version_from + ".." + c.wide.api_version_to + " " + c.narrow.api_version_from + ".." +
                      c.narrow.api_version_to;
    EXPECT_EQ(covers_versions(c.wide, c.narrow), c.covers) << text;
    EXPECT_EQ(share_versions(c.wide, c.narrow), c.shares) << text;
  }
}

}  // namespace
}  // namespace armgate::rules
