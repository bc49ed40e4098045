// settle.h – the last step of a write: what becomes known to everybody when ARM has taken it.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/request/operation/leased_write.h"
#include "proxy/request/write/intend.h"
#include "proxy/state/lock/operation_leases.h"

namespace armgate {

// It may be met again by its own re-send, and its client is not refused in a row any more.
void note_accepted(const Write& write);

// What a write gives to its operation lease.
struct LeaseInputs {
  WriteLease lease{};
  std::string_view authorization{};  // copied if there is an operation lease
  IntentId intent = 0;
};

// What it has changed, if it was accepted or may have been.
Change change_of(const Write& write, bool accepted);

// Opens the operation lease of a write that was accepted, or may have been: from now on it counts on all its keys, until its
// end is known. Null if the answer was its end: then it is finished, and the lease is free.
std::shared_ptr<OperationLease> open_operation_lease(const Write& write, const Outcome& outcome, const Change& change,
                                                     LeaseInputs given, Moment now);

// Closes the record, and lets the lease go or hands it to the operation lease. The answer may get operation URLs of armgate's
// own.
void settle(const Write& write, Intent intent, Outcome& outcome);

}  // namespace armgate
