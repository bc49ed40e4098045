// armgate_load – loads one HTTPS server, or two in turn, and tells what came of it (bench/README.md).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "bench/load/summary.h"
#include "certs/record_pool.h"

namespace armgate::load {
namespace {

void show(const LoadOptions& options, const std::string& name, int round, const Snapshot& now) {
  if (options.verbosity == Verbosity::Quiet || ::isatty(STDERR_FILENO) == 0) return;
  const double whole = std::chrono::duration<double>(options.warm_up + options.duration).count();
  std::fputs(fmt::format("\r{} round {}/{}  {:3.0f}%  {} operations, {} not 2xx \x1b[K", name, round + 1, options.rounds,
                         std::min(100.0, 100 * now.elapsed / whole), now.operations, now.unsuccessful)
                 .c_str(),
             stderr);
}

// False: the file cannot be written.
bool write_result(const std::string& file, const std::string& text) {
  if (file.empty()) return true;
  if (file == "-") return std::fputs(text.c_str(), stdout) >= 0;
  std::ofstream out(file);
  out << text << std::flush;
  if (!out) std::fputs(fmt::format("armgate_load: {}: cannot be written\n", file).c_str(), stderr);
  return static_cast<bool>(out);
}

Result<std::vector<TargetResult>> run(const LoadOptions& options) {
  std::vector<Route> routes;
  std::vector<TargetResult> results;
  for (const auto& target : options.targets) {
    auto route = Route::make(target);
    if (!route) return route.error();
    routes.push_back(*std::move(route));
    results.push_back({target.name, {}});
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < routes.size(); ++i) {
      // The same operations for every target, so that a round differs by its target alone.
      const uint64_t seed = options.seed + static_cast<uint64_t>(round);
      auto result = run_round(options, options.targets[i], routes[i], seed,
                              [&](const Snapshot& now) { show(options, results[i].name, round, now); });
      if (!result) return result.error();
      if (options.verbosity == Verbosity::Progress) {
        const char* begin = ::isatty(STDERR_FILENO) == 0 ? "" : "\r";
        std::fputs(
            fmt::format("{}{} round {}/{}: {:.0f} operations/s, p50 {:.0f} us, p99 {:.0f} us, {} not 2xx\n", begin,
                        results[i].name, round + 1, options.rounds, static_cast<double>(result->operations) / result->seconds,
                        static_cast<double>(result->all.percentile(50).count()) / 1e3,
                        static_cast<double>(result->all.percentile(99).count()) / 1e3, result->unsuccessful())
                .c_str(),
            stderr);
      }
      results[i].rounds.push_back(*std::move(result));
    }
  }
  return results;
}

int main_of(int count, char** arguments) {
  certs::use_record_pool();
  std::signal(SIGPIPE, SIG_IGN);  // a server that closes while a request is being written
  const Parsed parsed = parse_arguments(count, arguments);
  if (!parsed.options) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  const LoadOptions& options = *parsed.options;
  const auto results = run(options);
  if (!results) {
    std::fputs(fmt::format("armgate_load: {}\n", results.error().context).c_str(), stderr);
    return 1;
  }
  std::vector<Summary> targets;
  bool any_success = true;
  for (const auto& result : *results) {
    targets.push_back(summarise(result));
    any_success = any_success && targets.back().all.count() > 0 && targets.back().unsuccessful < targets.back().all.count();
  }
  std::fputs(to_table(targets).c_str(), options.json_file == "-" ? stderr : stdout);
  bool written = write_result(options.json_file, to_json(options, *results, targets));
  written = write_result(options.html_file, to_html(options, *results, targets)) && written;
  return any_success && written ? 0 : 1;
}

}  // namespace
}  // namespace armgate::load

int main(int count, char** arguments) { return armgate::load::main_of(count, arguments); }
