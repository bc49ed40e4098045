// serve_write.h – the whole way of a write through its steps, and its answer.
#pragma once

#include "proxy/async/task.h"
#include "proxy/request/identify.h"
#include "proxy/request/receipt.h"
#include "proxy/seams/client_link.h"
#include "rules/plan.h"

namespace armgate {

Task<Receipt> serve_write(Parts& parts, Exchange& exchange, ClientLink& client_link, const KeyedPlan& plan,
                          const Client& client);

}  // namespace armgate
