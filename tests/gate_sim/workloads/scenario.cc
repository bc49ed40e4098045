#include "tests/gate_sim/workloads/scenario.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "tests/gate_sim/workloads/world_rules.h"

namespace armgate::world {
namespace {

const Workload& workload_of(const Scenario& scenario, Rng& rng) {
  const auto& all = workloads();
  const uint64_t drawn = rng.below(all.size());
  const auto named = std::find_if(all.begin(), all.end(), [&](const Workload& w) { return w.name == scenario.workload; });
  return named == all.end() ? all[drawn] : *named;
}

bool excludes(const Disturbance& disturbance, const Workload& workload) {
  const auto& names = disturbance.not_with;
  return std::find(names.begin(), names.end(), workload.name) != names.end();
}

// The named ones, else up to three that the seed draws.
std::vector<const Disturbance*> disturbances_of(const Scenario& scenario, const Workload& workload, Rng& rng) {
  std::vector<const Disturbance*> chosen;
  std::vector<const Disturbance*> to_draw;
  for (const auto& disturbance : disturbances()) {
    if (disturbance.drawn == Drawn::BySeed) to_draw.push_back(&disturbance);
  }
  const uint64_t wanted = rng.below(4);
  for (uint64_t i = 0; scenario.disturbances.empty() && i < wanted; ++i) {
    const Disturbance* drawn = to_draw[rng.below(to_draw.size())];
    if (std::find(chosen.begin(), chosen.end(), drawn) == chosen.end()) chosen.push_back(drawn);
  }
  for (const auto& name : scenario.disturbances) {
    for (const auto& disturbance : disturbances()) {
      if (disturbance.name == name) chosen.push_back(&disturbance);
    }
  }
  std::erase_if(chosen, [&](const Disturbance* d) { return excludes(*d, workload); });
  return chosen;
}

}  // namespace

RunResult run_scenario(const Scenario& scenario) {
  Rng rng(scenario.seed * 0x9e3779b97f4a7c15ULL + 1);
  const Workload& workload = workload_of(scenario, rng);
  const auto chosen = disturbances_of(scenario, workload, rng);
  WorldOptions options;
  options.seed = scenario.seed;
  options.rules = world_rules();
  options.errors = world_errors();
  options.facts = world_facts();
  options.echo = scenario.echo;
  options.liveness = scenario.liveness;
  workload.configure(options);
  // A seed with names is the same run whatever was drawn before, and whatever the lists hold when it is run again.
  for (const auto* disturbance : chosen) {
    Rng strength(Hasher(HashKey{scenario.seed, 3}).hash(disturbance->name).low);
    disturbance->configure(options, strength);
  }

  SimWorld world(std::move(options));
  const Subject subject = workload.start(world);
  for (const auto* disturbance : chosen) {
    if (disturbance->start != nullptr) disturbance->start(world, subject);
  }
  const TimePoint start = world.clock().now();
  world.run();

  RunResult result;
  result.workload = workload.name;
  for (const auto* disturbance : chosen) result.disturbances.emplace_back(disturbance->name);
  result.violations = world.checkers().violations();
  result.tail.assign(world.trace().tail().begin(), world.trace().tail().end());
  result.hash = world.trace().hash();
  result.tally = world.tally();
  for (const auto& [fault, count] : world.upstream().counts()) result.tally["fault: " + fault] += count;
  result.lasted = world.clock().now() - start;
  return result;
}

}  // namespace armgate::world
