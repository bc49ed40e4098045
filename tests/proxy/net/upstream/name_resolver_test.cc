// Goal: a name that nobody answers for keeps no other waiting, and nobody is asked about what nobody wants any more. Method: lookups that
// wait until the test lets them go.
#include "proxy/net/upstream/name_resolver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <optional>
#include <string>
#include <vector>

#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::name_resolver_test {
namespace {

using std::chrono::seconds;

const boost::asio::ip::address kArm = boost::asio::ip::make_address("10.0.0.1");

class NameResolverTest : public NetTest {
 protected:
  using Found = std::optional<Result<Addresses>>;

  ~NameResolverTest() override { let_go(); }

  void make(size_t at_once) {
    resolver_.emplace(clock_, at_once, [this](const std::string& name) {
      ++lookups_;
      if (name.starts_with("dead")) dead_.wait();
      return Result<Addresses>(Addresses{kArm});
    });
  }
  void ask(std::string name, Found& into, Duration patience = seconds(10)) {
    spawn(executor(), keep(std::move(name), clock_.now() + patience, into));
  }
  Task<void> keep(std::string name, TimePoint deadline, Found& into) {
    into.emplace(co_await resolver_->resolve(std::move(name), deadline));
  }
  bool has_begun(int lookups) {
    return run_until([&] { return lookups_ == lookups; });
  }
  void let_go() {
    if (!dead_.try_wait()) dead_.count_down();
  }

  std::atomic<int> lookups_ = 0;
  std::latch dead_{1};
  std::optional<NameResolver> resolver_;
};

TEST_F(NameResolverTest, ADeadNameTakesOnePlaceAndNoMore) {
  make(2);
  Found dead;
  Found arm;
  ask("dead.test", dead);
  ASSERT_TRUE(has_begun(1));
  ask("arm.test", arm);
  ASSERT_TRUE(run_until([&] { return arm.has_value(); }));
  EXPECT_EQ(arm->value(), Addresses{kArm});
  EXPECT_FALSE(dead.has_value());
  let_go();
  EXPECT_TRUE(run_until([&] { return dead.has_value(); }));
}

TEST_F(NameResolverTest, AllWhoAskForANameMeanwhileShareOneLookup) {
  make(4);
  std::vector<Found> found(3);
  for (Found& one : found) ask("dead.test", one);
  ASSERT_TRUE(has_begun(1));
  let_go();
  ASSERT_TRUE(run_until([&] { return found[0] && found[1] && found[2]; }));
  for (const Found& one : found) EXPECT_EQ(one->value(), Addresses{kArm});
  EXPECT_EQ(lookups_, 1);
}

TEST_F(NameResolverTest, WhatAllHaveGivenUpIsNotLookedUp) {
  make(1);
  Found dead;
  Found late;
  ask("dead.test", dead, seconds(100));
  ASSERT_TRUE(has_begun(1));
  ask("late.test", late, seconds(5));
  settle();
  clock_.advance(seconds(6));
  ASSERT_TRUE(run_until([&] { return late.has_value(); }));
  EXPECT_EQ(late->error().kind, ErrorKind::TimedOut);
  EXPECT_EQ(late->error().sent, Sent::No);
  let_go();
  ASSERT_TRUE(run_until([&] { return dead.has_value(); }));
  settle();
  EXPECT_EQ(lookups_, 1);
  // Whoever asks later is told.
  ask("late.test", late);
  ASSERT_TRUE(run_until([&] { return late->ok(); }));
  EXPECT_EQ(lookups_, 2);
}

TEST_F(NameResolverTest, TheSystemKnowsThisMachineAndNoInvalidName) {
  const auto here = NameResolver::by_system("localhost");
  ASSERT_TRUE(here.ok());
  EXPECT_TRUE(here->front().is_loopback());
  // RFC 6761 6.4: no server answers for it.
  const auto none = NameResolver::by_system("no-such-name.invalid");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::Unreachable);
  EXPECT_NE(none.error().context.find("no-such-name.invalid"), std::string::npos) << none.error().context;
}

}  // namespace
}  // namespace armgate::net::name_resolver_test
