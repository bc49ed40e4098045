#include "base/utc.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

TEST(Utc, WhatIsWrittenIsReadAgain) {
  const auto when = parse_utc("2026-02-28T23:59:59Z");
  ASSERT_TRUE(when.has_value());
  EXPECT_EQ(utc_text(*when), "2026-02-28T23:59:59Z");
  EXPECT_EQ(utc_text(*when + std::chrono::milliseconds(999)), "2026-02-28T23:59:59Z");
  EXPECT_EQ(utc_text_with_milliseconds(*when + std::chrono::milliseconds(7)), "2026-02-28T23:59:59.007Z");
  EXPECT_EQ(parse_utc("2026-02-28T23:59:59.1234567Z"), when);
}

TEST(Utc, TimesAreReadStrictly) {
  for (const char* bad :
       {"", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.x1Z", "2026-01-01T00:00:00+01:00", "+026-01-01T00:00:00Z"})
    EXPECT_FALSE(parse_utc(bad).has_value()) << bad;
}

}  // namespace
}  // namespace armgate
