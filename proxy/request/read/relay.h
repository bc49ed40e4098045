// relay.h – reads and everything no rule touches: to ARM and back, streaming, never waiting for a lock (promises P6 and P7,
// docs/design.md).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "proxy/async/task.h"
#include "proxy/request/identify.h"
#include "proxy/request/receipt.h"
#include "proxy/seams/client_link.h"
#include "rules/plan.h"

namespace armgate {

// For who wants to know what became of a request that is relayed: one of the two is called, once.
struct Tap {
  size_t bytes_max = 0;  // of a body; a longer one is not told
  // Before the last byte of the answer is written; without its body if that is too long or did not come to its end.
  std::function<void(const arm::ResponseHead& head, std::optional<std::string> body)> answered;
  std::function<void(const Error& error)> lost;
};

// Answers the exchange with ARM's own answer, unchanged. For a Read plan what it shows is remembered; polls of running
// operations are learnt from.
Task<Receipt> relay(Parts& parts, Exchange& exchange, ClientLink& client_link, const KeyedPlan& plan, const Client& client,
                    const Tap* tap = nullptr);

}  // namespace armgate
