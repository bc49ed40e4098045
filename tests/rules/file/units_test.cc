// What counts as a duration or a size, and how the two are written back.
#include "rules/file/units.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <utility>

namespace armgate::rules {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Units, DurationIsAWholeNumberAndAUnit) {
  const struct {
    const char* text;
    Duration value;
  } cases[] = {
      {"0s", seconds(0)},
      {"0ms", seconds(0)},
      {"1ms", milliseconds(1)},
      {"500ms", milliseconds(500)},
      {"5s", seconds(5)},
      {"10m", minutes(10)},
      {"2h", hours(2)},
      {"007s", seconds(7)},
      {"1500ms", milliseconds(1500)},
      {"878400h", hours(878400)},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_duration(c.text), c.value) << c.text;
}

TEST(Units, AnythingElseIsNoDuration) {
  for (const char* text : {"",
                           "5",
                           "s",
                           "ms",
                           "5 s",
                           " 5s",
                           "5s ",
                           "-5s",
                           "+5s",
                           "1.5s",
                           "5S",
                           "5sec",
                           "5d",
                           "1h30m",
                           "0x5s",
                           "878401h",
                           "3162240000001s",
                           "18446744073709551616ms",
                           "99999999999999999999999h",
                           "5KiB"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_duration(std::string_view("5s\0", 3)), std::nullopt);
}

TEST(Units, DurationIsWrittenInItsLargestWholeUnit) {
  const struct {
    Duration value;
    const char* text;
  } cases[] = {
      {seconds(0), "0s"},   {milliseconds(1), "1ms"}, {milliseconds(1000), "1s"}, {milliseconds(1500), "1500ms"},
      {seconds(90), "90s"}, {seconds(120), "2m"},     {minutes(60), "1h"},        {hours(25), "25h"},
  };
  for (const auto& c : cases) EXPECT_EQ(to_text(c.value), c.text);
}

TEST(Units, SizeIsAWholeNumberAndAUnit) {
  const struct {
    const char* text;
    size_t value;
  } cases[] = {
      {"0B", 0},
      {"1B", 1},
      {"64KiB", 64 * 1024},
      {"8MiB", 8 * 1024 * 1024},
      {"2GiB", 2ull << 30},
      {"1000B", 1000},
      {"1073741824GiB", 1ull << 60},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_bytes(c.text), c.value) << c.text;
}

TEST(Units, AnythingElseIsNoSize) {
  for (const char* text : {"", "5", "KiB", "64 KiB", "64kib", "64KB", "64K", "-1B", "1.5MiB", "1TiB", "1073741825GiB",
                           "1152921504606846977B", "18446744073709551616B", "5s"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(Units, SizeIsWrittenInItsLargestWholeUnit) {
  EXPECT_EQ(bytes_to_text(0), "0B");
  EXPECT_EQ(bytes_to_text(1023), "1023B");
  EXPECT_EQ(bytes_to_text(1024), "1KiB");
  EXPECT_EQ(bytes_to_text(1536 * 1024), "1536KiB");
  EXPECT_EQ(bytes_to_text(3u << 20), "3MiB");
  EXPECT_EQ(bytes_to_text(1ull << 40), "1024GiB");
}

TEST(Units, WhatIsWrittenReadsBackTheSame) {
  for (uint64_t amount = 1; amount < (1ull << 40); amount = amount * 3 + 1) {
    EXPECT_EQ(parse_bytes(bytes_to_text(amount)), amount);
    EXPECT_EQ(parse_duration(to_text(milliseconds(amount))), milliseconds(amount));
  }
}

// Bounds whose patterns are cut at many places, and values around each of them.
TEST(Units, APatternTakesWhatIsWithinItsBoundsAndNothingElse) {
  const std::pair<uint64_t, uint64_t> bounds[] = {{0, 0},       {0, 7},          {1, 10},          {5, 105},
                                                  {10, 99},     {99, 101},       {100, 3'600'000}, {1234, 4321},
                                                  {1999, 2000}, {0, 86'400'000}, {1, 999},         {7, 7}};
  for (const auto& [least, most] : bounds) {
    const std::regex pattern(duration_pattern(milliseconds(least), milliseconds(most)));
    std::set<uint64_t> tried{0, 1, least, most, least + 1, most + 1, most * 10, most / 2};
    for (uint64_t place = 1; place <= most; place *= 10)
      tried.insert({place - 1, place, place + 1, 5 * place, 9 * place, most - most % place});
    if (least > 0) tried.insert(least - 1);
    for (uint64_t number : tried) {
      for (const char* unit : {"ms", "s", "m", "h"}) {
        const std::string text = std::to_string(number) + unit;
        const auto value = parse_duration(text);
        const bool within = value && *value >= milliseconds(least) && *value <= milliseconds(most);
        EXPECT_EQ(std::regex_search(text, pattern), within) << text << " in " << least << " to " << most << " ms";
        EXPECT_EQ(std::regex_search("00" + text, pattern), within) << "00" << text;
      }
    }
  }
  const std::regex sizes(bytes_pattern(1024, size_t{64} << 30));
  for (const char* good : {"1KiB", "1024B", "65536MiB", "64GiB", "1025B"}) EXPECT_TRUE(std::regex_search(good, sizes)) << good;
  for (const char* bad : {"1023B", "0KiB", "65GiB", "65537MiB", "1 KiB", "1KB", "B", "", "-1KiB", "1KiB ", "5s"}) {
    EXPECT_FALSE(std::regex_search(bad, sizes)) << bad;
  }
}

}  // namespace
}  // namespace armgate::rules
