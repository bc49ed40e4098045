// forward.cc – sends a recorded write, and sends it again only on proof (docs/design.md, "Retries";
// promise P4).
#include "proxy/request/write/forward.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "arm/etag.h"
#include "arm/throttle.h"
#include "proxy/policy/error_class.h"
#include "proxy/request/answer.h"
#include "proxy/request/client_gate.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/guard/own_effect.h"
#include "proxy/request/guard/reconcile.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/request/queue/visibility.h"
#include "proxy/request/read_again.h"
#include "proxy/request/send_whole.h"
#include "proxy/request/write/recover.h"

namespace armgate {
namespace {

constexpr int kUnreachableMax = 3;
constexpr Duration kUnreachablePause = std::chrono::milliseconds(200);
constexpr int kLooksMax = 4;  // for a state whose answer broke off
constexpr Duration kLookPause = std::chrono::seconds(1);

// What goes along as If-Match is set in the request itself: nothing looks at the client's own fields any more, and a body of
// megabytes need not be copied. A precondition of the client's is never touched, then there is none of ours; but for "*" under
// a rule that strengthens it, which is there again whenever nothing stronger is.
void apply_precondition(arm::Headers& fields, const Attempts& attempts) {
  const std::string& wanted = attempts.if_match.empty() ? attempts.clients_if_match : attempts.if_match;
  if (wanted.empty() && !fields.get("If-Match").empty())
    fields.remove("If-Match");
  else if (wanted != fields.get("If-Match"))
    fields.set("If-Match", wanted);
  if (attempts.must_be_absent) fields.set("If-None-Match", "*");
}

// Of one sending; for people it is with ARM from its first byte on.
class WriteGate final : public ClientGate {
 public:
  WriteGate(const Write& write, Intent& intent, const Attempts& attempts)
      : ClientGate(write.parts, write.report(), Sender::OneOfSeveral), intent_(intent) {
    watch(write.client_wait, attempts.lost > 0 ? ClientWait::AtClosing::WaitOn : ClientWait::AtClosing::Stop);
  }

 private:
  void note_begun() override { intent_.note_sent(*begun()); }

