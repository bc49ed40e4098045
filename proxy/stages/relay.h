// relay.h – reads and everything no rule touches: to ARM and back, streaming, never waiting for a lock (promises P6, P7).
#pragma once

#include "proxy/stages/identify.h"
#include "proxy/stages/pipeline.h"
#include "rules/plan.h"

namespace armgate {

// Answers the exchange with ARM's own answer, unchanged. For a Read plan what it shows is remembered; polls of running
// operations are learnt from.
Task<Receipt> relay(Pipeline::Parts& parts, Exchange& exchange, ClientLink& client_link, const rules::Plan& plan,
                    const Client& client);

}  // namespace armgate
