// The promises of the design, held by the production pipeline in simulated worlds.
#include <gtest/gtest.h>

#include "tests/gate_sim/scenario.h"

namespace armgate::world {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kSeeds = 1000;  // the sanitizers cost a factor of eight
#elif defined(NDEBUG)
constexpr uint64_t kSeeds = 3000;  // about half a minute; gate_sim runs as many as one likes
#else
constexpr uint64_t kSeeds = 800;
#endif

std::string told(const Scenario& scenario, const RunResult& result) {
  std::string text = "gate_sim --seed " + std::to_string(scenario.seed) + " (" + result.workload + ")\n";
  for (const auto& violation : result.violations) text += "  " + violation.promise + ": " + violation.what + "\n";
  for (const auto& line : result.tail) text += "    " + line + "\n";
  return text;
}

TEST(GateSim, EveryPromiseHoldsUnderEveryCombination) {
  int failures = 0;
  for (uint64_t seed = 1; seed <= kSeeds && failures < 3; ++seed) {
    Scenario scenario;
    scenario.seed = seed;
    const RunResult result = run_scenario(scenario);
    if (result.violations.empty()) continue;
    ++failures;
    ADD_FAILURE() << told(scenario, result);
  }
}

TEST(GateSim, InAKindWorldEveryChangeGetsThrough) {
  for (const auto& workload : workloads()) {
    Scenario scenario;
    scenario.workload = workload.name;
    scenario.disturbances = {"none"};
    const RunResult result = run_scenario(scenario);
    EXPECT_TRUE(result.violations.empty()) << told(scenario, result);
    EXPECT_FALSE(result.tally.contains("changes given up")) << told(scenario, result);
  }
}

TEST(GateSim, OneSeedIsOneRun) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Scenario scenario;
    scenario.seed = seed;
    EXPECT_EQ(run_scenario(scenario).hash, run_scenario(scenario).hash) << seed;
  }
}

}  // namespace
}  // namespace armgate::world
