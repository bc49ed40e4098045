#include "proxy/stages/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arm/throttle.h"
#include "arm/url.h"
#include "base/mutant.h"
#include "proxy/async/spawn.h"
#include "proxy/stages/read_again.h"
#include "proxy/stages/rest.h"
#include "proxy/stages/wake.h"

namespace armgate {
namespace {

constexpr int kAtRestMax = 3;
constexpr int kMissingMax = 3;  // 404s in a row on an operation URL before the resource itself is asked

arm::Progress progress_of(arm::TrackedBy by, const arm::ResponseHead& head, std::string_view body) {
  switch (by) {
    case arm::TrackedBy::StatusUrl: return arm::progress_of_status_url(head, body);
    case arm::TrackedBy::LocationUrl: return arm::progress_of_location_url(head, body);
    case arm::TrackedBy::ResourceState: return arm::progress_of_resource(head, body);
    case arm::TrackedBy::ResourceGone: return arm::progress_of_deleted_resource(head);
    case arm::TrackedBy::Nothing: break;
  }
  return arm::Progress::Unknown;
}

// One watcher's memory between its polls.
struct Watcher {
  std::shared_ptr<Hold> hold;
  TimePoint last_look{};
  TimePoint expires{};
  Duration named_interval{};   // what ARM asked for; zero if nothing
  arm::TrackedBy by = arm::TrackedBy::Nothing;
  int missing = 0;
  int at_rest = 0;             // looks at a resource that should be going and shows no sign of it
  bool seen_running = false;   // since the last extension
};

// Where to look, and with what: the operation's URL, or the resource.
struct LookAt {
  std::string host;
  std::string target;
};

LookAt place_to_look(const Watcher& watcher) {
  const HeldWrite& write = watcher.hold->write();
  const auto& text = watcher.by == arm::TrackedBy::StatusUrl ? write.tracking.status_url : write.tracking.location_url;
  const bool at_url = watcher.by == arm::TrackedBy::StatusUrl || watcher.by == arm::TrackedBy::LocationUrl;
  if (at_url) {
    if (const auto url = arm::parse_url(text)) return {url->host, url->target};
  }
  return {write.host, write.resource_target};
}

// When the watcher should look next. With a waiter at ARM's own interval; without one only to bound the hold.
TimePoint next_look(const Pipeline::Parts& parts, const Watcher& watcher) {
  const auto& options = parts.shared.options;
  const bool wanted = watcher.hold->wanted();
  const Duration asked = watcher.named_interval > Duration{} ? watcher.named_interval : options.poll_wanted;
  const Duration interval = wanted ? asked : std::max(asked, options.poll_idle);
  return std::min(watcher.last_look + interval, watcher.expires);
}

// A delete that nobody has confirmed, and a resource that is there and at rest: it was never begun or has failed.
bool is_at_rest(const Watcher& watcher, const SeenState& seen) {
  const HeldWrite& write = watcher.hold->write();
  const bool unconfirmed = write.because == HeldBecause::InDoubt || watcher.by != write.tracking.by;
  return watcher.by == arm::TrackedBy::ResourceGone && unconfirmed && seen.exists() &&
         arm::is_terminal(arm::progress_of_resource(seen.head, seen.body));
}

Task<void> look(Pipeline::Parts& parts, Watcher& watcher) {
  watcher.last_look = parts.clock.now();
  const std::string authorization = watcher.hold->authorization();
  if (authorization.empty() || parts.faults.fire(FaultPoint::PollSkipped)) co_return;
  const LookAt at = place_to_look(watcher);
  const auto seen = co_await read_once(parts, at.host, at.target, authorization);
  if (!seen && is_mutant(Mutant::PollErrorLeaksHold)) watcher.expires = kNever;
  if (is_mutant(Mutant::PollErrorLeaksHold) && watcher.expires == kNever) watcher.by = arm::TrackedBy::Nothing;
  if (!seen) co_return;
  if (const auto interval = arm::retry_after(seen->head.fields, parts.clock.wall())) watcher.named_interval = *interval;
  const HeldWrite& write = watcher.hold->write();
  arm::Progress progress = progress_of(watcher.by, seen->head, seen->body);
  // What an accepted write creates may be invisible until its operation ends (ARM RPC async-api-reference, the 202 pattern).
  // That it is not there yet is no sign of life either.
  const bool not_yet_there = watcher.by == arm::TrackedBy::ResourceState && watcher.by == write.tracking.by &&
                             progress == arm::Progress::Missing && write.because == HeldBecause::Accepted;
  if (not_yet_there) progress = arm::Progress::Unknown;
  if (is_at_rest(watcher, *seen) && ++watcher.at_rest >= kAtRestMax) progress = arm::Progress::Failed;
  watcher.missing = progress == arm::Progress::Missing ? watcher.missing + 1 : 0;
  if (arm::is_terminal(progress)) {
    operation_ended(parts, watcher.hold, progress);
  } else if (progress == arm::Progress::Running) {
    watcher.seen_running = true;
  } else if (watcher.missing >= kMissingMax) {
    const bool deletes = watcher.hold->write().method == arm::Method::Delete;
    const auto ask_resource = deletes ? arm::TrackedBy::ResourceGone : arm::TrackedBy::ResourceState;
    // The operation's record is gone, and then the resource too: nothing is left that could still be running.
    if (watcher.by == ask_resource) operation_ended(parts, watcher.hold, arm::Progress::Unknown);
    watcher.by = ask_resource;
    watcher.missing = 0;
  }
}

// The hold is as old as it may become. It gets more time only if its operation was seen running since.
void extend_or_expire(Pipeline::Parts& parts, Watcher& watcher) {
  const HeldWrite& write = watcher.hold->write();
  const TimePoint cap = write.opened + write.cap;
  if (watcher.seen_running && watcher.expires < cap) {
    watcher.expires = std::min(cap, watcher.expires + write.max);
    watcher.seen_running = false;
    return;
  }
  parts.shared.counters.holds_expired.fetch_add(1, std::memory_order_relaxed);
  if (parts.tell_loudly) {
    parts.tell_loudly(fmt::format("hold expired: {} {} by {} is released after {} s although its operation was not seen to end",
                                  arm::to_text(write.method), write.resource.id, write.client_label,
                                  whole_milliseconds(parts.clock.now() - write.opened) / 1000));
  }
  conclude(parts, watcher.hold, arm::Progress::Unknown);
}

Task<void> watch(Pipeline::Parts& parts, std::shared_ptr<Hold> hold) {
  Watcher watcher;
  watcher.hold = hold;
  watcher.by = hold->write().tracking.by;
  watcher.last_look = hold->write().opened;
  watcher.named_interval = hold->write().interval;
  watcher.expires = hold->write().opened + hold->write().max;
  while (hold->open() && !hold->operation_end()) {
    const TimePoint due = next_look(parts, watcher);
    if (parts.clock.now() < due) {
      co_await wait_until(parts, hold->waiter(), due, Hold::kWake);
      continue;
    }
    if (parts.clock.now() >= watcher.expires) {
      extend_or_expire(parts, watcher);
    } else {
      co_await look(parts, watcher);
    }
  }
  if (!hold->open()) co_return;
  co_await wait_for_rest(parts, hold, watcher.expires);
  conclude(parts, hold, *hold->operation_end());
}

}  // namespace

void note_finished(const Pipeline::Parts& parts, const HeldWrite& write, arm::Progress last) {
  const Moment now = parts.clock.next_moment();
  for (const auto& id : write.key_ids) parts.shared.resources.finished(id, write.bytes, now);
  const bool deleted = write.method == arm::Method::Delete && last == arm::Progress::Succeeded;
  if (!deleted) return;
  parts.shared.resources.deleted(write.resource.id, write.client, now);
  policy::Delivery told;
  told.at = now;
  told.kind = policy::DeliveryKind::OwnAnswer;
  told.confirmation = policy::Confirmation::Confirmed;
  parts.shared.clients.find_or_add(write.client, now.time)
      ->record_absent(parts.shared.hasher.hash(write.resource.id), std::move(told));
}

void conclude(const Pipeline::Parts& parts, const std::shared_ptr<Hold>& hold, arm::Progress last) {
  if (!hold->finish(last)) return;
  note_finished(parts, hold->write(), last);
  parts.shared.holds.close(hold);
  hold->release();
}

void operation_ended(const Pipeline::Parts& parts, const std::shared_ptr<Hold>& hold, arm::Progress last) {
  if (hold->write().must_rest.empty()) return conclude(parts, hold, last);
  hold->note_operation_end(last);
}

std::shared_ptr<Hold> open_hold(Pipeline::Parts& parts, HeldWrite write, WriteLease lease, std::string authorization) {
  auto hold = std::make_shared<Hold>(std::move(write), std::move(lease), std::move(authorization), parts.executor);
  parts.shared.holds.open(hold);
  return hold;
}

void start_watching(Pipeline::Parts& parts, std::shared_ptr<Hold> hold) {
  spawn(parts.executor, watch(parts, std::move(hold)));
}

void learn_from_poll(const Pipeline::Parts& parts, const std::vector<HoldTable::Match>& matches,
                     const arm::ResponseHead& head, std::string_view body) {
  for (const auto& match : matches) {
    const arm::Progress progress = progress_of(match.by, head, body);
    match.hold->note_asked(parts.clock.now());
    if (arm::is_terminal(progress)) operation_ended(parts, match.hold, progress);
  }
}

}  // namespace armgate
