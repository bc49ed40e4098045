// timed_wait.h – waits for a moment or for a signal, whichever comes first.
#pragma once

#include "proxy/async/waiter.h"
#include "proxy/request/parts.h"

namespace armgate {

// Suspends until `waiter` is signalled, which at `due` this does itself, with `bits`. `waiter` must stay.
Task<void> wait_until(const Parts& parts, Waiter& waiter, TimePoint due, uint32_t bits);

}  // namespace armgate
