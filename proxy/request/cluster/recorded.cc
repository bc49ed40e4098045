#include "proxy/request/cluster/recorded.h"

#include <utility>

#include "proxy/cluster/replica.h"
#include "proxy/request/answer.h"
#include "proxy/request/write/coalesce.h"

namespace armgate {
namespace {

Outcome come_again(const Write& write, std::string_view why, std::string_view reason) {
  write.report().reason = reason;
  write.report().altered = true;
  return {Outcome::Kind::Busy, make_busy(why, write.parts.shared.options.retry_after), {}};
}

Outcome unrecorded(const Write& write) {
  return come_again(write, "The cluster's engine cannot take the write.", "cluster-unavailable");
}

}  // namespace

Task<void> until_recorded(Parts& parts, Executor executor) {
  auto& cluster = *parts.cluster;
  while (!cluster.is_apart()) {
    if (co_await cluster.flush(executor, cluster.apart_from())) co_return;
  }
}

uint64_t order_at(const Parts& parts, const Moment& moment) {
  return parts.cluster == nullptr ? moment.order : parts.cluster->surely_before(moment.time, moment.order);
}

Task<std::optional<Outcome>> meet_the_others(Write& write) {
  auto& parts = write.parts;
  const Moment& arrived = write.exchange.arrived;
  if (!co_await parts.cluster->flush(write.exchange.executor, write.patience.until())) co_return unrecorded(write);
  policy::WriteFacts& facts = write.facts;
  const bool is_first = facts.arrived.order == arrived.order;
  if (is_first) facts.arrived.order = order_at(parts, arrived);
  if (is_first) facts.arrived_by = parts.clock.next_moment().order;
  if (facts.repeated.order != 0) facts.repeated.order = order_at(parts, facts.repeated);
  co_return std::nullopt;
}

Task<std::variant<LockPlace, Outcome>> claim_in_cluster(const Write& write, const std::vector<rules::LockKey>& keys,
                                                        ClaimInfo info) {
  auto& parts = write.parts;
  auto place = co_await parts.cluster->claim(keys, std::move(info), &write.patience.waiter(), Patience::kGranted,
                                             write.exchange.executor, write.patience.until());
  if (!place) co_return unrecorded(write);
  co_return *std::move(place);
}

std::optional<Outcome> answered_elsewhere(const Write& write) {
  if (write.sending == 0) return std::nullopt;
  const auto arrival = arrival_of(write.parts, write.exchange, write.plan, write.client, nullptr);
  if (!write.ledger().knows_another(arrival, write.sending)) return std::nullopt;
  return come_again(write, "The same request is being answered by another replica.", "same-request-elsewhere");
}

bool may_send(const Parts& parts) { return parts.cluster == nullptr || parts.cluster->may_send(); }

}  // namespace armgate
