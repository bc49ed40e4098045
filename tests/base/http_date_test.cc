#include "base/http_date.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

TEST(HttpDate, TheThreeFormsAreOneMoment) {
  const std::chrono::sys_seconds when{std::chrono::seconds(784111777)};
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_http_date(text), when) << text;
  }
}

TEST(HttpDate, NothingElseIsADate) {
  for (const char* text : {"", "now", "1994-11-06T08:49:37Z", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 GMT and more", " Sun, 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(parse_http_date(text)) << text;
  }
}

}  // namespace
}  // namespace armgate
