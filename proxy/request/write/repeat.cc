#include "proxy/request/write/repeat.h"

#include <algorithm>
#include <utility>

#include "arm/repeatability.h"
#include "proxy/request/answer.h"
#include "proxy/request/read/remember.h"
#include "proxy/request/read_again.h"

namespace armgate {
namespace {

constexpr const char* kNamed = "named";  // two requests under one name are one by their client's own word

using Recorded = SendingLedger::Recorded;

bool is_of_state(const rules::Plan& plan) {
  return plan.operation == arm::OperationKind::Put || plan.operation == arm::OperationKind::Patch;
}

bool has_url(const Recorded& recorded) {
  return !recorded.tracking.status_url.empty() || !recorded.tracking.location_url.empty();
}

// With what its operation has failed. Not even beside a URL that tells it the state of now may be shown: SDKs take one that is
// final for the operation's end.
std::optional<OperationResult> failure_of(const Write& write, const SendingLedger::Ending& ending) {
  const auto& ended = ending.recorded->ended;
  if (ended && arm::has_failed(ended->how)) return ended;
  return write.parts.shared.results.failure_of(ending.intent);
}

// Whether it is known to be over, or its client can ask.
bool tells_its_end(const Recorded& recorded) {
  return has_url(recorded) || !recorded.ended || recorded.ended->how != arm::Progress::Unknown;
}

// The status that is still true. "Accepted" without an operation to ask would be none.
int status_now(const Recorded& recorded, const rules::Plan& plan) {
  if (recorded.status != 202 || has_url(recorded)) return recorded.status;
  return is_of_state(plan) ? 200 : 0;
}

// Of an action's result nothing is kept but that it has none.
bool is_enough(const Recorded& recorded, const rules::Plan& plan) {
  if (!tells_its_end(recorded)) return false;
  if (is_of_state(plan) || plan.operation == arm::OperationKind::Delete) return status_now(recorded, plan) != 0;
  return recorded.status == 204 || (recorded.status == 202 && status_now(recorded, plan) != 0);
}

arm::Response compose(const Recorded& recorded, const rules::Plan& plan) {
  arm::Response answer;
  answer.head.status = status_now(recorded, plan);
  if (!recorded.etag.empty()) answer.head.fields.add("ETag", recorded.etag);
  if (!recorded.tracking.status_url.empty()) answer.head.fields.add("Azure-AsyncOperation", recorded.tracking.status_url);
  if (!recorded.tracking.location_url.empty()) answer.head.fields.add("Location", recorded.tracking.location_url);
  return answer;
}

Outcome not_at_hand(const Write& write, const Recorded& recorded) {
  write.report().reason = "recorded-answer-not-at-hand";
  write.report().altered = true;
  return {Outcome::Kind::Answered, make_answer_not_kept(write.plan.target.resource.id, recorded.status), {}};
}

Outcome operation_failed(const Write& write, const SendingLedger::Ending& ending, const OperationResult& failure) {
  write.report().reason = "recorded-operation-failed";
  note_replay(write, ending);
  return {
      Outcome::Kind::Answered,
      make_operation_failed(write.plan.target.resource.id, ending.recorded->status, arm::to_text(failure.how), failure.error),
      {}};
}

}  // namespace

std::optional<arm::Response> name_request(const Parts& parts, Exchange& exchange) {
  auto named = arm::repeatability_of(exchange.request.head.fields);
  if (!named) {
    exchange.report.reason = "bad-repeatability";
    exchange.report.altered = true;
    exchange.report.repeatability = "rejected";
    return make_error(400, "ArmgateBadRepeatability", named.error().context);
  }
  if (!*named) return std::nullopt;
  const auto& given = **named;
  const Hash128 key = parts.shared.hasher.hash_fields("repeatability", given.request_id, given.client_id);
  exchange.named = NamedRequest{key, given.first_sent};
  return std::nullopt;
}

SendingLedger::Repeats repeats_of(const SharedState& shared, const rules::Plan& plan, bool one_actor,
                                  const std::optional<NamedRequest>& named) {
  SendingLedger::Repeats repeats;
  const bool is_recorded = plan.kind == rules::PlanKind::Write;
  if (named) {
    repeats.by_id = true;
    repeats.first_sent = named->first_sent;
    repeats.known_from = is_recorded ? shared.recorded_from : shared.began;
    return repeats;
  }
  const bool is_put = plan.operation == arm::OperationKind::Put;
  const bool may_be_once = is_recorded && (is_put || plan.operation == arm::OperationKind::Action);
  if (may_be_once) repeats.window = plan.rule->once.window;
  if (is_recorded && is_put && one_actor) repeats.running = plan.rule->lease.cap;
  return repeats;
}

void identify_request(SendingLedger::Arrival& arrival, const std::optional<NamedRequest>& named) {
  arrival.request = named ? named->key : arrival.resend;
  if (named) arrival.request_id = kNamed;
}

bool may_have_run(arm::Method method, int status) {
  return method != arm::Method::Put && arm::asks_for_another_try(status) && status != 429;
}

void note_replay(const Write& write, const SendingLedger::Ending& ending) {
  write.parts.shared.counters.replayed.fetch_add(1, std::memory_order_relaxed);
  write.report().replayed = true;
  write.report().altered = true;
  if (ending.intent != 0) write.parts.store.record_replay(ending.intent);
}

Task<Outcome> answer_as_recorded(Write& write, const SendingLedger::Ending& ending, Credential credential) {
  const Recorded& recorded = *ending.recorded;
  const rules::Plan& plan = write.plan;
  // Claims are unverified: who comes with another credential shows by reading that it is good.
  const bool can_read = plan.operation != arm::OperationKind::Action;
  const auto failure = failure_of(write, ending);
  if (failure && credential == Credential::Same) co_return operation_failed(write, ending, *failure);
  const bool must_read = is_of_state(plan) || credential == Credential::Other;
  if (!is_enough(recorded, plan) || (must_read && !can_read)) co_return not_at_hand(write, recorded);
  Outcome outcome{Outcome::Kind::Answered, compose(recorded, plan), {}};
  if (must_read) {
    write.exchange.forwarded = write.parts.clock.next_moment();
    OwnRead read = own_read(write.parts, write.plan.resource_key, write.head().target);
    auto seen = co_await read_again(write.parts, write.head().host, std::move(read), write.authorization());
    if (!seen || arm::asks_for_another_try(seen->head.status)) {
      co_return try_later(write, "The resource cannot be read to answer what was carried out before.", "verify-failed");
    }
    if (!seen->exists() && (is_of_state(plan) || !seen->absent())) co_return not_at_hand(write, recorded);
    if (failure) co_return operation_failed(write, ending, *failure);
    if (is_of_state(plan)) {
      outcome.answer.head.fields.add("Content-Type", "application/json; charset=utf-8");
      outcome.answer.body = seen->body;
      // Of a merged write that is all which is known of it: its client may go on from what it asked for, and would take back
      // the rest.
      const bool shows_now = !recorded.was_merged;
      if (shows_now && !seen->etag.empty()) outcome.answer.head.fields.set("ETag", seen->etag);
      if (shows_now) outcome.read = arm::Response{std::move(seen->head), std::move(seen->body)};
    }
  }
  write.report().reason = "answered-as-recorded";
  note_replay(write, ending);
  co_return std::move(outcome);
}

}  // namespace armgate
