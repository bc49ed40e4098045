#include "base/utc.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace armgate {
namespace {

std::optional<int> digits(std::string_view text, size_t from, size_t count) {
  int number = 0;
  const char* const begin = text.data() + from;
  const auto [end, error] = std::from_chars(begin, begin + count, number);
  if (error != std::errc() || end != begin + count || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::string utc_text(WallTime when) { return fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(when)); }

std::string utc_text_with_milliseconds(WallTime when) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
  return fmt::format("{:%FT%T}.{:03}Z", seconds, (when - seconds).count());
}

std::optional<WallTime> parse_utc(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (text.size() < kShape.size() + 1 || !text.ends_with('Z')) return std::nullopt;
  for (size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] != '0' && text[i] != kShape[i]) return std::nullopt;
  }
  const std::string_view rest = text.substr(kShape.size(), text.size() - kShape.size() - 1);
  const bool has_fraction = rest.size() > 1 && rest.front() == '.';
  if (!rest.empty() &&
      (!has_fraction || !std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; })))
    return std::nullopt;
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

}  // namespace armgate
