#include "rules/file/units.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <set>

namespace armgate::rules {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

constexpr std::array<Unit, 4> kTimes{{{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};  // in milliseconds
constexpr std::array<Unit, 4> kSizes{{{"GiB", 1u << 30}, {"MiB", 1u << 20}, {"KiB", 1u << 10}, {"B", 1}}};

constexpr uint64_t kHundredYears = 100ull * 366 * 24 * 3'600'000;
constexpr uint64_t kBytesMax = 1ull << 60;

std::optional<uint64_t> parse_amount(std::string_view text, const std::array<Unit, 4>& units, uint64_t most) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view name = text.substr(static_cast<size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (name != unit.name) continue;
    if (number > most / unit.factor) return std::nullopt;
    return number * unit.factor;
  }
  return std::nullopt;
}

std::string amount_to_text(uint64_t amount, const std::array<Unit, 4>& units, std::string_view zero_unit) {
  if (amount == 0) return "0" + std::string(zero_unit);
  for (const Unit& unit : units) {
    if (amount % unit.factor == 0) return std::to_string(amount / unit.factor) + std::string(unit.name);
  }
  return {};  // unreachable: the last factor is 1
}

// Numbers that differ in their last digits only, from all zeros to all nines there: "1[2-4][0-9]{2}".
std::string digits_pattern(uint64_t first, uint64_t last) {
  const std::string from = std::to_string(first);
  const std::string to = std::to_string(last);
  std::string pattern;
  size_t any = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i])
      pattern += from[i];
    else if (from[i] == '0' && to[i] == '9')
      ++any;
    else
      pattern += {'[', from[i], '-', to[i], ']'};
  }
  if (any > 0) pattern += "[0-9]";
  return any > 1 ? pattern + "{" + std::to_string(any) + "}" : pattern;
}

// The whole numbers of the range, as alternatives: it is cut where one digit more becomes free to be anything.
std::string numbers_pattern(uint64_t least, uint64_t most) {
  std::set<uint64_t> ends{most};
  for (uint64_t place = 10;; place *= 10) {
    const uint64_t end = least - least % place + place - 1;
    if (end >= most) break;
    ends.insert(end);
  }
  for (uint64_t place = 10;; place *= 10) {
    const uint64_t next = (most + 1) - (most + 1) % place;
    if (next <= least + 1) break;
    ends.insert(next - 1);
  }
  std::string pattern;
  for (uint64_t first = least; const uint64_t end : ends) {
    pattern += (pattern.empty() ? "" : "|") + digits_pattern(first, end);
    first = end + 1;
  }
  return pattern;
}

std::string amount_pattern(uint64_t least, uint64_t most, const std::array<Unit, 4>& units) {
  std::string pattern;
  for (const Unit& unit : units) {
    const uint64_t first = (least + unit.factor - 1) / unit.factor;
    const uint64_t last = most / unit.factor;
    if (first > last) continue;
    pattern += (pattern.empty() ? "" : "|") + ("(" + numbers_pattern(first, last) + ")") + std::string(unit.name);
  }
  return "^0*(" + pattern + ")$";
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const auto milliseconds = parse_amount(text, kTimes, kHundredYears);
  if (!milliseconds) return std::nullopt;
  return std::chrono::milliseconds(*milliseconds);
}

std::string duration_pattern(Duration least, Duration most) {
  return amount_pattern(static_cast<uint64_t>(whole_milliseconds(least)), static_cast<uint64_t>(whole_milliseconds(most)),
                        kTimes);
}

std::string to_text(Duration duration) {
  return amount_to_text(static_cast<uint64_t>(whole_milliseconds(duration)), kTimes, "s");
}

std::optional<size_t> parse_bytes(std::string_view text) { return parse_amount(text, kSizes, kBytesMax); }

std::string bytes_pattern(size_t least, size_t most) { return amount_pattern(least, most, kSizes); }

std::string bytes_to_text(size_t bytes) { return amount_to_text(bytes, kSizes, "B"); }

}  // namespace armgate::rules
