// blind.h – the rule for writes without a known base (DESIGN §4): waiting must not turn a visible conflict into a silent loss.
#pragma once

#include <optional>
#include <string>

#include "proxy/stages/write.h"

namespace armgate {

// Why a write without a precondition must not be sent now, or nothing. A blind write is stale if any other write to the
// resource finished since its bytes first arrived, a create also if one was accepted since its client was told 404.
std::optional<std::string> blind_conflict(const Write& write);

}  // namespace armgate
