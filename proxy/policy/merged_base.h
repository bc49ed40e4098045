// merged_base.h – what a client asked for in a write that was merged, as a state that its next write may be built from.
//
// Why: SDKs poll an operation with a GET, throw the answer away and go on from the object that they sent; a declarative tool
// sends the same file again. Neither has taken note of what was merged in, and its next full write would take that back.
#pragma once

#include "arm/body/body_facts.h"
#include "proxy/policy/bases.h"
#include "proxy/policy/verdict.h"

namespace armgate::policy {

// Adds to the possible bases what the client asked for in its merged writes. A merged write is left out if this write shows
// that it knows of it. It does so if it contains all that was merged in, or what that has become since as its client was shown,
// and if this is no accident: what was merged in is a whole member or element, or the write makes a change of its own beside
// it. A body asked for at another api-version, or not kept, shows nothing and is added. Call it after narrow_down().
void add_merged(Bases& bases, const WantedBody& wanted, const arm::BodyFacts& facts);

}  // namespace armgate::policy
