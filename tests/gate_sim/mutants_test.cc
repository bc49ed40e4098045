// The suite proves itself: each deliberate defect must be noticed within the number of seeds that it is allowed.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/gate_sim/mutants.h"
#include "tests/gate_sim/seed_file.h"
#include "tests/support/checkers/liveness_laws.h"

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

// A law that only one defect breaks may have a checker that looks for that defect.
TEST(Mutants, TwoAtLeastBreakEachLawOfGettingThrough) {
#ifndef ARMGATE_MUTANTS
  GTEST_SKIP() << "built without";
#endif
  std::map<std::string, std::vector<std::string_view>> breakers;
  for (const MutantCase& mutant : mutants()) {
    if (mutant.liveness != Liveness::Forbidden) continue;
    for (const auto& promise : hunt(mutant).promises) breakers[promise].push_back(mutant.name);
  }
  for (const Law law : {Law::L1, Law::L2, Law::L3, Law::L4}) {
    const std::string name(to_text(law));
    EXPECT_GE(breakers[name].size(), 2u) << name;
    for (const auto breaker : breakers[name]) std::printf("%s is broken by %s\n", name.c_str(), breaker.data());
  }
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
