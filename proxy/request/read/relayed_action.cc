#include "proxy/request/read/relayed_action.h"

#include <utility>

#include "proxy/request/write/coalesce.h"

namespace armgate {

using Ending = SendingLedger::Ending;

RelayedAction::RelayedAction(Parts& parts, Exchange& exchange, ClientLink& link, const KeyedPlan& plan, const Client& client)
    : parts_(parts), state_(client.state), waiter_(exchange.executor) {
  SendingLedger& ledger = state_->sendings();
  using Match = SendingLedger::Match;
  const auto found = ledger.match(arrival_of(parts, exchange, plan, client, link.presence()), &waiter_, 1, {});
  match_ = found.match;
  if (found.match == Match::Shared) ledger.leave(found.asking.sending, &waiter_, SendingLedger::With::Nothing);
  const bool is_sent = match_ == Match::New || match_ == Match::Again || match_ == Match::DoubtExpired;
  if (!is_sent) return;
  if (found.match == SendingLedger::Match::DoubtExpired) exchange.report.reason = "sent-again-after-doubt-expired";
  asking_ = found.asking;
  ledger.sent(asking_->sending);
  running_ = parts.shared.running_actions.begin({plan.target.resource.id, client.label});
}

// Nothing was sent, or ARM refused it: forgotten.
RelayedAction::~RelayedAction() {
  if (!asking_) return;
  end({});
  state_->sendings().delivered(*asking_);
}

void RelayedAction::end(Ending ending) {
  parts_.shared.running_actions.end(running_);
  state_->sendings().end(*asking_, std::move(ending), parts_.clock.next_moment());
}

void RelayedAction::in_doubt() {
  if (!asking_) return;
  end({Ending::Kind::InDoubt, nullptr, {}});
  asking_.reset();
}

std::optional<SendingLedger::Asking> RelayedAction::answered(bool written) {
  if (!asking_) return std::nullopt;
  end({Ending::Kind::Accepted, nullptr, {}});
  if (!written) state_->sendings().undelivered(*asking_);
  return std::exchange(asking_, std::nullopt);
}

void note_in_doubt(const Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client,
                   RelayedAction* action) {
  if (action != nullptr) return action->in_doubt();
  SendingLedger& ledger = client.state->sendings();
  const auto asking = ledger.add(arrival_of(parts, exchange, plan, client, nullptr));
  ledger.end(asking, {Ending::Kind::InDoubt, nullptr, {}}, parts.clock.next_moment());
}

}  // namespace armgate
