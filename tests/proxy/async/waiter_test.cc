#include "proxy/async/waiter.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <vector>

#include "proxy/async/spawn.h"

namespace armgate {
namespace {

Task<void> collect(Waiter& waiter, std::vector<uint32_t>& seen, int times) {
  for (int i = 0; i < times; ++i) seen.push_back(co_await waiter.wait());
}

TEST(Waiter, ASignalBeforeTheWaitIsNotLost) {
  boost::asio::io_context io;
  Waiter waiter(io.get_executor());
  std::vector<uint32_t> seen;
  waiter.signal(1);
  waiter.signal(4);
  spawn(io.get_executor(), collect(waiter, seen, 1));
  io.run();
  EXPECT_EQ(seen, (std::vector<uint32_t>{5}));
}

TEST(Waiter, ASignalWakesTheParkedCoroutine) {
  boost::asio::io_context io;
  Waiter waiter(io.get_executor());
  std::vector<uint32_t> seen;
  spawn(io.get_executor(), collect(waiter, seen, 2));
  io.poll();
  EXPECT_TRUE(seen.empty());
  waiter.signal(2);
  io.restart();
  io.poll();
  waiter.signal(1);
  io.restart();
  io.run();
  EXPECT_EQ(seen, (std::vector<uint32_t>{2, 1}));
}

TEST(Waiter, AnAbandonedWaitIsDestroyedWithItsContext) {
  Waiter* waiter = nullptr;
  std::vector<uint32_t> seen;
  auto io = std::make_unique<boost::asio::io_context>();
  waiter = new Waiter(io->get_executor());
  spawn(io->get_executor(), collect(*waiter, seen, 1));
  io->poll();
  delete waiter;
  io.reset();
  EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace armgate
