// test_gate.h – a gate that tests open and close.
#pragma once

#include "proxy/seams/upstream.h"

namespace armgate::net {

class TestGate final : public SendGate {
 public:
  explicit TestGate(const Executor& executor) : waiter_(executor) {}
  bool may_wait() override { return may; }
  Waiter* waiter() override { return &waiter_; }
  bool may_be_given_up() const override { return is_read; }
  bool is_awaited() override {
    ++looks;
    return awaited;
  }
  void tell() { waiter_.signal(1); }

  bool may = true;
  bool is_read = false;
  bool awaited = true;
  int looks = 0;

 private:
  bool may_begin() override { return may; }

  Waiter waiter_;
};

}  // namespace armgate::net
