#include "proxy/async/spawn.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <stdexcept>
#include <utility>

namespace armgate {
namespace {

Task<void> count(int& runs) {
  ++runs;
  co_return;
}

Task<void> fail_at_once() {
  throw std::runtime_error("the reason");
  co_return;
}

Task<void> fail_oddly() {
  throw 7;
  co_return;
}

Task<void> spawn_another(int& runs) {
  ++runs;
  spawn(co_await current_executor(), count(runs));
}

TEST(Spawn, RunsOnItsExecutorAndNotBefore) {
  boost::asio::io_context io;
  int runs = 0;
  spawn(io.get_executor(), count(runs));
  EXPECT_EQ(runs, 0);
  io.run();
  EXPECT_EQ(runs, 1);
}

TEST(Spawn, ATaskMaySpawnAnother) {
  boost::asio::io_context io;
  int runs = 0;
  spawn(io.get_executor(), spawn_another(runs));
  io.run();
  EXPECT_EQ(runs, 2);
}

TEST(Spawn, ATaskThatNeverRanIsDestroyedWithItsContext) {
  int runs = 0;
  {
    boost::asio::io_context io;
    spawn(io.get_executor(), count(runs));
  }
  EXPECT_EQ(runs, 0);
}

TEST(SpawnDeathTest, AnExceptionStopsTheProcessAndNamesItself) {
  EXPECT_DEATH(
      {
        boost::asio::io_context io;
        spawn(io.get_executor(), fail_at_once());
        io.run();
      },
      "a spawned task threw.*the reason");
  EXPECT_DEATH(
      {
        boost::asio::io_context io;
        spawn(io.get_executor(), fail_oddly());
        io.run();
      },
      "a spawned task threw.*no std::exception");
}

}  // namespace
}  // namespace armgate
