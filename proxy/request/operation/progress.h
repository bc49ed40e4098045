// progress.h – what an answer of ARM tells of how an accepted write's operation goes, whoever asked.
#pragma once

#include <string_view>

#include "arm/long_running.h"
#include "base/time.h"
#include "proxy/request/parts.h"
#include "proxy/state/lock/operation_leases.h"

namespace armgate {

// ARM gives up a request after 60 s (docs/arm.md, "Limits and headers"). Until then a resource in a final state does not tell
// that a write which was on its way when its process died will not take effect any more.
inline constexpr Duration kOnItsWayMax = std::chrono::seconds(60);

// How long a sending whose answer was lost may take effect yet: much less than clients wait, for it keeps all others away.
inline constexpr Duration kLateEffectMax = std::chrono::seconds(10);

arm::Progress progress_of(arm::TrackedBy by, const arm::ResponseHead& head, std::string_view body);

// What is seen of its resource before then need not be the write's end: it may not even have begun, or it may run unseen, for
// many resources show no sign of that.
TimePoint may_come_to_more_until(const OperationLease& op_lease, arm::TrackedBy by);

// What an answer tells beside how the operation goes: its error, or the state of its resource.
void learn_more(const Parts& parts, OperationLease& op_lease, arm::TrackedBy by, arm::Progress progress, std::string_view body);

}  // namespace armgate
