// result.h – what the end of an accepted write tells of its resource, and what reads of it tell
// (proxy/state/operation/operation_results).
#pragma once

#include <string_view>

#include "proxy/request/parts.h"
#include "proxy/state/lock/operation_leases.h"

namespace armgate {

// The end of an accepted write, called once for each.
void note_result(const Parts& parts, const LeasedWrite& write, const OperationResult& result);
// The same of an earlier process, called in the order of the ends.
void remember_result(const Parts& parts, const LeasedWrite& write, const JournaledWrite& former);

// The resource was seen with this provisioningState; empty: it showed none.
void note_state(const Parts& parts, const KeyedPlan& plan, std::string_view state);
// The same of what an earlier process had seen last.
void remember_state(const Parts& parts, const ResourceState& former);
// A read has shown that it is not there.
void note_absent(const Parts& parts, const KeyedPlan& plan);
// A read shows the resource: looked into only if what is known of it is not well.
void note_read(const Parts& parts, const KeyedPlan& plan, const policy::KeptBody& body);

}  // namespace armgate
