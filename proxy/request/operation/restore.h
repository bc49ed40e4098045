// restore.h – takes up what an earlier process left behind: writes that may be at ARM, and operations that may still run.
//
// Why: who comes next would otherwise write into a running operation, overwrite what it does not know of, or carry out twice
// what the earlier process had sent already (docs/design.md, "The journal").
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "proxy/request/parts.h"

namespace armgate {

namespace cluster {
struct AdoptedWrite;
}  // namespace cluster

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

// The same for others than this process. `keep` gets each open write with the keys that it is to have: nothing is watched here.
using KeepOpen = std::function<void(const LeasedWrite& leased, const std::vector<rules::LockKey>& keys, ClaimInfo info)>;
Restored restore(Parts& parts, const PreviousProcess& former, const KeepOpen& keep);

// All that it began, open or not, in the order in which that began.
template <class Process>  // PreviousProcess, const or not
auto in_order_of_begin(Process& former) {
  std::vector<decltype(&former.open.front())> all;
  for (auto* writes : {&former.recent, &former.open}) {
    for (auto& write : *writes) all.push_back(&write);
  }
  std::ranges::stable_sort(all, {}, &JournaledWrite::id);
  return all;
}

// Somebody who waits elsewhere in the cluster wants these keys: who watches over what holds them here should look sooner.
void wake_watchers(const SharedState& shared, const std::vector<Hash128>& keys);

// A write of another process of the cluster that is dead, and its keys: they are held until its end is seen. Of one whose
// outcome nobody knows that is not looked for before cluster.quiet is over: what its sender had begun to send may yet arrive.
// All processes do this; one of them is the heir.
Task<void> adopt(Parts& parts, cluster::AdoptedWrite undelivered);
// Another has seen the end of what was adopted and had these keys.
void end_adopted(SharedState& shared, const std::vector<Hash128>& keys);

}  // namespace armgate
