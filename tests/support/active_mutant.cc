#include "tests/support/active_mutant.h"

#include <atomic>

#include "base/check.h"

namespace armgate {
namespace {
std::atomic<Mutant> active_mutant{Mutant::None};
}  // namespace

#ifdef ARMGATE_MUTANTS
bool is_mutant(Mutant mutant) { return active_mutant.load(std::memory_order_relaxed) == mutant; }
#endif

void world::set_mutant(Mutant mutant) {
#ifndef ARMGATE_MUTANTS
  GATE_CHECK(mutant == Mutant::None, "this build has no mutants");
#endif
  active_mutant.store(mutant, std::memory_order_relaxed);
}

}  // namespace armgate
