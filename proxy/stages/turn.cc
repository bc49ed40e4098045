#include "proxy/stages/turn.h"

#include <bit>
#include <memory>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/stages/parts.h"
#include "proxy/stages/wake.h"

namespace armgate {
namespace {

constexpr uint32_t kTimer = 8;

Task<void> watch(Pipeline::Parts& parts, std::shared_ptr<Turn> turn, Hash128 resource) {
  auto& turns = parts.shared.turns;
  const TimePoint last = parts.clock.now() + parts.shared.options.wait_max;
  while (!turn->over() && !turn->granted() && parts.clock.now() < last) co_await wait_until(parts, turn->waiter(), last, kTimer);
  TimePoint until = parts.clock.now() + turns.options().turn_max;
  bool counted = false;
  while (!turn->over() && parts.clock.now() < until) {
    if (!counted && turn->has_read()) {
      counted = true;
      until = parts.clock.now() + turns.options().turn_max;
    }
    co_await wait_until(parts, turn->waiter(), until, kTimer);
  }
  turns.end(resource, turn);
}

}  // namespace

// After a turn that came to nothing the next one is due later and later.
void give_turn(const Write& write, int in_a_row) {
  const bool due = in_a_row >= 2 && std::has_single_bit(static_cast<unsigned>(in_a_row));
  if (!due || write.client.actors == policy::Actors::Many) return;
  auto& parts = write.parts;
  ClaimInfo info;
  info.client_label = write.client.label;
  info.what = "its turn, after refusals";
  info.since = parts.clock.now();
  info.client = write.client.key;
  info.priority = ClaimInfo::Priority::Turn;
  auto place = parts.shared.locks.join({{write.plan.target.resource.id, rules::LockMode::Exclusive}}, std::move(info), nullptr, 0);
  if (!place) return;
  auto turn = parts.shared.turns.give(write.plan.resource_key, write.client.key, *std::move(place), parts.executor);
  if (turn) spawn(parts.executor, watch(parts, std::move(turn), write.plan.resource_key));
}

}  // namespace armgate
