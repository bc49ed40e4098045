#include "cli/view/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "json/tree.h"

namespace armgate {
namespace {

// Requests each second between two looks; nothing if the service was started anew meanwhile, or the looks are the same.
std::string rate_text(const ShownStatus& now, const ShownStatus* before) {
  if (before == nullptr || before->started != now.started || now.up_ms <= before->up_ms) return "";
  const auto requests = static_cast<double>(now.requests - before->requests);
  return fmt::format(" ({:.1f}/s)", requests * 1000 / static_cast<double>(now.up_ms - before->up_ms));
}

// Its id from the left as far as there is room: what tells resources apart stands at the end.
std::string row_of(const ShownWrite& write, std::string_view indent, size_t columns) {
  const std::string_view what = write.what;
  const size_t id = what.find('/');
  std::string line = fmt::format("{}{:5}  {:>12}  {}  ", indent, write.word(), age_text(write.since_ms), write.who());
  const std::string as_of = write.as_of();
  if (id == what.npos || line.size() + what.size() + as_of.size() <= columns) return line.append(what).append(as_of);
  line.append(what.substr(0, id)).append("...");
  const size_t room = columns - std::min(columns, line.size() + as_of.size());
  return line.append(what.substr(std::max(id, what.size() - std::min(what.size(), room)))).append(as_of);
}

std::vector<std::string> lines_of(const ShownStatus& now, const ShownStatus* before, size_t columns) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("armgate {}, mode {}, up {}, {} connections{}", now.version, now.mode, age_text(now.up_ms),
                              now.connections, now.draining ? "; it ends" : ""));
  lines.push_back(fmt::format("requests {}{}, guarded {}, stale {}, refused {}, sent again {}, recovered {}, unanswered {}",
                              now.requests, rate_text(now, before), now.counts.guarded, now.counts.stale, now.counts.refused,
                              now.counts.repeated, now.counts.recovered, now.counts.unanswered));
  lines.push_back(fmt::format("{} run, {} wait, {} reserved{}", now.totals.runs, now.totals.waits, now.totals.kept,
                              now.left_out > 0 ? fmt::format("; not shown: {} newer writes", now.left_out) : ""));
  if (!now.journal_writable) lines.emplace_back("the journal cannot be written, so no write is sent");
  if (now.cluster && !now.cluster->engine_up) lines.emplace_back("the cluster's engine does not answer, so no write is sent");
  lines.emplace_back();
  for (const auto& [first, waiting] : queues_of(now)) {
    lines.push_back(row_of(first, "", columns));
    for (const ShownWrite& write : waiting) lines.push_back(row_of(write, "  ", columns));
  }
  return lines;
}

// The last line of the screen says how many there was no room for; under it stands the cursor.
void fit(std::vector<std::string>& lines, const TerminalSize& terminal) {
  const size_t room = std::max<size_t>(terminal.rows, 2) - 1;
  if (lines.size() > room) {
    const size_t cut = lines.size() - room + 1;
    lines.resize(room - 1);
    lines.push_back(fmt::format("and {} more", cut));
  }
  for (std::string& line : lines) {
    if (line.size() <= terminal.columns) continue;
    size_t end = terminal.columns;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // no part of a UTF-8 character
    line.resize(end);
  }
}

}  // namespace

std::string top_screen(const ShownStatus& now, const ShownStatus* before, std::optional<TerminalSize> terminal) {
  auto lines = lines_of(now, before, terminal ? terminal->columns : std::string::npos);
  if (terminal) fit(lines, *terminal);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string top_line(const Result<std::string>& status) {
  return status ? dump_json(nlohmann::ordered_json::parse(*status)) + "\n" : error_line(status.error());
}

std::string error_line(const Error& error) { return dump_json(nlohmann::ordered_json{{"error", error.context}}) + "\n"; }

}  // namespace armgate
