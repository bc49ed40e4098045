// Which name a misspelt one is taken for, and when none is.
#include "rules/file/nearest_name.h"

#include <gtest/gtest.h>

namespace armgate::rules {
namespace {

TEST(NearestName, DistanceCountsSingleChanges) {
  const struct {
    const char* a;
    const char* b;
    size_t distance;
  } cases[] = {
      {"", "", 0},          {"", "abc", 3},         {"abc", "", 3},        {"guard", "guard", 0}, {"gaurd", "guard", 1},
      {"guar", "guard", 1}, {"gguard", "guard", 1}, {"gward", "guard", 1}, {"GUARD", "guard", 0}, {"kitten", "sitting", 3},
      {"ba", "ab", 1},      {"abcd", "badc", 2},    {"ca", "abc", 3},  // a swapped pair is not taken apart again
  };
  for (const auto& c : cases) {
    EXPECT_EQ(edit_distance(c.a, c.b), c.distance) << c.a << " " << c.b;
    EXPECT_EQ(edit_distance(c.b, c.a), c.distance) << c.b << " " << c.a;
  }
}

TEST(NearestName, MisspeltNameIsRecognised) {
  const std::vector<std::string> valid{"name", "match", "mode", "guard", "lock", "lease", "retry", "unconditional_after_wait"};
  const struct {
    const char* written;
    const char* meant;  // "": nothing is near
  } cases[] = {
      {"gaurd", "guard"},
      {"Guard", "guard"},
      {"locks", "lock"},
      {"modes", "mode"},
      {"macth", "match"},
      {"nam", "name"},
      {"unconditionalAfterWait", "unconditional_after_wait"},
      {"blind_wait", ""},
      {"zzz", ""},
      {"x", ""},
      {"", ""},
      {"description", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(nearest_name(c.written, valid), c.meant) << c.written;
}

TEST(NearestName, FirstOfSeveralEquallyNearWins) {
  EXPECT_EQ(nearest_name("bat", {"cat", "hat"}), "cat");
  EXPECT_EQ(nearest_name("bat", {"hats", "hat", "cat"}), "hat");
  EXPECT_EQ(nearest_name("bat", {}), "");
}

TEST(NearestName, HugeNameIsNobodysTypingMistake) {
  const std::string huge(1'000'000, 'a');
  EXPECT_EQ(nearest_name(huge, {"a", huge + "b"}), "");
}

TEST(NearestName, SuggestionNamesTheNearestOrAll) {
  EXPECT_EQ(suggestion("gaurd", {"guard", "lock"}), "did you mean \"guard\"?");
  EXPECT_EQ(suggestion("zzzz", {"guard"}), "valid here: \"guard\"");
  EXPECT_EQ(suggestion("zzzz", {"guard", "lock"}), "valid here: \"guard\" and \"lock\"");
  EXPECT_EQ(suggestion("zzzz", {"guard", "lock", "lease"}), "valid here: \"guard\", \"lock\" and \"lease\"");
}

}  // namespace
}  // namespace armgate::rules
