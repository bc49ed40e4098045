// active_mutant.h – which of the deliberate defects is switched on.
#pragma once

#include "base/mutant.h"

namespace armgate::world {

// From now on, on every thread.
void set_mutant(Mutant mutant);

}  // namespace armgate::world
