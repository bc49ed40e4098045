#include "proxy/request/queue/turn.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "base/mutant.h"
#include "proxy/async/spawn.h"
#include "proxy/request/parts.h"
#include "proxy/request/timed_wait.h"

namespace armgate {
namespace {

constexpr uint32_t kTurnTimer = 8;

Task<void> watch_turn(Parts& parts, std::shared_ptr<Turn> turn, Hash128 resource) {
  auto& turns = parts.shared.turns;
  const TimePoint last = parts.clock.now() + parts.shared.options.wait_max;
  while (!turn->over() && !turn->granted() && parts.clock.now() < last)
    co_await wait_until(parts, turn->waiter(), last, kTurnTimer);
  TimePoint until = parts.clock.now() + turns.options().turn_max;
  bool counted = false;
  while (!turn->over() && parts.clock.now() < until) {
    if (!counted && turn->has_read()) {
      counted = true;
      until = parts.clock.now() + turns.options().turn_max;
    }
    co_await wait_until(parts, turn->waiter(), until, kTurnTimer);
  }
  turns.end(resource, turn);
}

std::optional<QueuePosition> reserve(const Write& write, ClaimInfo::Priority priority) {
  ClaimInfo info;
  info.client_label = write.client.label;
  info.what = "its turn, after refusals";
  info.since = write.parts.clock.now();
  info.client = write.client.key;
  info.priority = is_mutant(Mutant::TurnsWaitInLine) ? ClaimInfo::Priority::None : priority;
  const std::vector<rules::LockKey> keys{{write.plan.target.resource.id, rules::LockMode::Exclusive}};
  auto position = write.parts.shared.locks.join(keys, std::move(info), &write.client_wait.waiter(), ClientWait::kGranted);
  return position ? std::optional(*std::move(position)) : std::nullopt;
}

void begin(const Write& write, QueuePosition position) {
  auto& parts = write.parts;
  auto turn = parts.shared.turns.give(write.plan.resource_key, write.client.key, std::move(position), parts.executor);
  if (turn) spawn(parts.executor, watch_turn(parts, std::move(turn), write.plan.resource_key));
}

}  // namespace

// Whoever does not take its turns up, and so keeps others waiting, gets them later and later.
std::optional<QueuePosition> turn_due(const Write& write) {
  if (write.parts.cluster != nullptr) return std::nullopt;  // the others would not know of it
  if (!write.replaces || write.client.declared.actors == policy::Actors::Many || is_mutant(Mutant::NoTurns))
    return std::nullopt;
  struct Known {
    unsigned refused = 0;  // in a row, before this time
    bool reads = false;    // it has read since the last time
  };
  const Known known = write.ask([&](const policy::History& history) {
    const policy::Reader* reader = history.reader(write.client.key);
    if (reader == nullptr || reader->refusals.empty()) return Known{};
    const uint64_t told = reader->refusals.back().told;
    const bool reads = std::any_of(reader->shown.begin(), reader->shown.end(), [&](const policy::Observation& o) {
      return o.as != policy::ShownAs::OwnAnswer && o.last_asked > told;
    });
    return Known{static_cast<unsigned>(reader->refused_in_a_row), reads};
  });
  const unsigned in_a_row = known.refused + 1;
  const bool due = in_a_row >= 2 && (std::has_single_bit(in_a_row) || (write.report().in_turn && known.reads));
  return due ? reserve(write, ClaimInfo::Priority::BeforeWaiters) : std::nullopt;
}

Task<void> begin_turn(const Write& write, QueuePosition position) {
  const TimePoint asked = write.parts.clock.now();
  const auto end = co_await write.client_wait.await_grant(position);
  write.report().waited += write.parts.clock.now() - asked;
  if (end == ClientWait::End::Ready || end == ClientWait::End::TimeUp) begin(write, std::move(position));
}

void keep_turn(const Write& write) {
  if (!write.report().in_turn || write.parts.cluster != nullptr) return;
  if (auto position = reserve(write, ClaimInfo::Priority::BeforeAll)) begin(write, *std::move(position));
}

}  // namespace armgate
