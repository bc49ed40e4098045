// settle.cc – closes the record of a write and passes its lease on: to the next writer, or to the operation lease that waits
// for the end of its operation.
#include "proxy/request/write/settle.h"

#include <algorithm>
#include <utility>

#include "arm/arm_error.h"
#include "arm/throttle.h"
#include "base/mutant.h"
#include "proxy/request/guard/reconcile.h"
#include "proxy/request/operation/result.h"
#include "proxy/request/operation/watch.h"
#include "proxy/request/queue/reservation.h"
#include "proxy/request/queue/turn.h"
#include "proxy/request/queue/visibility.h"
#include "proxy/request/write/own_operation.h"
#include "proxy/request/write/write.h"

namespace armgate {
namespace {

constexpr Duration kDoubtInterval = std::chrono::seconds(1);  // between looks at a write that may be running

OutcomeKind record_kind(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::InDoubt: return OutcomeKind::InDoubt;
    case Outcome::Kind::Left:
    case Outcome::Kind::TryLater: return OutcomeKind::NotSent;
    case Outcome::Kind::Refused:
    case Outcome::Kind::Accepted:
    case Outcome::Kind::Answered: break;
  }
  return OutcomeKind::Answered;
}

// As much of it as its end needs.
LeasedWrite write_to_finish(const Write& write, IntentId intent) {
  LeasedWrite leased;
  leased.intent = intent;
  leased.planned = write.exchange.planned;
  leased.method = write.head().method;
  leased.client = write.client.key;
  leased.request_hash = write.request_hash;
  leased.client_label = write.client.label;
  return leased;
}

// It shows ETags, so that whoever replaces it is held off by a write that takes effect in between.
bool shows_an_etag(const Write& write) {
  return write.ask([](const policy::History& history) {
    return std::ranges::any_of(history.entries(), [](const policy::Entry& each) { return !each.etag.empty(); });
  });
}

bool has_precondition(const Write& write) {
  const auto& fields = write.head().fields;
  return !fields.get("If-Match").empty() || !fields.get("If-None-Match").empty();
}

// Whether a write whose answer was lost, and that may take effect seconds later, must keep others off meanwhile.
bool keeps_others_off(const Write& write) {
  // Without bases it may take effect before or after the next write by its client's own will. But a PATCH only sets some
  // members: a replacement that was compared before it took effect, and that no ETag guards, would wipe them out.
  const bool is_compared = write.has_bases() || write.rule() == policy::BaseRule::Create;
  const bool sets_members = write.plan.operation == arm::OperationKind::Patch && !shows_an_etag(write);
  // It would remove what somebody makes after it.
  const bool removes = write.plan.operation == arm::OperationKind::Delete;
  // A precondition holds a lost sending off as soon as others have written the same. But not where what they write moves no
  // ETag of it (a cluster, by its pools), nor where it changes what its keys name beside it (a pool, its cluster).
  const bool is_held_off = has_precondition(write) && write.etag_tells_all() && write.plan.keys.size() == 1;
  return (is_compared || sets_members || removes) && !is_held_off;
}

LeasedWrite leased_write(const Write& write, const Outcome& outcome, IntentId intent) {
  LeasedWrite leased = write_to_finish(write, intent);
  const bool accepted = outcome.kind == Outcome::Kind::Accepted;
  leased.because = accepted ? LeasedBecause::Accepted : LeasedBecause::InDoubt;
  leased.host = write.head().host;
  leased.runs_unseen = outcome.runs_unseen;
  const int status = outcome.answer.head.status;
  const bool was_lost_by_arm = status == 408 || status == 502 || status == 504;  // its front end says so of what lies behind
  const bool was_lost = outcome.kind == Outcome::Kind::InDoubt || (!accepted && (was_lost_by_arm || has_precondition(write)));
  leased.is_on_its_way = was_lost && keeps_others_off(write);
  leased.tracking = outcome.tracking;
  leased.opened = write.parts.clock.now();
  const auto asked = arm::retry_after(outcome.answer.head.fields, write.parts.clock.wall());
  leased.interval = accepted || leased.is_on_its_way ? asked.value_or(Duration{}) : kDoubtInterval;
  complete_from_plan(write.parts, write.head().target, leased);
  return leased;
}

// For whoever wants to name the members that it changed: by what its client asked for, not by what was merged into that.
AskedChange asked_change(const Write& write, const Change& change) {
  AskedChange asked;
  asked.facts = write.plan.facts().body;
  asked.asked_for_all = change.asked_for_all;
  asked.creates = write.rule() == policy::BaseRule::Create;
  asked.requested_body = change.merged ? change.merged->requested_body : change.requested_body;
  if (change.merged)
    asked.before = change.merged->base;
  else if (!write.bases.possible.empty())
    asked.before = write.bases.possible.front().body;
  return asked;
}

// Of a write whose answer is its end.
OperationResult result_of_answer(const Write& write, const Outcome& outcome) {
  if (outcome.kind != Outcome::Kind::Accepted) {
    const std::string& code = write.report().upstream_code;
    const bool is_arms = outcome.answer.head.status >= 400 && arm::looks_like_code(code);
    return {arm::Progress::Unknown, {is_arms ? code : "", ""}};
  }
  if (outcome.tracking.by != arm::TrackedBy::Nothing) return {};
  const arm::Progress shown = arm::progress_of_word(outcome.tracking.state);
  return {arm::is_terminal(shown) ? shown : arm::Progress::Succeeded, {}};
}

// The lease without what only had to stand still until ARM's answer.
WriteLease lease_after_answer(const Write& write, Intent intent) {
  WriteLease lease = std::move(intent).take_lease();
  std::vector<Hash128> over;
  for (const auto& id : keys_until_answer(write)) over.push_back(write.parts.shared.locks.key_of(id));
  if (!over.empty()) lease.release(over);
  return lease;
}

}  // namespace

