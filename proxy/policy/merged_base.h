// merged_base.h – what a client asked for in a write that was merged, as a state that its next write may be built from.
//
// Why: SDKs poll an operation with a GET, throw the answer away and go on from the object that they sent; a declarative tool sends the
// same file again. Neither has taken note of what was merged in, and its next full write would take that back.
#pragma once

#include "arm/body/body_facts.h"
#include "proxy/policy/bases.h"
#include "proxy/policy/verdict.h"

namespace armgate::policy {

// Adds to the possible bases what the client asked for in its merged writes, but for those of which the write shows that it knows: it
// contains all that was merged in, or what became of that as its client was shown since; and that, being a whole member or element, or
// beside a change of the write's own, is no accident.
// After narrow_down(). What was asked for at another api-version, or was not kept, is added: it tells nothing.
void add_merged(Bases& bases, const WantedBody& wanted, const arm::BodyFacts& facts);

}  // namespace armgate::policy
