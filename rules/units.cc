#include "rules/units.h"

#include <array>
#include <charconv>
#include <cstdint>

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

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const auto milliseconds = parse_amount(text, kTimes, kHundredYears);
  if (!milliseconds) return std::nullopt;
  return std::chrono::milliseconds(*milliseconds);
}

std::string to_text(Duration duration) {
  return amount_to_text(static_cast<uint64_t>(whole_milliseconds(duration)), kTimes, "s");
}

std::optional<size_t> parse_bytes(std::string_view text) { return parse_amount(text, kSizes, kBytesMax); }

std::string bytes_to_text(size_t bytes) { return amount_to_text(bytes, kSizes, "B"); }

}  // namespace armgate::rules
