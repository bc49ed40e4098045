// mutants.h – the deliberate defects of base/mutant.h by name, and how fast the suite notices each.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutant.h"
#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {

struct MutantCase {
  Mutant mutant = Mutant::None;
  std::string_view name;
  std::string_view workload;              // where it is looked for first; empty: anywhere
  std::vector<std::string> disturbances;  // the same
  uint64_t seeds_max = 0;                 // within which it must be noticed
  std::optional<Liveness> liveness{};     // as in Scenario
};

const std::vector<MutantCase>& mutants();
const MutantCase* find_mutant(std::string_view name);

struct Catch {
  uint64_t seeds = 0;                // until it was noticed; 0: it was not
  std::string promise;               // what it broke first
  std::set<std::string> promises{};  // all that it broke in that seed
};

// Runs worlds from seed 1 on until a checker speaks.
Catch hunt(const MutantCase& mutant);

}  // namespace armgate::world
