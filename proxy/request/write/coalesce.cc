#include "proxy/request/write/coalesce.h"

#include <absl/cleanup/cleanup.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "arm/long_running.h"
#include "proxy/request/answer.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/read/remember.h"
#include "proxy/request/write/repeat.h"

namespace armgate {
namespace {

using Match = SendingLedger::Match;

// The largest accepted difference between the client's clock and ours. A request from further ahead could not be told from a
// new one, once it is forgotten.
constexpr std::chrono::minutes kClocksApartMax{5};

Outcome take_over(Write& write, const SendingLedger::Ending& ending) {
  write.report().reason = ending.reason.empty() ? "answered-an-earlier-sending" : ending.reason;
  note_replay(write, ending);
  Outcome outcome;
  outcome.kind = ending.kind == SendingLedger::Ending::Kind::Accepted ? Outcome::Kind::Accepted : Outcome::Kind::Answered;
  outcome.answer = *ending.answer;
  unexplain(outcome.answer.head);
  return outcome;
}

Outcome refused_again(Write& write, Match match) {
  write.sending = 0;
  return {Outcome::Kind::Answered, not_again(match, write.exchange, write.plan), {}};
}

Outcome still_running(Write& write) {
  write.sending = 0;
  write.report().reason = "still-running";
  return {Outcome::Kind::TryLater, make_still_running(write.parts.shared.options.retry_after), {}};
}

// What others than that sending did to the resource since an order, and whether that is known.
SendingLedger::Since written_since(const Write& write, uint64_t sending, uint64_t order) {
  const Hash128 write_key = write_key_of(write.parts.shared.hasher, sending, write.request_id);
  const auto is_known = [order](const policy::History& history) { return history.forgotten() <= order; };
  const auto is_gone = [order](const policy::History& history) { return history.absent() > order; };
  // A 404 may be of before, for some reads lag: then nobody knows.
  const auto may_be_gone = [order](const policy::History& history) {
    return std::ranges::any_of(history.entries(), [order](const policy::Entry& e) { return e.absent && e.number > order; });
  };
  if (write.ask(is_gone)) return SendingLedger::Since::Written;
  if (!others_wrote_since(write, write_key, order)) {
    return write.ask(may_be_gone) ? SendingLedger::Since::Unknown : SendingLedger::Since::Nothing;
  }
  return write.ask(is_known) ? SendingLedger::Since::Written : SendingLedger::Since::Unknown;
}

// Whether its client was shown since that order that the resource is in a final state, or the state cannot be told.
bool was_shown_at_rest(const Write& write, uint64_t order) {
  policy::SharedBody body;
  bool was_shown = false;
  write.ask([&](const policy::History& history) {
    const policy::ClientRecord* record = history.client(write.client.key);
    if (record == nullptr) return;
    for (const policy::Observation& o : record->shown) {
      if (o.as == policy::ShownAs::OwnAnswer || o.last_asked <= order) continue;
      const policy::Entry* entry = history.find(o.entry);
      const policy::Rendering* rendering = entry == nullptr ? nullptr : entry->rendered_at(o.api_version);
      was_shown = true;
      body = rendering == nullptr ? nullptr : rendering->body;
    }
  });
  if (!was_shown) return false;
  const auto plain = in_plain_bytes(body, write.parts.shared.options.body_keep_max);
  if (!plain) return true;
  const auto state = arm::provisioning_state(plain->bytes);
  return !state || arm::is_terminal(arm::progress_of_word(*state));
}

// That its operation is not known to have ended is not enough: its client may know more.
bool still_runs(const Write& write, IntentId intent, uint64_t ended) {
  if (was_shown_at_rest(write, ended)) return false;
  if (write.parts.shared.remote_operations.runs(intent)) return true;
  const auto op_leases = write.parts.shared.op_leases.on_key(write.plan.resource_key);
  return std::any_of(op_leases.begin(), op_leases.end(),
                     [&](const auto& op_lease) { return op_lease->write().intent == intent && op_lease->is_open(); });
}

// `content`: see request_hash_of(), `resend`: resend_hash_of().
SendingLedger::Arrival arrival_with(const Hash128& content, const Hash128& resend, const Parts& parts, const Exchange& exchange,
                                    const KeyedPlan& plan, const Client& client) {
  const Hasher& hasher = parts.shared.hasher;
  SendingLedger::Arrival arrival;
  arrival.content = content;
  arrival.resend = resend;
  arrival.request_id = request_id_of(hasher, exchange);
  identify_request(arrival, exchange.named);
  arrival.resource = plan.resource_key;
  arrival.at = exchange.arrived;
  arrival.one_actor = client.declared.actors == policy::Actors::Single;
  arrival.repeats = repeats_of(parts.shared, plan, arrival.one_actor, exchange.named);
  arrival.repeats.known_until = parts.clock.wall() + kClocksApartMax;
  return arrival;
}

}  // namespace

SendingLedger::Arrival arrival_of(const Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client,
                                  std::shared_ptr<const Presence> asker) {
  const Hash128 content = request_hash_of(parts.shared.hasher, exchange.request);
  const Hash128 resend = resend_hash_of(parts.shared.hasher, content, client, exchange.request.head.fields);
  auto arrival = arrival_with(content, resend, parts, exchange, plan, client);
  arrival.asker = std::move(asker);
  return arrival;
}

SendingLedger::Arrival arrival_of(const Write& write, std::shared_ptr<const Presence> asker) {
  auto arrival = arrival_with(write.request_hash, write.resend, write.parts, write.exchange, write.plan, write.client);
  arrival.asker = std::move(asker);
  return arrival;
}

bool is_watched_action(const Exchange& exchange, const rules::Plan& plan) {
  return plan.mode == rules::Mode::Protect && exchange.request.head.method == arm::Method::Post &&
         plan.operation != arm::OperationKind::ReadAction;
}

arm::Response not_again(SendingLedger::Match match, Exchange& exchange, const rules::Plan& plan) {
  const auto& resource = plan.target.resource.id;
  exchange.report.altered = true;
  if (match == Match::Misused) {
    exchange.report.reason = "repeatability-id-of-another-request";
    exchange.report.repeatability = "rejected";
    return make_error(
        400, "ArmgateBadRepeatability",
        "The Repeatability-Request-ID is that of another request: its method, URL or body was different. Give each "
        "request an id of its own.");
  }
  if (match == Match::Forgotten) {
    exchange.report.reason = "first-sent-before-memory";
    exchange.report.repeatability = "rejected";
    return make_outcome_unknown(
        resource, "By its Repeatability-First-Sent it may have been carried out before all that armgate remembers.");
  }
  if (match == Match::Ahead) {
    exchange.report.reason = "first-sent-ahead";
    exchange.report.repeatability = "rejected";
    return make_outcome_unknown(
        resource, "By its Repeatability-First-Sent it was not sent yet: the client's clock and armgate's are minutes apart.");
  }
  exchange.report.reason = "still-in-doubt";
  return make_outcome_unknown(resource, "An earlier sending of this request was not seen to be answered.");
}

SendingLedger::Questions questions_of(const Write& write) {
  SendingLedger::Questions ask;
  ask.written = [&write](uint64_t sending, uint64_t order) { return written_since(write, sending, order); };
  ask.runs = [&write](IntentId intent, uint64_t ended) { return still_runs(write, intent, ended); };
  ask.failed = [&write](IntentId intent) { return write.parts.shared.results.failure_of(intent).has_value(); };
  return ask;
}

Task<Step<void>> coalesce(Write& write, const SendingLedger::Arrival& arrival) {
  SendingLedger& ledger = write.ledger();
  const SendingLedger::Questions ask = questions_of(write);
  bool has_gone_round = false;  // without having waited
  while (true) {
    const TimePoint before = write.parts.clock.now();
    const auto found = ledger.match(arrival, &write.client_wait.waiter(), ClientWait::kJoinedEnded, ask);
    write.sending = found.asking.sending;
    write.asking = found.asking.number;
    const bool is_refused = found.match == Match::InDoubt || found.match == Match::Misused || found.match == Match::Forgotten ||
                            found.match == Match::Ahead;
    if (is_refused) co_return refused_again(write, found.match);
    if (found.match == Match::DoubtExpired) write.report().reason = "sent-again-after-doubt-expired";
    if (found.match != Match::Shared) {
      write.facts.arrived = found.arrived;
      const bool is_repeated = found.arrived.order < arrival.at.order && !ledger.maybe_applied(write.sending);
      if (is_repeated) write.facts.repeated = arrival.at;
      co_return Step<void>();
    }
    auto with = SendingLedger::With::Nothing;
    const uint64_t sending = found.asking.sending;
    const auto leave = absl::MakeCleanup([&] { ledger.leave(sending, &write.client_wait.waiter(), with); });
    const bool had_ended = ledger.ending(sending).has_value();
    const auto end = co_await write.client_wait.await_ready([&] { return ledger.ending(sending).has_value(); });
    write.report().waited += write.parts.clock.now() - before;
    if (end == ClientWait::End::Gone) write.sending = 0;
    if (end == ClientWait::End::Gone) co_return Outcome{Outcome::Kind::Left, {}, {}};
    if (end == ClientWait::End::TimeUp) co_return still_running(write);
    const auto [ending, as_recorded] = ledger.told(sending, arrival.resend);
    if (ending && ending->kind == SendingLedger::Ending::Kind::InDoubt) co_return refused_again(write, Match::InDoubt);
    const bool is_accepted = ending && ending->kind == SendingLedger::Ending::Kind::Accepted;
    const bool is_recorded = is_accepted && ending->recorded;
    if (is_recorded && (as_recorded || !ending->answer)) {
      with = SendingLedger::With::Answer;
      const auto credential = as_recorded ? Credential::Other : Credential::Same;
      Outcome told = co_await answer_as_recorded(write, *ending, credential);
      if (!write.report().replayed) write.sending = 0;  // the record stays what it is
      co_return std::move(told);
    }
    const bool has_answer = ending && ending->answer && ending->kind != SendingLedger::Ending::Kind::Expected;
    if (!has_answer || as_recorded) {
      // Once what others did meanwhile may be why; for ever it would keep this loop from everybody else.
      if (had_ended && std::exchange(has_gone_round, true)) co_return still_running(write);
      continue;
    }
    with = SendingLedger::With::Answer;
    co_return take_over(write, *ending);
  }
}

}  // namespace armgate
