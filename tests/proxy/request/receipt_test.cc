#include "proxy/request/receipt.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate {
namespace {

class Noted final : public Receipt::Effect {
 public:
  explicit Noted(std::string& told) : told_(told) {}
  void confirm() override { told_ += "confirmed "; }
  void drop() override { told_ += "dropped "; }

 private:
  std::string& told_;
};

// Delivery is judged once: what came first holds, whatever the connection says afterwards.
TEST(Receipt, TheFirstWordHolds) {
  std::string told;
  Receipt arrived(std::make_unique<Noted>(told));
  arrived.confirm();
  arrived.drop();
  arrived.confirm();
  EXPECT_EQ(told, "confirmed ");
  EXPECT_FALSE(arrived.has_effect());
  Receipt lost(std::make_unique<Noted>(told));
  lost.drop();
  lost.confirm();
  EXPECT_EQ(told, "confirmed dropped ");
}

TEST(Receipt, WhatArmgateCutItselfIsNeitherConfirmedNorLost) {
  std::string told;
  { const Receipt cut(std::make_unique<Noted>(told)); }
  EXPECT_EQ(told, "");  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): its unique_ptr has ended with it
}

TEST(Receipt, MovedOnItSpeaksOnce) {
  std::string told;
  Receipt first(std::make_unique<Noted>(told));
  Receipt second = std::move(first);
  first.confirm();  // NOLINT: the point
  EXPECT_EQ(told, "");
  second.confirm();
  EXPECT_EQ(told, "confirmed ");
}

}  // namespace
}  // namespace armgate
