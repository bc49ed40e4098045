// settle.cc – closes the record of a write and passes its lease on: to the next writer, or to the hold that waits for the end
// of its operation.
#include "proxy/stages/settle.h"

#include <fmt/format.h>

#include <utility>

#include "arm/throttle.h"
#include "arm/url.h"
#include "base/mutant.h"
#include "proxy/stages/doubt.h"
#include "proxy/stages/keep_place.h"
#include "proxy/stages/visibility.h"
#include "proxy/stages/watch.h"
#include "proxy/stages/write.h"

namespace armgate {
namespace {

constexpr Duration kDoubtInterval = std::chrono::seconds(1);  // between looks at a write that may be running

OutcomeKind record_kind(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::Unknown: return OutcomeKind::InDoubt;
    case Outcome::Kind::Left:
    case Outcome::Kind::Busy: return OutcomeKind::NotSent;
    case Outcome::Kind::Refused:
    case Outcome::Kind::Accepted:
    case Outcome::Kind::Answered: break;
  }
  return OutcomeKind::Answered;
}

// Operation URLs are signed in their query, which is a secret of a kind: only the path is recorded.
std::string recordable_url(const arm::Tracking& tracking) {
  const auto& text = tracking.status_url.empty() ? tracking.location_url : tracking.status_url;
  const auto url = arm::parse_url(text);
  return url ? url->host + std::string(arm::path_of(url->target)) : std::string();
}

// Where the resource itself can be read: an action's target names it before its last segment.
std::string resource_target(const Write& write) {
  const std::string& target = write.head().target;
  if (write.plan.operation != arm::OperationKind::Action) return target;
  std::string_view path = arm::path_of(target);
  if (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(0, path.rfind('/'))) + std::string(target.substr(arm::path_of(target).size()));
}

// What must be at rest before the next write: the resource itself, unless it is deleted, and the parents that it locks.
std::vector<std::string> what_must_rest(const Write& write, const HeldWrite& held) {
  std::vector<std::string> targets;
  if (held.method != arm::Method::Delete) targets.push_back(held.resource_target);
  for (const auto& key : write.plan.keys) {
    const auto parent = arm::parse_resource_id(key.id);
    if (!parent) continue;
    if (auto target = target_of_neighbour(write, *parent)) targets.push_back(*std::move(target));
  }
  return targets;
}

// As much of it as its end needs.
HeldWrite write_to_finish(const Write& write) {
  HeldWrite held;
  held.planned = write.exchange.planned;
  held.method = write.head().method;
  held.client = write.client.key;
  held.bytes = write.bytes;
  return held;
}

// How its end can be seen. An operation's URL may be on a host to which no token is sent (`intercept`): then its other URL has to
// tell, or the resource itself.
arm::Tracking trackable(const Write& write, arm::Tracking tracking) {
  const auto& parts = write.parts;
  const auto out_of_reach = [&parts](const std::string& text) {
    const auto url = arm::parse_url(text);
    return url && !parts.shared.options.may_ask(url->host);
  };
  const bool by_status = tracking.by == arm::TrackedBy::StatusUrl;
  if (!by_status && tracking.by != arm::TrackedBy::LocationUrl) return tracking;
  if (!out_of_reach(by_status ? tracking.status_url : tracking.location_url)) return tracking;
  if (parts.tell_loudly) {
    parts.tell_loudly(
        fmt::format("the operation of {} {} is at {}, a host that intercept does not cover: how it goes is read elsewhere",
                    write.head().method_token, write.plan.target.resource.id, recordable_url(tracking)));
  }
  const bool has_other = by_status && !tracking.location_url.empty() && !out_of_reach(tracking.location_url);
  if (!has_other) return tracked_by_resource(write);
  tracking.by = arm::TrackedBy::LocationUrl;
  return tracking;
}

HeldWrite held_write(const Write& write, const Outcome& outcome) {
  HeldWrite held = write_to_finish(write);
  const bool accepted = outcome.kind == Outcome::Kind::Accepted;
  held.because = accepted ? HeldBecause::Accepted : HeldBecause::InDoubt;
  held.host = write.head().host;
  held.resource_target = resource_target(write);
  held.tracking = trackable(write, outcome.tracking);
  held.client_label = write.client.label;
  held.opened = write.parts.clock.now();
  const auto asked = arm::retry_after(outcome.answer.head.fields, write.parts.clock.wall());
  held.interval = accepted ? asked.value_or(Duration{}) : kDoubtInterval;
  held.max = write.plan.rule->hold.max;
  held.cap = write.plan.rule->hold.cap;
  // What was done with its answer leaves nothing in motion. And what only looks on asks nothing of its own.
  const bool may_move = outcome.tracking.by != arm::TrackedBy::Nothing && write.plan.mode == rules::Mode::Protect;
  if (may_move && write.plan.rule->hold.until == rules::HoldUntil::Provisioned) held.must_rest = what_must_rest(write, held);
  return held;
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

void note_accepted(const Write& write) {
  auto& resources = write.parts.shared.resources;
  if (write.replaces) {
    write.client.state->consume(write.plan.resource_key, write.bound,
                                {write.request_id, write.plan.target.api_version, write.exchange.arrived});
    write.client.state->note_maybe_applied(write.bound.binding);
  }
  if (write.plan.operation == arm::OperationKind::Delete) resources.being_deleted(write.plan.resource_key);
}

std::shared_ptr<Hold> hold_write(const Write& write, const Outcome& outcome, WriteLease lease, std::string authorization,
                                 Moment now) {
  auto& parts = write.parts;
  // On every key: who waits for a network must know of what happened to its subnets. What may have been accepted counts too.
  const Hash128 origin = origin_of(write);
  for (const auto& key : write.plan.lock_keys) {
    const auto of = key == write.plan.resource_key ? ResourceLog::Write::Of::Itself : ResourceLog::Write::Of::Child;
    parts.shared.resources.accepted(key, write.client.key, write.bytes, now, origin, of);
  }
  const bool accepted = outcome.kind == Outcome::Kind::Accepted;
  const bool ends_with_answer = outcome.tracking.by == arm::TrackedBy::Nothing ||
                                write.plan.rule->hold.until == rules::HoldUntil::Request ||
                                is_mutant(Mutant::LockReleasedAtAnswer);
  if (accepted && ends_with_answer) {
    // An answer that is not the end of the operation proves nothing about a delete.
    const bool ended = outcome.tracking.by == arm::TrackedBy::Nothing;
    note_finished(parts, write_to_finish(write), ended ? arm::Progress::Succeeded : arm::Progress::Unknown);
    lease.release();
    return nullptr;
  }
  if (accepted && may_run_beside_its_own(write)) lease.let_own_in();
  return open_hold(parts, held_write(write, outcome), std::move(lease), std::move(authorization));
}

Task<void> settle(const Write& write, Intent intent, const Outcome& outcome) {
  auto& parts = write.parts;
  const Moment now = parts.clock.next_moment();
  OutcomeRecord record;
  record.id = intent.id();
  record.kind = record_kind(outcome);
  record.status = outcome.answer.head.status;
  record.operation_url = recordable_url(outcome.tracking);
  record.finished = now;
  // The answer is not held back for the record: what is missing from it is in doubt, which is the truth.
  (void)co_await parts.store.record_outcome(record);

  const bool accepted = outcome.kind == Outcome::Kind::Accepted;
  const bool in_doubt = outcome.kind == Outcome::Kind::Unknown;
  if (accepted) {
    note_accepted(write);
    note_created(write, outcome.answer);
  }
  if (in_doubt) note_in_doubt(parts, write.exchange, write.plan, write.client);
  const bool may_run = accepted || outcome.tracking.by != arm::TrackedBy::Nothing;
  if (!may_run) {
    // It was only waiting, for ARM instead of for another write.
    if (nothing_was_sent(outcome.kind)) keep_place(write, std::move(intent).take_lease().into_place());
    co_return;
  }
  auto hold = hold_write(write, outcome, lease_after_answer(write, std::move(intent)), write.authorization, now);
  if (hold && hold->open()) start_watching(parts, std::move(hold));
}

}  // namespace armgate
