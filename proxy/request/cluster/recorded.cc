#include "proxy/request/cluster/recorded.h"

#include <utility>

#include "base/mutant.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/cluster/order_at.h"
#include "proxy/request/queue/reservation.h"
#include "proxy/request/write/coalesce.h"

namespace armgate {

Outcome unrecorded(const Write& write) {
  return try_later(write, "The cluster's engine cannot take the write.", "cluster-unavailable");
}

bool takes_more(const Parts& parts) { return parts.cluster == nullptr || parts.cluster->takes_more(); }

Task<bool> until_recorded(Parts& parts, Executor executor) {
  auto& cluster = *parts.cluster;
  while (!cluster.is_apart()) {
    if ((co_await cluster.flush(executor, cluster.apart_from())).has_value()) co_return true;
  }
  co_return false;
}

Task<std::optional<Outcome>> meet_before_repeating(const Write& write) {
  auto& cluster = *write.parts.cluster;
  cluster.mark();
  const auto recorded = co_await cluster.flush(write.exchange.executor, write.client_wait.until());
  if (!recorded) co_return unrecorded(write);
  co_return std::nullopt;
}

Task<std::optional<Outcome>> meet_the_others(Write& write) {
  auto& parts = write.parts;
  const Moment& arrived = write.exchange.arrived;
  std::optional<uint64_t> recorded = parts.clock.next_moment().order;
  if (!is_mutant(Mutant::OthersNotMet))
    recorded = co_await parts.cluster->flush(write.exchange.executor, write.client_wait.until());
  if (!recorded) co_return unrecorded(write);
  policy::WriteFacts& facts = write.facts;
  const bool is_first = facts.arrived.order == arrived.order;
  if (is_first) facts.arrived.order = order_at(parts, arrived);
  // What the client had been shown when the write first came stands in the log before the write's arrival, even if this process
  // had not read it yet. States shown to others of the client's name after the write's own row are no base, however long the
  // engine took to confirm that row.
  facts.arrived_by = is_first ? *recorded : write.ledger().logged_at(write.sending);
  if (facts.repeated.order != 0) facts.repeated.order = order_at(parts, facts.repeated);
  co_return std::nullopt;
}

Task<Step<QueuePosition>> claim_in_cluster(const Write& write, const std::vector<rules::LockKey>& keys, ClaimInfo info) {
  auto& parts = write.parts;
  auto claimed = co_await parts.cluster->claim(keys, std::move(info), &write.client_wait.waiter(), ClientWait::kGranted,
                                               write.exchange.executor, write.client_wait.until());
  if (!claimed) co_return unrecorded(write);
  write.report().in_turn = claimed->in_turn;
  if (claimed->was_reserved) note_redeemed(write);
  co_return std::move(claimed->position);
}

std::optional<Outcome> answered_elsewhere(const Write& write) {
  if (write.sending == 0) return std::nullopt;
  if (!write.ledger().is_elsewhere(arrival_of(write, nullptr), {write.sending, write.asking}, questions_of(write)))
    return std::nullopt;
  return try_later(write, "The same request is under way at another replica, or its outcome is not known yet.",
                   "same-request-elsewhere");
}

bool may_show(const Parts& parts) { return parts.cluster == nullptr || !parts.cluster->is_apart(); }

SendLimits limits_of_one(const Parts& parts, TimePoint deadline) {
  const bool is_unlimited = parts.cluster == nullptr || is_mutant(Mutant::PerhapsDeadSends);
  return is_unlimited ? SendLimits(deadline) : parts.cluster->limits_of_one(deadline);
}

bool may_send(const Parts& parts) {
  return parts.cluster == nullptr || parts.cluster->may_send() || is_mutant(Mutant::PerhapsDeadSends);
}

}  // namespace armgate
