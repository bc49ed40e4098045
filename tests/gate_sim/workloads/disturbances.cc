#include <fmt/format.h>

#include "tests/gate_sim/lives.h"
#include "tests/gate_sim/workloads/scenario.h"
#include "tests/gate_sim/workloads/world_rules.h"

namespace armgate::world {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void lossy(WorldOptions& options, Rng& rng) {
  options.network.refuse = 0.1 * rng.unit();
  options.network.lose_request = 0.1 * rng.unit();
  options.network.lose_answer = 0.15 * rng.unit();
  options.network.cut = 0.1 * rng.unit();
}

void late_effects(WorldOptions& options, Rng& rng) { options.network.late = 0.05 + 0.2 * rng.unit(); }

void reordering(WorldOptions& options, Rng& rng) {
  options.network.delay_max = milliseconds(500 + rng.below(4000));
  options.clients.send_slowly = 0.3;
}

void slow_arm(WorldOptions& options, Rng& rng) {
  options.network.slow = 0.05 + 0.15 * rng.unit();
  options.network.slow_max = seconds(10 + rng.below(150));
}

void throttling(WorldOptions& options, Rng& rng) { options.network.throttle = 0.3 * rng.unit(); }
void failing_arm(WorldOptions& options, Rng& rng) { options.network.fail = 0.2 * rng.unit(); }

void leaving_clients(WorldOptions& options, Rng& rng) {
  options.clients.leave = 0.05 + 0.25 * rng.unit();
  options.clients.half_close = rng.unit();
}

void lost_answers(WorldOptions& options, Rng& rng) { options.clients.lose_answer = 0.05 + 0.2 * rng.unit(); }

void slow_clients(WorldOptions& options, Rng&) {
  options.clients.read_slowly = 0.5;
  options.clients.send_slowly = 0.5;
}

void moving_etags(WorldOptions& options, Rng& rng) { options.arm.neighbour_every = milliseconds(500 + rng.below(5000)); }

void expiring_tokens(WorldOptions& options, Rng& rng) { options.token_life = seconds(90 + rng.below(300)); }

void skipped_polls(WorldOptions& options, Rng&) { options.poll_skipped = 0.5; }

void long_operations(WorldOptions& options, Rng& rng) { options.arm.operation = seconds(20 + rng.below(60)); }
void instant_operations(WorldOptions& options, Rng&) { options.arm.operation = Duration{}; }

void silent_updates(WorldOptions& options, Rng&) { options.arm.update_announced = sim::UpdateAnnounced::StateOnly; }

void impatient(WorldOptions& options, Rng& rng) { options.pipeline.wait_max = seconds(1 + rng.below(10)); }

void fail_after_effect(WorldOptions& options, Rng& rng) { options.network.fail_after = 0.05 + 0.2 * rng.unit(); }

void conflicting_arm(WorldOptions& options, Rng& rng) { options.network.conflict = 0.05 + 0.2 * rng.unit(); }

void several_addresses(WorldOptions& options, Rng& rng) { options.clients.addresses = 2 + static_cast<int>(rng.below(3)); }

void linked_neighbours(WorldOptions& options, Rng& rng) {
  moving_etags(options, rng);
  options.arm.neighbour_links = true;
}

void late_unguarded(WorldOptions& options, Rng& rng) {
  late_effects(options, rng);
  options.network.late_unguarded = true;
}

void fewer_in_lists(WorldOptions& options, Rng&) { options.arm.list_items = sim::ListItems::Fewer; }

void lagging_reads(WorldOptions& options, Rng& rng) {
  options.arm.stale_read_chance = 0.05 + 0.25 * rng.unit();
  options.arm.stale_by = milliseconds(500 + rng.below(15'000));
}

void no_etags(WorldOptions& options, Rng&) { options.arm.has_etags = false; }

void observe(WorldOptions& options, Rng&) { options.pipeline.mode = rules::Mode::Observe; }

void keep_journal(WorldOptions& options, Rng&) { options.journal = true; }

// A write stands in line when the log has it: an answer of the engine's that got lost costs a second, and there are two before.
void three_replicas(WorldOptions& options, Rng&) {
  options.replicas = 3;
  options.joining = seconds(5);
}

void replicas_with_differing_rules(WorldOptions& options, Rng& rng) {
  three_replicas(options, rng);
  options.log.way_max = milliseconds(5 + rng.below(300));
  options.differing_rules = fewer_rules;
}

// What was sent to one that died is waited for when it comes again, until the others have found it dead.
void three_mortal_replicas(WorldOptions& options, Rng&) {
  options.replicas = 3;
  options.joining = seconds(20);
}

// While it is away those who come stand in no line.
void three_replicas_cut_off(WorldOptions& options, Rng&) {
  options.replicas = 3;
  options.joining = std::chrono::hours(1);
}

void few_bodies(WorldOptions& options, Rng& rng) {
  options.body_bytes_max = 64 * (200 + rng.below(3'000));  // an equal part for each shard of the table
}

// Some let go of bodies that others still have, and tell by their hashes.
void three_uneven_replicas(WorldOptions& options, Rng& rng) {
  three_replicas(options, rng);
  few_bodies(options, rng);
}

// And some of what they ask for passes meanwhile.
void three_replicas_fenced(WorldOptions& options, Rng& rng) {
  three_replicas_cut_off(options, rng);
  options.log.membership_lease = seconds(4);
  options.pipeline.sends_fenced = true;
  options.clients.names_base = 0.3 + 0.7 * rng.unit();
}

// What one had under way when it was found dead may still be on its way for a short time only.
void three_replicas_that_freeze(WorldOptions& options, Rng& rng) {
  three_replicas_cut_off(options, rng);
  options.log.membership_lease = seconds(4);
  options.log.quiet = seconds(4);
}

// Between what happens and what the others know of it time passes.
void three_replicas_far_away(WorldOptions& options, Rng& rng) {
  options.replicas = 3;
  options.log.way_max = milliseconds(20 + rng.below(1'000));
  options.joining = seconds(20);
}

// Each replica counts what ARM leaves for itself.
const std::vector<std::string_view> kCountedAlone{"budgets", "fair-budgets"};
// Whether a breaker stops a write is said by the rule of the replica that it comes to.
const std::vector<std::string_view> kCountedAloneOrByOne{"budgets", "fair-budgets", "sick-controllers"};
// What passes without a record no breaker stops or counts.
const std::vector<std::string_view> kCountedAloneOrNot{"budgets", "fair-budgets", "sick-set", "sick-controllers"};
const std::vector<std::string_view> kCountedAloneOrForgotten{"budgets", "fair-budgets", "hidden-versions"};

void nothing_more(WorldOptions&, Rng&) {}

// What the present core does not stand yet (docs/simulation.md has how often): seeds draw it as soon as one does.
constexpr Drawn kOnceHeld = Drawn::ByNameOnly;

// ---- what happens while the world runs ----

// Up to `times` moments, most of them while the clients are at work.
template <class Happening>
void at_drawn_moments(SimWorld& world, uint64_t times, Happening happening) {
  for (uint64_t left = 1 + world.rng().below(times); left > 0; --left) {
    const Duration until = milliseconds(world.rng().below(world.rng().chance(0.7) ? 20'000 : 120'000));
    world.clock().at(world.clock().now() + until, [&world, happening] { happening(world); });
  }
}

void write_around(SimWorld& world, const Subject& subject) {
  const int writers = 1 + static_cast<int>(world.rng().below(2));
  for (int i = 0; i < writers; ++i) {
    const std::string name = fmt::format("outsider{}", i);
    world.add_client(name, change_around(world, name, subject, 4));
  }
}

void crash(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 3, [](SimWorld& w) { w.crash(milliseconds(w.rng().below(w.rng().chance(0.5) ? 50 : 15'000))); });
}

void take_engine_away(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 2, [](SimWorld& w) { w.engine_away(milliseconds(w.rng().below(60'000))); });
}

// Again and again, mostly until leases are over: nothing passes before. In between clients read what they build on.
void take_engine_away_often(SimWorld& world, const Subject&) {
  TimePoint next = world.clock().now();
  for (uint64_t left = 4 + world.rng().below(16); left > 0; --left) {
    next += milliseconds(1'000 + world.rng().below(8'000));
    const Duration away = milliseconds(3'000 + world.rng().below(12'000));
    world.clock().at(next, [&world, away] { world.engine_away(away); });
    next += away;
  }
}

void fail_engine_over(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 3, [](SimWorld& w) {
    const Duration lag = milliseconds(w.rng().below(15'000));
    w.fail_engine_over(lag, milliseconds(w.rng().below(20'000)));
  });
}

void cut_replicas_off(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 2, [](SimWorld& w) { w.cut_off_replica(milliseconds(w.rng().below(30'000))); });
}

// Most beyond the membership lease, many until the others wait no more for what it had under way.
void freeze_replicas(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 20, [](SimWorld& w) { w.freeze_replica(milliseconds(w.rng().below(25'000))); });
}

void set_engine_clock(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 4, [](SimWorld& w) { w.set_engine_clock_by(milliseconds(w.rng().below(300'000))); });
}

void drain(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 2, [](SimWorld& w) {
    const Duration most = seconds(1 + w.rng().below(60));
    w.drain(most, milliseconds(w.rng().below(5'000)));
  });
}

void reload(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 6, [](SimWorld& w) { w.use_rules(w.rng().chance(0.3) ? world_rules() : varied_rules(w.rng())); });
}

void roll_rules_out(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 12, [](SimWorld& w) { w.use_differing_rules(); });
}

void make_clocks_jump(SimWorld& world, const Subject&) {
  at_drawn_moments(world, 4, [](SimWorld& w) {
    const auto minutes = static_cast<int64_t>(w.rng().below(600)) - 300;
    w.clock().set_wall_by(std::chrono::minutes(minutes));
    if (w.rng().chance(0.3)) w.clock().leap(seconds(w.rng().below(240)));
    w.trace().add(w.clock().now(), "the wall clock was set by {} minutes", minutes);
  });
}

void make_things_coincide(SimWorld& world, const Subject&) { world.clock().coarsen(std::chrono::milliseconds(50)); }

}  // namespace

const std::vector<Disturbance>& disturbances() {
  static const std::vector<Disturbance> all{
      {"lossy", lossy},
      {"late-effects", late_effects},
      {"reordering", reordering},
      {"slow-arm", slow_arm},
      {"throttling", throttling},
      {"failing-arm", failing_arm},
      {"leaving-clients", leaving_clients},
      {"lost-answers", lost_answers},
      {"slow-clients", slow_clients},
      {"moving-etags", moving_etags},
      {"expiring-tokens", expiring_tokens},
      {"skipped-polls", skipped_polls},
      {"long-operations", long_operations},
      {"instant-operations", instant_operations},
      {"silent-updates", silent_updates},
      {"short-waits", impatient},
      {"failing-after-effect", fail_after_effect},
      // Between armgate's look at a group and the write nothing holds those who go around it. And who takes a count back around armgate
      // undoes what ARM had answered with an error: that the base is there again looks like no effect.
      {"writers-around", nothing_more, {"groups", "lone-take-back"}, write_around},
      // Whose reads an earlier life saw has no state at its own api-version: what others were shown is all there is.
      // Of a delete that an earlier life had sent nobody knows any more, and the ETags of what is made anew begin again ("sick-set").
      {"crash", nothing_more, {"hidden-versions", "sick-set"}, crash},
      {"drain", nothing_more, {"hidden-versions", "sick-set"}, drain},
      {"crash-with-journal", keep_journal, {"hidden-versions"}, crash},
      {"drain-with-journal", keep_journal, {"hidden-versions"}, drain},
      {"reload", nothing_more, {}, reload},
      // What was first sent before a process began is known by the wall clock alone.
      {"clock-jumps", nothing_more, {"named-restarts"}, make_clocks_jump},
      {"coincidences", nothing_more, {}, make_things_coincide},
      {"conflicting-arm", conflicting_arm},
      {"several-addresses", several_addresses},
      {"linked-neighbours", linked_neighbours},
      {"fewer-in-lists", fewer_in_lists},
      {"late-unguarded", late_unguarded},
      {"lagging-reads", lagging_reads, {}, nullptr, kOnceHeld},
      // Rules of a group take no key of it, so that ARM may work at ten of them at once. What becomes of one between armgate's look at
      // the group and its write as a whole only the group's ETag would tell, and Network shows one at each api-version.
      {"no-etags", no_etags, {"rules-beside-group"}},
      // armgate only looks on: what is checked then is that it does nothing else.
      {"observe", observe, {}, nullptr, Drawn::ByNameOnly},
      // Several armgates that serve as one (docs/cluster.md).
      {"replicas", three_replicas, kCountedAlone, nullptr, Drawn::ByNameOnly},
      {"differing-rules", replicas_with_differing_rules, kCountedAloneOrByOne, roll_rules_out, Drawn::ByNameOnly},
      {"few-bodies", few_bodies, {}, nullptr, Drawn::ByNameOnly},
      {"uneven-replicas", three_uneven_replicas, kCountedAlone, nullptr, Drawn::ByNameOnly},
      {"slow-engine", three_replicas_far_away, kCountedAlone, nullptr, Drawn::ByNameOnly},
      {"dying-replicas", three_mortal_replicas, kCountedAloneOrForgotten, crash, Drawn::ByNameOnly},
      {"engine-away", three_replicas_cut_off, kCountedAlone, take_engine_away, Drawn::ByNameOnly},
      {"engine-away-fenced", three_replicas_fenced, kCountedAloneOrNot, take_engine_away_often, Drawn::ByNameOnly},
      {"engine-fails-over", three_replicas_cut_off, kCountedAlone, fail_engine_over, Drawn::ByNameOnly},
      {"cut-off-replicas", three_replicas_cut_off, kCountedAloneOrForgotten, cut_replicas_off, Drawn::ByNameOnly},
      {"frozen-replicas", three_replicas_that_freeze, kCountedAloneOrForgotten, freeze_replicas, Drawn::ByNameOnly},
      {"engine-clock-jumps", three_replicas, kCountedAlone, set_engine_clock, Drawn::ByNameOnly},
  };
  return all;
}

}  // namespace armgate::world
