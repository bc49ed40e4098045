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
      pipeline_rng_(options_.seed ^ 0x5eed1),
      clock_(loop_, options_.seed ^ 0xc10c4),
      trace_(options_.echo),
      arm_(options_.arm, options_.seed ^ 0xa43),
      shared_(SharedState::Options{options_.pipeline, {}, {}, {}}, Hasher(HashKey{options_.seed, 7}),
              std::make_shared<const rules::Ruleset>(options_.rules)),
      checkers_(clock_, arm_, shared_.rules, trace_),
      upstream_(clock_, arm_, checkers_, trace_, options_.network, options_.seed ^ 0x0e7),
      faults_(Rng(options_.seed ^ 0xfa017), options_.poll_skipped),
      parts_{shared_, clock_, upstream_, store_, faults_, pipeline_rng_, loop_.get_executor(), {}, {}},
      pipeline_(parts_) {
  parts_.tell_loudly = [this](const std::string& message) { trace_.add(clock_.now(), "loud: {}", message); };
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
  if (const uint64_t harms = checkers_.at_rest(options_.harms)) tally_["harms among hidden actors"] += harms;
  check_empty();
}

void SimWorld::check_empty() {
  const auto locks = shared_.locks.counts();
  if (locks.keys != 0) checkers_.violated("P10", fmt::format("{} lock keys are left over", locks.keys));
  if (locks.waiting != 0) checkers_.violated("P10", fmt::format("{} writes still wait", locks.waiting));
  if (!shared_.holds.empty()) checkers_.violated("P10", fmt::format("{} holds are left over", shared_.holds.size()));
}

}  // namespace armgate::world
