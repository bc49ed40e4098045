// turn.h – gives a client that was refused again and again its turn on the resource (proxy/state/turns).
#pragma once

#include "proxy/stages/write.h"

namespace armgate {

// The write is being refused. To be called while its lease is held: then nobody else gets between the refusal and its client's next read.
void give_turn(const Write& write);

// The write came in its client's turn, and ARM asks for another try: the turn is not over. To be called while its lease is held.
void keep_turn(const Write& write);

}  // namespace armgate
