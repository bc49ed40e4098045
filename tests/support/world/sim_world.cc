#include "tests/support/world/sim_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "proxy/async/spawn.h"

namespace armgate::world {
namespace {

constexpr Duration kClientsMax = std::chrono::hours(48);  // beyond it they are stuck in a circle
constexpr Duration kAfterwards = std::chrono::hours(14);  // longer than any operation lease

// armgate is told what its operator declares; ARM keeps a log for those who judge.
WorldOptions completed(WorldOptions options) {
  for (const auto& [name, kind] : options.kinds) {
    if (kind == ClientKind::Single) options.pipeline.clients[name].actors = policy::Actors::Single;
    if (kind == ClientKind::Many) options.pipeline.clients[name].actors = policy::Actors::Many;
  }
  options.arm.keep_states = true;
  return options;
}

}  // namespace

SimWorld::SimWorld(WorldOptions options)
    : options_(completed(std::move(options))),
      rng_(options_.seed),
      clock_(loop_, options_.seed ^ 0xc10c4),
      trace_(options_.echo),
      arm_(options_.arm, options_.seed ^ 0xa43),
      rules_(made_of(options_.rules)),
      checkers_(clock_, arm_, rules_in_force(), trace_,
                {options_.pipeline.mode,
                 options_.pipeline.mode == rules::Mode::Protect ? options_.harms : Harms::Counted,
                 options_.journal || options_.replicas > 0,
                 options_.joining,
                 options_.differing_rules != nullptr,
                 is_out_of_reach(),
                 options_.kinds,
                 policy::HistoryLimits{}.think_max,
                 options_.liveness,
                 {options_.results.failures, options_.results.window},
                 {options_.budgets.fair}}),
      upstream_(clock_, arm_, checkers_, trace_, options_.network, options_.seed ^ 0x0e7),
      log_(clock_, options_.log, options_.seed ^ 0x106),
      shared_rules_(clock_, log_, options_.seed ^ 0x271e5),
      gate_(make_gate()) {
  for (size_t more = 1; more < options_.replicas; ++more) make_gate();
}

// A replica that finds the engine again notices that a few seconds later.
std::function<bool(TimePoint)> SimWorld::is_out_of_reach() {
  if (!options_.pipeline.sends_fenced) return {};
  return [this](TimePoint since) { return out_of_reach_until_ + std::chrono::seconds(5) >= since; };
}

std::shared_ptr<Gate> SimWorld::make_gate() {
  GateOptions options{options_.seed,
                      gates_.size() + 1,
                      options_.pipeline,
                      options_.results,
                      options_.budgets,
                      options_.replicas > 1 && gates_.size() % 3 == 0 ? 0 : options_.body_bytes_max,
                      rules_of_new_replica(),
                      options_.poll_skipped,
                      options_.journal ? &journal_ : nullptr,
                      options_.replicas > 0 ? &log_ : nullptr};
  Gate::Voice voice;
  voice.alert = [this](const std::string& message) { trace_.add(clock_.now(), "loud: {}", message); };
  voice.report_finding = [this](const ObserveFinding& finding) {
    trace_.add(clock_.now(), "would: {} {} {} by {} after {}: {} {}", to_text(finding.kind), finding.method,
               short_path(finding.resource), finding.client, finding.other_client, finding.base, finding.why);
    ++tally_[fmt::format("would: {}", to_text(finding.kind))];
  };
  // Of a single process all is over then (Checkers::life_ended).
  if (options_.replicas > 0) voice.cut_off = [this](const SimLink& link) { checkers_.left(link); };
  gates_.push_back(std::make_shared<Gate>(std::move(options), clock_, upstream_, loop_.get_executor(), std::move(voice)));
  if (options_.differing_rules != nullptr) shared_rules_.join(*gates_.back());
  return gates_.back();
}

std::vector<std::shared_ptr<Gate>> SimWorld::open_replicas() const {
  std::vector<std::shared_ptr<Gate>> open;
  std::ranges::copy_if(gates_, std::back_inserter(open), [](const auto& gate) { return gate->accepts(); });
  return open;
}

std::shared_ptr<Gate> SimWorld::open_gate() {
  if (options_.replicas == 0) return gate_ && gate_->accepts() ? gate_ : nullptr;
  const auto open = open_replicas();
  return open.empty() ? nullptr : open[rng_.below(open.size())];
}

void SimWorld::kill_replica(Duration down) {
  const auto open = open_replicas();
  if (unfinished_.empty() || open.empty()) return;
  trace_.add(clock_.now(), "a replica dies");
  ++tally_["replicas that died"];
  open[rng_.below(open.size())]->cut();
  clock_.at(clock_.now() + down, [this] { make_gate(); });
}

void SimWorld::cut_off_replica(Duration how_long) {
  const auto open = open_replicas();
  if (unfinished_.empty() || open.empty()) return;
  trace_.add(clock_.now(), "a replica does not reach the engine");
  ++tally_["replicas that were cut off"];
  open[rng_.below(open.size())]->cut_off(how_long);
  out_of_reach_until_ = std::max(out_of_reach_until_, clock_.now() + how_long);
  start_missing(how_long + std::chrono::seconds(15));
}

void SimWorld::freeze_replica(Duration how_long) {
  const auto open = open_replicas();
  if (unfinished_.empty() || open.empty()) return;
  const auto& one = open[rng_.below(open.size())];
  trace_.add(clock_.now(), "replica {} stands still for {} ms", one->life(), whole_milliseconds(how_long));
  ++tally_["replicas that stood still"];
  one->freeze(how_long);
  start_missing(how_long + std::chrono::seconds(15));
}

void SimWorld::set_engine_clock_by(Duration step) {
  if (unfinished_.empty()) return;
  trace_.add(clock_.now(), "the engine's clock is set");
  ++tally_["times that the engine's clock was set"];
  log_.set_clock_by(step);
}

// Who was found dead ends, and whoever watches over it starts another.
void SimWorld::start_missing(Duration later) {
  clock_.at(clock_.now() + later, [this] {
    while (open_replicas().size() < options_.replicas) make_gate();
  });
}

void SimWorld::fail_engine_over(Duration lag, Duration away) {
  if (unfinished_.empty()) return;
  trace_.add(clock_.now(), "the engine fails over");
  ++tally_["failovers of the engine"];
  log_.fail_over(lag, away);
  out_of_reach_until_ = std::max(out_of_reach_until_, clock_.now() + lag + away);
  start_missing(lag + away + std::chrono::seconds(1));
}

void SimWorld::engine_away(Duration how_long) {
  if (unfinished_.empty()) return;
  trace_.add(clock_.now(), "the engine is away");
  ++tally_["times that the engine was away"];
  log_.away(how_long);
  out_of_reach_until_ = std::max(out_of_reach_until_, clock_.now() + how_long);
}

void SimWorld::crash(Duration down) {
  if (options_.replicas > 0) return kill_replica(down);
  if (!gate_ || unfinished_.empty()) return;
  trace_.add(clock_.now(), "armgate dies");
  ++tally_["lives of armgate ended"];
  checkers_.life_ended();
  gate_->cut();
  gate_ = nullptr;
  clock_.at(clock_.now() + down, [this] {
    trace_.add(clock_.now(), "armgate starts");
    gate_ = make_gate();
  });
}

Task<void> SimWorld::drain_and_start_anew(SimWorld& world, std::shared_ptr<Gate> old, TimePoint limit, Duration down) {
  while (old->running() > 0 && world.clock_.now() < limit) co_await world.clock_.sleep_for(std::chrono::milliseconds(50));
  if (world.gate_ == old) world.crash(down);
}

void SimWorld::drain(Duration most, Duration down) {
  if (options_.replicas > 0) return kill_replica(down);
  if (!open_gate() || unfinished_.empty()) return;
  trace_.add(clock_.now(), "armgate drains");
  gate_->drain();
  const auto last_call = clock_.now() + most - std::min<Duration>(std::chrono::seconds(5), most / 5);
  clock_.at(last_call, [gate = gate_] { gate->stop_waiting(); });
  spawn(executor(), drain_and_start_anew(*this, gate_, clock_.now() + most, down));
}

Task<void> SimWorld::live(SimWorld& world, std::string name, Task<void> life) {
  co_await std::move(life);
  world.unfinished_.erase(name);
}

void SimWorld::add_client(const std::string& name, Task<void> life) {
  unfinished_[name] = "about to start";
  spawn(executor(), live(*this, name, std::move(life)));
}

void SimWorld::run() {
  const TimePoint limit = clock_.now() + kClientsMax;
  bool stuck = false;
  while (!unfinished_.empty() && !stuck) {
    const bool moved = clock_.step();
    check_turns();
    stuck = !unfinished_.empty() && (!moved || clock_.now() > limit);
  }
  if (stuck) {
    for (const auto& [name, what] : unfinished_) checkers_.violated("P3", fmt::format("deadlock: {} waits: {}", name, what));
    return;
  }
  upstream_.calm();
  const TimePoint end = clock_.now() + kAfterwards;
  while (clock_.now() < end && clock_.step()) {
  }
  clock_.leap(std::max(Duration{}, end - clock_.now()));
  checkers_.settled();
  for (const auto& [reason, times] : checkers_.excused()) tally_["excused: " + reason] += times;
  for (const auto& [law, times] : checkers_.laws_broken())
    tally_[fmt::format("broken, but counted: {}", to_text(law))] += times;
  for (const auto& [what, times] : checkers_.liveness().counts()) tally_["liveness: " + what] += times;
  check_empty();
}

std::shared_ptr<const rules::Ruleset> SimWorld::made_of(std::vector<rules::Rule> rules) {
  auto source = std::make_shared<const rules::RuleSource>(rules::RuleSource{Hash128{0, ++rule_sets_}, ""});
  return std::make_shared<const rules::Ruleset>(std::move(rules), options_.errors, std::vector<rules::QueueTimeout>{},
                                                options_.facts, std::move(source));
}

std::shared_ptr<const rules::Ruleset> SimWorld::rules_of_new_replica() {
  if (options_.differing_rules == nullptr) return rules_in_force();
  return shared_rules_.add(gates_.empty() ? *rules_ : *made_of(options_.differing_rules(rng_)));
}

void SimWorld::use_rules_at(Gate& gate, const rules::Ruleset& rules) {
  if (unfinished_.empty()) return;
  trace_.add(clock_.now(), "replica {} goes by other rules", gate.life());
  ++tally_["rules of a replica replaced"];
  checkers_.use_rules(rules_in_force());  // from now on what waits for what depends on more than these
  gate.shared().use(shared_rules_.add(rules), options_.pipeline.mode, clock_);
  shared_rules_.look_soon(gate);
}

// One always has all rules: what no replica protects nobody promises anything of. The next one has had them for a while before
// the former loses some, because a replica protects what it has heard of.
void SimWorld::use_differing_rules() {
  const size_t drawn = rng_.below(gates_.size());
  Gate& gate = *gates_[drawn];
  if (handing_over_ != nullptr && (&gate == handing_over_ || drawn == complete_)) return;
  const auto fewer = made_of(options_.differing_rules(rng_));
  if (drawn != complete_) return use_rules_at(gate, *fewer);
  complete_ = (drawn + 1 + rng_.below(gates_.size() - 1)) % gates_.size();
  handing_over_ = &gate;
  use_rules_at(*gates_[complete_], *rules_);
  clock_.at(clock_.now() + std::chrono::seconds(15), [this, &gate, fewer] {
    handing_over_ = nullptr;
    use_rules_at(gate, *fewer);
  });
}

void SimWorld::use_rules(std::vector<rules::Rule> rules) {
  if (unfinished_.empty()) return;
  trace_.add(clock_.now(), "the rules are replaced");
  ++tally_["rules replaced"];
  rules_ = made_of(std::move(rules));
  checkers_.use_rules(rules_in_force());
  for (const auto& gate : gates_) {
    if (!gate->is_cut()) gate->shared().use(rules_in_force(), options_.pipeline.mode, clock_);
  }
}

// A free key with a queue would be freed by the end of a wait at the latest; whoever waits is not to know that.
void SimWorld::check_turns() {
  const size_t forgotten = gate_ && options_.replicas == 0 ? gate_->shared().locks.grantable() : 0;
  if (forgotten > forgotten_) checkers_.violated("P3", "a write waits although nothing is in its way");
  forgotten_ = forgotten;
}

// All is over and every grace has passed: nothing is locked or expected any more, and what is remembered fits its bounds.
void SimWorld::check_empty() {
  if (options_.replicas == 0) return gate_ ? check_gate_empty(*gate_) : checkers_.violated("P10", "armgate did not come back");
  const auto open = open_replicas();
  if (open.empty()) checkers_.violated("P10", "no replica came back");
  for (const auto& gate : open) check_gate_empty(*gate);
  for (const auto& gate : open) check_known(*gate);
}

// What passed without a record is told as soon as that can be, unless its replica has ended before.
void SimWorld::check_known(Gate& gate) {
  if (tally_.contains("replicas that died") || tally_.contains("replicas that were cut off")) return;
  for (const auto& [whose, resource, what] : checkers_.unrecorded()) {
    const Hash128& client = whose;  // clang 14 captures no structured binding
    ++tally_["passed without a record, and known afterwards"];
    const bool is_known = gate.shared().resources.ask(resource, [&](const policy::History& history) {
      const bool is_full = history.entries().size() >= policy::HistoryLimits{}.entries_max;
      return is_full || std::ranges::any_of(history.entries(), [&](const policy::Entry& entry) {
               return entry.writer == client && !entry.certain && entry.ended != 0;
             });
    });
    if (!is_known) checkers_.violated("P1", what + " went without a record, and a replica does not know of it");
  }
}

void SimWorld::check_gate_empty(Gate& gate) {
  SharedState& shared = gate.shared();
  const auto none = [this](size_t count, std::string_view what) {
    if (count != 0) checkers_.violated("P10", fmt::format("{} {} left over", count, what));
  };
  const auto at_most = [this](size_t count, size_t most, std::string_view what) {
    if (count > most) checkers_.violated("P10", fmt::format("{} {}, more than {}", count, what, most));
  };
  const auto locks = shared.locks.counts();
  none(locks.keys, "lock keys are");
  none(locks.waiting, "waiting writes are");
  none(shared.op_leases.size(), "operation leases are");
  none(shared.reservations.size(), "kept places are");
  none(shared.rules.draining(), "replaced rules are");
  none(shared.observed.size(), "observed writes are");
  size_t lines = 0;
  for (const auto& row : shared.budgets.report(clock_.now()).rows) lines += row.waiting.size();
  none(lines, "requests that wait for their share are");
  const ClientTable::Options limits;
  size_t page_bytes = 0;
  // A replica has those of all, too.
  for (const Hash128& client : options_.replicas == 0 ? gate.clients() : std::set<Hash128>{}) {
    const auto state = shared.clients.find_or_add(client, clock_.now());
    state->expire(clock_.now());  // forgets what is not expected any more
    const auto counts = state->counts();
    none(counts.sendings, "sendings are");
    at_most(counts.page_bytes, limits.client.page_bytes_max, "bytes of list pages");
    page_bytes += counts.page_bytes;
  }
  if (options_.replicas == 0) at_most(shared.clients.size(), gate.clients().size(), "clients");
  none(shared.turns.size(), "turns are");
  at_most(shared.resources.counts().body_bytes, ResourceTable::Options{}.body_bytes_max, "bytes of bodies");
  if (options_.replicas == 0 && shared.clients.budget().page_bytes != page_bytes) {
    checkers_.violated("P10", fmt::format("{} bytes of list pages are kept, but {} are counted", page_bytes,
                                          shared.clients.budget().page_bytes.load()));
  }
}

}  // namespace armgate::world
