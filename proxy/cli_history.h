// cli_history.h – `armgate history`: what the journal knows of the last writes, also while the service runs, or after its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/config.h"

namespace armgate {

enum class HistoryAs { Text, Json };

// The newest `most` writes, the newest last; with `resource`, those to it and to what is below it. BadInput: there is no journal, or
// it cannot be read.
Result<std::string> history_text(const Config& config, size_t most, std::string_view resource, HistoryAs as);

}  // namespace armgate
