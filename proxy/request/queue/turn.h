// turn.h – gives a client that was refused again and again its turn on the resource (proxy/state/lock/turns).
#pragma once

#include "proxy/request/write/write.h"

namespace armgate {

// The write is being refused: the position of its client's turn in the queue, if one is due; else empty. To be called while its
// lease is held: then nobody else gets between the refusal and its client's next read.
ComingPosition turn_due(const Write& write);

// Suspends until the turn has come, within the client's queue timeout: what it reads before that others would overtake. Then
// the refusal is answered, and the turn runs.
Task<void> begin_turn(const Write& write, ComingPosition coming);

// The write came in its client's turn, and ARM asks for another try: the turn is not over. To be called while its lease is
// held.
void keep_turn(const Write& write);

}  // namespace armgate
