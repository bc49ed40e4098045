// receipt.h – what an answer does when it has reached its client, and only then.
#pragma once

#include <memory>
#include <utility>

#include "proxy/async/frame_pool.h"

namespace armgate {

// What the connection must tell once it knows whether the answer has really arrived (docs/design.md, "Delivery"): confirm()
// when the next request's first byte arrives or the connection ends in an orderly way, the answer acknowledged; drop() when it
// is reset or ends without that. A receipt that is destroyed without either (armgate cut the connection) stays unconfirmed:
// what it showed counts as shown, and a write's answer neither as delivered nor as lost.
class Receipt {
 public:
  class Effect {
   public:
    virtual ~Effect() = default;
    virtual void confirm() = 0;
    virtual void drop() = 0;

    static void* operator new(size_t bytes) { return FramePool::take(bytes); }
    static void operator delete(void* effect, size_t bytes) { FramePool::give_back(effect, bytes); }
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

}  // namespace armgate
