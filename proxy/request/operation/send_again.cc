#include "proxy/request/operation/send_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "arm/throttle.h"
#include "base/mutant.h"
#include "proxy/policy/error_class.h"
#include "proxy/policy/late_failure.h"
#include "proxy/request/client_gate.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/request/operation/result.h"
#include "proxy/request/operation/watch.h"
#include "proxy/request/read_again.h"
#include "proxy/request/send_whole.h"
#include "proxy/request/timed_wait.h"

namespace armgate {
namespace {

// One attempt to send the write again.
struct Attempt {
  Parts& parts;
  std::shared_ptr<OperationLease> op_lease;
  std::shared_ptr<const SendAgain> again;
  std::string token;
  std::string if_match{};
  bool must_be_absent = false;
  IntentId intent = 0;
  std::string_view why{};  // it does not go: for people

  OwnedOperation& owned() const { return *op_lease->write().owned; }
  const rules::LateRetry& rule() const { return op_lease->write().planned.plan->rule->late; }
  const KeyedPlan& plan() const { return *op_lease->write().planned.plan; }
};

// What came of it.
enum class SendResult {
  Over,   // another operation lease goes on, or nobody is left who could
  Again,  // ARM refused it for the moment
  Never,
};

void log_attempt(const Parts& parts, const LeasedWrite& write, std::string_view what) {
  if (parts.alert)
    parts.alert(fmt::format("{} {} by {}: its operation failed; {}", arm::to_text(write.method), write.resource().id,
                            write.client_label, what));
}

// Waits until the write is due, and for a token from its client's polls; empty: the client has stopped polling.
Task<std::string> wait_for_token(Parts& parts, const std::shared_ptr<OperationLease>& op_lease, TimePoint due) {
  const OwnedOperation& owned = *op_lease->write().owned;
  const Duration gap = op_lease->write().planned.plan->rule->late.polled_within;
  while (op_lease->is_open() && owned.again()) {
    const TimePoint now = parts.clock.now();
    const std::string token = owned.token(now - gap);
    if (now >= due && !token.empty()) co_return token;
    const TimePoint stays_until = std::max({owned.last_poll(), op_lease->write().opened, due}) + gap;
    if (now >= stays_until) break;
    co_await wait_until(parts, op_lease->waiter(), now < due ? due : stays_until, OperationLease::kWake);
  }
  co_return std::string();
}

// Whether what is there is what the write was built from; then the precondition is that.
Task<bool> has_had_no_effect(Attempt& attempt) {
  const SendAgain& again = *attempt.again;
  OwnRead read = own_read(attempt.parts, attempt.plan().resource_key, again.read_target);
  const auto seen = co_await read_again(attempt.parts, again.request.head.host, std::move(read), attempt.token);
  if (!seen || (!seen->exists() && !seen->absent())) co_return false;
  const policy::SeenBody there{seen->absent(), seen->body};
  if (!policy::is_base_still(again.base, there, *attempt.plan().facts().body)) co_return false;
  attempt.if_match = seen->exists() && again.carries_etag ? seen->etag : std::string();
  attempt.must_be_absent = seen->absent() && again.creates_only;
  co_return true;
}

Task<Result<arm::Response>> send(const Attempt& attempt, std::optional<arm::ResponseHead>& broken_off) {
  const Parts& parts = attempt.parts;
  arm::Request request = attempt.again->request;
  request.head.fields.add("Authorization", attempt.token);
  if (!attempt.if_match.empty()) request.head.fields.add("If-Match", attempt.if_match);
  if (attempt.must_be_absent) request.head.fields.add("If-None-Match", "*");
  SendLimits limits = limits_of_one(parts, parts.clock.now() + parts.shared.options.answer_timeout);
  Report unread;  // no request waits for it
  ClientGate gate(parts, unread, ClientGate::Sender::OneOfSeveral);
  limits.gate = &gate;
  co_return co_await send_whole(parts, attempt.again->principal, request, limits, &broken_off);
}

// It may have been taken: from now on everybody knows, and the lease is its own operation's.
void go_on(const Attempt& attempt, LeasedBecause because, const arm::ResponseHead& head, arm::Tracking tracking) {
  auto& parts = attempt.parts;
  const SendAgain& again = *attempt.again;
  const bool accepted = because == LeasedBecause::Accepted;
  LeasedWrite leased = attempt.op_lease->write();
  leased.because = because;
  leased.is_on_its_way = !accepted && attempt.if_match.empty() && !attempt.must_be_absent;
  leased.intent = attempt.intent;
  leased.tracking = std::move(tracking);
  leased.opened = parts.clock.now();
  leased.interval = arm::retry_after(head.fields, parts.clock.wall()).value_or(Duration{});
  leased.must_be_provisioned.clear();
  complete_from_plan(parts, again.request.head.target, leased);
  const bool runs = leased.tracking.by != arm::TrackedBy::Nothing;
  WriteOutcome known;
  known.kind = accepted ? OutcomeKind::Answered : OutcomeKind::InDoubt;
  known.status = head.status;
  known.known = parts.clock.wall();
  known.is_running = true;  // even if its answer was its end: that is recorded below, and other replicas close it by that
  known.tracking = leased.tracking;
  known.owned = attempt.owned().id();
  known.result.how = runs ? arm::Progress::Unknown : arm::Progress::Succeeded;
  known.change = {again.base.body, again.requested_body, attempt.plan().facts().body,
                  attempt.op_lease->write().method == arm::Method::Put, again.base.absent};
  parts.store.record_outcome(attempt.intent, known);
  if (accepted)
    attempt.owned().follow(attempt.intent, leased.tracking);
  else
    attempt.owned().doubt(attempt.intent);
  auto lease = hand_over(parts, attempt.op_lease);
  if (lease) lease->note_at_arm(leased.opened);
  Change change{again.write_key, again.requested_body, accepted};
  change.knows_merges = again.knows_merges;
  change.if_match = attempt.if_match;
  change.asked_for_all = attempt.op_lease->write().method == arm::Method::Put;
  note_may_have_changed(parts, leased, change, parts.clock.next_moment());
  if (runs && lease && lease->held()) {
    start_watching(parts, open_lease(parts, std::move(leased), *std::move(lease), attempt.token));
    return;
  }
  // Its end is its answer; or somebody let others in meanwhile (armgate unlock), and nobody looks for it.
  note_finished(parts, leased, known.result.how);
  if (accepted) note_result(parts, leased, known.result);
  parts.store.record_end(attempt.intent, parts.clock.wall(), runs ? EndSeen::No : EndSeen::Yes, known.result);
  attempt.owned().end(attempt.intent, known.result);
}

SendResult note_not_taken(Attempt& attempt, OutcomeKind kind, int status, const policy::LateFailure& failure) {
  auto& parts = attempt.parts;
  WriteOutcome known;
  known.kind = kind;
  known.status = status;
  known.known = parts.clock.wall();
  parts.store.record_outcome(attempt.intent, known);
  const auto due = attempt.owned().refuse(failure, attempt.rule(), parts.clock.now(), parts.rng);
  if (!due && attempt.why.empty()) attempt.why = "ARM refused it, and its rule allows no further sending";
  return due ? SendResult::Again : SendResult::Never;
}

// The rest of ARM's answer was lost. What its head says counts all the same: that it was taken, or refused.
SendResult take_broken_off(Attempt& attempt, const arm::ResponseHead& head) {
  if (arm::was_refused(head.status)) {
    const auto come_back = arm::retry_after(head.fields, attempt.parts.clock.wall());
    if (head.status == 401) attempt.owned().distrust(attempt.token);  // its client's next poll brings another
    const auto kind = come_back || head.status == 401 ? rules::ErrorClass::Busy : rules::ErrorClass::Final;
    return note_not_taken(attempt, OutcomeKind::Answered, head.status, {kind, come_back});
  }
  const arm::Method method = attempt.op_lease->write().method;
  auto tracking = arm::tracking_of(method, head, {});
  const bool had_state = head.status != 202 && method != arm::Method::Delete;
  if (had_state && tracking.by == arm::TrackedBy::Nothing) tracking = tracked_by_resource(attempt.plan());
  go_on(attempt, LeasedBecause::Accepted, head, std::move(tracking));
  return SendResult::Over;
}

Task<SendResult> send_and_hear(Attempt& attempt) {
  auto& parts = attempt.parts;
  const policy::LateFailure passing{rules::ErrorClass::Busy, std::nullopt};
  std::optional<arm::ResponseHead> broken_off;
  auto answer = co_await send(attempt, broken_off);
  if (!answer && answer.error().sent == Sent::No) co_return note_not_taken(attempt, OutcomeKind::NotSent, 0, passing);
  if (broken_off && (arm::is_success(broken_off->status) || arm::was_refused(broken_off->status)))
    co_return take_broken_off(attempt, *broken_off);
  if (!answer || policy::may_have_had_effect(answer->head.status)) {
    parts.shared.counters.outcomes_unknown.fetch_add(1, std::memory_order_relaxed);
    go_on(attempt, LeasedBecause::InDoubt, {}, tracked_by_resource(attempt.plan()));
    co_return SendResult::Over;
  }
  const auto plain = plain_content(answer->head, answer->body, parts.shared.options.write_answer_bytes_max);
  const std::string_view body = plain ? plain->text() : std::string_view();
  if (arm::is_success(answer->head.status)) {
    go_on(attempt, LeasedBecause::Accepted, answer->head,
          arm::tracking_of(attempt.op_lease->write().method, answer->head, body));
    co_return SendResult::Over;
  }
  const int status = answer->head.status;
  if (status == 401) {  // its client's next poll brings another
    attempt.owned().distrust(attempt.token);
    co_return note_not_taken(attempt, OutcomeKind::Answered, status, passing);
  }
  const auto facts = policy::classify_error(attempt.op_lease->write().planned.made_under->errors(), answer->head, body,
                                            rules::OwnPrecondition::Absent, parts.clock.wall());
  co_return note_not_taken(attempt, OutcomeKind::Answered, status, {facts.kind, facts.come_back});
}

// What would be refused to a client is not sent by armgate itself either.
bool is_kept_away(const Attempt& attempt) {
  const rules::Breaker& breaker = attempt.plan().rule->breaker;
  const LeasedWrite& write = attempt.op_lease->write();
  const Parts& parts = attempt.parts;
  return breaker.mode == rules::Mode::Protect &&
         parts.shared.results.judge(attempt.plan().resource_key, write.request_hash, breaker.probe_every, parts.clock.now())
                 .goes != OperationResults::Goes::Yes;
}

bool is_still_wanted(Attempt& attempt) {
  if (!attempt.op_lease->is_open())
    attempt.why = "its lock was released";
  else if (!attempt.again || !attempt.owned().again())
    attempt.why = "somebody ended it";
  return attempt.why.empty();
}

Task<SendResult> try_again(Attempt& attempt, TimePoint due) {
  auto& parts = attempt.parts;
  const auto& op_lease = attempt.op_lease;
  attempt.token = co_await wait_for_token(parts, op_lease, due);
  if (!is_still_wanted(attempt)) co_return SendResult::Never;
  if (attempt.token.empty()) attempt.why = "its client does not poll any more";
  // The kill switch.
  if (parts.shared.rules.mode() != rules::Mode::Protect) attempt.why = "the mode is not protect any more";
  if (is_kept_away(attempt)) attempt.why = "its resource is sick, and its rule has a breaker";
  if (!attempt.why.empty()) co_return SendResult::Never;
  const bool no_effect = co_await has_had_no_effect(attempt);
  if (!is_still_wanted(attempt)) co_return SendResult::Never;
  if (!no_effect) attempt.why = "the resource cannot be read, or is not what it was built from, or not in a final state";
  if (!no_effect) co_return SendResult::Never;
  IntentRecord record = another_sending(attempt.again->record);
  record.if_match = attempt.if_match;
  record.started = parts.clock.next_moment();
  record.begun = parts.clock.wall();
  record.executor = parts.executor;
  record.claim = op_lease->claim();
  const auto recorded = co_await parts.store.record_intent(record);
  if (!recorded) attempt.why = "it cannot be recorded";
  if (!recorded) co_return SendResult::Never;
  attempt.intent = *recorded;
  if (is_still_wanted(attempt) && !may_send(parts)) attempt.why = "this armgate may not send any more";
  if (!attempt.why.empty()) {
    note_not_taken(attempt, OutcomeKind::NotSent, 0, {});
    co_return SendResult::Never;
  }
  attempt.owned().note_sending();
  parts.shared.counters.sent_again_late.fetch_add(1, std::memory_order_relaxed);
  log_attempt(parts, op_lease->write(),
              fmt::format("sent again ({} of {})", attempt.owned().sendings(), attempt.rule().backoff.attempts));
  co_return co_await send_and_hear(attempt);
}

}  // namespace

void note_late_failure(const LeasedWrite& write, std::string_view body) {
  if (!write.owned || !write.owned->again()) return;
  write.owned->note_failure(write.intent, policy::classify_late_failure(write.planned.made_under->errors(), body));
}

bool is_to_go_again(const Parts& parts, const OperationLease& op_lease, arm::Progress last) {
  const LeasedWrite& write = op_lease.write();
  if (!write.owned || !arm::has_failed(last) || write.because != LeasedBecause::Accepted) return false;
  if (write.owned->fail(write.intent, last, write.planned.plan->rule->late, parts.clock.now(), parts.rng)) return true;
  // An old poll that is told of a failure says nothing of what was sent since.
  if (write.owned->snapshot().newest == write.intent) parts.shared.owned.tell_left(*write.owned);
  return false;
}

Task<void> go_again(Parts& parts, std::shared_ptr<OperationLease> op_lease) {
  const LeasedWrite& write = op_lease->write();
  while (op_lease->is_open() && write.owned) {
    const auto due = write.owned->due();
    if (!due) co_return;
    if (is_mutant(Mutant::OwnLeaseGivenUp)) op_lease->release();
    Attempt attempt{parts, op_lease, write.owned->again(), {}};
    const SendResult result = co_await try_again(attempt, *due);
    if (result == SendResult::Over) co_return;
    if (result == SendResult::Again) continue;
    parts.shared.counters.given_up_late.fetch_add(1, std::memory_order_relaxed);
    log_attempt(parts, write, fmt::format("it is not sent again, and its client is told so: {}", attempt.why));
    write.owned->give_up();
    parts.shared.owned.tell_left(*write.owned);
    co_return;
  }
}

}  // namespace armgate
