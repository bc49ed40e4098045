// gate_sim – runs simulated worlds by their seeds and tells which promise broke under which.
#include <absl/synchronization/mutex.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "tests/gate_sim/mutants.h"
#include "tests/gate_sim/seed_file.h"
#include "tests/gate_sim/soak_report.h"
#include "tests/gate_sim/soak_workers.h"
#include "tests/support/active_mutant.h"

namespace {

using namespace armgate::world;

volatile std::sig_atomic_t g_interrupted = 0;

struct Options {
  std::string seed;
  std::string seeds;
  std::string workload;
  std::string mutant;
  std::string disturb;
  std::string file;
  double seconds = 0;
  int jobs = 1;
  size_t tail = 0;
  bool trace = false;
  bool quiet = false;
  bool strict = false;
};

double now() { return std::chrono::duration<double>(std::chrono::file_clock::now().time_since_epoch()).count(); }

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// "A..B", "A.." or "A".
std::optional<SeedRange> parse_range(std::string_view text) {
  const size_t dots = text.find("..");
  const auto first = parse_number(text.substr(0, dots));
  if (!first) return std::nullopt;
  if (dots == text.npos) return SeedRange{*first, *first};
  if (dots + 2 == text.size()) return SeedRange{*first, std::numeric_limits<uint64_t>::max() - 1};
  const auto last = parse_number(text.substr(dots + 2));
  return last ? std::optional(SeedRange{*first, *last}) : std::nullopt;
}

int usage_error(const std::string& message) {
  fmt::print(stderr, "gate_sim: {}\n", message);
  return 2;
}

// In this process, with everything that can be told of it.
int run_one(const Scenario& scenario, const Options& options) {
  const RunResult result = run_scenario(scenario);
  if (!result.violations.empty()) fmt::print("{}", failure_text(scenario.seed, result, options.tail));
  fmt::print("seed {} hash {}\n", scenario.seed, result.hash.hex());
  Totals totals;
  add(totals, scenario.seed, result);
  fmt::print("{}", tally_text(totals));
  return result.violations.empty() ? 0 : 1;
}

int run_file(const Options& options) {
  std::ifstream file(options.file);
  if (!file) return usage_error(fmt::format("{} cannot be read", options.file));
  const auto lines = parse_seed_file(options.file, std::string{std::istreambuf_iterator<char>(file), {}});
  if (!lines) return usage_error(lines.error().context);
  size_t failed = 0;
  for (const SeedLine& line : *lines) {
    const RunResult result = run_scenario(line.scenario);
    if (result.violations.empty()) continue;
    ++failed;
    fmt::print("{}:{}: again: {}\n{}", options.file, line.line, line.sentence,
               failure_text(line.scenario.seed, result, options.tail));
  }
  fmt::print("{} seeds of {}, {} failed\n", lines->size(), options.file, failed);
  return failed == 0 ? 0 : 1;
}

int run_many(const SeedRange& seeds, const Scenario& scenario, const Options& options) {
  const bool shows_progress = isatty(STDERR_FILENO) != 0;
  const double start = now();
  const auto clear_progress = [&] {
    if (shows_progress) fmt::print(stderr, "\r\x1b[K");
  };
  Totals totals;
  Soak soak;
  soak.seeds = seeds;
  soak.scenario = scenario;
  soak.workers = options.jobs;
  soak.elapsed = [&] { return now() - start; };
  soak.wants_end = [&] { return g_interrupted != 0 || (options.seconds > 0 && soak.elapsed() >= options.seconds); };
  soak.finished = [&](uint64_t seed, const RunResult& result) {
    add(totals, seed, result);
    if (result.violations.empty() || options.quiet) return;
    clear_progress();
    fmt::print("{}", failure_text(seed, result, options.tail));
    std::fflush(stdout);
  };
  soak.tick = [&] {
    if (!shows_progress) return;
    fmt::print(stderr, "\r{} seeds, {} failed, {:.0f} seeds/s, {:.0f} s\x1b[K", totals.runs, totals.failed,
               static_cast<double>(totals.runs) / soak.elapsed(), soak.elapsed());
  };
  std::signal(SIGINT, [](int) { g_interrupted = 1; });
  std::signal(SIGTERM, [](int) { g_interrupted = 1; });
  run_seeds(soak);
  clear_progress();
  fmt::print("{}{}", summary_text(totals, soak.elapsed()), matrix_text(totals));
  if (options.quiet) fmt::print("{}", tally_text(totals));
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Simulated worlds around armgate's pipeline"};
  Options options;
  app.option_defaults()->take_last();  // of `make soak` and of its ARGS
  app.add_option("--seed", options.seed, "one seed");
  app.add_option("--seeds", options.seeds, "a range, A..B, or A.. with --for (1..1000)");
  app.add_option("--file", options.file, "the seeds of a file like tests/gate_sim/seeds.txt");
  app.add_option("--for", options.seconds, "end after so many seconds")->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "seeds at once, each in a process of its own")->check(CLI::Range(1, 256));
  app.add_option("--workload", options.workload, "this one only");
  app.add_option("--disturb", options.disturb, "these only, separated by commas; none: a kind world");
  app.add_option("--mutant", options.mutant, "with this deliberate defect of base/mutant.h");
  app.add_option("--tail", options.tail, "lines of trace to show for a failure");
  app.add_flag("--trace", options.trace, "print everything that happens");
  app.add_flag("--strict", options.strict, "laws that the present core is known to break fail a seed, too (liveness_laws.h)");
  app.add_flag("--quiet", options.quiet, "only the summary");
  CLI11_PARSE(app, argc, argv);
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // one thread cannot run into one
  if (!options.mutant.empty()) {
    const MutantCase* mutant = find_mutant(options.mutant);
    if (mutant == nullptr) return usage_error(fmt::format("--mutant {}: not one of base/mutant.h", options.mutant));
    set_mutant(mutant->mutant);
  }
  if (!options.file.empty()) return run_file(options);

  Scenario scenario;
  scenario.echo = options.trace ? Trace::Echo::On : Trace::Echo::Off;
  if (options.strict) scenario.liveness = Liveness::Forbidden;
  if (!options.workload.empty()) {
    const auto workload = parse_workload(options.workload);
    if (!workload) return usage_error(workload.error().context);
    scenario.workload = *workload;
  }
  if (!options.disturb.empty()) {
    const auto disturbances = parse_disturbances(options.disturb);
    if (!disturbances) return usage_error(disturbances.error().context);
    scenario.disturbances = *disturbances;
  }
  if (!options.seed.empty()) {
    const auto seed = parse_number(options.seed);
    if (!seed) return usage_error(fmt::format("--seed {} is no number", options.seed));
    scenario.seed = *seed;
    return run_one(scenario, options);
  }
  if (options.seeds.empty()) options.seeds = options.seconds > 0 ? "1.." : "1..1000";
  const auto seeds = parse_range(options.seeds);
  if (!seeds) return usage_error(fmt::format("--seeds {} is no range; write A..B", options.seeds));
  return run_many(*seeds, scenario, options);
}
