// round.h – one round of load on one target, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/load/connection.h"
#include "bench/load/histogram.h"
#include "bench/load/options.h"
#include "bench/load/process_cost.h"

namespace armgate::load {

struct RoundResult {
  // Of operations that were due in the measured time, however late they ended; by kind: "get", "put", "rmw".
  std::map<std::string, Histogram> latency;
  Histogram all;
  std::map<int, uint64_t> statuses;          // of requests; 0: none came
  std::map<std::string, uint64_t> failures;  // of requests without an answer, by what happened
  std::vector<uint64_t> per_second;          // operations ended in each second of the measured time
  double seconds = 0;                        // the measured time as it was
  uint64_t operations = 0;                   // ended in it, successful or not
  uint64_t requests = 0;                     // ended in it (a read-modify-write is two)
  uint64_t body_bytes = 0;
  uint64_t not_ended = 0;  // still running when the timeout after the round was over
  double cpu_user_us = 0;  // of the target's process, in the measured time
  double cpu_system_us = 0;
  double instructions = 0;  // 0: not counted
  double user_instructions = 0;
  uint64_t resident_kb = 0;

  uint64_t unsuccessful() const;  // requests without a 2xx
};

// What a progress display shows.
struct Snapshot {
  double elapsed = 0;  // seconds since the beginning of the warm-up
  uint64_t operations = 0;
  uint64_t unsuccessful = 0;
};

// `on_progress` is called about every quarter of a second.
Result<RoundResult> run_round(const LoadOptions& options, const Target& target, const Route& route, uint64_t seed,
                              const std::function<void(const Snapshot&)>& on_progress);

}  // namespace armgate::load
