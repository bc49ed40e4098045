#include "proxy/stages/restore.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutant.h"
#include "proxy/stages/held_write.h"
#include "proxy/stages/watch.h"

namespace armgate {
namespace {

constexpr Duration kFormerInterval = std::chrono::seconds(1);  // between looks while somebody waits

std::string target_of(const JournaledWrite& former) {
  return former.api_version.empty() ? former.path : fmt::format("{}?api-version={}", former.path, former.api_version);
}

// What the rules of now make of it; nothing if they would not hold it.
std::optional<HeldWrite> held_write(Pipeline::Parts& parts, const JournaledWrite& former) {
  HeldWrite held;
  held.method = arm::method_of(former.method);
  auto planned = parts.shared.rules.make_plan(held.method, target_of(former));
  const bool is_held = planned && planned->plan->kind == rules::PlanKind::Write && planned->plan->mode == rules::Mode::Protect;
  if (!is_held) return std::nullopt;
  held.planned = *std::move(planned);
  held.intent = former.id;
  held.is_former = true;
  held.host = former.host;
  held.client = former.client;
  held.bytes = former.bytes;
  held.client_label = former.client_label;
  held.interval = kFormerInterval;
  return held;
}

bool is_in_doubt(const JournaledWrite& former) { return !former.outcome || former.outcome->kind == OutcomeKind::InDoubt; }

// Each claim is granted at once, because nobody else is there yet and keys that several of them want are shared: they ran beside
// each other before, whatever the rules of now say of that.
WriteLease take_keys(Pipeline::Parts& parts, const HeldWrite& held, const std::map<std::string, int>& wanted) {
  const KeyedPlan& plan = *held.planned.plan;
  std::vector<rules::LockKey> keys = plan.keys;
  for (auto& key : keys) {
    if (wanted.at(key.id) > 1) key.mode = rules::LockMode::Shared;
  }
  ClaimInfo info;
  info.client_label = held.client_label;
  info.what = fmt::format("{} {}", arm::to_text(held.method), held.resource().id);
  info.since = held.opened;
  info.client = held.client;
  auto place = parts.shared.locks.join(keys, std::move(info), nullptr, 0);
  GATE_CHECK(place && place->granted(), "something had a key before the first request");
  WriteLease lease = place->take();
  if (held.because == HeldBecause::Accepted && may_run_beside_its_own(plan)) lease.let_own_in();
  return lease;
}

// What is known of it, to everybody who asks from now on.
void complete(Pipeline::Parts& parts, const JournaledWrite& former, HeldWrite& held) {
  auto& shared = parts.shared;
  const Moment now = parts.clock.next_moment();
  const Hash128& resource = held.planned.plan->resource_key;
  held.opened = now.time;  // its age is known by the wall clock only, which may have been set meanwhile
  held.because = is_in_doubt(former) ? HeldBecause::InDoubt : HeldBecause::Accepted;
  if (former.outcome) held.tracking = former.outcome->tracking;
  if (held.tracking.by == arm::TrackedBy::Nothing) held.tracking = tracked_by_resource(*held.planned.plan);
  complete_from_plan(parts, target_of(former), held);
  note_may_have_changed(parts, held, Hash128{}, now);
  if (held.method == arm::Method::Delete) shared.resources.being_deleted(resource);
  if (is_in_doubt(former)) {
    shared.clients.find_or_add(held.client, now.time)->note_in_doubt(former.resend, former.request_id, resource, now);
  }
}

// It is over, but who read before it and writes now must know of it.
void remember(Pipeline::Parts& parts, const HeldWrite& held) {
  const Moment now = parts.clock.next_moment();
  note_may_have_changed(parts, held, Hash128{}, now);
  for (const auto& key : held.planned.plan->lock_keys) parts.shared.resources.finished(key, held.bytes, now);
}

}  // namespace

Restored restore(Pipeline::Parts& parts, const FormerLife& former) {
  Restored restored;
  for (const JournaledWrite& write : former.recent) {
    if (auto held = held_write(parts, write)) remember(parts, *held);
  }
  std::vector<HeldWrite> all;
  std::map<std::string, int> wanted;  // keys, and by how many
  for (const JournaledWrite& write : former.open) {
    auto held = held_write(parts, write);
    if (!held || is_mutant(Mutant::JournalNotTakenUp)) {
      ++restored.dropped;
      parts.store.record_end(write.id, parts.clock.wall());
      continue;
    }
    ++(is_in_doubt(write) ? restored.in_doubt : restored.running);
    complete(parts, write, *held);
    for (const auto& key : held->planned.plan->keys) ++wanted[key.id];
    all.push_back(*std::move(held));
  }
  for (HeldWrite& held : all) {
    WriteLease lease = take_keys(parts, held, wanted);
    start_watching(parts, open_hold(parts, std::move(held), std::move(lease), {}));
  }
  parts.shared.former_reads_until = parts.clock.now() + parts.shared.options.base.think_max;
  return restored;
}

}  // namespace armgate
