// observe.h – a write in mode observe: it goes to ARM and back as its client sent it, at once, and what armgate would have done
// about it is told.
//
// Why: whoever puts a gateway before production wants to know first what it would do. So the history, the ledgers and the ends
// of operations are followed as ever, from what passes by; but nothing is added, nobody waits, nothing is sent twice, and
// armgate asks ARM nothing.
#pragma once

#include "proxy/async/task.h"
#include "proxy/request/identify.h"
#include "proxy/request/read/remember.h"
#include "proxy/request/receipt.h"
#include "proxy/seams/client_link.h"
#include "rules/plan.h"

namespace armgate {

Task<Receipt> observe_write(Parts& parts, Exchange& exchange, ClientLink& client_link, const KeyedPlan& plan,
                            const Client& client);

}  // namespace armgate
