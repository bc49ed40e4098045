#include "proxy/request/queue/turn.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "base/mutant.h"
#include "proxy/async/spawn.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/cluster/recorded.h"
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

// Of several processes all have to know of it: it is there when it stands in their log.
ComingPosition reserve(const Write& write, ClaimInfo::Priority priority) {
  auto& parts = write.parts;
  ClaimInfo info;
  info.client_label = write.client.label;
  info.what = "its turn, after refusals";
  info.since = parts.clock.now();
  info.client = write.client.key;
  info.priority = is_mutant(Mutant::TurnsWaitInLine) ? ClaimInfo::Priority::None : priority;
  info.is_turn = true;
  info.resource = write.plan.resource_key;
  const std::vector<rules::LockKey> keys{{write.plan.target.resource.id, rules::LockMode::Exclusive}};
  if (parts.cluster != nullptr) return parts.cluster->claim_to_poll(keys, std::move(info));
  auto position = parts.shared.locks.join(keys, std::move(info), nullptr, 0);
  if (!position) return nullptr;
  const auto held = std::make_shared<std::optional<QueuePosition>>(*std::move(position));
  return [held] { return std::exchange(*held, std::nullopt); };
}

void begin(Parts& parts, const Hash128& resource, const Hash128& client, QueuePosition position) {
  auto turn = parts.shared.turns.give(resource, client, std::move(position), parts.executor);
  if (turn) spawn(parts.executor, watch_turn(parts, std::move(turn), resource));
}

Task<std::optional<QueuePosition>> once_recorded(Parts& parts, Executor executor, ComingPosition coming) {
  if (parts.cluster != nullptr) co_await until_recorded(parts, std::move(executor));
  co_return coming();
}

Task<void> begin_once_recorded(Parts& parts, Hash128 resource, Hash128 client, ComingPosition coming) {
  auto position = co_await once_recorded(parts, parts.executor, std::move(coming));
  if (position) begin(parts, resource, client, *std::move(position));
}

}  // namespace

// A client that does not take its turns up, and so keeps others waiting, gets them later and later.
ComingPosition turn_due(const Write& write) {
  if (!write.replaces || write.client.declared.actors == policy::Actors::Many || is_mutant(Mutant::NoTurns)) return nullptr;
  struct Known {
    unsigned refused = 0;  // in a row, before this time
    bool reads = false;    // it has read since the last time
  };
  const Known known = write.ask([&](const policy::History& history) {
    const policy::ClientRecord* record = history.client(write.client.key);
    if (record == nullptr || record->refusals.empty()) return Known{};
    const uint64_t told = record->refusals.back().told;
    const bool reads = std::any_of(record->shown.begin(), record->shown.end(), [&](const policy::Observation& o) {
      return o.as != policy::ShownAs::OwnAnswer && o.last_asked > told;
    });
    return Known{static_cast<unsigned>(record->refused_in_a_row), reads};
  });
  const unsigned in_a_row = known.refused + 1;
  const bool due = in_a_row >= 2 && (std::has_single_bit(in_a_row) || (write.report().in_turn && known.reads));
  return due ? reserve(write, ClaimInfo::Priority::Turn) : nullptr;
}

Task<void> begin_turn(const Write& write, ComingPosition coming) {
  auto& parts = write.parts;
  const TimePoint asked = parts.clock.now();
  auto position = co_await once_recorded(parts, write.exchange.executor, std::move(coming));
  if (!position) co_return;
  position->set_waiter(&write.client_wait.waiter(), ClientWait::kGranted);
  const auto end = co_await write.client_wait.await_grant(*position);
  write.report().waited += parts.clock.now() - asked;
  if (position->is_over()) co_return;  // its client has taken it already
  if (end == ClientWait::End::Ready || end == ClientWait::End::TimeUp)
    begin(parts, write.plan.resource_key, write.client.key, *std::move(position));
}

void keep_turn(const Write& write) {
  if (!write.report().in_turn) return;
  ComingPosition coming = reserve(write, ClaimInfo::Priority::InTurn);
  if (!coming) return;
  auto& parts = write.parts;
  const Hash128& resource = write.plan.resource_key;
  const Hash128& client = write.client.key;
  if (auto position = coming()) return begin(parts, resource, client, *std::move(position));
  spawn(parts.executor,
        begin_once_recorded(parts, resource, client, std::move(coming)));  // of a cluster: it stands in the log later
}

}  // namespace armgate
