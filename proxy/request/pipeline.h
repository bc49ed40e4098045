// pipeline.h – the life of one request, from its last body byte to the last byte of its answer.
//
// The same code serves real connections (proxy/net) and the deterministic simulator (tests/gate_sim); see
// ARCHITECTURE.md for the steps in one page.
// Threads   one Pipeline per event loop; the tables it works on are shared.
#pragma once

#include "proxy/async/task.h"
#include "proxy/request/exchange.h"
#include "proxy/request/receipt.h"
#include "proxy/seams/client_link.h"

namespace armgate {

struct Parts;  // everything that a pipeline works with (parts.h)

class Pipeline {
 public:
  explicit Pipeline(Parts& parts) : parts_(parts) {}

  // Answers the exchange through `client`, exactly once, and returns the receipt for what was delivered. Runs to its end
  // even if the client leaves: a write that was sent is followed until it is settled.
  Task<Receipt> serve(Exchange& exchange, ClientLink& client);

 private:
  Parts& parts_;
};

}  // namespace armgate
