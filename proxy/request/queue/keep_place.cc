#include "proxy/request/queue/keep_place.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/mutant.h"
#include "proxy/async/spawn.h"
#include "proxy/request/parts.h"
#include "proxy/request/patience.h"
#include "proxy/request/wake.h"

namespace armgate {
namespace {

constexpr uint32_t kTimer = 4;

// How long a ticket has, without the time in which others stood in its way.
struct TimeLeft {
  Duration reserve;
  Duration grace;
};

// For how long its standing may stay as it is; nothing: until it changes.
std::optional<Duration> longest(const TimeLeft& left, Ticket::Standing standing) {
  if (standing == Ticket::Standing::Reserved) return std::min(left.reserve, left.grace);
  if (standing == Ticket::Standing::Passing) return left.grace;
  return std::nullopt;
}

Tickets::Holder holder_of(const Write& write) { return {write.client.key, write.plan.resource_key}; }

Task<void> watch(Parts& parts, std::shared_ptr<Ticket> ticket, Hash128 resource) {
  auto& tickets = parts.shared.tickets;
  const TimePoint last = parts.clock.now() + tickets.options().age_max;
  TimeLeft left{tickets.options().reserve, tickets.options().grace};
  std::optional<TimePoint> its_turn;
  while (left.grace > Duration{} && parts.clock.now() < last) {
    const uint64_t passed = ticket->times_passed();  // first: who passes meanwhile must not cost it its grace
    const auto standing = ticket->standing();
    if (standing == Ticket::Standing::Gone) co_return;
    const TimePoint since = parts.clock.now();
    if (standing == Ticket::Standing::Reserved && !its_turn) its_turn = since;
    const auto most = longest(left, standing);
    const TimePoint wake = most ? std::min(last, since + *most) : last;
    co_await wait_until(parts, ticket->waiter(), wake, kTimer);

    const bool stood = most && ticket->times_passed() == passed;
    if (!stood) continue;
    const Duration spent = parts.clock.now() - since;
    left.grace -= spent;
    if (standing != Ticket::Standing::Reserved) continue;
    left.reserve -= spent;
    if (left.reserve <= Duration{}) tickets.let_others_by(*ticket, *its_turn);
  }
  if (its_turn) tickets.let_others_by(*ticket, *its_turn);  // a grace shorter than the reserve was their moment too
  tickets.end(resource, ticket);
}

}  // namespace

void keep_place(const Write& write, LockPlace place) {
  auto& parts = write.parts;
  auto& tickets = parts.shared.tickets;
  if (tickets.options().grace == Duration{}) return;
  parts.shared.counters.places_kept.fetch_add(1, std::memory_order_relaxed);
  const Tickets::Holder holder = holder_of(write);
  const Tickets::Away away{write.bytes, write.exchange.arrived.time, parts.clock.now()};
  auto ticket = tickets.keep(holder, away, std::move(place), parts.executor);
  spawn(parts.executor, watch(parts, std::move(ticket), holder.resource));
}

std::optional<LockPlace> return_to_place(const Write& write, const std::vector<rules::LockKey>& keys) {
  auto place = write.parts.shared.tickets.take(holder_of(write), write.bytes, keys);
  if (!place || is_mutant(Mutant::TicketIgnored)) return std::nullopt;
  write.parts.shared.counters.places_taken.fetch_add(1, std::memory_order_relaxed);
  write.report().kept_place = true;
  place->wake(&write.patience.waiter(), Patience::kGranted);
  place->insist();
  return place;
}

}  // namespace armgate
