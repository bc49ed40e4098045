#include "tests/support/sim_world.h"

#include <fmt/format.h>

#include <utility>

#include "proxy/async/spawn.h"

namespace armgate::world {
namespace {

constexpr Duration kClientsMax = std::chrono::hours(48);  // beyond it they are stuck in a circle
constexpr Duration kAfterwards = std::chrono::hours(14);  // longer than any hold

}  // namespace

SimWorld::SimWorld(WorldOptions options)
    : options_(std::move(options)),
      rng_(options_.seed),
      clock_(loop_, options_.seed ^ 0xc10c4),
      trace_(options_.echo),
      arm_(options_.arm, options_.seed ^ 0xa43),
      rules_(std::make_shared<const rules::Ruleset>(options_.rules)),
      checkers_(clock_, arm_, rules_, trace_, options_.harms),
      upstream_(clock_, arm_, checkers_, trace_, options_.network, options_.seed ^ 0x0e7),
      gate_(make_gate()) {}

std::shared_ptr<Gate> SimWorld::make_gate() {
  GateOptions options{options_.seed, gates_.size() + 1, options_.pipeline, rules_, options_.poll_skipped};
  auto tell = [this](const std::string& message) { trace_.add(clock_.now(), "loud: {}", message); };
  gates_.push_back(std::make_shared<Gate>(std::move(options), clock_, upstream_, loop_.get_executor(), std::move(tell)));
  return gates_.back();
}

void SimWorld::crash(Duration down) {
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
  if (!open_gate() || unfinished_.empty()) return;
  trace_.add(clock_.now(), "armgate drains");
  gate_->drain();
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
  checkers_.at_rest();
  for (const auto& [reason, times] : checkers_.excused()) tally_["excused: " + reason] += times;
  check_empty();
}

void SimWorld::check_empty() {
  if (!gate_) return checkers_.violated("P10", "armgate did not come back");
  SharedState& shared = gate_->shared();
  const auto locks = shared.locks.counts();
  if (locks.keys != 0) checkers_.violated("P10", fmt::format("{} lock keys are left over", locks.keys));
  if (locks.waiting != 0) checkers_.violated("P10", fmt::format("{} writes still wait", locks.waiting));
  if (!shared.holds.empty()) checkers_.violated("P10", fmt::format("{} holds are left over", shared.holds.size()));
}

}  // namespace armgate::world
