#include "proxy/request/operation/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arm/arm_error.h"
#include "arm/long_running.h"
#include "arm/throttle.h"
#include "arm/url.h"
#include "base/mutant.h"
#include "proxy/async/spawn.h"
#include "proxy/request/budget.h"
#include "proxy/request/operation/progress.h"
#include "proxy/request/operation/provisioned.h"
#include "proxy/request/operation/result.h"
#include "proxy/request/operation/send_again.h"
#include "proxy/request/read_again.h"
#include "proxy/request/timed_wait.h"

namespace armgate {
namespace {

constexpr int kSettledMax = 3;
constexpr int kUnreadableMax = 3;  // refusals in a row to show a resource
constexpr int kMissingMax = 3;     // 404s in a row on an operation URL before the resource itself is asked
constexpr int kShutOutsMax = 3;    // tokens in turn that may not see the operation
// One watcher's memory between its polls.
struct Watcher {
  std::shared_ptr<OperationLease> op_lease;
  TimePoint last_poll{};
  TimePoint not_before{};  // what ARM asked for when it would not tell
  TimePoint expires{};
  TimePoint extended{};  // or opened
  arm::TrackedBy by = arm::TrackedBy::Nothing;
  int missing = 0;
  int unreadable = 0;
  int settled = 0;  // looks at a resource that should be going and shows no sign of it
  // The token that was not good for the operation's URL, so that its resource is asked; empty: none was. Another may be, but
  // after some the resource has to do.
  std::string shut_out{};
  TimePoint shut_out_since{};
  int shut_outs = 0;
};

// Where to look, and with what: the operation's URL, or the resource.
struct LookAt {
  std::string host;
  std::string target;
};

LookAt place_to_look(const Watcher& watcher) {
  const LeasedWrite& write = watcher.op_lease->write();
  const auto& text = watcher.by == arm::TrackedBy::StatusUrl ? write.tracking.status_url : write.tracking.location_url;
  if (arm::is_at_url(watcher.by)) {
    if (const auto url = arm::parse_url(text)) return {url->host, url->target};
  }
  return {write.host, write.resource_target};
}

// How long an operation is left alone while somebody waits for its end: as ARM asks, or else for as long as it has run already,
// so that a short one is not waited for much longer than it takes, and a long one is not asked about often. One that is to end
// early counts from then, whatever ARM asked for before.
Duration pause_with_waiter(const PipelineOptions& options, const OperationLease::Pace& pace, TimePoint opened, TimePoint last) {
  const bool end_expected = pace.end_expected > opened;
  const bool named = pace.named > Duration{};
  if (named && !end_expected) return pace.named;
  const Duration since_then = last - std::max(opened, pace.end_expected);
  return std::min(std::max(since_then, options.poll_first), named ? pace.named : options.poll_with_waiter);
}

Duration pause_without_waiter(const PipelineOptions& options, const OperationLease::Pace& pace) {
  return std::max(options.poll_without_waiter, pace.named > Duration{} ? pace.named : options.poll_with_waiter);
}

// When the watcher should look next; without a waiter only to bound the operation lease. A client's poll that was told that the
// operation runs is as good as a look.
TimePoint next_look(const Parts& parts, const Watcher& watcher) {
  const auto& options = parts.shared.options;
  const OperationLease::Pace pace = watcher.op_lease->pace();
  const TimePoint last = std::max(watcher.last_poll, pace.seen_running);
  const bool is_soon =
      watcher.op_lease->has_waiter() || watcher.missing > 0;  // ARM knows the operation no more: it is over, most likely
  const Duration pause =
      is_soon ? pause_with_waiter(options, pace, watcher.op_lease->write().opened, last) : pause_without_waiter(options, pace);
  // From then on a look may tell the end, and whoever waits need not wait for the pace.
  const TimePoint conclusive = may_come_to_more_until(*watcher.op_lease, watcher.by);
  const bool waits_for_it = watcher.op_lease->has_waiter() && last < conclusive;
  const TimePoint due = waits_for_it ? std::min(last + pause, conclusive) : last + pause;
  const TimePoint affordable = may_ask_from(parts, place_to_look(watcher).target, watcher.op_lease->authorization());
  return std::min(std::max({due, watcher.not_before, affordable}), watcher.expires);
}

// A delete that nobody has confirmed, and a resource that is there and in a final state: it was never begun or has failed.
bool is_settled(const Watcher& watcher, const SeenState& seen) {
  const LeasedWrite& write = watcher.op_lease->write();
  const bool unconfirmed = write.because == LeasedBecause::InDoubt || watcher.by != write.tracking.by;
  return watcher.by == arm::TrackedBy::ResourceGone && unconfirmed && seen.exists() &&
         arm::is_terminal(arm::progress_of_resource(seen.head, seen.body));
}

// ARM does not show this reader the resource, and will not later: 401 is about its token, which may be renewed.
bool hides_the_resource(const arm::ResponseHead& head) {
  return head.status == 400 || head.status == 403 || head.status == 405;
}

// Of a write that may be running, and of which nothing but the resource could tell: nobody learns its end.
bool will_never_tell(Watcher& watcher, const arm::ResponseHead& head) {
  const bool only_resource = watcher.by == arm::TrackedBy::ResourceState || watcher.by == arm::TrackedBy::ResourceGone;
  watcher.unreadable = hides_the_resource(head) ? watcher.unreadable + 1 : 0;
  return watcher.op_lease->write().because == LeasedBecause::InDoubt && only_resource && watcher.unreadable >= kUnreadableMax;
}

arm::TrackedBy by_resource(const LeasedWrite& write) {
  return write.method == arm::Method::Delete ? arm::TrackedBy::ResourceGone : arm::TrackedBy::ResourceState;
}

// A token may not be good for the operation's URL (403): that of the write itself (its role names the type and not
// `locations/operations/read`), one that another writer lent, or of another principal of its client's. It goes to the resource
// then, to which its bearer wants to write; until there is another. When the token that the write came with has died (401),
// others are tried, and without any it is asked with on.
void note_shut_out(const Parts& parts, Watcher& watcher, const std::string& token, const arm::ResponseHead& head) {
  OperationLease& op_lease = *watcher.op_lease;
  if (head.status != 401 && head.status != 403) return;
  op_lease.distrust(token);
  if (!arm::is_at_url(watcher.by) || head.status == 401) return;
  const bool is_last = ++watcher.shut_outs >= kShutOutsMax;
  if (!is_last && op_lease.authorization() != token) return;  // the next look is another's
  watcher.shut_out = token;
  watcher.shut_out_since = parts.clock.now();
  watcher.by = by_resource(op_lease.write());
}

void try_another_token(Watcher& watcher, const std::string& token) {
  if (watcher.shut_out.empty() || watcher.shut_out == token || watcher.shut_outs >= kShutOutsMax) return;
  watcher.shut_out.clear();
  watcher.by = watcher.op_lease->write().tracking.by;
  watcher.missing = watcher.settled = 0;
}

// What is seen of the resource in place of the operation: many show no sign of what goes on with them. That it is in a final
// state counts after a while; that it is not there, only if it was to go.
bool is_end_of_shut_out(const Watcher& watcher, arm::Progress progress) {
  if (watcher.by == arm::TrackedBy::ResourceGone) return progress == arm::Progress::Succeeded;
  const bool ran = watcher.op_lease->pace().seen_running > watcher.shut_out_since;
  return arm::is_terminal(progress) && (ran || watcher.last_poll >= watcher.shut_out_since + kOnItsWayMax);
}

// Of a deletion the resource tells only the end: while it is there, that may be running or have failed, unless it says itself
// that it is going.
bool is_seen_running(const Watcher& watcher, arm::Progress progress, const SeenState& seen) {
  const bool tells =
      watcher.by != arm::TrackedBy::ResourceGone || arm::progress_of_resource(seen.head, seen.body) == arm::Progress::Running;
  return progress == arm::Progress::Running && tells;
}

// The pause that ARM asks for. With an answer that says nothing about the operation (429, 5xx) it holds once.
void note_pause(const Parts& parts, Watcher& watcher, const arm::ResponseHead& head) {
  const auto asked = arm::retry_after(head.fields, parts.clock.wall());
  if (!asked) return;
  if (arm::is_success(head.status))
    watcher.op_lease->note_named(*asked);
  else
    watcher.not_before = parts.clock.now() + *asked;
}

Task<void> poll_once(Parts& parts, Watcher& watcher) {
  watcher.last_poll = parts.clock.now();
  const std::string authorization = watcher.op_lease->authorization();
  if (authorization.empty() || parts.faults.fire(FaultPoint::PollSkipped)) co_return;
  try_another_token(watcher, authorization);
  const LookAt at = place_to_look(watcher);
  const uint64_t asked = parts.clock.next_moment().order;
  const bool is_at_url = arm::is_at_url(watcher.by);
  OwnRead read =
      is_at_url ? OwnRead{at.target} : own_read(parts, watcher.op_lease->write().planned.plan->resource_key, at.target);
  const auto seen = co_await read_once(parts, at.host, std::move(read), authorization);
  if (!seen && is_mutant(Mutant::PollErrorLeaksLease)) watcher.expires = kNever;
  if (is_mutant(Mutant::PollErrorLeaksLease) && watcher.expires == kNever) watcher.by = arm::TrackedBy::Nothing;
  if (!seen) co_return;
  note_pause(parts, watcher, seen->head);
  note_shut_out(parts, watcher, authorization, seen->head);
  const LeasedWrite& write = watcher.op_lease->write();
  if (seen->exists() && watcher.by == arm::TrackedBy::ResourceState)
    parts.shared.resources.apply(write.planned.plan->resource_key, policy::Found{asked});
  arm::Progress progress = progress_of(watcher.by, seen->head, seen->body);
  learn_more(parts, *watcher.op_lease, watcher.by, progress, seen->body);
  if (write.runs_unseen && progress == arm::Progress::Running) watcher.op_lease->note_running(parts.clock.now());
  if (watcher.last_poll < may_come_to_more_until(*watcher.op_lease, watcher.by)) co_return;
  if (will_never_tell(watcher, seen->head)) {
    if (parts.alert) {
      parts.alert(
          fmt::format("lease given up: whether {} {} by {} took effect is not known, and its token may not read the resource",
                      arm::to_text(write.method), write.resource().id, write.client_label));
    }
    operation_ended(parts, watcher.op_lease, arm::Progress::Unknown);
    co_return;
  }
  if (!watcher.shut_out.empty()) {
    if (is_end_of_shut_out(watcher, progress)) operation_ended(parts, watcher.op_lease, progress);
    if (is_seen_running(watcher, progress, *seen)) watcher.op_lease->note_running(parts.clock.now());
    co_return;
  }
  // What an accepted write creates may be invisible until its operation ends (docs/arm.md, "Long-running
  // operations": what is created with 202). That it is not there yet is no sign of life either.
  const bool not_yet_there = watcher.by == arm::TrackedBy::ResourceState && watcher.by == write.tracking.by &&
                             progress == arm::Progress::Missing && write.because == LeasedBecause::Accepted;
  if (not_yet_there) progress = arm::Progress::Unknown;
  const int looks = write.is_on_its_way ? 1 : kSettledMax;  // one that comes after all that may have come of it tells enough
  if (is_settled(watcher, *seen) && ++watcher.settled >= looks) progress = arm::Progress::Failed;
  watcher.missing = progress == arm::Progress::Missing ? watcher.missing + 1 : 0;
  if (arm::is_terminal(progress)) {
    operation_ended(parts, watcher.op_lease, progress);
  } else if (is_seen_running(watcher, progress, *seen)) {
    watcher.op_lease->note_running(parts.clock.now());
  } else if (watcher.missing >= kMissingMax) {
    const auto ask_resource = by_resource(watcher.op_lease->write());
    // The operation's record is gone, and then the resource too: nothing is left that could still be running.
    if (watcher.by == ask_resource) operation_ended(parts, watcher.op_lease, arm::Progress::Unknown);
    watcher.by = ask_resource;
    watcher.missing = 0;
  }
}

// The operation lease is as old as it may become. It gets more time only if its operation was seen running since.
void extend_or_expire(Parts& parts, Watcher& watcher) {
  const LeasedWrite& write = watcher.op_lease->write();
  const TimePoint cap = write.opened + write.cap;
  if (watcher.op_lease->pace().seen_running > watcher.extended && watcher.expires < cap) {
    watcher.expires = std::min(cap, watcher.expires + write.max);
    watcher.extended = parts.clock.now();
    return;
  }
  const auto ended = watcher.op_lease->operation_end();
  parts.shared.counters.leases_expired.fetch_add(1, std::memory_order_relaxed);
  if (parts.alert) {
    parts.alert(
        fmt::format("lease expired: {} {} by {} is released after {} s although {}", arm::to_text(write.method),
                    write.resource().id, write.client_label, whole_milliseconds(parts.clock.now() - write.opened) / 1000,
                    ended ? "what it touched was not seen to reach a final state" : "its operation was not seen to end"));
  }
  conclude(parts, watcher.op_lease, ended.value_or(arm::Progress::Unknown), ended ? EndSeen::Yes : EndSeen::No);
}

Task<void> watch(Parts& parts, std::shared_ptr<OperationLease> op_lease) {
  Watcher watcher;
  watcher.op_lease = op_lease;
  watcher.by = op_lease->write().tracking.by;
  watcher.last_poll = op_lease->write().opened;
  watcher.extended = op_lease->write().opened;
  watcher.expires = op_lease->write().opened + op_lease->write().max;
  while (op_lease->is_open() && !op_lease->operation_end()) {
    const TimePoint due = next_look(parts, watcher);
    if (parts.clock.now() < due) {
      co_await wait_until(parts, op_lease->waiter(), due, OperationLease::kWake);
      continue;
    }
    if (parts.clock.now() >= watcher.expires) {
      extend_or_expire(parts, watcher);
    } else {
      co_await poll_once(parts, watcher);
    }
  }
  co_await go_again(parts, op_lease);
  if (op_lease->is_open() && op_lease->write().must_be_provisioned.empty())
    conclude(parts, op_lease, *op_lease->operation_end());
  while (op_lease->is_open()) {
    const Provisioned rest = co_await wait_until_provisioned(parts, op_lease, watcher.expires);
    if (rest == Provisioned::Yes)
      conclude(parts, op_lease, *op_lease->operation_end());
    else if (op_lease->is_open())
      extend_or_expire(parts, watcher);
  }
}

}  // namespace

void note_finished(const Parts& parts, const LeasedWrite& write, arm::Progress last) {
  const Moment now = parts.clock.next_moment();
  auto& resources = parts.shared.resources;
  const bool succeeded = last == arm::Progress::Succeeded;
  for (const auto& key : write.planned.plan->lock_keys)
    resources.apply(key, policy::OperationEnded{write.request_hash, now, succeeded, arm::has_failed(last)});
  if (write.method != arm::Method::Delete) return;
  const Hash128& resource = write.planned.plan->resource_key;
  const bool only_looks_on = write.planned.plan->mode == rules::Mode::Observe;  // and misses most ends
  if (last == arm::Progress::Unknown && !only_looks_on) {
    // It may still come to its end, unseen. Nobody's: whoever wants to write again has to read again.
    resources.apply(resource, policy::ResourceDeleted{Hash128{}, now});
  }
  if (last != arm::Progress::Succeeded) return;
  resources.apply(resource, policy::ResourceDeleted{write.client, now});
  policy::StateShown told;
  told.client = write.client;
  told.as = policy::ShownAs::OwnAnswer;
  told.at = now;
  told.asked = now.order;
  told.absent = true;
  resources.apply(resource, std::move(told));
}

namespace {

// Everything but releasing the lease.
bool finish_operation(const Parts& parts, const std::shared_ptr<OperationLease>& op_lease, arm::Progress last, EndSeen seen) {
  if (!op_lease->finish(last)) return false;
  note_finished(parts, op_lease->write(), last);
  const LeasedWrite& write = op_lease->write();
  OperationResult result;
  if (write.because == LeasedBecause::Accepted) {
    if (arm::is_terminal(last)) result = {last, op_lease->error()};
    note_result(parts, write, result);
  }
  if (write.intent != 0) parts.store.record_end(write.intent, parts.clock.wall(), seen, result);
  if (write.owned) write.owned->end(write.intent, result);
  parts.shared.op_leases.close(op_lease);
  return true;
}

}  // namespace

bool conclude(const Parts& parts, const std::shared_ptr<OperationLease>& op_lease, arm::Progress last, EndSeen seen) {
  if (!finish_operation(parts, op_lease, last, seen)) return false;
  op_lease->release();
  return true;
}

std::optional<WriteLease> hand_over(const Parts& parts, const std::shared_ptr<OperationLease>& op_lease) {
  if (!finish_operation(parts, op_lease, op_lease->operation_end().value_or(arm::Progress::Unknown), EndSeen::Yes))
    return std::nullopt;
  return op_lease->take_lease();
}

void operation_ended(const Parts& parts, const std::shared_ptr<OperationLease>& op_lease, arm::Progress last) {
  if (is_to_go_again(parts, *op_lease, last) || !op_lease->write().must_be_provisioned.empty())
    op_lease->note_operation_end(last);
  else
    conclude(parts, op_lease, last);
}

std::shared_ptr<OperationLease> open_lease(Parts& parts, LeasedWrite write, WriteLease lease, std::string authorization) {
  lease.set_phase(write.because == LeasedBecause::Accepted ? WritePhase::Runs : WritePhase::Doubt);
  if (!write.inherited) lease.note_seen(parts.clock.now());  // what ARM said to an earlier process says nothing of now
  auto op_lease =
      std::make_shared<OperationLease>(std::move(write), std::move(lease), std::move(authorization), parts.executor);
  parts.shared.op_leases.add(op_lease);
  return op_lease;
}

void start_watching(Parts& parts, std::shared_ptr<OperationLease> op_lease) {
  spawn(parts.executor, watch(parts, std::move(op_lease)));
}

}  // namespace armgate
