// keep_place.h – keeps a write's place in the queue while its client is away (proxy/state/lock/tickets.h).
#pragma once

#include <optional>
#include <vector>

#include "proxy/request/write/write.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {

// Its client was sent away, or left, before anything had an effect: its next sending of these bytes stands here again.
void keep_place(const Write& write, LockPlace place);

// The place that was kept for it, if any; it is on it again.
std::optional<LockPlace> return_to_place(const Write& write, const std::vector<rules::LockKey>& keys);

}  // namespace armgate
