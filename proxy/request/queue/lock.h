// lock.h – where a write waits for its keys, in the order of arrival.
//
// Limits    PipelineOptions::wait_max, and its client's queue timeout: then 503, and its position is kept (reservation.h).
// Cancel    a client that leaves: nothing was sent.
#pragma once

#include "proxy/async/task.h"
#include "proxy/request/write/write.h"

namespace armgate {

// Suspends until all keys are granted; an Outcome is TryLater or Left.
Task<Step<WriteLease>> lock(const Write& write);

// Whether it goes along with its client's running write, if that lets it in.
bool is_reentrant(const Write& write);

}  // namespace armgate
