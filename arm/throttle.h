// throttle.h – what an answer says about when to come back.
#pragma once

#include <optional>
#include <string_view>

#include "arm/http.h"
#include "base/time.h"

namespace armgate::arm {

// In the order azcore reads them: retry-after-ms, x-ms-retry-after-ms, Retry-After (seconds or an HTTP-date, RFC 9110
// §10.2.3). Never negative. Nothing if absent or unreadable.
std::optional<Duration> retry_after(const Headers& fields, WallTime now);

// "... can be retried in 11 seconds" in an error message (observed with 429 RetryableError).
std::optional<Duration> retry_hint_in_message(std::string_view message);

}  // namespace armgate::arm
