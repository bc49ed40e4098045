#include "proxy/request/queue/reservation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/mutant.h"
#include "proxy/async/spawn.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/client_wait.h"
#include "proxy/request/parts.h"
#include "proxy/request/timed_wait.h"

namespace armgate {
namespace {

constexpr uint32_t kTimer = 4;

// How long a reservation has, without the time in which others stood in its way.
struct TimeLeft {
  Duration claim_timeout;
  Duration ttl;
};

// For how long its state may stay as it is; nothing: until it changes.
std::optional<Duration> longest(const TimeLeft& left, Reservation::State state) {
  if (state == Reservation::State::Claimable) return std::min(left.claim_timeout, left.ttl);
  if (state == Reservation::State::Passing) return left.ttl;
  return std::nullopt;
}

Reservations::Holder holder_of(const Write& write) { return {write.client.key, write.plan.resource_key}; }

Task<void> watch(Parts& parts, std::shared_ptr<Reservation> reservation, Hash128 resource) {
  auto& reservations = parts.shared.reservations;
  const TimePoint last = parts.clock.now() + reservations.options().age_max;
  TimeLeft left{reservations.options().claim_timeout, reservations.options().ttl};
  std::optional<TimePoint> first_claimable;
  const TimePoint lets_by = parts.clock.now() + left.claim_timeout;
  while (left.ttl > Duration{} && parts.clock.now() < last) {
    const uint64_t passed = reservation->times_passed();  // first: who passes meanwhile must not cost it its time to live
    const auto state = reservation->state();
    if (state == Reservation::State::Gone) co_return;
    const TimePoint since = parts.clock.now();
    // Before it is first in line, too, it keeps nobody for long from keys that nobody has.
    const bool may_stand = state == Reservation::State::InLine && since < lets_by;
    if (state == Reservation::State::InLine && !may_stand) reservation->yield();
    if (state == Reservation::State::Claimable && !first_claimable) first_claimable = since;
    const auto most = longest(left, state);
    const TimePoint wake = std::min(last, most ? since + *most : may_stand ? lets_by : last);
    co_await wait_until(parts, reservation->waiter(), wake, kTimer);

    const bool stood = most && reservation->times_passed() == passed;
    if (!stood) continue;
    const Duration spent = parts.clock.now() - since;
    left.ttl -= spent;
    if (state != Reservation::State::Claimable) continue;
    left.claim_timeout -= spent;
    if (left.claim_timeout <= Duration{}) reservations.let_others_by(reservation->keys(), *first_claimable);
  }
  // A time to live shorter than the claim timeout was their moment too.
  if (first_claimable) reservations.let_others_by(reservation->keys(), *first_claimable);
  reservations.end(resource, reservation);
}

enum class Yields { No, Yes };

void reserve(const Write& write, QueuePosition position, Yields yields) {
  auto& parts = write.parts;
  auto& reservations = parts.shared.reservations;
  if (reservations.options().ttl == Duration{}) return;
  parts.shared.counters.reservations_kept.fetch_add(1, std::memory_order_relaxed);
  const Reservations::Holder holder = holder_of(write);
  // Whichever replica it comes to.
  if (parts.cluster != nullptr) parts.cluster->post(cluster::Reserved{position.kept_as()});
  const Reservations::Away away{write.request_hash, write.exchange.arrived.time, parts.clock.now()};
  auto reservation = reservations.keep(holder, away, std::move(position), parts.executor);
  if (yields == Yields::Yes) reservation->yield();
  spawn(parts.executor, watch(parts, std::move(reservation), holder.resource));
}

}  // namespace

void reserve_position(const Write& write, QueuePosition position) { reserve(write, std::move(position), Yields::No); }

void reserve_position(const Write& write, WriteLease lease) {
  reserve(write, std::move(lease).into_position(), write.report().claimed_reservation ? Yields::Yes : Yields::No);
}

void note_redeemed(const Write& write) {
  write.parts.shared.counters.reservations_claimed.fetch_add(1, std::memory_order_relaxed);
  write.report().claimed_reservation = true;
  write.report().reason = "claimed-its-reservation";
}

std::optional<QueuePosition> redeem_reservation(const Write& write, const std::vector<rules::LockKey>& keys) {
  auto position = write.parts.shared.reservations.take(holder_of(write), write.request_hash, keys);
  if (!position || is_mutant(Mutant::ReservationIgnored)) return std::nullopt;
  note_redeemed(write);
  position->set_waiter(&write.client_wait.waiter(), ClientWait::kGranted);
  position->rejoin();
  return position;
}

}  // namespace armgate
