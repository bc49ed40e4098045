#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/load/replace.h"
#include "bench/load/summary.h"

namespace armgate::load {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 300;
constexpr double kLeft = 70;
constexpr double kBottom = 40;
constexpr const char* kColours[] = {"#0b62c4", "#c4520b"};

std::string escaped(std::string_view text) {
  return replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), "\"", "&quot;");
}

// A plot with its axes; points are given in shares of the drawing area, from the lower left.
class Plot {
 public:
  Plot() : svg_(fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">", kWidth, kHeight + kBottom)) {}

  void line(const std::vector<std::pair<double, double>>& points, const char* colour) {
    std::string text;
    for (const auto& [x, y] : points) text += fmt::format("{:.1f},{:.1f} ", at_x(x), at_y(y));
    svg_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>", text, colour);
  }
  void mark_x(double x, const std::string& label) {
    svg_ += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\" class=\"grid\"/>", at_x(x), kHeight);
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", at_x(x), kHeight + 18, label);
  }
  void mark_y(double y, const std::string& label) {
    svg_ += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>", kLeft, kWidth, at_y(y));
    svg_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 6, at_y(y) + 4, label);
  }
  std::string finish() const { return svg_ + "</svg>"; }

 private:
  static double at_x(double share) { return kLeft + share * (kWidth - kLeft - 10); }
  static double at_y(double share) { return kHeight - share * (kHeight - 10); }
  std::string svg_;
};

std::string in_words(double us) {
  if (us >= 1e6) return fmt::format("{:.3g} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3g} ms", us / 1e3);
  return fmt::format("{:.3g} us", us);
}

// Latency over percentiles: across, each nine takes the same room; upwards, each power of ten.
std::string latency_plot(const std::vector<Summary>& targets) {
  constexpr double kNines = 5;
  double low = 1e12;
  double high = 1;
  for (const auto& target : targets) {
    low = std::min(low, std::max(1.0, static_cast<double>(target.all.percentile(1).count()) / 1e3));
    high = std::max(high, target.max_us);
  }
  const double floor = std::floor(std::log10(low));
  const double decades = std::max(1.0, std::ceil(std::log10(high)) - floor);
  Plot plot;
  for (double decade = 0; decade <= decades; ++decade) plot.mark_y(decade / decades, in_words(std::pow(10, floor + decade)));
  for (const double percent : {0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999}) {
    plot.mark_x(-std::log10(1 - percent / 100) / kNines, fmt::format("{}%", percent));
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    std::vector<std::pair<double, double>> points;
    for (double nines = 0; nines <= kNines; nines += 0.05) {
      const double percent = 100 * (1 - std::pow(10, -nines));
      const double us = std::max(1.0, static_cast<double>(targets[i].all.percentile(percent).count()) / 1e3);
      points.emplace_back(nines / kNines, std::max(0.0, (std::log10(us) - floor) / decades));
    }
    plot.line(points, kColours[i % 2]);
  }
  return plot.finish();
}

// Operations in each second; the rounds of a target follow each other.
std::string throughput_plot(const std::vector<TargetResult>& results) {
  double high = 1;
  size_t seconds = 1;
  for (const auto& target : results) {
    size_t count = 0;
    for (const auto& round : target.rounds) {
      count += round.per_second.size();
      for (const uint64_t operations : round.per_second) high = std::max(high, static_cast<double>(operations));
    }
    seconds = std::max(seconds, count);
  }
  Plot plot;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) plot.mark_y(share, fmt::format("{:.0f}", share * high));
  for (const double share : {0.0, 0.5, 1.0}) plot.mark_x(share, fmt::format("{:.0f} s", share * static_cast<double>(seconds)));
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<std::pair<double, double>> points;
    for (const auto& round : results[i].rounds) {
      for (const uint64_t operations : round.per_second) {
        points.emplace_back((static_cast<double>(points.size()) + 0.5) / static_cast<double>(seconds),
                            static_cast<double>(operations) / high);
      }
    }
    plot.line(points, kColours[i % 2]);
  }
  return plot.finish();
}

std::string table_of(const std::vector<Summary>& targets) {
  std::string html =
      "<table><tr><th>target<th>operations/s<th>MB/s<th>p50<th>p90<th>p99<th>p99.9<th>p99.99<th>longest"
      "<th>CPU us/request<th>kinstr/request<th>memory<th>requests<th>not 2xx</tr>";
  for (size_t i = 0; i < targets.size(); ++i) {
    const Summary& t = targets[i];
    html += fmt::format("<tr><td style=\"color:{}\">{}<td>{:.0f}<td>{:.1f}", kColours[i % 2], escaped(t.name),
                        t.operations_per_second, t.megabytes_per_second);
    for (const double us : t.percentiles_us) html += "<td>" + in_words(us);
    html += "<td>" + in_words(t.max_us);
    html += t.cpu_us > 0 ? fmt::format("<td>{:.1f}", t.cpu_us) : std::string("<td>-");
    html += t.kinstructions > 0 ? fmt::format("<td>{:.1f}", t.kinstructions) : std::string("<td>-");
    html += t.resident_kb > 0 ? fmt::format("<td>{:.1f} MB", t.resident_kb / 1024) : std::string("<td>-");
    html += fmt::format("<td>{}<td>{}</tr>", t.requests, t.unsuccessful);
  }
  return html + "</table>";
}

std::string settings_of(const LoadOptions& options) {
  const std::string loop = options.rate > 0
                               ? fmt::format("open loop at {} operations/s (latency from when each was due)", options.rate)
                               : std::string("closed loop");
  const std::string pick = options.pick == Pick::OwnOfConnection
                               ? std::string("each connection its own resource")
                               : fmt::format("{} resources, Zipf exponent {}", options.resources, options.zipf);
  return fmt::format("{} connections, {}; {}; weights: get {}, put {}, read-modify-write {}; {}; {} rounds of {} s.",
                     options.connections, options.reuse == Connections::New ? "a new one for each operation" : "kept alive",
                     loop, options.mix.get, options.mix.put, options.mix.update, pick, options.rounds,
                     std::chrono::duration<double>(options.duration).count());
}

}  // namespace

std::string to_html(const LoadOptions& options, const std::vector<TargetResult>& results, const std::vector<Summary>& targets) {
  std::string html =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Load test</title><style>"
      "body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222}"
      "table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}td,th{padding:3px 9px;text-align:right;border-bottom:1px solid #ddd}"
      "td:first-child,th:first-child{text-align:left}svg{width:100%;height:auto}.grid{stroke:#ddd}text{font-size:12px;fill:#555}"
      "</style></head><body><h1>Load test</h1>";
  html += "<p>" + settings_of(options) + "</p>" + table_of(targets);
  html += "<p>Rates, costs and memory are medians of the rounds; percentiles are of all rounds together.</p>";
  html += "<h2>Latency by percentile</h2>" + latency_plot(targets);
  html += "<h2>Operations in each second</h2>" + throughput_plot(results);
  for (const auto& target : targets) {
    for (const auto& [failure, times] : target.failures) {
      html += fmt::format("<p>{}: {} times: {}</p>", escaped(target.name), times, escaped(failure));
    }
  }
  return html + "</body></html>\n";
}

}  // namespace armgate::load
