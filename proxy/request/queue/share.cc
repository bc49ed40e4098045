#include "proxy/request/queue/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proxy/request/answer.h"

namespace armgate {
namespace {

constexpr Duration kLongestLook = std::chrono::seconds(1);  // answers and departures change the order

Share no_share(const Parts& parts, Exchange& exchange, std::string_view why, std::string_view reason) {
  exchange.report.reason = reason;
  exchange.report.altered = true;
  Share share;
  share.busy = make_busy(why, parts.shared.options.retry_after);
  return share;
}

// Others may wait for what a read of one thing shows, a poll or what a write is to be built from; nobody does for a list.
bool can_wait(const KeyedPlan& plan) { return plan.operation == arm::OperationKind::List; }

// Suspends until it is let go.
Task<ClientWait::End> await_grant(const Parts& parts, const Executor& executor, ClientWait& client_wait,
                                  Budgets::Ticket& ticket) {
  while (true) {
    const TimePoint now = parts.clock.now();
    const TimePoint look = std::min(std::max(ticket.due(now), now + Duration(1)), now + kLongestLook);
    const auto timer =
        parts.clock.call_at(executor, look, [&client_wait] { client_wait.waiter().signal(ClientWait::kGranted); });
    const auto end = co_await client_wait.await_ready(
        [&parts, &ticket, look] { return ticket.granted() || parts.clock.now() >= look; }, ClientWait::AtClosing::Stop);
    if (end != ClientWait::End::Ready || ticket.granted()) co_return end;
    ticket.let_go_due(parts.clock.now());
    if (ticket.granted()) co_return ClientWait::End::Ready;
  }
}

}  // namespace

Task<Share> await_share(Parts& parts, Exchange& exchange, const KeyedPlan& plan, const Client& client,
                        ClientWait& client_wait) {
  Share share;
  if (!parts.shared.budgets.is_fair()) {
    share.ticket.emplace();
    co_return std::move(share);
  }
  const arm::RequestHead& head = exchange.request.head;
  const TimePoint asked = parts.clock.now();
  std::string what = fmt::format("{} {}", head.method_token, arm::path_of(head.target));
  auto ticket = parts.shared.budgets.join({exchange.principal, head.target},
                                          {head.method, can_wait(plan), client.key, client.label, std::move(what)},
                                          &client_wait.waiter(), ClientWait::kGranted, asked);
  if (!ticket) {
    parts.shared.counters.queue_full.fetch_add(1, std::memory_order_relaxed);
    co_return no_share(parts, exchange, "Too many requests wait for what ARM takes of this principal.", "queue-full");
  }
  if (ticket->granted()) {
    share.ticket = std::move(ticket);
    co_return std::move(share);
  }
  parts.shared.counters.paced.fetch_add(1, std::memory_order_relaxed);
  const auto end = co_await await_grant(parts, exchange.executor, client_wait, *ticket);
  exchange.report.waited += parts.clock.now() - asked;
  switch (end) {
    case ClientWait::End::Ready:
      exchange.report.reason = "waited-for-its-share";
      share.ticket = std::move(ticket);
      co_return std::move(share);
    case ClientWait::End::Closing: co_return no_share(parts, exchange, kClosing, "armgate-ends");
    case ClientWait::End::Gone: {
      share = no_share(parts, exchange, "The client closed its side while the request waited.", "client-left-the-queue");
      share.is_gone = true;
      co_return std::move(share);
    }
    case ClientWait::End::TimeUp: break;
  }
  parts.shared.counters.wait_timeouts.fetch_add(1, std::memory_order_relaxed);
  co_return no_share(parts, exchange,
                     "What ARM takes of this principal for the subscription is used up, and others come first.",
                     "budget-used-up");
}

}  // namespace armgate
