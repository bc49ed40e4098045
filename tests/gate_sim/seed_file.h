// seed_file.h – the seeds that once failed, a line each: "seed workload disturbances # what went wrong".
//
// Why: workload and disturbances stand there by name because what a seed draws changes with every workload that is added;
// with the names given the run stays the same. "none" stands for no disturbance; several are separated by commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {

struct SeedLine {
  Scenario scenario;
  std::string sentence;
  int line = 0;
};

// Every line of `text`; the error names `file`, the line and what is wrong with it.
Result<std::vector<SeedLine>> parse_seed_file(const std::string& file, std::string_view text);

// The names of a list like "lossy,slow-arm", each of which must be known.
Result<std::vector<std::string>> parse_disturbances(std::string_view text);
Result<std::string> parse_workload(std::string_view text);

}  // namespace armgate::world
