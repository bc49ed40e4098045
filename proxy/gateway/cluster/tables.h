// tables.h – what the log of a cluster changes in this process: its tables, and whom it wakes there.
#pragma once

#include "base/time.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/parts.h"
#include "proxy/seams/real_clock.h"
#include "proxy/state/memory_store.h"

namespace armgate {

// `parts`: of the loop that follows what dead replicas began, and hears what was told through others. All of them must outlive the replica.
cluster::Replica::Tables tables_of(Parts& parts, RealClock& clock, MemoryStore& history, Duration quiet);

}  // namespace armgate
