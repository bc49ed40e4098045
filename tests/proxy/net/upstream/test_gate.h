// test_gate.h – a gate that tests open and close.
#pragma once

#include "proxy/seams/upstream.h"

namespace armgate::net {

class TestGate final : public SendGate {
 public:
  explicit TestGate(const Executor& executor) : waiter_(executor) {}
  bool may_wait() override { return may; }
  Waiter* waiter() override { return &waiter_; }
  void tell() { waiter_.signal(1); }

  bool may = true;

 private:
  bool may_begin() override { return may; }

  Waiter waiter_;
};

}  // namespace armgate::net
