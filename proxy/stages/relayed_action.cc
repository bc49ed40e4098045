#include "proxy/stages/relayed_action.h"

#include <utility>

#include "proxy/stages/doubt.h"
#include "proxy/stages/remember.h"

namespace armgate {

RelayedAction::RelayedAction(Pipeline::Parts& parts, const Exchange& exchange, ClientLink& link, const KeyedPlan& plan,
                             const Client& client)
    : clock_(parts.clock), link_(link), state_(client.state), waiter_(exchange.executor) {
  const Hasher& hasher = parts.shared.hasher;
  UnansweredWrites::Arrival arrival;
  arrival.request = resend_key(hasher, exchange, client);
  arrival.request_id = request_id_of(hasher, exchange);
  arrival.resource = plan.resource_key;
  arrival.asker = link.presence();
  sending_ = state_->unanswered().add_if_new(arrival, clock_.now());
  if (!sending_) return;
  state_->unanswered().sent(*sending_);
  link_.watch(&waiter_, 1);
}

// Nothing was sent, or ARM refused it, or it is in doubt and known as such: forgotten.
RelayedAction::~RelayedAction() {
  if (!sending_) return;
  link_.watch(nullptr, 0);
  state_->unanswered().end(*sending_, {}, clock_.next_moment());
  state_->unanswered().undelivered(*sending_, clock_.now());
}

std::optional<uint64_t> RelayedAction::answered(bool written) {
  if (!sending_) return std::nullopt;
  UnansweredWrites::Ending ending;
  ending.accepted = true;
  state_->unanswered().end(*sending_, std::move(ending), clock_.next_moment());
  if (!written) state_->unanswered().undelivered(*sending_, clock_.now());
  link_.watch(nullptr, 0);
  return std::exchange(sending_, std::nullopt);
}

}  // namespace armgate
