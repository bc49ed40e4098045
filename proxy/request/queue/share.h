// share.h – where a request waits for its client's part of a budget of ARM's (budgets.fair; proxy/policy/budget/fair_share.h).
//
// Why: what would be told 429 waits instead, each client for its part; and a client that is told 503 before its queue timeout
// ends comes again, where a 429 stops whole processes.
// Limits    the client's queue timeout, and Budgets::Options::waiters_max.
#pragma once

#include <optional>

#include "proxy/request/client_wait.h"
#include "proxy/request/identify.h"
#include "proxy/request/parts.h"

namespace armgate {

// Permission to send a request, which uses its part of the budget as long as this lives; or why not, and the client's answer.
struct Share {
  std::optional<Budgets::Ticket> ticket;
  arm::Response busy;    // 503, if there is no ticket
  bool is_gone = false;  // the client is
};

Task<Share> await_share(Parts& parts, Exchange& exchange, const KeyedPlan& plan, const Client& client, ClientWait& client_wait);

}  // namespace armgate
