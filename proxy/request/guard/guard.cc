// guard.cc – the step that keeps a write from undoing what its sender has not seen.
#include "proxy/request/guard/guard.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/guard/own_effect.h"
#include "proxy/request/guard/reconcile.h"
#include "proxy/request/queue/reservation.h"
#include "proxy/request/read/parents.h"

namespace armgate {
namespace {

// A child may stand in the content of its parent and leave the parent's ETag where it is (AKS: a pool moves its own only), so
// after its write the ETag says nothing about the parent any more.
bool child_written_since(const Write& write, uint64_t order) {
  return write.ask([&](const policy::History& h) { return h.child_written_since(order); });
}

// Whether ARM's own comparison is all it takes: one state, and an ETag that tells everything.
bool etag_decides(const Write& write) {
  if (!write.etag_tells_all() || !write.is_guarded_by_etag() || !write.bases.is_certain()) return false;
  const policy::BaseState& base = write.bases.possible.front();
  const bool is_gone = base.gone || base.lies_before(last_absence(write));
  return !is_gone && !base.absent && !base.etag.empty() && !child_written_since(write, base.known_since);
}

// Of whatever is known to be there.
std::string newest_etag(const Write& write) {
  return write.ask(
      [](const policy::History& history) { return history.entries().empty() ? std::string() : history.entries().back().etag; });
}

// Whether there was something since the last delete, although this client was told that there is nothing: its read may have
// lagged, or somebody has made it since, with its parent perhaps.
bool may_be_there(const Write& write) {
  if (is_mutant(Mutant::OwnReadsForgotten)) return others_wrote_since(write, write.bases.known_since());
  const uint64_t since = std::min(write.bases.known_since(), last_delete(write));
  const bool is_seen = write.ask([&](const policy::History& history) { return history.was_seen_since(since); });
  const auto is_own = [&](const policy::Entry& e) {
    return e.writer == write.client.key && write.client.declared.actors != policy::Actors::Many;
  };
  return is_seen || others_wrote_since(write, since) ||
         is_put_with_parent(write.parts, write.plan.target.resource, since, is_own);
}

// Why a write without a known state must not be sent now; empty if it may. What waits must not turn a visible conflict into a
// silent loss. Once told, its client may mean it.
std::string_view conflict_of(const Write& write) {
  const bool exempt = write.is_meant_anyway() || is_mutant(Mutant::UnconditionalAlwaysSent);
  if (!write.replaces || exempt) return {};
  if (is_forced(write)) {
    note_forced(write);
    return {};
  }
  const bool overtaken = write.ask([&](const policy::History& history) { return policy::was_overtaken(history, write.facts); });
  const bool is_forgotten = write.rule() == policy::BaseRule::Forgotten;
  if (overtaken && is_forgotten) {
    return "Another write to this resource finished while this one was on its way. Whether this one knows of it cannot be told: what "
           "this client may have read before is not remembered.";
  }
  if (overtaken) {
    return "Another write to this resource finished while this one was on its way. Whether this one knows of it cannot be told: this "
           "client was not shown any state of the resource.";
  }
  if (!is_forgotten || !write.plan.guarded) return {};
  const bool may_undo =
      write.ask([&](const policy::History& history) { return policy::is_refused_if_forgotten(history, write.facts); });
  if (!may_undo) return {};
  return "What this client may have read before armgate was started, or long ago, is not remembered, and a write of somebody else "
         "to this resource is on record.";
}

// What was decided: the write goes with this, or an earlier sending of these bytes turned out to have taken effect.
struct Decision {
  Precondition precondition{};
  std::optional<Outcome> found_done{};
};

// Of a write that no known state guards. Suspends.
Task<Step<Decision>> decide_unconditional(const Write& write) {
  if (const auto conflict = conflict_of(write); !conflict.empty()) {
    co_return refused(write, conflict, "unconditional-after-another-write", {});
  }
  // ARM may have carried out its earlier sending: sent again as it is, it would take back what was changed since then. Some
  // things are to be carried out whenever they are asked for (deployments).
  if (write.is_meant_anyway() || !write.ledger().maybe_applied(write.sending)) co_return Decision();
  auto now = co_await read_current(write, "The resource could not be read to see whether this write has happened already.",
                                   unreadable_for(write));
  if (!now) co_return std::move(now).ended();
  // What there was before is not known: to anything that is satisfied already, nothing may have been done.
  const bool is_done = asks_for_exactly(write, *now) && is_own_effect(write, write.facts.arrived.order, {}, *now);
  if (!is_done) co_return Decision();
  co_return Decision{{}, was_ours(write, *std::move(now))};
}

// Whether the client itself has removed it since it was what the write is built from, and nobody else has written.
bool has_removed_it(const Write& write) {
  if (write.client.declared.actors == policy::Actors::Many) return false;
  const auto own = [&](const policy::Entry& e) { return e.writer == write.client.key; };
  const uint64_t since = write.bases.known_since();
  return write.ask([&](const policy::History& history) {
    return history.deleted_by() == write.client.key && history.deleted() > since && !history.written_since(since, own);
  });
}

// By reading what is there and comparing, where no ETag can tell. Suspends.
Task<Step<Decision>> decide_by_comparing(const Write& write) {
  const std::string chosen = std::exchange(write.report().guard, write.report().guard + ", verified");
  auto now =
      co_await read_current(write, "The resource could not be read to see whether it has changed.", unreadable_for(write));
  if (!now) co_return std::move(now).ended();
  // A client that may write but not read is treated as one that has read nothing.
  if (now->is_hidden) {
    write.report().guard = chosen + ", unverified";
    co_return co_await decide_unconditional(write);
  }
  if (write.ledger().maybe_applied(write.sending) && is_own_effect(write, write.bases.known_since(), {}, *now)) {
    co_return Decision{{}, was_ours(write, *std::move(now))};
  }
  policy::Verdict verdict = reconcile(write, *now);
  // What is gone cannot be changed: ARM says so. And who has removed it makes it anew.
  const auto makes_anew = [&] { return has_removed_it(write) || has_seen_it_gone(write, policy::Writers::Any); };
  verdict.sends |= now->absent() && (write.plan.operation == arm::OperationKind::Patch || makes_anew());
  if (!verdict.sends) {
    const bool creates = write.rule() == policy::BaseRule::Create;
    const std::string_view why =
        creates         ? "Somebody else created this resource after this client was told that it does not exist."
        : now->absent() ? "There is no such resource any more: it was deleted after this client had read it."
                        : "The resource is not what this write may have been built from.";
    const std::string_view reason = creates ? "created-meanwhile" : verdict.conflict ? "conflict" : "stale";
    co_return refused(write, why, reason, verdict, &*now);
  }
  compose_body(write, verdict);
  Decision decision;
  Precondition& precondition = decision.precondition;
  if (now->exists() && write.may_carry_etag()) precondition.if_match = now->etag;
  precondition.must_be_absent = now->absent() && write.creates_only();
  precondition.known_since = write.parts.clock.next_moment().order;
  write.report().altered |= !precondition.if_match.empty() || precondition.must_be_absent;
  co_return std::move(decision);
}

// What can be told without asking ARM; nothing: what is there has to be read.
std::optional<Precondition> known_at_once(const Write& write) {
  if (!write.replaces || write.rule() == policy::BaseRule::OwnPrecondition) return Precondition();
  if (write.is_unconditional()) return std::nullopt;
  if (is_mutant(Mutant::BaseChosenAfterWait)) return Precondition{newest_etag(write)};
  if (etag_decides(write)) {
    write.report().altered = true;
    return Precondition{write.bases.possible.front().etag};
  }
  const bool creates = write.rule() == policy::BaseRule::Create && write.bases.is_certain();
  if (!creates || write.ledger().maybe_applied(write.sending)) return std::nullopt;
  if (may_be_there(write) && !is_mutant(Mutant::UnconditionalAlwaysSent)) return std::nullopt;
  Precondition precondition;
  precondition.must_be_absent = write.creates_only();
  write.report().altered = precondition.must_be_absent;
  return precondition;
}

}  // namespace

Task<Step<Guarded>> guard(const Write& write, WriteLease lease) {
  if (write.replaces) write.report().guard = policy::to_text(write.rule());
  if (auto known = known_at_once(write)) co_return Guarded(std::move(lease), *std::move(known));
  Step<Decision> decision = Decision();
  if (write.is_unconditional())
    decision = co_await decide_unconditional(write);
  else
    decision = co_await decide_by_comparing(write);
  if (decision) co_return Guarded(std::move(lease), std::move(decision->precondition), std::move(decision->found_done));
  if (had_no_effect(decision.ended().kind)) reserve_position(write, std::move(lease));
  co_return std::move(decision).ended();
}

}  // namespace armgate
