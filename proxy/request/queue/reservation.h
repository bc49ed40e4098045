// reservation.h – keeps a write's position in the queue while its client is away (proxy/state/lock/reservations.h).
#pragma once

#include <optional>
#include <vector>

#include "proxy/request/write/write.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {

// Its client was sent away, or left, before anything had an effect: its next sending of these bytes stands here again.
void reserve_position(const Write& write, QueuePosition position);
// The same of one that had been granted. If it has come back for that already, and in vain, others go by while it is away: it
// may be one that is sent away each time.
void reserve_position(const Write& write, WriteLease lease);

// The position that was kept for it, if any; it is on it again.
std::optional<QueuePosition> redeem_reservation(const Write& write, const std::vector<rules::LockKey>& keys);
// It stands there: in a cluster by the log (cluster::Reserved).
void note_redeemed(const Write& write);

}  // namespace armgate
