#include "proxy/async/task.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "proxy/async/spawn.h"

namespace armgate {
namespace {

using Told = std::vector<std::string>;

// Says when it ends.
class Witness {
 public:
  Witness(Told& told, std::string name) : told_(told), name_(std::move(name)) {}
  ~Witness() { told_.push_back("end of " + name_); }

 private:
  Told& told_;
  const std::string name_;
};

Task<int> number(int n) { co_return n; }

Task<std::unique_ptr<int>> only_movable() { co_return std::make_unique<int>(7); }

Task<int> fail() {
  throw std::runtime_error("the reason");
  co_return 0;
}

// Runs it to its end or until it waits. The loop outlives every root task that waits.
void run(Task<void> task) {
  static boost::asio::io_context io;
  spawn(io.get_executor(), std::move(task));
  io.restart();
  io.poll();
}

Task<void> add_up(int& sum) {
  const int one = co_await number(1);
  const auto seven = co_await only_movable();
  Task<int> later = number(100);
  sum = one + *seven;
  sum += co_await std::move(later);
}

TEST(Task, GivesWhatItReturnsToWhoAwaitsIt) {
  int sum = 0;
  run(add_up(sum));
  EXPECT_EQ(sum, 108);
}

Task<void> survive(Told& told) {
  const Witness outer(told, "outer");
  try {
    co_await fail();
  } catch (const std::runtime_error& error) {
    told.emplace_back(error.what());
  }
}

TEST(Task, AnExceptionGoesToWhoAwaitsIt) {
  Told told;
  run(survive(told));
  EXPECT_EQ(told, (Told{"the reason", "end of outer"}));
}

TEST(Task, DoesNothingUntilItIsAwaited) {
  int sum = 0;
  { const Task<void> never = add_up(sum); }
  EXPECT_EQ(sum, 0);
}

Task<void> count_up(int times, int& count) {
  for (int i = 0; i < times; ++i) count += co_await number(1);
}

TEST(Task, AMillionTasksThatNeverWaitNeedNoStack) {
  int count = 0;
  run(count_up(1'000'000, count));
  EXPECT_EQ(count, 1'000'000);
}

Task<int> depth(int levels) {
  if (levels == 0) co_return 0;
  const int below = co_await depth(levels - 1);
  co_return below + 1;
}

Task<void> descend(int& reached) { reached = co_await depth(1'000); }

TEST(Task, ATaskMayAwaitItself) {
  int reached = 0;
  run(descend(reached));
  EXPECT_EQ(reached, 1'000);
}

Task<void> wait_in(Parked& place, Told& told) {
  const Witness inner(told, "inner");
  co_await park([&place](Parked parked) { place = std::move(parked); });
  told.emplace_back("went on");
}

Task<void> wait_outside(Parked& place, Told& told) {
  const Witness outer(told, "outer");
  co_await wait_in(place, told);
  told.emplace_back("after it");
}

TEST(Parked, GoesOnWhereItWaited) {
  Told told;
  Parked place;
  run(wait_outside(place, told));
  EXPECT_TRUE(told.empty());
  ASSERT_TRUE(place);
  place();
  EXPECT_EQ(told, (Told{"went on", "end of inner", "after it", "end of outer"}));
  EXPECT_FALSE(place);
}

TEST(Parked, DestroyedItTakesItsRootTaskWithIt) {
  Told told;
  Parked place;
  run(wait_outside(place, told));
  { const Parked dropped = std::move(place); }
  EXPECT_EQ(told, (Told{"end of inner", "end of outer"}));
}

TEST(Parked, AnotherInItsPlaceTakesTheFirstRootTaskWithIt) {
  Told told;
  Parked first;
  Parked second;
  run(wait_in(first, told));
  run(wait_in(second, told));
  first = std::move(second);
  EXPECT_EQ(told, (Told{"end of inner"}));
  first();
  EXPECT_EQ(told, (Told{"end of inner", "went on", "end of inner"}));
}

TEST(ParkedDeathTest, GoesOnOnce) {
  Told told;
  Parked place;
  run(wait_in(place, told));
  place();
  EXPECT_DEATH(place(), "a root task goes on once");
}

// One root task makes another go on from within, and goes on itself afterwards.
Task<void> wake(Parked& other, Told& told) {
  told.emplace_back("wakes");
  other();
  told.emplace_back("woke");
  co_return;
}

TEST(Parked, ARootTaskMayMakeAnotherGoOn) {
  Told told;
  Parked place;
  run(wait_in(place, told));
  run(wake(place, told));
  EXPECT_EQ(told, (Told{"wakes", "went on", "end of inner", "woke"}));
}

TEST(Parked, TheLoopDoesNotEndBeforeItsRootTasks) {
  boost::asio::io_context io;
  Told told;
  Parked place;
  spawn(io.get_executor(), wait_in(place, told));
  io.poll();
  EXPECT_FALSE(io.stopped());
  place();
  io.poll();
  EXPECT_TRUE(io.stopped());
}

Task<void> tell_executor(Executor& executor) { executor = co_await current_executor(); }

TEST(Task, KnowsWhereItRuns) {
  boost::asio::io_context io;
  Executor executor;
  spawn(io.get_executor(), tell_executor(executor));
  io.poll();
  EXPECT_EQ(executor, Executor(io.get_executor()));
}

}  // namespace
}  // namespace armgate
