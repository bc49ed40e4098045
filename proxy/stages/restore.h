// restore.h – takes up what an earlier process left behind: writes that may be at ARM, and operations that may still run.
//
// Why: who comes next would otherwise write into a running operation, overwrite what it does not know of, or carry out twice what
// the earlier process had sent already (DESIGN §7: records without outcome are in doubt).
#pragma once

#include <cstddef>

#include "proxy/stages/parts.h"

namespace armgate {

struct Restored {
  size_t running = 0;   // operations that are held until their ends are seen
  size_t in_doubt = 0;  // writes whose outcome nobody knows: held too, and their repetitions are answered, not forwarded
  size_t dropped = 0;   // what no rule of now would hold
};

// To be called once, before the first request. Holds have no token until their client, or a writer that waits for them, comes by.
// Until think_max is over a write without a known base counts as built on a state from before: it is refused if another one was
// accepted since the records began.
Restored restore(Pipeline::Parts& parts, const FormerLife& former);

}  // namespace armgate
