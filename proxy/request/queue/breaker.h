// breaker.h – keeps writes from a resource on which operation after operation fails in the same way (rule key breaker.mode).
//
// Why: a controller that does not learn of the failures sends the same again for days, and each try makes ARM work, locks the
// resource and hides whoever could repair it (docs/monitoring.md, "Sick resources").
#pragma once

#include <optional>

#include "proxy/request/write/write.h"

namespace armgate {

// The answer to a write that is not to be sent; nothing: it goes. A DELETE always does. In mode observe, the rule's or the breaker's,
// it is only told.
std::optional<Outcome> refuse_if_sick(const Write& write);

}  // namespace armgate
