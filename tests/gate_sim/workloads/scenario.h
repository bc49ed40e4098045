// scenario.h – the two lists of which every simulated run combines one workload with some disturbances.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/gate_sim/workloads/subjects.h"
#include "tests/support/world/sim_world.h"

namespace armgate::world {

struct Workload {
  std::string_view name;
  void (*configure)(WorldOptions& options);  // before the world is made
  Subject (*start)(SimWorld& world);         // what its clients work on
};

// Whether seeds draw it, or it happens only where it is asked for: it changes what is checked.
enum class Drawn { BySeed, ByNameOnly };

struct Disturbance {
  std::string_view name;
  void (*configure)(WorldOptions& options, Rng& rng);
  // Never together with these workloads: there the harm would be the disturbance's own, not armgate's.
  std::vector<std::string_view> not_with{};
  // What it does while the world runs; null: nothing.
  void (*start)(SimWorld& world, const Subject& subject) = nullptr;
  Drawn drawn = Drawn::BySeed;
};

const std::vector<Workload>& workloads();           // all of them
const std::vector<Workload>& crowded_workloads();   // those of workloads_crowded.cc
const std::vector<Workload>& hidden_workloads();    // those of workloads_hidden.cc
const std::vector<Workload>& budget_workloads();    // those of workloads_budget.cc
const std::vector<Workload>& merging_workloads();   // those of workloads_merging.cc
const std::vector<Workload>& liveness_workloads();  // those of workloads_liveness.cc
const std::vector<Disturbance>& disturbances();

struct Scenario {
  uint64_t seed = 1;
  std::string workload;                   // empty: the seed chooses
  std::vector<std::string> disturbances;  // empty: the seed chooses; {"none"}: a kind world
  Trace::Echo echo = Trace::Echo::Off;
  std::optional<Liveness> liveness;  // of all laws; without it, as promise_of() has it
};

struct RunResult {
  std::string workload;
  std::vector<std::string> disturbances;
  std::vector<Violation> violations;
  std::vector<std::string> tail;
  Hash128 hash{};
  std::map<std::string, uint64_t> tally;
  Duration lasted{};
};

RunResult run_scenario(const Scenario& scenario);

}  // namespace armgate::world
