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
#include "proxy/stages/write.h"

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

// A DELETE may come again. So may what went with a precondition, with the same one. Of anything else nobody could tell whether it
// would be carried out twice. Gives the write's origin, which its repetition has too (origin_of).
Hash128 expect_repetition(Pipeline::Parts& parts, const JournaledWrite& former, const HeldWrite& held, Moment now) {
  if (held.method == arm::Method::Delete) return {};
  const auto state = parts.shared.clients.find_or_add(held.client, now.time);
  if (former.if_match.empty()) {
    state->note_in_doubt(former.resend, former.request_id, held.planned.plan->resource_key, now);
    return {};
  }
  policy::Base base;
  base.rule = policy::BaseRule::OnlyLive;
  base.etag = former.if_match;
  const uint64_t binding = state->expect_again(former.bytes, former.request_id, std::move(base), now);
  return origin_of(parts.shared.hasher, binding, former.request_id);
}

// What is known of it, to everybody who asks from now on.
void complete(Pipeline::Parts& parts, const JournaledWrite& former, HeldWrite& held) {
  const Moment now = parts.clock.next_moment();
  held.opened = now.time;  // its age is known by the wall clock only, which may have been set meanwhile
  held.because = is_in_doubt(former) ? HeldBecause::InDoubt : HeldBecause::Accepted;
  if (former.outcome) held.tracking = former.outcome->tracking;
  if (held.tracking.by == arm::TrackedBy::Nothing) held.tracking = tracked_by_resource(*held.planned.plan);
  complete_from_plan(parts, target_of(former), held);
  const Hash128 origin = is_in_doubt(former) ? expect_repetition(parts, former, held, now) : Hash128{};
  note_may_have_changed(parts, held, origin, now);
  if (held.method == arm::Method::Delete) parts.shared.resources.being_deleted(held.planned.plan->resource_key);
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
