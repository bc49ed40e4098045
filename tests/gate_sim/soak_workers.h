// soak_workers.h – runs seeds in processes of their own, as many at once as there are processors.
//
// Why: a world is one thread's and shares nothing with another, but libraries may; a process also survives that a run
// crashes or never ends, which is then that seed's failure like any other.
// Threads   the caller's one; the workers are forked from it, so it must be the only one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {

struct SeedRange {
  uint64_t first = 1;
  uint64_t last = 1000;
};

struct Soak {
  SeedRange seeds;
  Scenario scenario;  // but for its seed
  int workers = 1;
  double hung_after = 120;                                               // seconds that one seed may take
  std::function<double()> elapsed;                                       // seconds since the start
  std::function<bool()> wants_end;                                       // asked twice a second
  std::function<void(uint64_t seed, const RunResult& result)> finished;  // a run that crashed breaks the promise "run"
  std::function<void()> tick;                                            // twice a second
};

// Returns when the range is done, or once what runs after wants_end() is done.
void run_seeds(const Soak& soak);

}  // namespace armgate::world
