// Goal: what waits on a poller goes with its loop, and nobody's news waits for another's write. Method: real sockets.
#include "proxy/net/socket/poller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::poller_test {
namespace {

Task<void> wait_alone(std::unique_ptr<Socket> socket) {
  const auto ready = co_await socket->wait(Waiting::Reader, Readiness::Readable, kNever);
  ADD_FAILURE() << "nobody wrote anything " << ready.ok();
}

// Destroying a loop while connections wait destroys what waits, and the connections with it; sanitizers see what is left.
TEST(Poller, GoesWithItsLoopWhileSocketsWait) {
  TestClock clock;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  {
    boost::asio::io_context loop;
    spawn(loop.get_executor(), wait_alone(std::make_unique<Socket>(clock, loop.get_executor(), ends[0], Peer{})));
    loop.poll();
  }
  char byte = 0;
  EXPECT_EQ(::recv(ends[1], &byte, 1, 0), 0) << "its descriptor is closed";
  ::close(ends[1]);
}

Task<void> write_when_told(Poller& poller, Socket& socket, std::string& told, size_t& told_before_write) {
  const auto ready = co_await socket.wait(Waiting::Reader, Readiness::Readable, kNever);
  EXPECT_TRUE(ready.ok());
  told += '.';
  co_await poller.let_others_come_first();
  told_before_write = told.size();
}

class PollerTest : public NetTest {};

TEST_F(PollerTest, WhoeverWritesLetsThoseBeToldFirstWhoseNewsCameAtOnce) {
  constexpr size_t kSockets = 5;
  Poller& poller = Poller::of(executor());
  std::vector<std::unique_ptr<Socket>> sockets;
  std::vector<int> peers;
  std::string told;
  std::array<size_t, kSockets> told_before_write{};
  std::array<bool, kSockets> done{};
  for (size_t i = 0; i < kSockets; ++i) {
    const auto [near, far] = make_tcp_pair();
    sockets.push_back(wrap(near));
    peers.push_back(far);
    start(write_when_told(poller, *sockets[i], told, told_before_write[i]), done[i]);
  }
  settle();
  EXPECT_FALSE(poller.others_come_first());
  for (const int peer : peers) ASSERT_EQ(::send(peer, "x", 1, 0), 1);
  run_until([&] { return std::all_of(done.begin(), done.end(), std::identity()); });
  for (const size_t before : told_before_write) EXPECT_EQ(before, kSockets);
  EXPECT_FALSE(poller.others_come_first());
  for (const int peer : peers) ::close(peer);
}

}  // namespace
}  // namespace armgate::net::poller_test
