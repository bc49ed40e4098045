// backoff.h – how long to wait before the next try; computed apart from the waiting.
#pragma once

#include <optional>

#include "base/rng.h"
#include "base/time.h"
#include "rules/rule.h"

namespace armgate::policy {

// The delay before sending number `next_attempt` (the first sending is 1), or nothing if the rule's attempts or deadline
// are used up. `come_back` (from ARM) wins over the exponential; without it, or if it is zero, the delay is uniform in
// [0, min(max, base * factor^(n-1))] with a floor of a tenth of that, so that a retry is never immediate.
std::optional<Duration> next_delay(const rules::Backoff& backoff, int next_attempt, Duration spent,
                                   std::optional<Duration> come_back, Rng& rng);

}  // namespace armgate::policy
