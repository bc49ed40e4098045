// The suite proves itself: each deliberate defect must be noticed within the number of seeds that it is allowed.
#include <gtest/gtest.h>

#include "tests/gate_sim/mutants.h"
#include "tests/gate_sim/seed_file.h"

namespace armgate::world {
namespace {

class EveryMutant : public ::testing::TestWithParam<MutantCase> {};

TEST_P(EveryMutant, IsCaught) {
#ifndef ARMGATE_MUTANTS
  GTEST_SKIP() << "built without: the sanitizers see no more of a broken promise, and take minutes to say so";
#endif
  const Catch caught = hunt(GetParam());
  EXPECT_NE(caught.seeds, 0u) << GetParam().name << " ran " << GetParam().seeds_max << " seeds unnoticed";
  if (caught.seeds != 0)
    std::printf("%-28s caught after %5lu seeds as %s\n", GetParam().name.data(), caught.seeds, caught.promise.c_str());
}

std::string defect_name(const ::testing::TestParamInfo<MutantCase>& info) {
  std::string name(info.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// What a case names that there is not, would silently be left out.
TEST(Mutants, NameDisturbancesAndWorkloadsThatThereAre) {
  for (const MutantCase& mutant : mutants()) {
    for (const auto& disturbance : mutant.disturbances)
      EXPECT_TRUE(parse_disturbances(disturbance).ok()) << mutant.name << ": " << disturbance;
    const bool is_known = mutant.workload.empty() || parse_workload(mutant.workload).ok();
    EXPECT_TRUE(is_known) << mutant.name << ": " << mutant.workload;
  }
}

INSTANTIATE_TEST_SUITE_P(GateSim, EveryMutant, ::testing::ValuesIn(mutants()), defect_name);

}  // namespace
}  // namespace armgate::world
