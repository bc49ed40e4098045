#include "bench/load/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "json/tree.h"

namespace armgate::load {
namespace {

using Json = nlohmann::ordered_json;

double in_us(Duration duration) { return static_cast<double>(duration.count()) / 1e3; }

double median_of(const std::vector<RoundResult>& rounds, const std::function<double(const RoundResult&)>& value) {
  std::vector<double> values;
  std::ranges::transform(rounds, std::back_inserter(values), value);
  return median(std::move(values));
}

double each(double total, uint64_t count) { return count == 0 ? 0 : total / static_cast<double>(count); }

Json latency_of(const Histogram& histogram) {
  Json json{{"count", histogram.count()}, {"mean", in_us(histogram.mean())}};
  for (const double percent : kPercentiles) json[fmt::format("p{}", percent)] = in_us(histogram.percentile(percent));
  json["max"] = in_us(histogram.max());
  return json;
}

Json json_of(const RoundResult& round) {
  return {{"seconds", round.seconds},
          {"operations", round.operations},
          {"requests", round.requests},
          {"body_bytes", round.body_bytes},
          {"unsuccessful", round.unsuccessful()},
          {"not_ended", round.not_ended},
          {"latency_us", latency_of(round.all)},
          {"cpu_user_us", round.cpu_user_us},
          {"cpu_system_us", round.cpu_system_us},
          {"instructions", round.instructions},
          {"user_instructions", round.user_instructions},
          {"resident_kb", round.resident_kb},
          {"operations_per_second", round.per_second}};
}

Json json_of(const Summary& summary) {
  Json json{{"name", summary.name},
            {"operations_per_second", summary.operations_per_second},
            {"megabytes_per_second", summary.megabytes_per_second},
            {"requests", summary.requests},
            {"unsuccessful", summary.unsuccessful},
            {"not_ended", summary.not_ended},
            {"cpu_us_per_request", summary.cpu_us},
            {"cpu_user_us_per_request", summary.cpu_user_us},
            {"cpu_system_us_per_request", summary.cpu_system_us},
            {"kinstructions_per_request", summary.kinstructions},
            {"user_kinstructions_per_request", summary.user_kinstructions},
            {"resident_kb", summary.resident_kb},
            {"latency_us", latency_of(summary.all)}};
  for (const auto& [kind, histogram] : summary.latency) json["latency_us_by_kind"][kind] = latency_of(histogram);
  for (const auto& [status, times] : summary.statuses) json["statuses"][std::to_string(status)] = times;
  for (const auto& [failure, times] : summary.failures) json["failures"][failure] = times;
  return json;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Summary summarise(const TargetResult& target) {
  Summary summary;
  const auto& rounds = target.rounds;
  summary.name = target.name;
  const auto rate = [](double total, const RoundResult& r) { return r.seconds > 0 ? total / r.seconds : 0; };
  summary.operations_per_second = median_of(rounds, [&](auto& r) { return rate(static_cast<double>(r.operations), r); });
  summary.megabytes_per_second = median_of(rounds, [&](auto& r) { return rate(static_cast<double>(r.body_bytes) / 1e6, r); });
  summary.cpu_user_us = median_of(rounds, [](auto& r) { return each(r.cpu_user_us, r.requests); });
  summary.cpu_system_us = median_of(rounds, [](auto& r) { return each(r.cpu_system_us, r.requests); });
  summary.cpu_us = median_of(rounds, [](auto& r) { return each(r.cpu_user_us + r.cpu_system_us, r.requests); });
  summary.kinstructions = median_of(rounds, [](auto& r) { return each(r.instructions / 1e3, r.requests); });
  summary.user_kinstructions = median_of(rounds, [](auto& r) { return each(r.user_instructions / 1e3, r.requests); });
  summary.resident_kb = median_of(rounds, [](auto& r) { return static_cast<double>(r.resident_kb); });
  for (const auto& round : rounds) {
    summary.all.add(round.all);
    for (const auto& [kind, histogram] : round.latency) summary.latency[kind].add(histogram);
    for (const auto& [status, times] : round.statuses) summary.statuses[status] += times;
    for (const auto& [failure, times] : round.failures) summary.failures[failure] += times;
    summary.requests += round.requests;
    summary.unsuccessful += round.unsuccessful();
    summary.not_ended += round.not_ended;
  }
  summary.mean_us = in_us(summary.all.mean());
  for (const double percent : kPercentiles) summary.percentiles_us.push_back(in_us(summary.all.percentile(percent)));
  summary.max_us = in_us(summary.all.max());
  return summary;
}

std::string to_table(const std::vector<Summary>& targets) {
  const auto known = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : std::string("-"); };
  std::string text = fmt::format("{:<16}{:>10}{:>9}{:>9}{:>9}{:>10}{:>10}{:>9}{:>9}{:>9}{:>9}\n", "target", "ops/s", "MB/s",
                                 "p50 us", "p99 us", "p99.9 us", "max us", "cpu us", "kinstr", "RSS MB", "not 2xx");
  for (const auto& t : targets) {
    text += fmt::format("{:<16}{:>10.0f}{:>9.1f}{:>9.0f}{:>9.0f}{:>10.0f}{:>10.0f}{:>9}{:>9}{:>9}{:>9}\n", t.name,
                        t.operations_per_second, t.megabytes_per_second, t.percentiles_us[0], t.percentiles_us[2],
                        t.percentiles_us[3], t.max_us, known(t.cpu_us), known(t.kinstructions), known(t.resident_kb / 1024),
                        t.unsuccessful);
  }
  if (targets.size() == 2) {
    const auto ratio = [](double a, double b) { return a > 0 && b > 0 ? fmt::format("{:.2f}", a / b) : std::string("-"); };
    const Summary& a = targets[0];
    const Summary& b = targets[1];
    text += fmt::format("{:<16}{:>10}{:>9}{:>9}{:>9}{:>10}{:>10}{:>9}{:>9}{:>9}\n", "first / second",
                        ratio(a.operations_per_second, b.operations_per_second),
                        ratio(a.megabytes_per_second, b.megabytes_per_second), ratio(a.percentiles_us[0], b.percentiles_us[0]),
                        ratio(a.percentiles_us[2], b.percentiles_us[2]), ratio(a.percentiles_us[3], b.percentiles_us[3]),
                        ratio(a.max_us, b.max_us), ratio(a.cpu_us, b.cpu_us), ratio(a.kinstructions, b.kinstructions),
                        ratio(a.resident_kb, b.resident_kb));
  }
  for (const auto& t : targets) {
    for (const auto& [failure, times] : t.failures) text += fmt::format("{}: {} x {}\n", t.name, times, failure);
    for (const auto& [status, times] : t.statuses) {
      if (status != 0 && !arm::is_success(status)) text += fmt::format("{}: {} x status {}\n", t.name, times, status);
    }
    if (t.not_ended > 0) text += fmt::format("{}: {} operations had not ended when the run did\n", t.name, t.not_ended);
  }
  return text;
}

std::string to_json(const LoadOptions& options, const std::vector<TargetResult>& results, const std::vector<Summary>& targets) {
  Json json{{"connections", options.connections},
            {"reuse", options.reuse == Connections::New ? "new" : "kept"},
            {"rate", options.rate},
            {"mix", {{"get", options.mix.get}, {"put", options.mix.put}, {"rmw", options.mix.update}}},
            {"resources", options.resources},
            {"zipf", options.zipf},
            {"own_resources", options.pick == Pick::OwnOfConnection},
            {"path", options.path},
            {"put_bytes", options.body.size()},
            {"seed", options.seed}};
  for (size_t i = 0; i < targets.size(); ++i) {
    Json target = json_of(targets[i]);
    for (const auto& round : results[i].rounds) target["rounds"].push_back(json_of(round));
    json["targets"].push_back(std::move(target));
  }
  return json.dump(2) + "\n";
}

}  // namespace armgate::load