  Intent& intent_;
};

Task<Result<arm::Response>> send_once(const Write& write, Intent& intent, Attempts& attempts,
                                      std::optional<arm::ResponseHead>& broken_off) {
  const Parts& parts = write.parts;
  apply_precondition(write.exchange.request.head.fields, attempts);
  WriteGate gate(write, intent, attempts);
  SendLimits limits = limits_of_one(parts, kNever);
  limits.begin_by = connection_due(parts, write.client_wait.until());
  limits.answer_max = parts.shared.options.answer_timeout;
  limits.gate = &gate;
  auto answer = co_await send_whole(parts, write.exchange.principal, write.exchange.request, limits, &broken_off);
  if (answer || answer.error().sent != Sent::No) {
    if (attempts.sent == 0) attempts.first_sent = gate.begun().value_or(parts.clock.now());
    ++attempts.sent;
    ++write.report().attempts;
  }
  co_return std::move(answer);
}

// The body of an answer for reading; what cannot be decoded reads as empty and so classifies as nothing.
PlainBytes readable(const Write& write, const arm::Response& answer) {
  auto plain = plain_content(answer.head, answer.body, write.parts.shared.options.write_answer_bytes_max);
  return plain ? *std::move(plain) : PlainBytes::decoded("");
}

// But for the answer itself.
Outcome final_outcome(const Write& write, const arm::Response& answer, std::string_view body) {
  Outcome outcome;
  outcome.kind = arm::is_success(answer.head.status) ? Outcome::Kind::Accepted : Outcome::Kind::Answered;
  if (outcome.kind == Outcome::Kind::Accepted) {
    auto words = arm::words_in_body(body);
    outcome.tracking = arm::tracking_of_state(write.head().method, answer.head, words.provisioning_state);
    outcome.body_etag = std::move(words.etag).value_or("");
  }
  if (policy::may_have_had_effect(answer.head.status)) outcome.tracking = tracked_by_resource(write.plan);
  return outcome;
}

// Of the body: a token that has expired or that may not write says nothing about it.
bool is_refusal(int status) {
  return status >= 400 && status < 500 && status != 401 && status != 403 && !arm::asks_for_another_try(status);
}

// What was refused is not what its client asked for, so that it is the client's to look again.
Outcome refused_merge(const Write& write, const policy::ErrorFacts& facts) {
  return refused(
      write,
      fmt::format("Others have changed the resource meanwhile, and ARM does not take their changes and this one together ({}).",
                  facts.code.empty() ? "no error code" : facts.code),
      "merge-refused", {});
}

Task<Step<void>> after_failure(const Write& write, Attempts& attempts, const Error& error) {
  const bool is_lost = error.sent != Sent::No || attempts.lost > 0;
  if (!is_lost && write.client_wait.client_gone()) co_return client_left(write, "client-left-before-sending");
  if (!is_lost && error.kind == ErrorKind::Cancelled && write.client_wait.closing())
    co_return try_later(write, kClosing, "armgate-ends");
  write.report().upstream_error = error.context;
  if (is_lost) co_return co_await after_lost_answer(write, attempts, error);
  if (error.kind != ErrorKind::Busy && ++attempts.unreachable < kUnreachableMax) {
    const ClientWait::End end = co_await write.client_wait.pause(kUnreachablePause, ClientWait::AtClosing::Stop);
    if (end == ClientWait::End::Ready) co_return Step<void>();
    if (end == ClientWait::End::Gone) co_return client_left(write, "client-left-before-sending");
    if (end == ClientWait::End::Closing) co_return try_later(write, kClosing, "armgate-ends");
  }
  write.report().reason = "upstream-failure";
  write.report().altered = true;
  co_return Outcome{Outcome::Kind::TryLater, make_upstream_failure(error, write.parts.shared.options.retry_after), {}};
}

Task<Step<void>> after_answer(const Write& write, Attempts& attempts, arm::Response answer) {
  const PlainBytes body = readable(write, answer);
  const bool own = write.keeps_own_precondition();
  const auto facts =
      policy::classify_error(write.exchange.planned.made_under->errors(), answer.head, body.text(),
                             own ? rules::OwnPrecondition::Present : rules::OwnPrecondition::Absent, write.parts.clock.wall());
  if (!facts.code.empty()) {
    write.report().upstream_code = facts.code;
    write.report().upstream_message = facts.message;
  }
  if (answer.head.status == 412 && facts.kind == rules::ErrorClass::Final) {
    if (!attempts.if_match.empty()) co_return co_await after_stale(write, attempts, std::move(answer));
    if (attempts.must_be_absent) co_return co_await after_existing(write, attempts, std::move(answer));
  }
  switch (facts.kind) {
    case rules::ErrorClass::Busy:
    case rules::ErrorClass::Dependency:
    case rules::ErrorClass::Superseded: co_return co_await after_busy(write, attempts, std::move(answer), facts);
    case rules::ErrorClass::Propagation: co_return co_await after_not_visible(write, attempts, std::move(answer), facts);
    case rules::ErrorClass::Final: break;
  }
  if (write.exchange.clients_own && is_refusal(answer.head.status)) co_return refused_merge(write, facts);
  if (policy::may_have_had_effect(answer.head.status)) write.ledger().note_maybe_applied(write.sending);
  Outcome outcome = final_outcome(write, answer, body.text());
  outcome.answer = std::move(answer);
  co_return std::move(outcome);
}

// ARM took it: that and the operation's URLs are known. A state that was to follow is read, and told if it is the write's.
Task<Step<void>> accept_broken_off(const Write& write, arm::ResponseHead head) {
  arm::Response answer{std::move(head), {}};
  answer.head.fields.remove("Content-Encoding");
  const bool had_state = answer.head.status != 202 && write.plan.operation != arm::OperationKind::Delete;
  const OwnRead read = own_read(write.parts, write.plan.resource_key, write.head().target);
  const bool is_readable = had_state && read.method == arm::Method::Get;
  for (int looks = 1; is_readable && answer.body.empty() && looks <= kLooksMax; ++looks) {
    auto seen = co_await read_again(write.parts, write.head().host, read, write.authorization());
    if (seen && seen->exists() && is_satisfied(write, *seen)) {
      answer.body = std::move(seen->body);
      if (!seen->etag.empty()) answer.head.fields.set("ETag", seen->etag);
    } else if (looks < kLooksMax) {  // reads may lag behind
      const auto end = co_await pause_counted(write, kLookPause);
      if (end != ClientWait::End::Ready) break;
    }
  }
  if (answer.body.empty()) answer.head.fields.remove("Content-Type");
  Outcome outcome = final_outcome(write, answer, answer.body);
  if (had_state && answer.body.empty() && outcome.tracking.by == arm::TrackedBy::Nothing)
    outcome.tracking = tracked_by_resource(write.plan);
  outcome.answer = std::move(answer);
  write.report().reason = "answer-recovered-by-reading";
  write.report().altered = true;
  co_return std::move(outcome);
}

// The rest of ARM's answer was lost. What its head says counts all the same; an action's result cannot be had again.
Task<Step<void>> after_broken_answer(const Write& write, Attempts& attempts, arm::ResponseHead head, const Error& error) {
  write.report().upstream_error = error.context;
  const auto come_back = arm::retry_after(head.fields, write.parts.clock.wall());
  if (arm::was_refused(head.status) && come_back) {  // why is not known, but that it passes
    if (attempts.lost > 0) co_return co_await after_lost_answer(write, attempts, error);
    const Duration pause = come_again(write.parts.shared.options.retry_after, *come_back);
    co_return stop(write, Outcome::Kind::TryLater,
                   make_busy("ARM refused this for now, and its answer did not arrive whole.", pause, Tried::WithoutEffect),
                   "arm-was-busy");
  }
  if (arm::was_refused(head.status)) {
    arm::Response refusal =
        make_error(head.status, "ArmgateUpstreamBroken",
                   fmt::format("ARM refused this, and its answer did not arrive whole: {}.", error.context));
    head.fields.remove("Content-Encoding");
    head.fields.set("Content-Type", refusal.head.fields.get("Content-Type"));
    refusal.head = std::move(head);
    co_return co_await after_answer(write, attempts, std::move(refusal));
  }
  const bool had_result = write.plan.operation == arm::OperationKind::Action && head.status != 202;
  if (!arm::is_success(head.status) || had_result) co_return co_await after_lost_answer(write, attempts, error);
  co_return co_await accept_broken_off(write, std::move(head));
}

}  // namespace

Task<Outcome> forward(const Write& write, Intent& intent) {
  if (auto done = intent.take_found_done()) co_return *std::move(done);
  write.ledger().sent(write.sending);
  Attempts attempts;
  attempts.clients_if_match = std::string(write.head().fields.get("If-Match"));
  attempts.if_match = intent.precondition().if_match;
  attempts.must_be_absent = intent.precondition().must_be_absent;
  attempts.known_since = intent.precondition().known_since;
  if (attempts.known_since == 0) attempts.known_since = write.bases.known_since();
  attempts.maybe_applied = write.ledger().maybe_applied(write.sending);
  while (true) {
    if (auto may = check_may_send(write, attempts); !may) co_return std::move(may).ended();
    intent.set_phase(WritePhase::Again);
    std::optional<arm::ResponseHead> broken_off;
    auto answer = co_await send_once(write, intent, attempts, broken_off);
    const bool is_told = broken_off && (arm::is_success(broken_off->status) || arm::was_refused(broken_off->status));
    intent.set_phase(answer || is_told || answer.error().sent == Sent::No ? WritePhase::Again : WritePhase::Doubt);
    Step<void> next;  // two statements: g++ 12 copies the result of a conditional co_await bit by bit
    if (answer)
      next = co_await after_answer(write, attempts, *std::move(answer));
    else if (broken_off)
      next = co_await after_broken_answer(write, attempts, *std::move(broken_off), answer.error());
    else
      next = co_await after_failure(write, attempts, answer.error());
    if (next) continue;
    Outcome outcome = std::move(next).ended();
    // Whatever the last answer was: a sending whose answer got lost may be running still.
    const bool ended = outcome.kind != Outcome::Kind::Accepted && outcome.tracking.by == arm::TrackedBy::Nothing;
    if (ended && attempts.lost > 0) outcome.tracking = tracked_by_resource(write.plan);
    co_return std::move(outcome);
  }
}

}  // namespace armgate
