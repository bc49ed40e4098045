// early_end.h – ARM took a request to end what runs on a resource (arm/early_end.h).
//
// Why: whoever waits for that end need not wait for the next look; and what an operator ends must not go again behind an
// operation URL of armgate's own, however its operation says that it failed.
#pragma once

#include "base/hash.h"
#include "proxy/request/parts.h"

namespace armgate {

// In a cluster the others are told.
void note_early_end(const Parts& parts, const Hash128& key);
void note_early_end_here(const Parts& parts, const Hash128& key);

}  // namespace armgate
