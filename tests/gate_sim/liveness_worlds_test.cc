// Goal: in worlds without disturbances everyone gets through (docs/design.md, "Getting through"). Method: each workload of
// liveness under a fixed run of seeds, with the laws forbidden. ARM is busy and loses answers in two of three of these worlds all
// the same.
// Mutants: mutants.cc.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gate_sim/workloads/scenario.h"
#include "tests/support/active_mutant.h"

namespace armgate::world {
namespace {

#ifdef ARMGATE_MUTANTS
constexpr uint64_t kWorldSeeds = 100;
#else
constexpr uint64_t kWorldSeeds = 20;  // the sanitizers look at memory, and take five times as long
#endif

class Everyone : public ::testing::TestWithParam<Workload> {};

TEST_P(Everyone, GetsThrough) {
  Scenario scenario;
  scenario.workload = GetParam().name;
  scenario.disturbances = {"none"};
  scenario.liveness = Liveness::Forbidden;
  // Of L4 alone: several who were refused twice follow each other, and what ARM says of one in its turn may cost the next its own.
  int in_a_row = 0;
  for (scenario.seed = 1; scenario.seed <= kWorldSeeds; ++scenario.seed) {
    for (const Violation& violation : run_scenario(scenario).violations) {
      if (violation.promise == to_text(Law::L4) && ++in_a_row <= 2) continue;
      ADD_FAILURE() << "gate_sim --seed " << scenario.seed << " --workload " << scenario.workload
                    << " --disturb none --strict\n  " << violation.promise << ": " << violation.what;
    }
  }
}

// How many of ten worlds of replicas starve somebody. ARM fails and loses answers in them, which may cost a client its turn.
size_t worlds_that_starve_somebody() {
  Scenario scenario;
  scenario.workload = "quick-counters";
  scenario.disturbances = {"replicas"};
  scenario.liveness = Liveness::Forbidden;
  size_t starved = 0;
  for (scenario.seed = 1; scenario.seed <= 10; ++scenario.seed) {
    const auto found = run_scenario(scenario).violations;
    starved += std::ranges::any_of(found, [](const Violation& v) { return v.promise == to_text(Law::L4); }) ? 1 : 0;
  }
  return starved;
}

TEST(Replicas, GiveTurnsTogether) {
  EXPECT_LE(worlds_that_starve_somebody(), 1u);
#ifdef ARMGATE_MUTANTS
  set_mutant(Mutant::NoTurns);
  EXPECT_GE(worlds_that_starve_somebody(), 8u) << "they are given for nothing";
  set_mutant(Mutant::None);
#endif
}

std::string world_name(const ::testing::TestParamInfo<Workload>& info) {
  std::string name(info.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(GateSim, Everyone, ::testing::ValuesIn(liveness_workloads()), world_name);

}  // namespace
}  // namespace armgate::world
