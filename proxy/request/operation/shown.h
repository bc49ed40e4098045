// shown.h – keeps the answer to a create back until reads show what it made (rule key shown.consecutive).
//
// Why: some types (resource groups) are answered by one front end and not known to the next for a while. Tools that go on at
// once fail there; those that look first are told 404 by one and 200 by another.
#pragma once

#include "proxy/request/write/write.h"

namespace armgate {

// Returns when as many reads in a row as the rule asks for have found it, or when they tell nothing, or when the client's queue
// timeout or armgate ends: ARM's answer goes to the client in any case. A 404 counts from the beginning.
Task<void> wait_until_shown(const Write& write, const Outcome& outcome);

}  // namespace armgate
