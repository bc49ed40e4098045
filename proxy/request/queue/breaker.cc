#include "proxy/request/queue/breaker.h"

#include <fmt/format.h>

#include "base/mutant.h"
#include "base/utc.h"
#include "proxy/request/answer.h"
#include "proxy/request/observe/would_be_stale.h"

namespace armgate {

std::optional<Outcome> refuse_if_sick(const Write& write) {
  const rules::Breaker& breaker = write.plan.rule->breaker;
  const bool is_delete = write.plan.operation == arm::OperationKind::Delete && !is_mutant(Mutant::BreakerStopsDeletes);
  if (breaker.mode == rules::Mode::Off || is_delete) return std::nullopt;
  auto& parts = write.parts;
  // Who keeps the resource for a run is there to repair it.
  if (parts.shared.run_leases.lets_in(write.client.key, write.plan.keys)) return std::nullopt;
  const auto sick =
      parts.shared.results.refuse(write.plan.resource_key, write.request_hash, breaker.probe_every, parts.clock.now());
  if (!sick) return std::nullopt;
  const auto& error = sick->error;
  const std::string code = error.code.empty() ? "no error code" : error.code;
  std::string why = fmt::format("{} operations on it have failed with {}{} since {}", sick->failures, code,
                                error.message.empty() ? "" : fmt::format(" ({})", error.message), utc_text(sick->since));
  if (breaker.mode == rules::Mode::Observe || write.plan.mode == rules::Mode::Observe) {
    parts.shared.counters.would_be_sick.fetch_add(1, std::memory_order_relaxed);
    if (parts.report_finding) parts.report_finding(make_finding(write, ObserveFinding::Kind::Sick, std::move(why)));
    return std::nullopt;
  }
  parts.shared.counters.refused_sick.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = "resource-sick";
  write.report().altered = true;
  Outcome outcome;
  outcome.answer = make_sick(write.plan.target.resource.id, why, breaker.probe_every);
  return outcome;
}

}  // namespace armgate