Change change_of(const Write& write, bool accepted) {
  Change change{write_key_of(write), nullptr, accepted};
  change.if_match = write.head().fields.get("If-Match");
  const bool is_meant = write.report().by_right || write.report().guard.ends_with(kForced);
  const bool is_put = write.plan.operation == arm::OperationKind::Put;
  change.knows_merges = write.bases.knows_merges || (is_put && is_meant);  // a PATCH means what it names
  const bool asks_for_a_state = write.replaces || write.plan.operation == arm::OperationKind::Patch;
  const bool kept = asks_for_a_state && write.exchange.request.body.size() <= write.parts.shared.options.body_keep_max;
  if (!kept) return change;
  const auto requested = policy::kept_body(write.exchange.request.body);
  if (!write.body_etag.empty()) requested->etag = write.body_etag;
  change.requested_body = requested;
  change.asked_for_all = write.plan.operation == arm::OperationKind::Put;
  if (const auto& own = write.exchange.clients_own) {
    policy::MergedWrite& merged = change.merged.emplace();
    merged.request_id = write.request_id;
    merged.api_version = write.plan.target.api_version;
    merged.base = own->base;
    const bool is_partial = !change.asked_for_all;
    merged.requested_body = policy::kept_body(own->body, is_partial);
    merged.sent = is_partial ? policy::kept_body(change.requested_body->bytes, is_partial) : change.requested_body;
  }
  return change;
}

void note_accepted(const Write& write) {
  if (write.exchange.clients_own) write.parts.shared.counters.merged.fetch_add(1, std::memory_order_relaxed);
  if (write.replaces) write.ledger().note_maybe_applied(write.sending);
  if (write.report().by_right) {
    write.record_event(policy::RightUsed{write.client.key});
  }
  // A client whose write was accepted is not starving.
  if (const auto turn = write.parts.shared.turns.take(write.plan.resource_key, write.client.key)) turn->end();
}

