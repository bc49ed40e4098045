// coalesce.h – a request that was here before: it gets the answer of its earlier sending instead of a sending of its own.
#pragma once

#include <memory>
#include <optional>

#include "proxy/request/write/write.h"
#include "proxy/seams/client_link.h"

namespace armgate {

// What tells a request from others.
SendingLedger::Arrival arrival_of(const Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client,
                                  std::shared_ptr<const Presence> asker);
SendingLedger::Arrival arrival_of(const Write& write, std::shared_ptr<const Presence> asker);

// True for a POST that may change something while armgate protects, whether or not a rule names it.
bool is_watched_action(const Exchange& exchange, const rules::Plan& plan);

// The answer to a request that is not carried out, because it was here before or may have been.
arm::Response not_again(SendingLedger::Match match, Exchange& exchange, const rules::Plan& plan);

// What its ledger asks of what an earlier one has become. For as long as `write` lives.
SendingLedger::Questions questions_of(const Write& write);

// Matches the write against its client's ledger, and waits for the end of an earlier sending whose answer it may have. The
// outcome is that answer, or TryLater or Left if it was too long to wait, or Answered if the earlier one is in doubt; nothing:
// the write is to be carried out. Afterwards write.sending is its record, and write.facts.arrived that of its first sending.
Task<Step<void>> coalesce(Write& write, const SendingLedger::Arrival& arrival);

}  // namespace armgate
