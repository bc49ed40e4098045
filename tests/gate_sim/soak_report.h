// soak_report.h – what many simulated runs showed together: which promise broke where, and which fault met which stage.
//
// Threads   one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {

struct Totals {
  uint64_t runs = 0;
  uint64_t failed = 0;
  std::map<std::string, uint64_t> pairs;  // workload x disturbance
  std::map<std::string, uint64_t> tally;
  struct Broken {
    uint64_t times = 0;
    uint64_t first_seed = 0;
    std::string what;    // what the first one said
    std::string repeat;  // the command that shows it
  };
  std::map<std::string, Broken> broken;  // by promise and workload: "P1 tags"
  struct Counted {
    uint64_t first_seed = 0;
    uint64_t seeds = 0;
    std::map<std::string, uint64_t> workloads;
  };
  std::map<std::string, Counted> counted;  // laws that are only counted
};

void add(Totals& totals, uint64_t seed, const RunResult& result);

// The command that runs this one again, whatever the lists of workloads and disturbances hold by then.
std::string repeat_command(uint64_t seed, const RunResult& result);

// What failed in one run, and how to repeat it.
std::string failure_text(uint64_t seed, const RunResult& result, size_t tail_lines);

// "1,234 seeds, ..." and, below it, what broke.
std::string summary_text(const Totals& totals, double seconds);

// How often each fault hit a request in each of its stages. Pairs that never came up stand there as 0.
std::string matrix_text(const Totals& totals);

// Everything else that was counted.
std::string tally_text(const Totals& totals);

}  // namespace armgate::world
