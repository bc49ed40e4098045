// send_again.h – sends a write again whose operation has failed after ARM had taken it (docs/decisions/0016).
//
// Invariant  its operation lease keeps the lease from the failure to the answer of the next sending, which then goes on with
//            it.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/request/parts.h"
#include "proxy/state/lock/operation_leases.h"

namespace armgate {

// What a poll of an operation was told at its end: remembered, if the write may go again.
void note_late_failure(const LeasedWrite& write, std::string_view body);

// The operation has ended so. True: the write is to go again, by the operation lease's watcher.
bool is_to_go_again(const Parts& parts, const OperationLease& op_lease, arm::Progress last);

// Waits, compares and sends, as often as the rule has it. Afterwards the operation lease has ended, because another took its
// place; or it goes on, and its operation's failure is what its client is told. Nothing is done if the write is not to go
// again. Suspends.
Task<void> go_again(Parts& parts, std::shared_ptr<OperationLease> op_lease);

}  // namespace armgate