std::shared_ptr<OperationLease> open_operation_lease(const Write& write, const Outcome& outcome, const Change& change,
                                                     LeaseInputs given, Moment now) {
  auto& parts = write.parts;
  // What may have been accepted counts too.
  const bool accepted = outcome.kind == Outcome::Kind::Accepted;
  note_may_have_changed(parts, write_to_finish(write, given.intent), change, now);
  const bool ends_with_answer = outcome.tracking.by == arm::TrackedBy::Nothing ||
                                write.plan.rule->lease.until == rules::LeaseUntil::Request ||
                                is_mutant(Mutant::LockReleasedAtAnswer);
  if (accepted && ends_with_answer) {
    // An answer that is not the end of the operation proves nothing about a delete.
    const bool ended = outcome.tracking.by == arm::TrackedBy::Nothing;
    const LeasedWrite finished = write_to_finish(write, given.intent);
    note_finished(parts, finished, ended ? arm::Progress::Succeeded : arm::Progress::Unknown);
    note_result(parts, finished, result_of_answer(write, outcome));
    given.lease.release();
    return nullptr;
  }
  LeasedWrite leased = leased_write(write, outcome, given.intent);
  if (accepted) leased.owned = own_operation(write, outcome, leased);
  // What may be sent again is not passed by its own client's next write: that would be taken back.
  if (accepted && !leased.owned && may_run_beside_its_own(write.plan)) given.lease.admit_own();
  if (outcome.runs_unseen) given.lease.admit_own(Own::Any);  // it may have ended, and then would delay its client for nothing
  return open_lease(parts, std::move(leased), std::move(given.lease), std::string(given.authorization));
}

void settle(const Write& write, Intent intent, Outcome& outcome) {
  auto& parts = write.parts;
  const Moment now = parts.clock.next_moment();
  const IntentId id = intent.id();
  WriteOutcome known;
  known.kind = record_kind(outcome);
  known.status = outcome.answer.head.status;
  known.known = parts.clock.wall();
  known.merged = write.report().merged.count;
  if (write.is_repeatable) known.etag = etag_of(outcome, outcome.answer.head);

  const bool accepted = outcome.kind == Outcome::Kind::Accepted;
  if (accepted) {
    note_accepted(write);
    note_created(write, outcome.answer);
  } else if (outcome.kind == Outcome::Kind::InDoubt || arm::asks_for_another_try(known.status)) {
    keep_turn(write);
  }
  known.result = result_of_answer(write, outcome);
  if (!accepted && known.status >= 400 && is_mutant(Mutant::RefusalsMakeSick)) {
    note_result(parts, write_to_finish(write, id), {arm::Progress::Failed, {"InternalOperationError", ""}});
  }
  const bool may_run = accepted || outcome.tracking.by != arm::TrackedBy::Nothing;
  if (!may_run) {
    parts.store.record_outcome(id, known);
    // It was only waiting, for ARM instead of for another write. A client that is not told to come again (ARM is away) leaves
    // no reservation behind.
    const bool is_over = outcome.kind == Outcome::Kind::TryLater && outcome.answer.head.fields.get("Retry-After").empty();
    if (had_no_effect(outcome.kind) && !is_over) reserve_position(write, std::move(intent).take_lease());
    return;
  }
  const std::string_view authorization = write.head().fields.get("authorization");
  const Change change = change_of(write, accepted);
  known.change = asked_change(write, change);
  note_state(parts, write.plan, outcome.tracking.state);
  auto op_lease =
      open_operation_lease(write, outcome, change, {lease_after_answer(write, std::move(intent)), authorization, id}, now);
  known.is_running = op_lease != nullptr;
  if (op_lease) known.tracking = op_lease->write().tracking;
  if (const auto* owned = op_lease ? op_lease->write().owned.get() : nullptr) {
    known.owned = owned->id();
    put_own_urls(*owned, outcome.answer.head.fields);
    put_own_urls(*owned, outcome.tracking);  // as its answer, if that is given again
    write.report().altered = true;
    if (write.report().reason.empty()) write.report().reason = "own-operation-url";
  }
  parts.store.record_outcome(id, known);
  if (op_lease && op_lease->is_open()) start_watching(parts, std::move(op_lease));
}

}  // namespace armgate
