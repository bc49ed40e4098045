// gate_sim – runs simulated worlds by their seeds and tells which promise broke under which.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include "tests/gate_sim/scenario.h"

namespace {

using namespace armgate::world;

struct Totals {
  uint64_t runs = 0;
  uint64_t failed = 0;
  std::map<std::string, uint64_t> pairs;   // workload x disturbance
  std::map<std::string, uint64_t> tally;
  std::map<std::string, std::pair<uint64_t, uint64_t>> broken;  // "P1 tags": first seed, times
};

void report_failure(const Scenario& scenario, const RunResult& result, size_t tail_lines) {
  std::string with;
  for (const auto& name : result.disturbances) with += (with.empty() ? "" : ",") + name;
  fmt::print("seed {} FAILED: {} with [{}]\n", scenario.seed, result.workload, with);
  for (const auto& violation : result.violations) fmt::print("  {}: {}\n", violation.promise, violation.what);
  const size_t from = result.tail.size() > tail_lines ? result.tail.size() - tail_lines : 0;
  for (size_t i = from; i < result.tail.size(); ++i) fmt::print("    {}\n", result.tail[i]);
}

void count(Totals& totals, const Scenario& scenario, const RunResult& result) {
  ++totals.runs;
  for (const auto& name : result.disturbances) ++totals.pairs[fmt::format("{} x {}", result.workload, name)];
  for (const auto& [what, times] : result.tally) totals.tally[what] += times;
  if (result.violations.empty()) return;
  ++totals.failed;
  const auto [it, first] = totals.broken.try_emplace(
      fmt::format("{} {}", result.violations.front().promise, result.workload), scenario.seed, 0);
  ++it->second.second;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Simulated worlds around armgate's pipeline"};
  std::string seeds = "1..1000";
  std::string seed;
  std::string disturb;
  Scenario scenario;
  bool trace = false;
  bool quiet = false;
  size_t tail = 0;
  app.add_option("--seed", seed, "one seed");
  app.add_option("--seeds", seeds, "a range, A..B");
  app.add_option("--workload", scenario.workload, "this one only");
  app.add_option("--disturb", disturb, "these only, separated by commas; none: a kind world");
  app.add_option("--tail", tail, "lines of trace to show for a failure");
  app.add_flag("--trace", trace, "print everything that happens");
  app.add_flag("--quiet", quiet, "only the summary");
  CLI11_PARSE(app, argc, argv);
  if (!seed.empty()) seeds = seed + ".." + seed;
  if (trace) scenario.echo = armgate::world::Trace::Echo::On;
  const size_t dots = seeds.find("..");
  const uint64_t first = std::stoull(seeds);
  const uint64_t last = dots == seeds.npos ? first : std::stoull(seeds.substr(dots + 2));
  for (const auto& name : CLI::detail::split(disturb, ',')) {
    if (!name.empty()) scenario.disturbances.push_back(name);
  }

  Totals totals;
  const auto start = std::chrono::file_clock::now();
  for (uint64_t i = first; i <= last; ++i) {
    scenario.seed = i;
    const RunResult result = run_scenario(scenario);
    count(totals, scenario, result);
    if (!result.violations.empty() && !quiet) report_failure(scenario, result, tail);
    if (first == last) fmt::print("seed {} hash {}\n", i, result.hash.hex());
    std::fflush(stdout);
  }
  const double spent = std::chrono::duration<double>(std::chrono::file_clock::now() - start).count();
  fmt::print("{} seeds, {} failed, {:.1f} seeds/s, {} workload-fault pairs of {} met\n", totals.runs, totals.failed,
             static_cast<double>(totals.runs) / spent, totals.pairs.size(), workloads().size() * disturbances().size());
  for (const auto& [what, where] : totals.broken) {
    fmt::print("  broken: {}: {} times, first at seed {}\n", what, where.second, where.first);
  }
  if (quiet || first == last) {
    for (const auto& [what, times] : totals.tally) fmt::print("  {:>9} {}\n", times, what);
  }
  return totals.failed == 0 ? 0 : 1;
}
