#include "arm/throttle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/http_date.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

// Longer waits than this mean the same to everybody, and the arithmetic stays far from overflow.
constexpr int64_t kLongestSeconds = 366LL * 24 * 3600;

std::optional<int64_t> whole_number(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.front() == '-') return std::nullopt;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (stop != end) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::numeric_limits<int64_t>::max();
  if (error != std::errc{}) return std::nullopt;
  return number;
}

template <class Unit>
std::optional<Duration> bounded(std::optional<int64_t> count) {
  if (!count) return std::nullopt;
  const Unit longest = std::chrono::duration_cast<Unit>(std::chrono::seconds(kLongestSeconds));
  return Duration(Unit(std::min<int64_t>(*count, longest.count())));
}

std::optional<Duration> until_date(std::string_view text, WallTime now) {
  const auto date = parse_http_date(trim(text));
  if (!date) return std::nullopt;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(*date - now).count();
  return bounded<std::chrono::seconds>(std::max<int64_t>(seconds, 0));
}

}  // namespace

std::optional<Duration> retry_after(const Headers& fields, WallTime now) {
  for (const std::string_view name : {"retry-after-ms", "x-ms-retry-after-ms"}) {
    if (const auto wait = bounded<std::chrono::milliseconds>(whole_number(fields.get(name)))) return wait;
  }
  const std::string_view value = fields.get("Retry-After");
  if (value.empty()) return std::nullopt;  // almost always; reading a date costs as much as the rest of a write's plan
  if (const auto wait = bounded<std::chrono::seconds>(whole_number(value))) return wait;
  return until_date(value, now);
}

std::optional<Duration> retry_hint_in_message(std::string_view message) {
  static constexpr std::array<std::string_view, 3> kPhrases{"retried in ", "retry after ", "retry in "};
  for (const std::string_view phrase : kPhrases) {
    const auto found =
        std::search(message.begin(), message.end(), phrase.begin(), phrase.end(), [](char a, char b) { return lower(a) == b; });
    if (found == message.end()) continue;
    const std::string_view rest(found + phrase.size(), message.end());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (!starts_with_ignoring_case(trim(rest.substr(digits)), "second")) continue;
    if (const auto wait = bounded<std::chrono::seconds>(whole_number(rest.substr(0, digits)))) return wait;
  }
  return std::nullopt;
}

}  // namespace armgate::arm
