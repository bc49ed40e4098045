// provisioned.h – after a long-running operation: waits until what it touched is in a final state (rules with "until":
// "provisioned").
//
// Why: the operation on a subnet may have succeeded while its network is still "Updating", and a write to the network is then
// refused (observed; Terraform's provider polls both for that reason).
#pragma once

#include <memory>

#include "proxy/request/parts.h"
#include "proxy/state/lock/operation_leases.h"

namespace armgate {

enum class Provisioned { Yes, NotYet };

// Suspends until everything in the operation lease's `must_be_provisioned` is in a final state or cannot be read; NotYet at
// `until`, or if the operation lease has ended. Reads only while somebody waits for the operation lease, and else rarely.
Task<Provisioned> wait_until_provisioned(Parts& parts, std::shared_ptr<OperationLease> op_lease, TimePoint until);

}  // namespace armgate
