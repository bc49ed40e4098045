// would_be_stale.h – whether a write that ARM has taken would have been refused as stale: the same decision, with what passed
// by in the place of what armgate would have read (mode observe).
//
// Where the state that was there is not known, nothing is reported: these are fewer writes than would be refused. Of two writes
// that were built from one state, the one that was accepted later is reported.
#pragma once

#include <optional>

#include "proxy/request/observe/observe_finding.h"
#include "proxy/request/write/write.h"

namespace armgate {

// Asked when ARM has accepted the write, before that is known to others.
std::optional<ObserveFinding> would_be_stale(const Write& write);

// A report about this write.
ObserveFinding make_finding(const Write& write, ObserveFinding::Kind kind, std::string why);

}  // namespace armgate
