#include "proxy/request/write/coalesce.h"

#include <absl/cleanup/cleanup.h>

#include <utility>

#include "proxy/request/answer.h"
#include "proxy/request/read/remember.h"

namespace armgate {
namespace {

using Match = SendingLedger::Match;

Outcome take_over(Write& write, const SendingLedger::Ending& ending) {
  write.parts.shared.counters.replayed.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = ending.reason.empty() ? "answered-an-earlier-sending" : ending.reason;
  write.report().replayed = true;
  write.report().altered = true;
  Outcome outcome;
  outcome.kind = ending.kind == SendingLedger::Ending::Kind::Accepted ? Outcome::Kind::Accepted : Outcome::Kind::Answered;
  outcome.answer = *ending.answer;
  unexplain(outcome.answer.head);
  return outcome;
}

Outcome in_doubt(Write& write) {
  write.sending = 0;
  return {Outcome::Kind::Answered, still_in_doubt(write.exchange, write.plan), {}};
}

}  // namespace

SendingLedger::Arrival arrival_of(const Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client,
                                  std::shared_ptr<const Presence> asker) {
  const Hasher& hasher = parts.shared.hasher;
  SendingLedger::Arrival arrival;
  // With the credential: claims alone are unverified, so only who shows the same token asks for the same.
  arrival.request = hasher.chain(bytes_of(hasher, exchange.request), client.credential);
  arrival.request_id = request_id_of(hasher, exchange);
  arrival.resource = plan.resource_key;
  arrival.at = exchange.arrived;
  arrival.asker = std::move(asker);
  arrival.one_actor = client.declared.actors == policy::Actors::Single;
  return arrival;
}

bool is_watched_action(const Exchange& exchange, const rules::Plan& plan) {
  return plan.mode == rules::Mode::Protect && exchange.request.head.method == arm::Method::Post &&
         plan.operation != arm::OperationKind::ReadAction;
}

arm::Response still_in_doubt(Exchange& exchange, const rules::Plan& plan) {
  exchange.report.reason = "still-in-doubt";
  exchange.report.altered = true;
  return make_outcome_unknown(plan.target.resource.id, "An earlier sending of this request got no answer.");
}

Task<std::optional<Outcome>> coalesce(Write& write, const SendingLedger::Arrival& arrival) {
  SendingLedger& ledger = write.ledger();
  const auto written_since = [&write](uint64_t sending, uint64_t order) {
    write.sending = sending;  // what it has done itself is not another's
    return others_wrote_since(write, order);
  };
  while (true) {
    const TimePoint before = write.parts.clock.now();
    const auto found = ledger.match(arrival, &write.patience.waiter(), Patience::kJoinedEnded, written_since);
    write.sending = found.asking.sending;
    write.asking = found.asking.number;
    if (found.match == Match::InDoubt) co_return in_doubt(write);
    if (found.match == Match::DoubtExpired) write.report().reason = "sent-again-after-doubt-expired";
    if (found.match != Match::Shared) {
      write.facts.arrived = found.arrived;
      const bool is_repeated = found.arrived.order < arrival.at.order && !ledger.maybe_applied(write.sending);
      if (is_repeated) write.facts.repeated = arrival.at;
      co_return std::nullopt;
    }
    auto with = SendingLedger::With::Nothing;
    const uint64_t sending = found.asking.sending;
    const auto leave = absl::MakeCleanup([&] { ledger.leave(sending, &write.patience.waiter(), with); });
    const auto end = co_await write.patience.await_ready([&] { return ledger.ending(sending).has_value(); });
    write.report().waited += write.parts.clock.now() - before;
    if (end == Patience::End::Gone || end == Patience::End::TimeUp) write.sending = 0;
    if (end == Patience::End::Gone) co_return Outcome{Outcome::Kind::Left, {}, {}};
    if (end == Patience::End::TimeUp) {
      write.report().reason = "still-running";
      co_return Outcome{Outcome::Kind::Busy, make_still_running(write.parts.shared.options.retry_after), {}};
    }
    const auto ending = ledger.ending(sending);
    if (ending && ending->kind == SendingLedger::Ending::Kind::Unknown) co_return in_doubt(write);
    const bool has_answer = ending && ending->answer && ending->kind != SendingLedger::Ending::Kind::Expected;
    if (!has_answer) continue;
    with = SendingLedger::With::Answer;
    co_return take_over(write, *ending);
  }
}

}  // namespace armgate
