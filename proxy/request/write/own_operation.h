// own_operation.h – gives a write an operation URL of armgate's own, so that it can be sent again if its operation fails
// (docs/decisions/0016).
#pragma once

#include <memory>

#include "proxy/request/operation/leased_write.h"
#include "proxy/request/write/write.h"

namespace armgate {

// Whether the rule asks for it: then what the write was built from has to be known, also of a PATCH.
bool may_be_owned(const Write& write);

// Of a write that ARM took, and that gets an operation lease as `leased`. Null: its client gets ARM's own URLs, because its
// rule does not ask for more, or because nothing could tell later whether it may go again.
std::shared_ptr<OwnedOperation> own_operation(const Write& write, const Outcome& outcome, const LeasedWrite& leased);

// Puts the operation's own URLs in the place of ARM's.
void put_own_urls(const OwnedOperation& operation, arm::Headers& fields);
void put_own_urls(const OwnedOperation& operation, arm::Tracking& answer);

}  // namespace armgate
