// forward.h – sends a write, and does what ARM's answers prove to be safe, until there is an outcome.
//
// Limits    attempts and pauses of the rule's retry classes, the deadline, its client's queue timeout.
#pragma once

#include "proxy/async/task.h"
#include "proxy/request/write/intend.h"

namespace armgate {

Task<Outcome> forward(const Write& write, Intent& intent);

}  // namespace armgate
