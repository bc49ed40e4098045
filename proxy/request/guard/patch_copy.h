// patch_copy.h – a PATCH that may be a copy of what its client has read, and so has to be built on what is there
// (docs/whose-write.md).
#pragma once

#include <string>
#include <vector>

#include "arm/body/body_facts.h"
#include "proxy/policy/bases.h"
#include "proxy/policy/right.h"
#include "proxy/request/write/write.h"

namespace armgate {

// Whether it is one. Sets Write::replaces then.
void detect_patch_copy(Write& write);

// Leaves of all these states only what the PATCH speaks about, so that the rest of the resource stands in nobody's way. Where
// the PATCH only sets values, it does so whatever they were: the bases have the values that are there.
void keep_patched_part(const Write& write, policy::Bases& bases, policy::Right& right, std::string& there);

}  // namespace armgate
