#include "proxy/stages/relayed_action.h"

#include <utility>

#include "proxy/stages/coalesce.h"

namespace armgate {

using Ending = SendingLedger::Ending;

RelayedAction::RelayedAction(Pipeline::Parts& parts, Exchange& exchange, ClientLink& link, const KeyedPlan& plan,
                             const Client& client)
    : clock_(parts.clock), link_(link), state_(client.state), waiter_(exchange.executor) {
  SendingLedger& ledger = state_->sendings();
  const auto found = ledger.match(arrival_of(parts, exchange, plan, client, link.presence()), &waiter_, 1, nullptr);
  if (found.match == SendingLedger::Match::Shared) ledger.leave(found.sending, &waiter_, SendingLedger::With::Nothing);
  if (found.match == SendingLedger::Match::Shared || found.match == SendingLedger::Match::InDoubt) return;
  if (found.match == SendingLedger::Match::DoubtExpired) exchange.report.reason = "sent-again-after-doubt-expired";
  sending_ = found.sending;
  ledger.sent(*sending_);
  link_.watch(&waiter_, 1);
}

// Nothing was sent, or ARM refused it: forgotten.
RelayedAction::~RelayedAction() {
  if (!sending_) return;
  end({});
  state_->sendings().delivered(*sending_);
}

void RelayedAction::end(Ending ending) {
  link_.watch(nullptr, 0);
  state_->sendings().end(*sending_, std::move(ending), clock_.next_moment());
}

void RelayedAction::in_doubt() {
  if (!sending_) return;
  end({Ending::Kind::Unknown, nullptr, {}});
  sending_.reset();
}

std::optional<uint64_t> RelayedAction::answered(bool written) {
  if (!sending_) return std::nullopt;
  end({Ending::Kind::Accepted, nullptr, {}});
  if (!written) state_->sendings().undelivered(*sending_);
  return std::exchange(sending_, std::nullopt);
}

void note_in_doubt(const Pipeline::Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client,
                   RelayedAction* action) {
  if (action != nullptr) return action->in_doubt();
  SendingLedger& ledger = client.state->sendings();
  const uint64_t sending = ledger.add(arrival_of(parts, exchange, plan, client, nullptr));
  ledger.end(sending, {Ending::Kind::Unknown, nullptr, {}}, parts.clock.next_moment());
}

}  // namespace armgate
