#include "tests/gate_sim/soak_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace armgate::world {
namespace {

using Names = std::span<const std::string_view>;

// What happens to one sending to ARM (tests/support/world/sim_upstream.cc).
constexpr std::string_view kSendingFaults[] = {
    "refused connection", "lost request", "lost answer", "cut answer", "late effect", "slow", "429", "409", "5xx",
    "expired token"};
constexpr std::string_view kSendings[] = {"read", "client's poll", "write", "write again", "own poll", "own read"};

// What a client does to its own connection (tests/support/world/sim_client.cc).
constexpr std::string_view kClientFaults[] = {"left", "half-closed", "answer undelivered"};
constexpr std::string_view kClientStages[] = {"read",       "write before the queue", "write in the queue",
                                              "write sent", "write sent again",       "write being answered"};

constexpr std::string_view kBetween = " @ ";
constexpr std::string_view kCounted = "broken, but counted: ";  // tests/support/world/sim_world.cc

std::string names_of(const RunResult& result) {
  std::string names;
  for (const auto& name : result.disturbances) names += (names.empty() ? "" : ",") + name;
  return names.empty() ? "none" : names;
}

void append_matrix(const Totals& totals, std::string_view title, Names faults, Names stages, std::string& text) {
  text += fmt::format("{:<20}", title);
  for (const auto stage : stages) text += fmt::format(" {:>{}}", stage, std::max<size_t>(stage.size(), 9));
  text += '\n';
  for (const auto fault : faults) {
    text += fmt::format("  {:<18}", fault);
    for (const auto stage : stages) {
      const auto found = totals.tally.find(fmt::format("fault: {}{}{}", fault, kBetween, stage));
      const uint64_t times = found == totals.tally.end() ? 0 : found->second;
      text += fmt::format(" {:>{}}", times, std::max<size_t>(stage.size(), 9));
    }
    text += '\n';
  }
}

}  // namespace

void add(Totals& totals, uint64_t seed, const RunResult& result) {
  ++totals.runs;
  for (const auto& name : result.disturbances) ++totals.pairs[fmt::format("{} x {}", result.workload, name)];
  for (const auto& [what, times] : result.tally) {
    totals.tally[what] += times;
    if (!what.starts_with(kCounted)) continue;
    auto& law = totals.counted.try_emplace(what.substr(kCounted.size()), Totals::Counted{seed, 0, {}}).first->second;
    ++law.seeds;
    ++law.workloads[result.workload];
  }
  if (result.violations.empty()) return;
  ++totals.failed;
  const auto& violation = result.violations.front();
  auto& broken = totals.broken[fmt::format("{} {}", violation.promise, result.workload)];
  if (++broken.times == 1) {
    broken.first_seed = seed;
    broken.what = violation.what;
    broken.repeat = repeat_command(seed, result);
  }
}

// A run that crashed could not tell what it had drawn.
std::string repeat_command(uint64_t seed, const RunResult& result) {
  const std::string program = fmt::format("build/release/tests/gate_sim --seed {}", seed);
  if (result.workload.empty()) return program + " --trace";
  return fmt::format("{} --workload {} --disturb {} --trace", program, result.workload, names_of(result));
}

std::string failure_text(uint64_t seed, const RunResult& result, size_t tail_lines) {
  std::string text = fmt::format("seed {} FAILED", seed);
  text += result.workload.empty() ? "\n" : fmt::format(": {} with {}\n", result.workload, names_of(result));
  for (const auto& violation : result.violations) text += fmt::format("  {}: {}\n", violation.promise, violation.what);
  const size_t from = result.tail.size() > tail_lines ? result.tail.size() - tail_lines : 0;
  for (size_t i = from; i < result.tail.size(); ++i) text += fmt::format("    {}\n", result.tail[i]);
  return text + fmt::format("  repeat: {}\n", repeat_command(seed, result));
}

std::string summary_text(const Totals& totals, double seconds) {
  std::string text =
      fmt::format("{} seeds, {} failed, {:.1f} seeds/s, {} workload-fault pairs of {} met\n", totals.runs, totals.failed,
                  static_cast<double>(totals.runs) / seconds, totals.pairs.size(), workloads().size() * disturbances().size());
  for (const auto& [what, where] : totals.broken) {
    text += fmt::format("  broken: {}: {} times, first at seed {}: {}\n    repeat: {}\n", what, where.times, where.first_seed,
                        where.what, where.repeat);
  }
  for (const auto& [what, where] : totals.counted) {
    text += fmt::format("  counted: {}: {} seeds, first at seed {}:", what, where.seeds, where.first_seed);
    for (const auto& [workload, seeds] : where.workloads) text += fmt::format(" {} {}", workload, seeds);
    text += '\n';
  }
  return text;
}

std::string matrix_text(const Totals& totals) {
  std::string text;
  append_matrix(totals, "sendings to ARM", kSendingFaults, kSendings, text);
  append_matrix(totals, "clients", kClientFaults, kClientStages, text);
  return text;
}

std::string tally_text(const Totals& totals) {
  std::string text;
  for (const auto& [what, times] : totals.tally) {
    if (what.find(kBetween) == std::string::npos) text += fmt::format("  {:>9} {}\n", times, what);
  }
  return text;
}

}  // namespace armgate::world
