#include "proxy/request/write/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arm/url.h"
#include "base/mutant.h"
#include "proxy/policy/backoff.h"
#include "proxy/request/answer.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/guard/own_effect.h"
#include "proxy/request/guard/reconcile.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/request/operation/progress.h"
#include "proxy/request/read/remember.h"
#include "proxy/request/read_again.h"

namespace armgate {
namespace {

constexpr int kRenewalsMax = 32;  // ten neighbours that share one ETag may all come first, some of them twice
constexpr int kLossesMax = 3;     // sendings whose answers may get lost before the outcome is called unknown
constexpr Duration kLostPause = std::chrono::seconds(1);
constexpr Duration kDeletePause = std::chrono::seconds(2);

Outcome unknown(const Write& write, std::string_view why) {
  write.parts.shared.counters.outcomes_unknown.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = "outcome-unknown";
  write.report().altered = true;
  Outcome outcome;
  outcome.kind = Outcome::Kind::InDoubt;
  outcome.answer = make_outcome_unknown(write.plan.target.resource.id, why);
  outcome.tracking = tracked_by_resource(write.plan);
  return outcome;
}

// The state, or that there is none. Any other answer (a token that may write but not read) shows nothing.
Task<Result<SeenState>> see(const Write& write) {
  OwnRead read = own_read(write.parts, write.plan.resource_key, write.head().target);
  auto seen = co_await read_again(write.parts, write.head().host, std::move(read), write.authorization());
  if (seen && !seen->exists() && !seen->absent()) {
    co_return upstream_error(ErrorKind::Internal, Sent::Answered, fmt::format("ARM answered {} to a read", seen->head.status));
  }
  if (seen) seen->api_version = write.plan.target.api_version;
  co_return std::move(seen);
}

// A copy with an ETag creates the resource anew only if its client has deleted it, or knows that it is gone. A refusal does not
// last: a client that reads is told 404, and one that does not sends the same again.
bool knows_it_is_gone(const Write& write) {
  const bool by_itself = write.parts.shared.resources.last_delete(write.plan.target.resource).client == write.client.key;
  const bool was_told = write.ask([&](const policy::History& history) {
    const policy::ClientRecord* record = history.client(write.client.key);
    const policy::Entry* last = record == nullptr || record->shown.empty() ? nullptr : history.find(record->shown.back().entry);
    return last != nullptr && last->absent;
  });
  if (by_itself || was_told) return !others_wrote_since(write, write.bases.known_since());
  return is_forced(write);
}

// Whether the state is an earlier sending's doing.
bool is_ours(const Write& write, const Attempts& attempts, const SeenState& state) {
  return attempts.maybe_applied && is_own_effect(write, attempts.known_since, attempts.if_match, state);
}

// Whatever the trouble was: what is there now decides whether the write goes again, with the ETag of now.
bool goes_again(const Write& write, Attempts& attempts, const SeenState& now, policy::Verdict& verdict) {
  if (is_mutant(Mutant::FreshEtagAfterBusy)) {
    attempts.if_match = now.etag;
    return true;
  }
  // Not after a lost answer if what is there is satisfied: it may have been done, and undone by somebody else since.
  if (attempts.maybe_applied && is_satisfied(write, now)) return false;
  verdict = reconcile(write, now);
  if (!verdict.sends) return false;
  compose_body(write, verdict);
  // What was sent before carries an ETag that is gone, and is not what is there: it can never take effect.
  const bool is_dead = write.is_guarded_by_etag() && !attempts.if_match.empty() && now.etag != attempts.if_match;
  if (is_dead) attempts.maybe_applied = false;
  attempts.if_match = now.exists() && write.may_carry_etag() ? now.etag : std::string();
  attempts.known_since = write.parts.clock.next_moment().order;
  return true;
}

// A full PUT after the conflict that stopped it is over: the state decides.
Task<Step<void>> replace_after_busy(const Write& write, Attempts& attempts, arm::Response answer) {
  if (write.rule() == policy::BaseRule::OwnPrecondition) co_return Step<void>();
  auto now = co_await read_current(write, "", Unreadable::Returned);
  const bool readable = now && (now->exists() || now->absent());
  if (!readable) co_return stop(write, Outcome::Kind::Answered, std::move(answer), "busy-and-unreadable");
  if (is_ours(write, attempts, *now)) co_return was_ours(write, *std::move(now));
  if (write.is_unconditional()) {
    const bool may_replace = now->absent() || write.is_meant_anyway() || is_forced(write);
    if (may_replace) co_return Step<void>();
    co_return refused(write,
                      "ARM was working on this resource for somebody else, and this client was not shown what it has become.",
                      "unconditional-after-conflict", {});
  }
  policy::Verdict verdict;
  if (goes_again(write, attempts, *now, verdict)) co_return Step<void>();
  co_return refused(write, "The resource changed while ARM was busy with it.", "changed-while-busy", verdict, &*now);
}

// What ARM's refusal says must end first.
struct Blocker {
  std::string host;
  std::string target;  // empty: not known
  arm::TrackedBy by = arm::TrackedBy::Nothing;
};

Blocker blocker_of(const Write& write, const policy::ErrorFacts& facts) {
  if (auto url = arm::parse_url(facts.operation_url)) {
    return {std::move(url->host), std::move(url->target), arm::TrackedBy::StatusUrl};
  }
  for (const arm::ResourceId& named : facts.named) {
    if (auto target = target_of_neighbour(write.plan, named))
      return {write.head().host, *std::move(target), arm::TrackedBy::ResourceState};
  }
  return {};
}

// Waits until what ARM's refusal names is over, as far as the client's queue timeout goes. Gives how far that is, if it is
// known.
Task<Step<arm::Progress>> wait_for_blocker(const Write& write, const Attempts& attempts, const policy::ErrorFacts& facts,
                                           Duration delay) {
  constexpr std::string_view kWhy = "ARM is still working on another change of this resource.";
  const Blocker blocker = blocker_of(write, facts);
  auto last = arm::Progress::Unknown;
  auto waited = co_await wait_for(write, attempts, delay, kWhy);
  while (waited && !blocker.target.empty()) {
    OwnRead read{blocker.target};
    const auto seen = co_await read_once(write.parts, blocker.host, std::move(read), write.authorization());
    if (!seen) break;
    last = blocker.by == arm::TrackedBy::StatusUrl ? arm::progress_of_status_url(seen->head, seen->body)
                                                   : arm::progress_of_resource(seen->head, seen->body);
    if (last != arm::Progress::Running) break;
    const Duration pause = std::max<Duration>(delay, std::chrono::seconds(1));
    waited = co_await wait_for(write, attempts, pause, kWhy);
  }
  if (!waited) co_return std::move(waited).ended();
  co_return last;
}

// What another write has replaced goes again only if something shows that the other one changed nothing, and only once.
bool may_go_again(const Write& write, const Attempts& attempts, const policy::ErrorFacts& facts) {
  if (write.plan.operation == arm::OperationKind::Action) return false;
  if (facts.kind != rules::ErrorClass::Superseded) return true;
  return write.has_bases() && attempts.superseded == 0;
}

// The same, but not one that lags behind what is known.
Task<Result<SeenState>> see_up_to_date(const Write& write) {
  while (true) {
    const uint64_t asked = write.parts.clock.next_moment().order;
    auto seen = co_await see(write);
    if (!seen || !lags(write, *seen, asked)) co_return std::move(seen);
    const auto end = co_await pause_counted(write, kLagPause);
    if (end != ClientWait::End::Ready)
      co_return upstream_error(ErrorKind::TimedOut, Sent::Answered, "ARM does not show the last write yet");
  }
}

// Whether a second sending can only do what the lost one did not: both carry a precondition that the first one's effect breaks.
bool is_harmless_again(const Write& write, const Attempts& attempts, const SeenState& now) {
  const bool is_own = write.rule() == policy::BaseRule::OwnPrecondition;
  const std::string_view etag = is_own ? std::string_view(attempts.clients_if_match) : attempts.if_match;
  if (!etag.empty() && now.exists() && now.etag == etag) return true;
  const bool creates = attempts.must_be_absent || (is_own && write.head().fields.get("If-None-Match") == "*");
  return creates && now.absent();
}

// Whether the state shows the lost sending's doing. Where nothing is known of what was there before, only to the letter; but
// what no write can undo another of (role assignments) need only be there.
bool shows_lost_sending(const Write& write, const Attempts& attempts, const SeenState& now) {
  if (!is_ours(write, attempts, now)) return false;
  return write.has_bases() || asks_for_exactly(write, now) || (write.is_meant_anyway() && is_satisfied(write, now));
}

arm::Progress progress_in(const SeenState& now) {
  return now.exists() ? arm::progress_of_resource(now.head, now.body) : arm::Progress::Unknown;
}

// The lost sending cannot take effect any more, unless it did, and failed: the state decides, as before the first one.
Step<void> decide_again(const Write& write, Attempts& attempts, const SeenState& now) {
  const bool creates = attempts.must_be_absent;  // then there is something already, and nothing to compare it with
  const bool has_failed = progress_in(now) == arm::Progress::Failed;
  policy::Verdict verdict;
  if (!creates && !has_failed) {
    // Without a base: nobody else could write meanwhile.
    if (write.is_unconditional() || goes_again(write, attempts, now, verdict)) {
      attempts.maybe_applied &= write.is_unconditional();
      write.report().reason = "answer-lost-state-unmoved";
      return {};
    }
  }
  return refused(write,
                 "ARM's answer was lost, and the resource is neither what this write was built from nor what it asks for.",
                 "answer-lost-state-moved", verdict, creates ? nullptr : &now);
}

// A DELETE whose answer was lost: it is gone.
Outcome was_removed(const Write& write) {
  Outcome outcome{Outcome::Kind::Accepted, {}, {}};
  outcome.answer.head.status = 204;
  write.report().reason = "answer-recovered-by-reading";
  write.report().altered = true;
  return outcome;
}

// What is there tells what became of the lost sending, and whether a second one is harmless. Where no precondition makes it so,
// nothing goes before the lost one can take effect no more. Nor while the resource is being changed, which may be its doing:
// types may show what they were until that is over.
Task<Step<void>> after_lost_replacement(const Write& write, Attempts& attempts) {
  const bool is_guarded = attempts.must_be_absent || (write.is_guarded_by_etag() && !attempts.if_match.empty());
  const TimePoint settled_at = write.parts.clock.now() + kLateEffectMax;
  while (true) {
    auto now = co_await see_up_to_date(write);
    if (!now) co_return unknown(write, "ARM's answer was lost and the resource could not be read.");
    const bool underway = progress_in(*now) == arm::Progress::Running;
    if (!underway && is_harmless_again(write, attempts, *now)) {
      write.report().reason = "answer-lost-state-unmoved";
      co_return Step<void>();
    }
    const bool taken_for_ours = is_mutant(Mutant::LostPutTakenForDone) || shows_lost_sending(write, attempts, *now);
    if (taken_for_ours) co_return was_ours(write, *std::move(now));
    if (write.plan.operation == arm::OperationKind::Delete && now->absent()) co_return was_removed(write);
    // A client's own precondition is for ARM to judge.
    const bool is_decidable = !write.is_meant_anyway() && write.rule() != policy::BaseRule::OwnPrecondition;
    const TimePoint at = write.parts.clock.now();
    // Guarded: its ETag is not there any more, or what it would make is.
    if (!underway && (is_guarded || (is_decidable && at >= settled_at))) {
      if (now->exists()) co_await read_other_versions(write, *now);
      co_return decide_again(write, attempts, *now);
    }
    auto end = ClientWait::End::TimeUp;
    const Duration pause = underway ? kLostPause : std::min<Duration>(kLostPause, settled_at - at);
    if (underway || is_decidable) end = co_await pause_counted(write, pause);
    if (end != ClientWait::End::Ready)
      co_return unknown(write, underway
                                   ? "ARM's answer was lost, and the resource is still being changed."
                                   : "ARM's answer was lost, and the resource does not show that the request was carried out.");
  }
}

// A delete is an intention, so that it goes again; but not as long as the lost one may yet remove what somebody makes after the
// second.
Task<Step<void>> after_lost_delete(const Write& write) {
  const TimePoint settled_at = write.parts.clock.now() + kLateEffectMax;
  while (true) {
    const auto now = co_await see(write);
    if (!now) co_return unknown(write, "ARM's answer was lost and the resource could not be read.");
    if (now->absent()) co_return was_removed(write);
    const bool underway = progress_in(*now) == arm::Progress::Running;
    if (!underway && write.parts.clock.now() >= settled_at) {
      write.report().reason = "answer-lost-state-unmoved";
      co_return Step<void>();
    }
    const auto end = co_await pause_counted(write, kDeletePause);
    if (end != ClientWait::End::Ready) co_return unknown(write, "ARM's answer was lost; the delete seems to run.");
  }
}

}  // namespace

Outcome stop(const Write& write, Outcome::Kind kind, arm::Response answer, std::string_view reason) {
  write.report().reason = reason;
  return {kind, std::move(answer), {}};
}

Task<ClientWait::End> pause_counted(const Write& write, Duration duration, ClientWait::AtClosing at_closing) {
  const TimePoint before = write.parts.clock.now();
  const auto end = co_await write.client_wait.pause(duration, at_closing);
  write.report().waited += write.parts.clock.now() - before;
  co_return end;
}

Task<Step<void>> wait_for(const Write& write, const Attempts& attempts, Duration delay, std::string_view why) {
  const auto at_closing = attempts.lost > 0 ? ClientWait::AtClosing::WaitOn : ClientWait::AtClosing::Stop;
  const auto end = co_await pause_counted(write, delay, at_closing);
  if (end == ClientWait::End::Ready) co_return Step<void>();
  if (attempts.lost > 0) co_return unknown(write, "An earlier answer of ARM was lost, and then ARM was busy for too long.");
  if (end == ClientWait::End::Gone) co_return client_left(write, "client-left-while-waiting");
  const auto& options = write.parts.shared.options;
  const Tried tried = attempts.sent > 0 ? Tried::WithoutEffect : Tried::No;
  if (end == ClientWait::End::Closing)
    co_return stop(write, Outcome::Kind::TryLater, make_busy(kClosing, options.retry_after, tried), "armgate-ends");
  write.parts.shared.counters.wait_timeouts.fetch_add(1, std::memory_order_relaxed);
  co_return stop(write, Outcome::Kind::TryLater, make_busy(why, come_again(options.retry_after, delay), tried),
                 "waited-too-long");
}

Step<void> check_may_send(const Write& write, const Attempts& attempts) {
  if (may_send(write.parts)) return {};
  if (attempts.lost == 0) return unrecorded(write);
  return unknown(write, "An earlier answer of ARM was lost, and the cluster's engine does not answer.");
}

Task<Step<void>> after_stale(const Write& write, Attempts& attempts, arm::Response answer) {
  if (is_mutant(Mutant::UnconditionalReplayAfter412)) {
    attempts.if_match.clear();
    co_return Step<void>();
  }
  auto now = co_await read_current(write, "ARM's ETag has moved, and the resource could not be read to see why.",
                                   Unreadable::Returned);
  if (!now) {
    if (attempts.lost == 0) co_return std::move(now).ended();
    co_return unknown(write, "An earlier answer of ARM was lost, and the resource could not be read.");
  }
  if (!now->exists() && !now->absent()) co_return refused_by_arm(write, std::move(answer), "stale");
  if (is_ours(write, attempts, *now)) co_return was_ours(write, *std::move(now));
  const bool is_gone = now->absent() && write.rule() == policy::BaseRule::BodyEtag;
  if (is_gone && knows_it_is_gone(write) && !attempts.if_match.empty()) {
    attempts.if_match.clear();
    write.report().guard = policy::to_text(policy::BaseRule::Create);
    co_return Step<void>();
  }
  policy::Verdict verdict;
  const int renewals_max = is_mutant(Mutant::MovedEtagIsStale) ? 0 : kRenewalsMax;
  const bool may_renew = attempts.renewals < renewals_max && !now->etag.empty();
  if (!may_renew || !goes_again(write, attempts, *now, verdict)) {
    if (verdict.conflict) co_return refused(write, "The resource has changed.", "conflict", verdict, &*now);
    co_return refused_by_arm(write, std::move(answer), "stale", &*now);
  }
  ++attempts.renewals;
  if (!verdict.merged) write.parts.shared.counters.spurious_412s.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = verdict.by_right                          ? "read-again-since-refusal"
                          : verdict.merged                          ? "merged"
                          : write.report().guard.ends_with(kForced) ? "forced"
                                                                    : "etag-moved-without-a-change";
  co_return Step<void>();
}

Task<Step<void>> after_existing(const Write& write, Attempts& attempts, arm::Response answer) {
  if (attempts.maybe_applied) {
    auto state = co_await see_up_to_date(write);
    // A read that shows nothing of what ARM has just named lags.
    if (!state || state->absent())
      co_return unknown(write, "ARM's answer was lost, and what it says is there now could not be read.");
    if (is_ours(write, attempts, *state)) co_return was_ours(write, *std::move(state));
  }
  co_return refused_by_arm(write, std::move(answer), "created-meanwhile");
}

Task<Step<void>> after_busy(const Write& write, Attempts& attempts, arm::Response answer, const policy::ErrorFacts& facts) {
  const bool superseded = facts.kind == rules::ErrorClass::Superseded;
  if (!may_go_again(write, attempts, facts)) {
    co_return stop(write, Outcome::Kind::Answered, std::move(answer), superseded ? "superseded" : "busy");
  }
  const auto& backoff = write.plan.rule->busy;
  const auto delay = policy::next_delay(backoff, attempts.sent + 1, write.parts.clock.now() - attempts.first_sent,
                                        facts.come_back, write.parts.rng);
  if (!delay) co_return stop(write, Outcome::Kind::Answered, std::move(answer), "busy-too-long");
  write.report().reason = superseded ? "superseded" : "arm-was-busy";
  if (superseded) ++attempts.superseded;
  auto waited = co_await wait_for_blocker(write, attempts, facts, *delay);
  if (!waited) co_return std::move(waited).ended();
  // Waiting does not mend what has failed (cloud-provider-azure writes such an address anew).
  const bool broken = facts.kind == rules::ErrorClass::Dependency && *waited == arm::Progress::Failed;
  if (broken) co_return stop(write, Outcome::Kind::Answered, std::move(answer), "dependency-failed");
  if (write.replaces) co_return co_await replace_after_busy(write, attempts, std::move(answer));
  co_return Step<void>();
}

Task<Step<void>> after_lost_answer(const Write& write, Attempts& attempts, const Error& error) {
  attempts.maybe_applied = true;
  write.ledger().note_maybe_applied(write.sending);
  const bool repeats = ++attempts.lost > 1;
  if (repeats) {
    const auto end = co_await pause_counted(write, kLostPause);
    if (attempts.lost > kLossesMax || end != ClientWait::End::Ready) {
      co_return unknown(write, "ARM's answer was lost again and again.");
    }
  }
  if (write.replaces) co_return co_await after_lost_replacement(write, attempts);
  if (write.plan.operation == arm::OperationKind::Delete) co_return co_await after_lost_delete(write);
  if (is_mutant(Mutant::PostSentAgain)) co_return Step<void>();
  co_return unknown(write, fmt::format("ARM's answer was lost: {}.", error.context));
}

}  // namespace armgate
