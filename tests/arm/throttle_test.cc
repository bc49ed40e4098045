// Goal: every way of saying "come back later" is understood, and no number can overflow or turn the wait negative.
#include "arm/throttle.h"

#include <gtest/gtest.h>

namespace armgate::arm {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// 1994-11-06 08:49:37, the date of RFC 9110's examples, less ten seconds.
const WallTime kNow{std::chrono::sys_days{std::chrono::year(1994) / 11 / 6} + hours(8) + std::chrono::minutes(49) +
                    seconds(27)};
constexpr Duration kLongest = hours(24 * 366);

TEST(ThrottleTest, RetryAfterIsReadInEveryForm) {
  const std::pair<Headers, std::optional<Duration>> cases[] = {
      {{}, std::nullopt},
      {{{"Retry-After", "7"}}, seconds(7)},
      {{{"retry-after", " 0 "}}, seconds(0)},
      {{{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"}}, seconds(10)},
      {{{"Retry-After", "Sunday, 06-Nov-94 08:49:37 GMT"}}, seconds(10)},
      {{{"Retry-After", "Sun Nov  6 08:49:37 1994"}}, seconds(10)},
      {{{"Retry-After", "Sat, 05 Nov 1994 08:49:37 GMT"}}, seconds(0)},
      {{{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}}, kLongest},
      {{{"Retry-After", "99999999999999999999999999"}}, kLongest},
      {{{"Retry-After", "9223372036854775807"}}, kLongest},
      {{{"retry-after-ms", "9223372036854775807"}}, kLongest},
      {{{"Retry-After", "5"}, {"x-ms-retry-after-ms", "1500"}}, milliseconds(1500)},
      {{{"x-ms-retry-after-ms", "1500"}, {"retry-after-ms", "20"}}, milliseconds(20)},
      {{{"retry-after-ms", "soon"}, {"Retry-After", "5"}}, seconds(5)},
      {{{"retry-after-ms", ""}, {"Retry-After", "5"}}, seconds(5)},
      {{{"Retry-After", ""}}, std::nullopt},
      {{{"Retry-After", "-3"}}, std::nullopt},
      {{{"Retry-After", "1.5"}}, std::nullopt},
      {{{"Retry-After", "5 s"}}, std::nullopt},
      {{{"Retry-After", "0x10"}}, std::nullopt},
      {{{"Retry-After", "Sun, 06 Nov 1994 08:49:37"}}, std::nullopt},
      {{{"Retry-After", "Sun, 06 Nov 1994"}}, std::nullopt},
      {{{"Retry-After", "Sun,"}}, std::nullopt},
      {{{"Retry-After", "Sun Nov  6 08:49:37"}}, std::nullopt},
      {{{"Retry-After", "Sun, 31 Feb 1994 08:49:37 GMT"}}, std::nullopt},
      {{{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT and more"}}, std::nullopt},
      {{{"Retry-After", "06 Nov 1994"}}, std::nullopt},
  };
  for (const auto& [fields, expected] : cases) {
    std::string name;
    for (const Field& field : fields) name.append(field.name).append(": ").append(field.value);
    EXPECT_EQ(retry_after(fields, kNow), expected) << name;
  }
}

TEST(ThrottleTest, APartOfASecondBeforeADateCountsAsAWholeOne) {
  const Headers fields{{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"}};
  EXPECT_EQ(retry_after(fields, kNow + milliseconds(1)), seconds(10));
  EXPECT_EQ(retry_after(fields, kNow + milliseconds(999)), seconds(10));
  EXPECT_EQ(retry_after(fields, kNow + milliseconds(1000)), seconds(9));
}

TEST(ThrottleTest, HintsInMessages) {
  const std::pair<std::string_view, std::optional<Duration>> cases[] = {
      {"The call can be retried in 11 seconds.", seconds(11)},
      {"This operation CAN BE RETRIED IN 1 second", seconds(1)},
      {"Please retry after 30 seconds.", seconds(30)},
      {"Please retry after the deployment. The call can be retried in 4 seconds", seconds(4)},
      {"can be retried in 99999999999999999999 seconds", kLongest},
      {"can be retried in 5 minutes", std::nullopt},
      {"can be retried in seconds", std::nullopt},
      {"can be retried in -4 seconds", std::nullopt},
      {"can be retried in ", std::nullopt},
      {"can be retried in 5", std::nullopt},
      {"Please retry later.", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [message, expected] : cases) EXPECT_EQ(retry_hint_in_message(message), expected) << message;
}

}  // namespace
}  // namespace armgate::arm
