#include "proxy/observability/tally.h"

#include <fmt/format.h>

#include <vector>

#include "proxy/async/own_counter.h"

namespace armgate {

Deed deed_of(const Exchange& exchange) {
  const Report& report = exchange.report;
  if (!report.altered) return Deed::PassedOn;
  if (exchange.status == 412) return Deed::Stale;
  if (report.reason == "upstream-failure") return Deed::Unanswered;
  if (exchange.status >= 400 && !report.reason.empty()) return Deed::Refused;
  if (report.reason == "answer-recovered-by-reading") return Deed::Recovered;
  return report.merged.count > 0 ? Deed::Merged : Deed::Guarded;
}

std::string_view to_text(Deed deed) {
  switch (deed) {
    case Deed::PassedOn: return "";
    case Deed::Guarded: return "guarded";
    case Deed::Merged: return "merged";
    case Deed::Stale: return "stale";
    case Deed::Unanswered: return "unanswered";
    case Deed::Refused: return "refused";
    case Deed::Recovered: return "recovered";
  }
  return "";
}

void GatewayTally::count(const Exchange& exchange) {
  const Report& report = exchange.report;
  add_alone(requests_);
  if (report.waited > Duration::zero()) {
    add_alone(waited_);
    add_alone(waited_ms_, whole_milliseconds(report.waited));
  }
  if (report.attempts > 1) add_alone(repeated_);
  switch (deed_of(exchange)) {
    case Deed::PassedOn: return;
    case Deed::Guarded: return add_alone(guarded_);
    case Deed::Merged: return add_alone(merged_);
    case Deed::Stale: return add_alone(stale_);
    case Deed::Unanswered: return add_alone(unanswered_);
    case Deed::Refused: return add_alone(refused_);
    case Deed::Recovered: return add_alone(recovered_);
  }
}

void GatewayTally::count(const ObserveFinding& finding) {
  switch (finding.kind) {
    case ObserveFinding::Kind::Stale: return add_alone(would_be_stale_);
    case ObserveFinding::Kind::Merged: return add_alone(would_be_merged_);
    case ObserveFinding::Kind::Overlap: return add_alone(would_overlap_);
    case ObserveFinding::Kind::Duplicate: return add_alone(would_be_duplicate_);
    case ObserveFinding::Kind::Sick:
    case ObserveFinding::Kind::Wait: return;  // each was counted as an overlap
  }
}

GatewayTally::Counts GatewayTally::counts() const {
  return {.requests = requests_,
          .guarded = guarded_,
          .merged = merged_,
          .stale = stale_,
          .unanswered = unanswered_,
          .refused = refused_,
          .repeated = repeated_,
          .recovered = recovered_,
          .waited = waited_,
          .waited_ms = waited_ms_,
          .would_be_stale = would_be_stale_,
          .would_be_merged = would_be_merged_,
          .would_overlap = would_overlap_,
          .would_be_duplicate = would_be_duplicate_};
}

GatewayTally::Counts& GatewayTally::Counts::operator+=(const Counts& more) {
  requests += more.requests;
  guarded += more.guarded;
  merged += more.merged;
  stale += more.stale;
  unanswered += more.unanswered;
  refused += more.refused;
  repeated += more.repeated;
  recovered += more.recovered;
  waited += more.waited;
  waited_ms += more.waited_ms;
  would_be_stale += more.would_be_stale;
  would_be_merged += more.would_be_merged;
  would_overlap += more.would_overlap;
  would_be_duplicate += more.would_be_duplicate;
  return *this;
}

std::string summary(const GatewayTally::Counts& counts) {
  std::string text;
  const auto say = [&text](uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  say(counts.guarded, "guarded");
  say(counts.merged, "merged with others' changes");
  say(counts.stale, "refused as stale (412)");
  say(counts.refused, "answered by armgate itself");
  say(counts.unanswered, "without an answer from ARM");
  say(counts.recovered, "with a lost answer recovered");
  say(counts.repeated, "sent more than once");
  if (counts.waited > 0)
    say(counts.waited, fmt::format("waited {:.1f} s in all", static_cast<double>(counts.waited_ms) / 1000));
  say(counts.would_be_stale, "stale and let through (mode observe)");
  say(counts.would_be_merged, "would have been merged with others' changes (mode observe)");
  say(counts.would_overlap, "during another write (mode observe)");
  say(counts.would_be_duplicate, "sent again although the first may have run (mode observe)");
  if (text.empty()) return text;
  return fmt::format("{} request{} to ARM: {}", counts.requests, counts.requests == 1 ? "" : "s", text);
}

}  // namespace armgate
