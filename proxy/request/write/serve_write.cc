#include "proxy/request/write/serve_write.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/mutant.h"
#include "proxy/request/answer.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/guard/patch_copy.h"
#include "proxy/request/operation/shown.h"
#include "proxy/request/queue/breaker.h"
#include "proxy/request/queue/lock.h"
#include "proxy/request/queue/share.h"
#include "proxy/request/queue/turn.h"
#include "proxy/request/write/close_write.h"
#include "proxy/request/write/coalesce.h"
#include "proxy/request/write/forward.h"
#include "proxy/request/write/own_operation.h"
#include "proxy/request/write/references.h"
#include "proxy/request/write/settle.h"

namespace armgate {
namespace {

// Whether an earlier write of the same client ended while this one waited in a way that changes the possible bases: it failed,
// so that its answer is no base; it deleted the resource; or the client is one actor, which knows what it has asked for.
bool own_write_ended_otherwise(const Write& write) {
  const uint64_t arrived = write.facts.arrived.order;
  return write.replaces && write.ask([&](const policy::History& history) {
    const bool is_one_actor = write.client.declared.actors == policy::Actors::Single;
    const auto tells = [&](const policy::Entry& e) {
      if (e.writer != write.client.key || e.cause != policy::Cause::Written) return false;
      return (e.failed && e.ended > arrived) || (is_one_actor && e.number > arrived);
    };
    const bool is_deleted = history.deleted() > arrived && history.deleted_by() == write.client.key;
    return is_deleted || std::ranges::any_of(history.entries(), tells);
  });
}

// The steps in their order; each step consumes the one before.
Task<Outcome> run_steps(Write& write) {
  // Before the lock, so that nobody waits for a write that waits for ARM's budget.
  auto share = co_await await_share(write.parts, write.exchange, write.plan, write.client, write.client_wait);
  if (!share.ticket) {
    co_return Outcome{share.is_gone ? Outcome::Kind::Left : Outcome::Kind::TryLater, std::move(share.busy), {}};
  }
  auto locked = co_await lock(write);
  if (!locked) co_return std::move(locked).ended();
  if (own_write_ended_otherwise(write)) find_bases(write);
  // What ran before it may have made the resource sick, or well; in a cluster others tell it to who waits.
  if (auto refused = refuse_known_sick(write)) co_return *std::move(refused);
  auto guarded = co_await guard(write, *std::move(locked));
  if (!guarded) co_return std::move(guarded).ended();
  // Only what is sent shows whether the resource is sick still.
  if (guarded->is_to_be_sent() && may_be_kept_away(write)) {
    auto refused = co_await refuse_if_sick(write);
    if (refused) co_return *std::move(refused);
  }
  auto intent = co_await intend(write, *std::move(guarded));
  if (!intent) co_return std::move(intent).ended();
  Outcome outcome = co_await forward(write, *intent);
  outcome.intent = intent->id();
  settle(write, *std::move(intent), outcome);
  co_await wait_until_shown(write, outcome);
  co_return std::move(outcome);
}

Task<Receipt> deliver(const Write& write, ClientLink& client_link, Outcome outcome) {
  if (outcome.kind == Outcome::Kind::Left) {
    // A client that has only half-closed can still read that nothing was sent.
    outcome.answer = make_busy(kClientLeft, write.parts.shared.options.retry_after);
  }
  if (outcome.turn) co_await begin_turn(write, std::move(outcome.turn));
  const Showing showing = remember_answer(write, outcome);
  if (is_mutant(Mutant::AnswerAltered)) outcome.answer.head.fields.remove("Azure-AsyncOperation");
  if (write.exchange.named && arm::is_success(outcome.answer.head.status)) write.report().repeatability = "accepted";
  explain(outcome.answer.head, write.report());
  // Shared with those who ask for the same; they get it as soon as it is known, however slowly this client takes it.
  const auto answer = make_pooled<const arm::Response>(std::move(outcome.answer));
  const auto to_share = had_no_effect(outcome.kind) ? nullptr : answer;
  if (!write.report().replayed) share_answer(write, outcome, to_share);

  bool is_recorded = true;
  if (write.parts.cluster != nullptr && !is_mutant(Mutant::AnswerNotAwaited))
    is_recorded = co_await until_recorded(write.parts, write.exchange.executor);
  if (!is_recorded && outcome.kind == Outcome::Kind::Accepted) {
    // The answer is kept: sent again, the write gets it, and by then the others know of it.
    write.report().reason = "cluster-unavailable";
    write.report().altered = true;
    auto later = make_kept(write.parts.shared.options.retry_after);
    explain(later.head, write.report());
    co_await write_answer(write.exchange, client_link, later);
    write.exchange.delivered = false;
    co_return close_exchange(write, outcome.kind, showing);
  }
  co_await write_answer(write.exchange, client_link, *answer);
  co_return close_exchange(write, outcome.kind, showing);
}

}  // namespace

Task<Receipt> serve_write(Parts& parts, Exchange& exchange, ClientLink& client_link, const KeyedPlan& plan,
                          const Client& client) {
  ClientWait client_wait(parts.clock, exchange.executor, client_link,
                         exchange.arrived.time + queue_timeout_of(parts, exchange));
  Write write = make_write(parts, exchange, plan, client, client_wait);
  if (!takes_more(parts)) co_return co_await deliver(write, client_link, unrecorded(write));
  const auto arrival = arrival_of(write, client_link.presence());
  write.is_repeatable = arrival.repeats.any();
  if (parts.cluster != nullptr && write.is_repeatable) {
    if (auto busy = co_await meet_before_repeating(write)) co_return co_await deliver(write, client_link, *std::move(busy));
  }
  auto coalesced = co_await coalesce(write, arrival);
  if (!coalesced) co_return co_await deliver(write, client_link, std::move(coalesced).ended());
  if (parts.cluster == nullptr) {  // else others may have seen more
    if (auto refused = refuse_known_sick(write)) co_return co_await deliver(write, client_link, *std::move(refused));
  }
  detect_patch_copy(write);
  const WriteUnderWay under_way(write);
  if (parts.cluster != nullptr) {
    if (auto busy = co_await meet_the_others(write)) co_return co_await deliver(write, client_link, *std::move(busy));
  }
  if (write.replaces || may_be_owned(write)) find_bases(write);
  write.references = references_of(write);
  Outcome outcome = co_await run_steps(write);
  co_return co_await deliver(write, client_link, std::move(outcome));
}

}  // namespace armgate
