// The clock of production: timers that fire once or not at all, an order of moments, and time that stands still in an iteration.
#include "proxy/seams/real_clock.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <thread>

namespace armgate {
namespace {

TEST(RealClock, FiresInOrderAndNotAfterCancel) {
  RealClock clock;
  boost::asio::io_context io;
  std::string fired;
  const TimePoint start = clock.now();
  const auto late = clock.call_at(io.get_executor(), start + std::chrono::milliseconds(2), [&] { fired += "2"; });
  const auto soon = clock.call_at(io.get_executor(), start, [&] { fired += "1"; });
  auto cancelled = clock.call_at(io.get_executor(), clock.now(), [&] { fired += "x"; });
  const auto never = clock.call_at(io.get_executor(), kNever, [&] { fired += "n"; });
  cancelled.reset();
  io.run();
  EXPECT_EQ(fired, "12");
  const Moment first = clock.next_moment();
  EXPECT_LT(first.order, clock.next_moment().order);
}

TEST(RealClock, StandsStillDuringATurnOfTheEventLoop) {
  const RealClock clock;
  const TimePoint before = clock.now();
  {
    const RealClock::LoopIteration iteration;
    const TimePoint first = clock.now();
    const WallTime wall = clock.wall();
    EXPECT_GE(first, before);
    ::poll(nullptr, 0, 3);
    EXPECT_EQ(clock.now(), first);
    EXPECT_EQ(clock.wall(), wall);
    std::thread([&] { EXPECT_GT(clock.now(), first); }).join();  // its thread's own
  }
  EXPECT_GE(clock.now() - before, std::chrono::milliseconds(3));
}

TEST(RealClock, MayBeDestroyedFromItsOwnCallback) {
  RealClock clock;
  boost::asio::io_context io;
  std::unique_ptr<TimerHandle> timer;
  bool fired = false;
  timer = clock.call_at(io.get_executor(), clock.now(), [&] {
    timer.reset();
    fired = true;
  });
  io.run();
  EXPECT_TRUE(fired);
}

}  // namespace
}  // namespace armgate
