// budget.h – clients come first: armgate's own questions go along with a client's token, and ARM counts them against what it
// takes of that token's bearer (proxy/policy/budget/read_budget.h, proxy/state/budgets.h).
#pragma once

#include <string_view>

#include "arm/http.h"
#include "base/result.h"
#include "base/time.h"
#include "proxy/request/parts.h"

namespace armgate {

// The head of ARM's answer to a request of anybody's: learns from it what is left.
void note_budgets(const Parts& parts, const Asker& asker, arm::Method method, const arm::ResponseHead& answer);

// From when on armgate's own read would go at once. For callers that can look later; a failed read would mislead them.
TimePoint may_ask_from(const Parts& parts, std::string_view target, std::string_view authorization);

// Until armgate may ask, which counts as asked then. TimedOut, at once, if that would be after `deadline`.
Task<Result<void>> wait_for_budget(const Parts& parts, const Asker& asker, TimePoint deadline);

}  // namespace armgate
