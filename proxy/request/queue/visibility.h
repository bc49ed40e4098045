// visibility.h – waits for what was created a moment ago and is not known everywhere yet (docs/design.md,
// "Propagation").
//
// Why: a resource group, a parent, a principal or a role assignment that ARM has just taken may be unknown to the next provider
// for a while, and a mistyped one is unknown for ever. Only what armgate itself saw come into being is waited for.
#pragma once

#include "arm/http.h"
#include "proxy/policy/error_class.h"
#include "proxy/request/write/recover.h"
#include "proxy/request/write/write.h"

namespace armgate {

// ARM took the write: what it brought into being is evidence from now on.
void note_created(const Write& write, const arm::Response& answer);

// ARM says that something does not exist, or is not allowed: waits and sends again if there is evidence to the contrary, else
// this is the client's business. Suspends.
Task<Step<void>> after_not_visible(const Write& write, Attempts& attempts, arm::Response answer,
                                   const policy::ErrorFacts& facts);

}  // namespace armgate
