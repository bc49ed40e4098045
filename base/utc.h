// utc.h – points in time as people and JSON write them (RFC 3339, always UTC with a "Z").
//
// Why: logs, tables, journals and ARM's activity log use the same form. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace armgate {

// "2026-01-01T00:00:00Z": whole seconds, rounded down.
std::string utc_text(WallTime when);

// "2026-01-01T00:00:00.000Z".
std::string utc_text_with_milliseconds(WallTime when);

// The first of these, or with any fraction of a second, which is dropped. Nothing if it is no such time.
std::optional<WallTime> parse_utc(std::string_view text);

}  // namespace armgate
