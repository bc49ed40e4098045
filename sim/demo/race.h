// race.h – one phase of the demo: all clients at once, over one route.
#pragma once

#include <functional>

#include "base/result.h"
#include "proxy/seams/clock.h"
#include "sim/demo/client.h"
#include "sim/sim_options.h"

namespace armgate::sim {

struct RaceResult {
  Tally tally;    // what the clients saw
  Report report;  // what the simulated ARM saw; only the counts of harm are filled in
  Duration lasted{};

  uint64_t lost() const { return report.lost_updates + report.lost_increments; }
  uint64_t overlaps() const { return report.overlaps_attempted + report.overlaps_accepted; }
};

// The clients' names, for armgate's configuration.
std::vector<std::string> demo_client_names();

// Called now and then while the race runs.
using ShowProgress = std::function<void(const Tally& tally, Duration lasted)>;

// Resets the simulated ARM that `straight` leads to, prepares the shared resources, lets the clients race over `route`
// and asks for the judge's report.
Task<Result<RaceResult>> run_race(Executor executor, Clock& clock, Route straight, Route route, Duration most,
                                  ShowProgress show);

}  // namespace armgate::sim
