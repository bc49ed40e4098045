// summary.h – the rounds of each target put together: medians of rounds, one histogram of all, ratios between targets.
#pragma once

#include <string>
#include <vector>

#include "bench/load/options.h"
#include "bench/load/round.h"

namespace armgate::load {

struct TargetResult {
  std::string name;
  std::vector<RoundResult> rounds;
};

// Medians of the rounds. What was not measured is zero.
struct Summary {
  std::string name;
  double operations_per_second = 0;
  double megabytes_per_second = 0;
  double mean_us = 0;                  // of all rounds together, like the percentiles
  std::vector<double> percentiles_us;  // of kPercentiles
  double max_us = 0;
  double cpu_us = 0;  // for each request
  double cpu_user_us = 0;
  double cpu_system_us = 0;
  double kinstructions = 0;
  double user_kinstructions = 0;
  double resident_kb = 0;
  uint64_t requests = 0;
  uint64_t unsuccessful = 0;
  uint64_t not_ended = 0;
  Histogram all;
  std::map<std::string, Histogram> latency;
  std::map<int, uint64_t> statuses;
  std::map<std::string, uint64_t> failures;
};

inline constexpr double kPercentiles[] = {50, 90, 99, 99.9, 99.99};

double median(std::vector<double> values);
Summary summarise(const TargetResult& target);

std::string to_table(const std::vector<Summary>& targets);
std::string to_json(const LoadOptions& options, const std::vector<TargetResult>& results, const std::vector<Summary>& targets);
// One file that needs no other: the plots are inline SVG.
std::string to_html(const LoadOptions& options, const std::vector<TargetResult>& results, const std::vector<Summary>& targets);

}  // namespace armgate::load
