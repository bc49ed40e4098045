// http_date.h – the dates of HTTP (RFC 9110 §5.6.7).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace armgate {

// The three forms that a recipient must accept; always read in the C locale. Nothing for anything else.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text);

}  // namespace armgate
