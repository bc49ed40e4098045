// prepare.cc – the stages before anything is sent: lock, guard, intend.
#include <fmt/format.h>

#include <utility>

#include "arm/url.h"
#include "base/mutant.h"
#include "proxy/stages/answer.h"
#include "proxy/stages/blind.h"
#include "proxy/stages/doubt.h"
#include "proxy/stages/held_write.h"
#include "proxy/stages/keep_place.h"
#include "proxy/stages/own_effect.h"
#include "proxy/stages/read_again.h"
#include "proxy/stages/verify.h"
#include "proxy/stages/write.h"

namespace armgate {
namespace {

enum class ItsBase { Dies, Stays };

Outcome refused(const Write& write, std::string_view why, std::string_view reason, const std::vector<std::string>& changed = {},
                ItsBase base = ItsBase::Dies) {
  write.parts.shared.counters.refused_stale.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = reason;
  write.report().altered = true;
  // Whatever it was built on is dead now, so that an undeserved refusal cannot repeat itself.
  if (base == ItsBase::Dies) write.client.state->refuse(write.plan.resource_key, write.base());
  return {Outcome::Kind::Refused, make_stale(why, changed), {}};
}

Outcome busy(const Write& write, std::string_view why, std::string_view reason) {
  write.report().reason = reason;
  write.report().altered = true;
  return {Outcome::Kind::Busy, make_busy(why, write.parts.shared.options.retry_after), {}};
}

// Some clients take no more than 8 or 16 KiB of header fields.
void tell_locks(const std::vector<rules::LockKey>& keys, Report& report) {
  constexpr size_t kToldMax = 12;
  for (size_t i = 0; i < keys.size() && i < kToldMax; ++i) {
    report.locks.push_back(keys[i].mode == rules::LockMode::Shared ? keys[i].id + " (shared)" : keys[i].id);
  }
  if (keys.size() > kToldMax) report.locks.push_back(fmt::format("{} more", keys.size() - kToldMax));
}

}  // namespace

namespace {

// Whether the guard will read the resource, because what the write was built from has no ETag.
bool looks_first(const Write& write) {
  const policy::Base& base = write.base();
  if (!write.replaces || base.goes_unguarded() || base.rule == policy::BaseRule::OwnPrecondition) return false;
  return write.verifies() || base.etag.empty();
}

Result<LockPlace> stand_in_line(const Write& write, const std::vector<rules::LockKey>& keys) {
  if (auto kept = return_to_place(write, keys)) {
    write.report().reason = "took-its-kept-place";
    return *std::move(kept);
  }
  ClaimInfo info;
  info.client_label = write.client.label;
  info.what = fmt::format("{} {}", write.head().method_token, write.plan.target.resource.id);
  info.since = write.parts.clock.now();
  info.client = write.client.key;
  // What armgate compares itself shows nothing of use while it is being changed.
  info.reenters = may_run_beside_its_own(write.plan) && !looks_first(write);
  auto& locks = write.parts.shared.locks;
  Waiter* waiter = &write.patience.waiter();
  if (is_mutant(Mutant::ParentNotLocked))
    return locks.join({write.plan.keys.back()}, std::move(info), waiter, Patience::kGranted);
  return locks.join(keys, std::move(info), waiter, Patience::kGranted);
}

std::string still_running(const Pipeline::Parts& parts, const std::optional<ClaimInfo>& holder) {
  if (!holder) return "Other writes to this resource come first.";
  return fmt::format("Another write is still running: {} of {}, since {} s.", holder->what, holder->client_label,
                     whole_milliseconds(parts.clock.now() - holder->since) / 1000);
}

}  // namespace

std::optional<Outcome> refuse_without_state(const Write& write) {
  if (!write.replaces) return std::nullopt;
  write.report().guard = policy::to_text(write.base().rule);
  if (write.base().rule != policy::BaseRule::Refused) return std::nullopt;
  return refused(write, "No state of this resource that this client was shown is still one to build on.", "no-live-version");
}

Task<std::variant<WriteLease, Outcome>> lock(const Write& write) {
  auto& parts = write.parts;
  const TimePoint asked = parts.clock.now();
  std::vector<rules::LockKey> with_references;  // most bodies refer to nothing
  if (!write.references.empty()) with_references = all_keys(write);
  const auto& all = write.references.empty() ? write.plan.keys : with_references;
  auto place = stand_in_line(write, all);
  if (!place) {
    parts.shared.counters.queue_full.fetch_add(1, std::memory_order_relaxed);
    co_return busy(write, place.error().context, "queue-full");
  }
  tell_locks(all, write.report());
  if (place->granted()) co_return place->take();

  std::vector<Hash128> keys;
  for (const auto& key : all) keys.push_back(parts.shared.locks.key_of(key.id));
  HoldTable::Loan loan;
  parts.shared.holds.hurry(keys, write.authorization(), loan);
  const auto end = co_await write.patience.await_grant(*place);
  write.report().waited += parts.clock.now() - asked;
  switch (end) {
    case Patience::End::Ready: {
      write.report().reason = "waited-for-another-write";
      co_return place->take();
    }
    case Patience::End::Gone: {
      keep_place(write, *std::move(place));
      co_return client_left(write, "client-left-the-queue");
    }
    case Patience::End::Closing: co_return busy(write, kClosing, "armgate-ends");
    case Patience::End::TimeUp: break;
  }
  const std::string why = still_running(parts, place->holder());
  keep_place(write, *std::move(place));
  parts.shared.counters.wait_timeouts.fetch_add(1, std::memory_order_relaxed);
  co_return busy(write, why, "waited-too-long");
}

namespace {

// What stands at `target` under the lock, or how the write ends because that is not to be known.
Task<std::variant<SeenState, Outcome>> look(const Write& write, const std::string& target, std::string_view why_not) {
  auto now = co_await read_again(write.parts, write.head().host, target, write.authorization());
  if (write.patience.client_gone()) co_return client_left(write, "client-left-while-verifying");
  const bool readable = now && (now->exists() || now->absent());
  if (!readable) co_return busy(write, why_not, "verify-failed");
  co_return *std::move(now);
}

// Nothing was sent, and whoever comes again has its turn still.
Outcome come_again(const Write& write, WriteLease lease, Outcome outcome) {
  keep_place(write, std::move(lease).into_place());
  return outcome;
}

// A child may stand in the content of its parent and leave the parent's ETag where it is (AKS: a pool moves its own only), so
// after its write the ETag says nothing about the parent any more.
bool etag_tells_all(const Write& write) {
  const policy::Base& base = write.base();
  const bool came_with_journal = base.rule == policy::BaseRule::OnlyLive && base.version == 0;
  if (came_with_journal) {
    return !write.parts.shared.resources.child_accepted_since(write.plan.resource_key, write.bound.first_arrival.order);
  }
  if (!base.body || base.known.order == 0) return true;  // nothing that could be compared
  return !write.parts.shared.resources.child_accepted_since(write.plan.resource_key, base.known.order);
}

}  // namespace

// The base has no ETag that ARM would compare, or one that does not tell everything, so armgate does. An ETag that the state has
// all the same guards the rest of the way, where ARM looks at it.
Task<std::variant<Guarded, Outcome>> verify(const Write& write, WriteLease lease) {
  const auto& state = *write.client.state;
  write.report().guard += ", verified";
  auto looked = co_await look(write, write.base().target, "The resource could not be read to see whether it has changed.");
  if (auto* ended = std::get_if<Outcome>(&looked)) co_return come_again(write, std::move(lease), std::move(*ended));
  SeenState& now = std::get<SeenState>(looked);
  if (state.maybe_applied(write.bound.binding) && is_own_effect(write, write.base().known.order, now)) {
    co_return Guarded(std::move(lease), {}, was_ours(write, std::move(now)));
  }
  const auto comparison = compare_with_shown(write, now);
  if (!comparison.same) {
    const std::string_view why = write.base().body ? "The resource is not what this client was shown."
                                                   : "What this client was shown is not remembered any more.";
    // An ETag that stands although the content is another is what the next read brings as well.
    const bool stands = !now.etag.empty() && now.etag == write.base().etag;
    co_return refused(write, why, "verified-stale", comparison.changed, stands ? ItsBase::Stays : ItsBase::Dies);
  }
  write.report().altered = !now.etag.empty();
  co_return Guarded(std::move(lease), Precondition{now.etag});
}

// A write without a known state to compare with.
Task<std::variant<Guarded, Outcome>> go_unguarded(const Write& write, WriteLease lease) {
  const policy::BaseRule rule = write.base().rule;
  if (const auto conflict = blind_conflict(write)) co_return refused(write, *conflict, "blind-after-another-write");
  // Whatever an earlier sending did, some things are to be carried out whenever they are asked for (deployments).
  const bool looks_back = rule == policy::BaseRule::Create || write.plan.rule->blind_after_wait != rules::BlindAfterWait::Send;
  if (looks_back && write.client.state->maybe_applied(write.bound.binding)) {
    // ARM may have carried out its earlier sending: sent again as it is, it would take back what was changed since then.
    auto looked = co_await look(write, write.head().target,
                                "The resource could not be read to see whether this write has happened already.");
    if (auto* ended = std::get_if<Outcome>(&looked)) co_return come_again(write, std::move(lease), std::move(*ended));
    SeenState& now = std::get<SeenState>(looked);
    // What there was before is known of a create only: to anything else that is satisfied already, nothing may have been done.
    const bool shows_it = rule == policy::BaseRule::Create || asks_for_exactly(write, now);
    if (shows_it && is_own_effect(write, write.bound.first_arrival.order, now)) {
      co_return Guarded(std::move(lease), {}, was_ours(write, std::move(now)));
    }
    if (now.exists() && rule == policy::BaseRule::Create) {
      co_return refused(write, "The resource was created, and changed, since this client was told that there was none.",
                        "created-meanwhile");
    }
  }
  if (rule == policy::BaseRule::Insisted) {
    write.parts.shared.counters.insisted.fetch_add(1, std::memory_order_relaxed);
  }
  Precondition precondition;
  precondition.must_be_absent = write.creates_only();
  if (precondition.must_be_absent) write.report().altered = true;
  co_return Guarded(std::move(lease), std::move(precondition));
}

Task<std::variant<Guarded, Outcome>> guard(const Write& write, WriteLease lease) {
  const policy::Base& base = write.base();
  if (!write.replaces || base.rule == policy::BaseRule::OwnPrecondition) co_return Guarded(std::move(lease), {});
  if (base.goes_unguarded()) co_return co_await go_unguarded(write, std::move(lease));
  if (is_mutant(Mutant::BaseChosenAfterWait)) {
    co_return Guarded(std::move(lease), Precondition{write.client.state->versions(write.plan.resource_key).back().etag});
  }
  // ETags may begin again with a new resource of the same name (Compute counts from "1"), so the old one proves nothing.
  const auto deletion = write.parts.shared.resources.last_delete(write.plan.target.resource);
  const bool deleted_since = base.known.order != 0 && deletion.when.order > base.known.order;
  const bool deleted = deleted_since || deletion.when.order > write.bound.first_arrival.order;
  if (deleted && !is_mutant(Mutant::DeletedEtagsCount)) {
    co_return refused(write, "The resource was deleted while this write was on its way.", "deleted-meanwhile");
  }
  if (!base.etag.empty() && !write.verifies() && etag_tells_all(write)) {
    write.report().altered = true;
    co_return Guarded(std::move(lease), Precondition{base.etag});
  }
  co_return co_await verify(write, std::move(lease));
}

Task<std::variant<Intent, Outcome>> intend(const Write& write, Guarded guarded) {
  auto& parts = write.parts;
  const std::string also_locked = rules::to_lines(write.references);
  IntentRecord record;
  record.also_locked = also_locked;
  record.client = write.client.key;
  record.bytes = write.bytes;
  record.resend = resend_key(parts.shared.hasher, write.bytes, write.client);
  record.client_label = write.client.label;
  record.request_id = write.request_id;
  record.method = write.head().method_token;
  record.host = write.head().host;
  record.path = arm::path_of(write.head().target);
  record.api_version = write.plan.target.api_version;
  record.resource = write.plan.target.resource.id;
  record.if_match = guarded.precondition().if_match;
  record.started = parts.clock.next_moment();
  record.begun = parts.clock.wall();
  record.executor = write.exchange.executor;
  const auto recorded = co_await parts.store.record_intent(record);
  if (!recorded) {
    co_return busy(write, "The journal cannot take the write.", "journal-unavailable");  // and nobody is to wait for its place
  }
  if (write.patience.client_gone() && !is_mutant(Mutant::LeaverIsSent)) {
    WriteOutcome not_sent;
    not_sent.kind = OutcomeKind::NotSent;
    not_sent.known = parts.clock.wall();
    parts.store.record_outcome(*recorded, not_sent);
    auto left = client_left(write, "client-left-before-sending");
    co_return come_again(write, std::move(guarded).take_lease(), std::move(left));
  }
  co_return Intent(std::move(guarded), *recorded);
}

}  // namespace armgate
