#include "proxy/gateway_tally.h"

#include <fmt/format.h>

#include <vector>

namespace armgate {
namespace {

void add(std::atomic<uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

void GatewayTally::count(const Exchange& exchange) {
  const Report& report = exchange.report;
  add(requests_);
  if (report.waited > Duration::zero()) {
    add(waited_);
    waited_ms_.fetch_add(whole_milliseconds(report.waited), std::memory_order_relaxed);
  }
  if (report.attempts > 1) add(repeated_);
  if (!report.altered) return;
  if (exchange.status == 412)
    add(stale_);
  else if (report.reason == "upstream-failure")
    add(unanswered_);
  else if (exchange.status >= 400 && !report.reason.empty())
    add(refused_);
  else if (report.reason == "answer-recovered-by-reading")
    add(recovered_);
  else
    add(guarded_);
}

void GatewayTally::count(const WouldHave& would) {
  switch (would.kind) {
    case WouldHave::Kind::Stale: return add(would_be_stale_);
    case WouldHave::Kind::Overlap: return add(would_overlap_);
    case WouldHave::Kind::Duplicate: return add(would_be_duplicate_);
    case WouldHave::Kind::Wait: return;  // each was counted as an overlap
  }
}

std::string GatewayTally::summary() const {
  std::string text;
  const auto say = [&text](uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  say(guarded_, "guarded");
  say(stale_, "refused as stale (412)");
  say(refused_, "answered by armgate itself");
  say(unanswered_, "without an answer from ARM");
  say(recovered_, "with a lost answer recovered");
  say(repeated_, "sent more than once");
  if (waited_ > 0) say(waited_, fmt::format("waited {:.1f} s in all", static_cast<double>(waited_ms_) / 1000));
  say(would_be_stale_, "stale and let through (mode observe)");
  say(would_overlap_, "during another write (mode observe)");
  say(would_be_duplicate_, "sent again although the first may have run (mode observe)");
  if (text.empty()) return text;
  return fmt::format("{} request{} to ARM: {}", requests_.load(), requests_ == 1 ? "" : "s", text);
}

}  // namespace armgate
