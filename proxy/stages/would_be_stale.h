// would_be_stale.h – whether a write that ARM has taken would have been refused as stale, from what is known without asking (mode
// observe).
//
// Where armgate would have asked ARM it can only say what it has seen pass by, and where it would have refused to be on the safe
// side it says nothing: every finding has a change behind it that this write came over. So this tells of fewer writes than would
// be refused. Of two writes from one state the later to be accepted is told.
#pragma once

#include <optional>
#include <vector>

#include "proxy/stages/would_have.h"
#include "proxy/stages/write.h"
#include "proxy/state/observed_writes.h"

namespace armgate {

// Asked when ARM has accepted the write, before that is known to others. `before` are the writes that were unfinished when it
// arrived.
std::optional<WouldHave> would_be_stale(const Write& write, const std::vector<ObservedWrites::Write>& before);

// A report about this write.
WouldHave would_have(const Write& write, WouldHave::Kind kind, std::string why);

}  // namespace armgate
