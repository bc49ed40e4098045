// restore.h – takes up what an earlier process left behind: writes that may be at ARM, and operations that may still run.
//
// Why: who comes next would otherwise write into a running operation, overwrite what it does not know of, or carry out twice what
// the earlier process had sent already (docs/design.md, "The journal").
#pragma once

#include <cstddef>

#include "proxy/request/parts.h"

namespace armgate {

struct Restored {
  size_t running = 0;   // operations that are held until their ends are seen
  size_t in_doubt = 0;  // writes whose outcome nobody knows: held too, and their repetitions are answered, not forwarded
  size_t dropped = 0;   // what no rule of now would hold
};

// To be called once, before the first request. Operation leases have no token until their client, or a writer that waits for
// them, comes by. Until think_max is over a write of a client that may be several actors may be built on a state from before,
// too: it is refused if another client's write is on record. One without any known base is `forgotten` for observation_age
// (policy::BaseRule).
Restored restore(Parts& parts, const PreviousProcess& former);

}  // namespace armgate
