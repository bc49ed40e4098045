// share_tables.h – how this process' tables become those of a cluster: what changes them goes into its log, and what the log
// tells changes them here.
#pragma once

#include <cstdint>
#include <functional>

#include "base/time.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/parts.h"
#include "proxy/state/memory_store.h"

namespace armgate {

struct SharingOptions {
  std::function<void(uint64_t order)> pass;  // of the clock: moments from now on come after it
  MemoryStore* history = nullptr;            // gets every replica's writes; null: nobody asks
};

// `parts`: of the loop that follows what dead replicas began, and hears what was told through others. It and the history must
// outlive the replica. Called once, before anything is told.
void share_tables(Parts& parts, cluster::Replica& replica, SharingOptions options);

}  // namespace armgate
