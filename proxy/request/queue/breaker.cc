#include "proxy/request/queue/breaker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/mutant.h"
#include "base/utc.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/answer.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/observe/would_be_stale.h"

namespace armgate {
namespace {

using Goes = OperationResults::Goes;

OperationResults::Judged judge(const Write& write, TimePoint now) {
  return write.parts.shared.results.judge(write.plan.resource_key, write.request_hash, write.plan.rule->breaker.probe_every,
                                          now);
}

std::string words_for(const OperationResults::Sick& sick) {
  const auto& error = sick.error;
  const std::string code = error.code.empty() ? "no error code" : error.code;
  return fmt::format("{} operations on it have failed with {}{} since {}", sick.failures, code,
                     error.message.empty() ? "" : fmt::format(" ({})", error.message), utc_text(sick.since));
}

void report_sick(const Write& write, const OperationResults::Sick& sick) {
  const auto& parts = write.parts;
  parts.shared.counters.would_be_sick.fetch_add(1, std::memory_order_relaxed);
  if (parts.report_finding) parts.report_finding(make_finding(write, ObserveFinding::Kind::Sick, words_for(sick)));
}

Outcome refused_as_sick(const Write& write, const OperationResults::Sick& sick) {
  write.parts.shared.counters.refused_sick.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = "resource-sick";
  write.report().altered = true;
  Outcome outcome;
  outcome.answer = make_sick(write.plan.target.resource.id, words_for(sick), write.plan.rule->breaker.probe_every);
  return outcome;
}

bool is_being_deleted(const Write& write) {
  const auto op_leases = write.parts.shared.op_leases.on_key(write.plan.resource_key);
  return std::any_of(op_leases.begin(), op_leases.end(), [&](const auto& op_lease) {
    return op_lease->write().method == arm::Method::Delete &&
           op_lease->write().planned.plan->resource_key == write.plan.resource_key;
  });
}

// Nothing: nobody can tell in time.
Task<std::optional<bool>> goes_as_probe(const Write& write, uint64_t judged) {
  auto& parts = write.parts;
  const Hash128& resource = write.plan.resource_key;
  if (parts.cluster == nullptr) co_return parts.shared.results.probe(resource, judged, parts.clock.next_moment());
  co_return co_await parts.cluster->probe(resource, judged, write.exchange.executor, write.client_wait.until());
}

}  // namespace

bool may_be_kept_away(const Write& write) {
  const rules::Breaker& breaker = write.plan.rule->breaker;
  const bool is_delete = write.plan.operation == arm::OperationKind::Delete && !is_mutant(Mutant::BreakerStopsDeletes);
  if (breaker.mode == rules::Mode::Off || is_delete || is_mutant(Mutant::BreakerLetsAll)) return false;
  // A client that keeps the resource for a run is there to repair it.
  return !write.parts.shared.run_leases.lets_in(write.client.key, write.plan.keys);
}

Task<std::optional<Outcome>> refuse_if_sick(const Write& write) {
  auto& parts = write.parts;
  const rules::Breaker& breaker = write.plan.rule->breaker;
  const Moment looked = parts.clock.next_moment();
  const auto judged = judge(write, looked.time);
  if (judged.goes == Goes::Yes) co_return std::nullopt;
  if (judged.goes == Goes::AsProbe) {
    const auto is_probe = co_await goes_as_probe(write, looked.order);
    if (!is_probe) co_return unrecorded(write);
    if (*is_probe) co_return std::nullopt;
  }
  if (breaker.mode == rules::Mode::Observe) {
    report_sick(write, judged.sick);
    co_return std::nullopt;
  }
  co_return refused_as_sick(write, judged.sick);
}

std::optional<Outcome> refuse_known_sick(const Write& write) {
  if (!may_be_kept_away(write) || write.plan.rule->breaker.mode != rules::Mode::Protect) return std::nullopt;
  const auto judged = judge(write, write.parts.clock.now());
  if (judged.goes != Goes::No || is_being_deleted(write)) return std::nullopt;
  return refused_as_sick(write, judged.sick);
}

void tell_if_sick(const Write& write) {
  if (!may_be_kept_away(write)) return;
  auto& parts = write.parts;
  const Moment looked = parts.clock.next_moment();
  const auto judged = judge(write, looked.time);
  if (judged.goes == Goes::Yes) return;
  const bool is_probe = judged.goes == Goes::AsProbe &&
                        parts.shared.results.probe(write.plan.resource_key, looked.order, parts.clock.next_moment());
  if (!is_probe) report_sick(write, judged.sick);
}

}  // namespace armgate
