// relayed_action.h – an action (POST) that no rule names, while it is relayed.
//
// Why: it queues for nothing and is sent as it is, but must not run twice because its client lost the answer: SDKs send a POST
// again after a reset. So its sending is remembered until its answer is confirmed, and a re-send is not forwarded, but
// told that the outcome is unknown (the answer is not kept).
// Threads   one event loop; what it notes is shared.
#pragma once

#include <memory>
#include <optional>

#include "proxy/request/exchange.h"
#include "proxy/request/identify.h"
#include "proxy/request/parts.h"
#include "rules/plan.h"

namespace armgate {

class RelayedAction {
 public:
  // Whether its client leaves is watched by whoever sends it, as long as this lives.
  RelayedAction(Parts& parts, Exchange& exchange, ClientLink& link, const KeyedPlan& plan, const Client& client);
  ~RelayedAction();
  RelayedAction(const RelayedAction&) = delete;
  RelayedAction& operator=(const RelayedAction&) = delete;

  // The re-send of one whose answer is not known to have arrived: it must not be forwarded.
  bool is_resend() const { return !asking_; }
  SendingLedger::Match match() const { return match_; }
  // Where several processes serve the same clients, once they know of it: another has sent the same.
  bool is_sent_elsewhere(const SendingLedger::Arrival& arrival) const {
    return state_->sendings().is_elsewhere(arrival, *asking_, {});
  }

  // Its answer was lost: nobody knows whether it ran.
  void in_doubt();

  // Its answer was written, or could not be: confirmed and dropped by whoever keeps it.
  std::optional<SendingLedger::Asking> answered(bool written);

 private:
  void end(SendingLedger::Ending ending);

  Parts& parts_;
  const std::shared_ptr<ClientState> state_;
  Waiter waiter_;  // nobody waits
  SendingLedger::Match match_ = SendingLedger::Match::New;
  std::optional<SendingLedger::Asking> asking_;  // its record in the ledger
  uint64_t running_ = 0;                         // among those that run
};

// The answer to an action was lost; `action`: if it is one on a resource.
void note_in_doubt(const Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client,
                   RelayedAction* action);

}  // namespace armgate
