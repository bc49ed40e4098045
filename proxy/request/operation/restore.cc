#include "proxy/request/operation/restore.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutant.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/request/operation/result.h"
#include "proxy/request/operation/watch.h"
#include "proxy/request/write/own_operation.h"
#include "proxy/request/write/repeat.h"
#include "proxy/request/write/write.h"
#include "rules/references.h"

namespace armgate {
namespace {

constexpr Duration kDoubtInterval = std::chrono::seconds(1);  // between looks while somebody waits
constexpr Duration kLookForProtection = std::chrono::seconds(10);

// What the rules of now make of it; nothing if they would not hold it.
std::optional<LeasedWrite> leased_write(Parts& parts, const JournaledWrite& former) {
  LeasedWrite leased;
  leased.method = arm::method_of(former.method);
  auto planned = parts.shared.rules.make_plan(leased.method, target_of(former));
  const bool is_leased =
      planned && planned->plan->kind == rules::PlanKind::Write && planned->plan->mode == rules::Mode::Protect;
  if (!is_leased) return std::nullopt;
  leased.planned = *std::move(planned);
  leased.intent = former.id;
  leased.inherited = true;
  leased.ran_before = std::max<Duration>(parts.clock.wall() - former.begun, Duration::zero());
  leased.host = former.host;
  leased.client = former.client;
  leased.request_hash = former.request_hash;
  leased.client_label = former.client_label;
  return leased;
}

bool is_in_doubt(const JournaledWrite& former) { return !former.outcome || former.outcome->kind == OutcomeKind::InDoubt; }

// Else it may have been taken all the same: ARM answered 5xx, say.
bool was_accepted(const JournaledWrite& former) { return !is_in_doubt(former) && arm::is_success(former.outcome->status); }

// Every key that it had: its plan's, and those of what its body named, as far as they outlive ARM's answer.
std::vector<rules::LockKey> keys_of(const JournaledWrite& former, const rules::Plan& plan) {
  std::vector<rules::LockKey> keys = plan.keys;
  for (auto& reference : rules::without_duplicates(rules::references_in(former.also_locked), plan.keys)) {
    if (!former.outcome || reference.until != rules::LeaseUntil::Request) keys.push_back(std::move(reference.key));
  }
  return keys;
}

using Wanted = std::map<std::string, int>;  // keys, and by how many

// Keys that several of them want are shared: they ran beside each other before, whatever the rules of now say of that.
void share_keys(std::vector<rules::LockKey>& keys, const Wanted& wanted) {
  for (auto& key : keys) {
    if (wanted.at(key.id) > 1) key.mode = rules::LockMode::Shared;
  }
}

ClaimInfo claim_info(const LeasedWrite& leased) {
  ClaimInfo info;
  info.client_label = leased.client_label;
  info.what = fmt::format("{} {}", arm::to_text(leased.method), leased.resource().id);
  info.since = leased.opened - leased.ran_before;
  info.client = leased.client;
  info.inherited = true;
  return info;
}

// Each claim is granted at once, because nobody else is there yet and what several want is shared.
void watch_here(Parts& parts, const LeasedWrite& leased, const std::vector<rules::LockKey>& keys, ClaimInfo info) {
  auto place = parts.shared.locks.join(keys, std::move(info), nullptr, 0);
  GATE_CHECK(place && place->granted(), "something had a key before the first request");
  WriteLease lease = place->into_lease();
  lease.note_at_arm(leased.opened - leased.ran_before);
  if (leased.because == LeasedBecause::Accepted && may_run_beside_its_own(*leased.planned.plan)) lease.admit_own();
  start_watching(parts, open_lease(parts, leased, std::move(lease), {}));
}

std::optional<NamedRequest> name_of(const JournaledWrite& former) {
  if (former.named.is_zero() || is_mutant(Mutant::RepeatsNotTakenUp)) return std::nullopt;
  return NamedRequest{former.named, former.first_sent};
}

bool is_of_one_actor(const Parts& parts, const JournaledWrite& former) {
  const auto declared = parts.shared.options.clients.find(former.client_label);
  const bool is_single = declared != parts.shared.options.clients.end() && declared->second.actors == policy::Actors::Single;
  return is_single && client_key(parts.shared.hasher, former.client_label) == former.client;
}

SendingLedger::Arrival arrival_of(const Parts& parts, const JournaledWrite& former, const KeyedPlan& plan) {
  SendingLedger::Arrival arrival;
  arrival.content = former.request_hash;
  arrival.resend = former.resend;
  arrival.request_id = former.request_id;
  identify_request(arrival, name_of(former));
  arrival.resource = plan.resource_key;
  arrival.one_actor = is_of_one_actor(parts, former);
  arrival.repeats = repeats_of(parts.shared, plan, arrival.one_actor, name_of(former));
  return arrival;
}

// How long ago its outcome was known, by the wall clock, which may have been set meanwhile.
Duration age_of(const Parts& parts, const JournaledWrite& former) {
  return std::max<Duration>(parts.clock.wall() - former.outcome->known, Duration::zero());
}

// Whether its answer is given again: as far as that is recorded. What has failed since is only so under its repeatability id.
bool is_given_again(const Parts& parts, const JournaledWrite& former, const SendingLedger::Repeats& repeats) {
  if (!was_accepted(former)) return false;
  const bool is_within = repeats.window > age_of(parts, former) && !arm::has_failed(former.result.how);
  return repeats.by_id || is_within || (former.is_open() && repeats.running > Duration::zero());
}

// How it ended, for its client; nothing: its URLs tell.
std::optional<OperationResult> end_of(const JournaledWrite& former) {
  if (former.is_open()) return std::nullopt;
  const bool was_all = former.result.how == arm::Progress::Unknown && former.outcome->tracking.by == arm::TrackedBy::Nothing;
  return was_all ? OperationResult{arm::Progress::Succeeded, {}} : former.result;
}

// Called when everybody knows what it has changed: what is accepted from now on came after it.
void give_again(Parts& parts, const JournaledWrite& former, SendingLedger::Arrival arrival) {
  SendingLedger::Recorded recorded{former.outcome->status, former.outcome->etag, former.outcome->tracking,
                                   former.outcome->merged > 0, end_of(former)};
  if (const auto owned = parts.shared.owned.find(former.owned))
    put_own_urls(*owned, recorded.tracking);
  else if (!former.is_open())
    recorded.tracking.status_url = recorded.tracking.location_url = "";  // without what they were signed with
  SendingLedger::Ending ending;
  ending.kind = SendingLedger::Ending::Kind::Accepted;
  ending.intent = former.id;
  ending.recorded = std::make_shared<const SendingLedger::Recorded>(std::move(recorded));
  arrival.at = parts.clock.next_moment();
  arrival.at.time -= age_of(parts, former);
  parts.shared.clients.find_or_add(former.client, parts.clock.now())->sendings().add_former(arrival, std::move(ending));
}

// A DELETE may come again. So may what went with a precondition, with the same one, as long as it is awaited. Of anything else
// nobody could tell whether it would be carried out twice. Gives the write's key, which its repetition has too (write_key_of).
Hash128 expect_repetition(Parts& parts, const JournaledWrite& former, const LeasedWrite& leased,
                          SendingLedger::Arrival arrival) {
  const bool is_named = arrival.repeats.by_id;
  if (leased.method == arm::Method::Delete && !is_named) return {};
  // Nobody knows whether its client was told. The same request id would be the same request.
  const bool may_be_untold = was_accepted(former) && leased.method != arm::Method::Put && !former.request_id.empty();
  const bool is_unsure = is_named && former.outcome && may_have_run(leased.method, former.outcome->status);
  if (!is_in_doubt(former) && !may_be_untold && !is_unsure) return {};
  const KeyedPlan& plan = *leased.planned.plan;
  const Moment now = parts.clock.next_moment();
  const auto state = parts.shared.clients.find_or_add(leased.client, now.time);
  arrival.at = now;
  SendingLedger::Ending ending;
  ending.kind = SendingLedger::Ending::Kind::InDoubt;
  const bool may_go_again = !former.if_match.empty() && !may_be_untold && former.is_open();
  if (may_go_again) {
    policy::StateShown base;
    base.client = leased.client;
    base.asked = now.order;
    base.at = now;
    base.etag = former.if_match;
    base.rendering.api_version = former.api_version;
    parts.shared.resources.apply(plan.resource_key, std::move(base));
    arrival.at = parts.clock.next_moment();  // after what it was built from
    ending.kind = SendingLedger::Ending::Kind::Expected;
  }
  const uint64_t sending = state->sendings().add_former(arrival, std::move(ending));
  return may_go_again ? write_key_of(parts.shared.hasher, sending, former.request_id) : Hash128{};
}

// What the URL that its client was given stands for: the newest sending, as far as it is known. Its body is gone, so that it
// will not go again.
std::shared_ptr<OwnedOperation> own_again(Parts& parts, const JournaledWrite& former) {
  if (former.owned.is_zero()) return nullptr;
  // Of what has ended the URLs are not whole any more: their queries are signatures, which are not kept.
  const auto tracking = former.outcome && former.is_open() ? former.outcome->tracking : arm::Tracking{};
  auto owned = parts.shared.owned.find(former.owned);
  if (owned && owned->snapshot().newest > former.id) return nullptr;
  owned = std::make_shared<OwnedOperation>(former.owned, former.host, target_of(former), former.id, tracking, nullptr);
  if (is_in_doubt(former)) owned->doubt(former.id);
  if (!former.is_open()) owned->end(former.id, former.result);
  parts.shared.owned.add(owned);
  return owned;
}

// How far it was, and by what its end is seen.
void take_on(Parts& parts, const JournaledWrite& former, LeasedWrite& leased) {
  leased.because = was_accepted(former) ? LeasedBecause::Accepted : LeasedBecause::InDoubt;
  if (former.outcome) leased.tracking = former.outcome->tracking;
  leased.owned = own_again(parts, former);
  if (leased.tracking.by == arm::TrackedBy::Nothing) leased.tracking = tracked_by_resource(*leased.planned.plan);
}

// What is known of it, to everybody who asks from now on.
void complete(Parts& parts, const JournaledWrite& former, LeasedWrite& leased) {
  const Moment now = parts.clock.next_moment();
  leased.opened = now.time;  // its age is known by the wall clock only, which may have been set meanwhile
  if (!was_accepted(former)) leased.interval = kDoubtInterval;
  take_on(parts, former, leased);
  leased.is_on_its_way = leased.because == LeasedBecause::InDoubt;
  complete_from_plan(parts, target_of(former), leased);
  auto arrival = arrival_of(parts, former, *leased.planned.plan);
  const bool again = is_given_again(parts, former, arrival.repeats);
  const Hash128 write_key = again ? Hash128{} : expect_repetition(parts, former, leased, arrival);
  note_may_have_changed(parts, leased, {write_key, nullptr, was_accepted(former)}, parts.clock.next_moment());
  if (again) give_again(parts, former, std::move(arrival));
}

// It is over, but who read before it and writes now must know of it, and who sends it again.
void remember(Parts& parts, const JournaledWrite& former, const LeasedWrite& leased) {
  const Moment now = parts.clock.next_moment();
  note_may_have_changed(parts, leased, {{}, nullptr, was_accepted(former)}, now);
  for (const auto& key : leased.planned.plan->lock_keys) {
    parts.shared.resources.apply(key, policy::OperationEnded{leased.request_hash, parts.clock.next_moment()});
  }
  auto arrival = arrival_of(parts, former, *leased.planned.plan);
  if (is_given_again(parts, former, arrival.repeats))
    give_again(parts, former, std::move(arrival));
  else if (was_accepted(former) || arrival.repeats.by_id)
    expect_repetition(parts, former, leased, std::move(arrival));
}

}  // namespace

void wake_watchers(const SharedState& shared, const std::vector<Hash128>& keys) {
  for (const Hash128& key : keys) {
    for (const auto& op_lease : shared.op_leases.on_key(key)) op_lease->waiter().signal(OperationLease::kWake);
  }
}

Task<void> adopt(Parts& parts, cluster::AdoptedWrite undelivered) {
  const JournaledWrite& former = undelivered.write;
  auto leased = leased_write(parts, former);
  // By the mode and the rules of another replica it has its keys, and that one looks for its end. None may be left; then this
  // one does as soon as it protects the resource itself.
  for (const TimePoint last = parts.clock.now() + rules::LeaseTerm{}.cap; !leased; leased = leased_write(parts, former)) {
    if (undelivered.lease.is_over()) co_return;
    if (parts.clock.now() >= last) co_return parts.store.record_end(former.id, parts.clock.wall(), EndSeen::No, {});
    co_await parts.clock.sleep_for(kLookForProtection);
  }
  const Moment now = parts.clock.next_moment();
  take_on(parts, former, *leased);
  if (leased->because == LeasedBecause::InDoubt) {
    leased->interval = kDoubtInterval;
    if (undelivered.is_heir) note_may_have_changed(parts, *leased, {{}, nullptr, false}, now);
    undelivered.lease.set_phase(WritePhase::Doubt);
    co_await parts.clock.sleep_for(parts.cluster->options().quiet);
  }
  if (undelivered.lease.is_over()) co_return;
  leased->opened = parts.clock.now();
  leased->ran_before += leased->opened - now.time;
  complete_from_plan(parts, target_of(former), *leased);
  start_watching(parts, open_lease(parts, *std::move(leased), std::move(undelivered.lease), {}));
}

void end_adopted(SharedState& shared, const std::vector<Hash128>& keys) {
  for (const Hash128& key : keys) {
    for (const auto& op_lease : shared.op_leases.on_key(key)) {
      if (!op_lease->has_lost_its_keys() || !op_lease->finish(arm::Progress::Unknown)) continue;
      shared.op_leases.close(op_lease);
      op_lease->release();
    }
  }
}

Restored restore(Parts& parts, const PreviousProcess& former) {
  return restore(parts, former, [&parts](const LeasedWrite& leased, const std::vector<rules::LockKey>& keys, ClaimInfo info) {
    watch_here(parts, leased, keys, std::move(info));
  });
}

Restored restore(Parts& parts, const PreviousProcess& former, const KeepOpen& keep) {
  Restored restored;
  std::vector<std::pair<const JournaledWrite*, LeasedWrite>> recent;
  struct Taken {
    LeasedWrite leased;
    std::vector<rules::LockKey> keys;
  };
  std::vector<Taken> all;
  Wanted wanted;
  // What repeats one must find what was accepted after it.
  for (const JournaledWrite* write : in_order_of_begin(former)) {
    auto leased = leased_write(parts, *write);
    if (!write->is_open()) {
      own_again(parts, *write);
      if (!leased) continue;
      remember(parts, *write, *leased);
      recent.emplace_back(write, *std::move(leased));
      continue;
    }
    if (!leased || is_mutant(Mutant::JournalNotTakenUp)) {
      ++restored.dropped;
      // Its client still has the URL, but no watcher follows its operation.
      if (const auto owned = own_again(parts, *write)) owned->end(write->id, {});
      // A write that is left out only because of the mode may be taken up later, so its end is not recorded.
      const bool is_over = parts.shared.rules.mode() == rules::Mode::Protect;
      if (is_over) parts.store.record_end(write->id, parts.clock.wall(), EndSeen::No, {});
      continue;
    }
    ++(was_accepted(*write) ? restored.running : restored.in_doubt);
    complete(parts, *write, *leased);
    auto keys = keys_of(*write, *leased->planned.plan);
    for (const auto& key : keys) ++wanted[key.id];
    all.push_back({*std::move(leased), std::move(keys)});
  }
  // A resource's operations end in the order in which they began; the wall clock, by which their ends are known, may have been
  // set.
  for (const auto& [write, leased] : recent) remember_result(parts, leased, *write);
  absl::flat_hash_map<std::string_view, WallTime> last_end;
  for (const auto& [write, leased] : recent) {
    // One that nobody has seen, or that had no effect, says nothing about the state.
    if (arm::is_terminal(write->result.how)) last_end[write->resource] = *write->ended;
  }
  for (const ResourceState& state : former.states) {
    const auto end = last_end.find(state.resource);
    if (end == last_end.end() || end->second <= state.since) remember_state(parts, state);
  }
  for (auto& [leased, keys] : all) {
    share_keys(keys, wanted);
    keep(leased, keys, claim_info(leased));
  }
  const bool tells_anything = !former.open.empty() || !former.recent.empty();
  if (former.since) parts.shared.recorded_from = std::min(parts.shared.recorded_from.load(), *former.since);
  parts.shared.former = tells_anything ? parts.clock.next_moment().order : 0;
  return restored;
}

}  // namespace armgate
