// Goal: a deadline that is set a thousand times costs one timer, passes once and never early. Method: a clock that tests move.
#include "proxy/net/socket/deadline_timer.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::deadline_timer_test {
namespace {

using std::chrono::seconds;

class DeadlineTimerTest : public NetTest {
 protected:
  void pass(Duration by) {
    clock_.advance(by);
    settle();
  }
  TimePoint in(int64_t count) { return clock_.now() + seconds(count); }

  int passed_ = 0;
  DeadlineTimer timer_{clock_, executor(), [this] { ++passed_; }};
};

TEST_F(DeadlineTimerTest, PassesOnceAndNotBeforeItIsDue) {
  timer_.set(in(10));
  pass(seconds(9));
  EXPECT_EQ(passed_, 0);
  pass(seconds(1));
  EXPECT_EQ(passed_, 1);
  pass(seconds(100));
  EXPECT_EQ(passed_, 1);
}

TEST_F(DeadlineTimerTest, TheLastOneThatWasSetCounts) {
  const struct {
    int64_t first;
    int64_t last;
  } rows[] = {{10, 30}, {30, 10}, {10, 10}};
  for (const auto& row : rows) {
    passed_ = 0;
    timer_.set(in(row.first));
    timer_.set(in(row.last));
    pass(seconds(row.last - 1));
    EXPECT_EQ(passed_, 0) << row.first << " " << row.last;
    pass(seconds(1));
    EXPECT_EQ(passed_, 1) << row.first << " " << row.last;
    pass(seconds(40));
    EXPECT_EQ(passed_, 1) << row.first << " " << row.last;
  }
}

TEST_F(DeadlineTimerTest, WhatWasClearedDoesNotPassAndMayBeSetAgain) {
  timer_.set(in(10));
  timer_.clear();
  pass(seconds(20));
  EXPECT_EQ(passed_, 0);
  timer_.set(in(10));
  timer_.stop();
  pass(seconds(20));
  EXPECT_EQ(passed_, 0);
  timer_.set(in(10));
  pass(seconds(10));
  EXPECT_EQ(passed_, 1);
}

}  // namespace
}  // namespace armgate::net::deadline_timer_test
