// history.h – `armgate history` and `armgate blame`: what is known of the last writes. The journal tells, also while the
// service runs, or after its end; without one the service that runs, as far as its memory goes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/config/config.h"

namespace armgate {

enum class HistoryAs { Text, Json };

// The newest `most` writes, the newest last; with `resource`, those to it and to what is below it. BadInput: there is no
// journal and no service that can be asked, or the journal cannot be read.
Result<std::string> history_text(const Config& config, size_t most, std::string_view resource, HistoryAs as);

// The writes to the resource itself: by whom, with which tool, what changed and how it ended. Of the newest `most` writes it
// tells those that ARM may have taken, the newest last. Errors as of history_text().
Result<std::string> blame_text(const Config& config, size_t most, std::string_view resource, HistoryAs as);

}  // namespace armgate
