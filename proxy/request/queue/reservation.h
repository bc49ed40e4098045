// reservation.h – keeps a write's position in the queue while its client is away (proxy/state/lock/reservations.h).
#pragma once

#include <optional>
#include <vector>

#include "proxy/request/write/write.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {

// Whose the keys are when its turn comes while its client is away.
enum class AwayFor {
  Itself,  // nobody's, for a moment
  Others,  // those who wait go by at once
};

// Its client was sent away, or left, before anything had an effect: its next sending of these bytes stands here again.
void reserve_position(const Write& write, QueuePosition position, AwayFor away = AwayFor::Itself);

// The position that was kept for it, if any; it is on it again.
std::optional<QueuePosition> redeem_reservation(const Write& write, const std::vector<rules::LockKey>& keys);
// It stands there: in a cluster by the log (cluster::Reserved).
void note_redeemed(const Write& write);

}  // namespace armgate
