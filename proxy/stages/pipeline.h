// pipeline.h – the life of one request, from its last body byte to the last byte of its answer.
//
// The same code serves real connections (proxy/net) and the deterministic simulator (tests/sim); see
// ARCHITECTURE.md for the stages in one page.
// Threads   one Pipeline per event loop; the tables it works on are shared.
#pragma once

#include <functional>
#include <memory>

#include "proxy/async/task.h"
#include "proxy/seams/client_link.h"
#include "proxy/stages/exchange.h"

namespace armgate {

// What the connection must tell once it knows whether the answer has really arrived (DESIGN §3, "Delivered"): confirm() when
// the next request's first byte arrives or the connection ends in an orderly way, the answer acknowledged; drop() when it is
// reset or ends without that. A receipt that is destroyed without either (armgate cut the connection) stays unconfirmed: what it
// delivered counts only as an older candidate.
class Receipt {
 public:
  class Effect {
   public:
    virtual ~Effect() = default;
    virtual void confirm() = 0;
    virtual void drop() = 0;
  };

  Receipt() = default;
  explicit Receipt(std::unique_ptr<Effect> effect) : effect_(std::move(effect)) {}
  bool has_effect() const { return effect_ != nullptr; }
  void confirm() {
    if (effect_) effect_->confirm();
    effect_.reset();
  }
  void drop() {
    if (effect_) effect_->drop();
    effect_.reset();
  }

 private:
  std::unique_ptr<Effect> effect_;
};

class Pipeline {
 public:
  struct Parts;  // everything it works with; see gateway.cc and tests/support
  explicit Pipeline(Parts& parts) : parts_(parts) {}

  // Answers the exchange through `client`, exactly once, and returns the receipt for what was delivered. Runs to its end
  // even if the client leaves: a write that was sent is followed until it is settled.
  Task<Receipt> serve(Exchange& exchange, ClientLink& client);

 private:
  Parts& parts_;
};

}  // namespace armgate
