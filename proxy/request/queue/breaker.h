// breaker.h – keeps writes from a resource on which operation after operation fails in the same way (rule key breaker.mode).
//
// Why: a controller that does not learn of the failures sends the same again for days, and each try makes ARM work, locks the
// resource and hides whoever could repair it (docs/monitoring.md, "Sick resources").
#pragma once

#include <optional>

#include "proxy/async/task.h"
#include "proxy/request/write/write.h"

namespace armgate {

// Whether that may be: nearly always not, and then there is nothing to wait for.
bool may_be_kept_away(const Write& write);

// The answer to a write that is not to be sent; nothing: it goes. A DELETE always does. Where the breaker only observes, it is
// told. Asked right before it is sent: only one that reaches ARM shows whether the resource is sick still.
Task<std::optional<Outcome>> refuse_if_sick(const Write& write);

// The same for what is not even a probe, so that nothing is waited for or read that is of no use. Nothing: it goes on, also
// where the resource is being deleted, for then it may be made anew.
std::optional<Outcome> refuse_known_sick(const Write& write);

// In mode observe: tells of a write that would be refused.
void tell_if_sick(const Write& write);

}  // namespace armgate
