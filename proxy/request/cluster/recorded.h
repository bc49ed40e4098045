// recorded.h – what a request waits for where several processes serve the same clients (docs/cluster.md). Nothing of this is
// called in a process that is alone.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "proxy/async/task.h"
#include "proxy/request/parts.h"
#include "proxy/request/write/step.h"
#include "proxy/request/write/write.h"
#include "proxy/seams/upstream.h"
#include "proxy/state/lock/lock_table.h"
#include "rules/plan.h"

namespace armgate {

// Returns when all that was told stands in the log, so that the client may be told of it. False: this process is apart, and
// nobody is to build on what it showed, for the others do not know of that.
Task<bool> until_recorded(Parts& parts, Executor executor);

// Before a write is answered by what was recorded of an earlier one: the others may have told that something has changed since.
Task<std::optional<Outcome>> meet_before_repeating(const Write& write);

// Everything that was told elsewhere before this write came is known when it returns. Nothing: it may go on.
Task<std::optional<Outcome>> meet_the_others(Write& write);

// False: the engine is away, and so much waits for it that nothing may begin that would be recorded.
bool takes_more(const Parts& parts);

// Not sent, as nothing can be recorded.
Outcome unrecorded(const Write& write);

// The position in the queues of all processes.
Task<Step<QueuePosition>> claim_in_cluster(const Write& write, const std::vector<rules::LockKey>& keys, ClaimInfo info);

// Another replica may have begun the same request meanwhile. Then the client is to come again; nullopt: the write may go.
std::optional<Outcome> answered_elsewhere(const Write& write);

// False: what is shown could not be recorded.
bool may_show(const Parts& parts);

// False: the others may take this process for dead soon, and its keys.
bool may_send(const Parts& parts);

// Of a sending that only one of several processes may do; its gate asks may_send().
SendLimits limits_of_one(const Parts& parts, TimePoint deadline);

}  // namespace armgate
