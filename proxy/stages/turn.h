// turn.h – gives a client that was refused again and again its turn on the resource (proxy/state/turns).
#pragma once

#include "proxy/stages/write.h"

namespace armgate {

// The write is being refused. `in_a_row`: how often its client was refused there without an accepted write in between.
void give_turn(const Write& write, int in_a_row);

}  // namespace armgate
