// rest.h – after a long-running operation: waits until what it touched is at rest (rules with "until": "provisioned").
//
// Why: the operation on a subnet may have succeeded while its network is still "Updating", and a write to the network is then
// refused (observed; Terraform's provider polls both for that reason).
#pragma once

#include <memory>

#include "proxy/request/parts.h"
#include "proxy/state/lock/hold_table.h"

namespace armgate {

enum class Rest { Yes, NotYet };

// Suspends until everything in the hold's `must_rest` is at rest or cannot be read; NotYet at `until`, or if the hold has ended.
// Reads only while somebody waits for the hold, and else rarely.
Task<Rest> wait_for_rest(Parts& parts, std::shared_ptr<Hold> hold, TimePoint until);

}  // namespace armgate
