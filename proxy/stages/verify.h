// verify.h – comparing the resource as it is now with what a write was built from, where no ETag does it (DESIGN §3, `verify`).
//
// Why: ARM gives groups, storage accounts and vaults no ETag, and a 202 without a body tells none. Under the write's lock no
// other client of armgate can change the resource between the look and the sending; who goes around armgate can.
#pragma once

#include "proxy/stages/read_again.h"
#include "proxy/stages/remember.h"
#include "proxy/stages/write.h"

namespace armgate {

// Whether the resource is still what the write was built from. If that is a guess among several states that the client was
// shown, it must be all of them: that the oldest is back proves nothing about a write that was built on a newer one. A base
// whose body was not kept compares with nothing.
Comparison compare_with_shown(const Write& write, const SeenState& now);

}  // namespace armgate
