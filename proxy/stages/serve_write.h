// serve_write.h – the whole way of a write through its stages, and its answer.
#pragma once

#include "proxy/stages/identify.h"
#include "proxy/stages/pipeline.h"
#include "rules/plan.h"

namespace armgate {

Task<Receipt> serve_write(Pipeline::Parts& parts, Exchange& exchange, ClientLink& client_link, const KeyedPlan& plan,
                          const Client& client);

}  // namespace armgate
