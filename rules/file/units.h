// units.h – durations and sizes as people write them in configuration files: "500ms", "5s", "10m", "2h"; "64KiB", "8MiB".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace armgate::rules {

// A whole number and one of ms, s, m, h, without a sign or a space. Nothing for anything else and beyond 100 years.
std::optional<Duration> parse_duration(std::string_view text);

// A regular expression (ECMA 262) for the durations from `least` to `most`, as parse_duration() reads them, and no other text.
std::string duration_pattern(Duration least, Duration most);

// In the largest unit that leaves a whole number; whole milliseconds at least.
std::string to_text(Duration duration);

// A whole number and one of B, KiB, MiB, GiB. Nothing for anything else and beyond 2^60 bytes.
std::optional<size_t> parse_bytes(std::string_view text);

// The same for sizes.
std::string bytes_pattern(size_t least, size_t most);

// In the largest unit that leaves a whole number.
std::string bytes_to_text(size_t bytes);

}  // namespace armgate::rules
