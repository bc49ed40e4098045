#include "proxy/request/cluster/fenced.h"

#include "base/mutant.h"
#include "base/text.h"
#include "proxy/cluster/replica.h"
#include "proxy/policy/error_class.h"
#include "proxy/request/answer.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/request/read/relay.h"
#include "proxy/request/write/coalesce.h"

namespace armgate {
namespace {

bool changes_a_state(const rules::Plan& plan) {
  return plan.operation == arm::OperationKind::Put || plan.operation == arm::OperationKind::Patch ||
         plan.operation == arm::OperationKind::Delete;
}

// "*" in If-Match is any state, and in If-None-Match that there is none.
bool names_a_state(const arm::Headers& fields) {
  if (is_mutant(Mutant::AnyPassesUnrecorded)) return true;
  const std::string_view match = trim(fields.get("If-Match"));
  return (!match.empty() && match != "*") || trim(fields.get("If-None-Match")) == "*";
}

// It stands in the log later than it happened: what is there may have been read meanwhile, so that it is told as what may have
// had no effect.
void note_sent(const Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client) {
  if (is_mutant(Mutant::UnrecordedUntold)) return;
  LeasedWrite sent;
  sent.planned = exchange.planned;
  sent.client = client.key;
  sent.request_hash = arrival_of(parts, exchange, plan, client, nullptr).content;
  Change change;
  change.certain = false;
  change.asked_for_all = plan.operation == arm::OperationKind::Put;
  note_may_have_changed(parts, sent, change, parts.clock.next_moment());
  for (const auto& key : plan.lock_keys)
    parts.shared.resources.apply(key, policy::OperationEnded{sent.request_hash, parts.clock.next_moment()});
}

}  // namespace

bool is_fenced(const rules::Plan& plan, const Exchange& exchange) {
  return plan.kind == rules::PlanKind::Write && plan.mode == rules::Mode::Protect && changes_a_state(plan) &&
         plan.rule->guard.kind == rules::GuardKind::Etag && names_a_state(exchange.request.head.fields) && !exchange.named;
}

Task<bool> goes_unrecorded(Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client) {
  if (!parts.shared.options.sends_fenced || !is_fenced(plan, exchange)) co_return false;
  if (client.state->sendings().knows(arrival_of(parts, exchange, plan, client, nullptr))) co_return false;
  if (parts.cluster->is_apart()) co_return true;
  if (takes_more(parts)) parts.cluster->mark();  // a place in the log that tells nothing: whether it is reached
  const bool is_reached = co_await until_recorded(parts, exchange.executor);
  co_return !is_reached;
}

Task<Receipt> send_unrecorded(Parts& parts, Exchange& exchange, ClientLink& link, const KeyedPlan& plan, const Client& client) {
  if (link.presence() && link.presence()->gone.load(std::memory_order_acquire)) {
    exchange.report.reason = "client-left-before-sending";
    co_return Receipt();
  }
  exchange.report.reason = "sent-without-a-record";
  const auto may_have_happened = [](int status) { return arm::is_success(status) || policy::may_have_had_effect(status); };
  Tap tap;
  tap.answered = [&](const arm::ResponseHead& head, const std::optional<std::string>&) {
    if (may_have_happened(head.status)) note_sent(parts, exchange, plan, client);
  };
  tap.lost = [&](const Error&) { note_sent(parts, exchange, plan, client); };
  co_return co_await relay(parts, exchange, link, plan, client, &tap);
}

}  // namespace armgate
