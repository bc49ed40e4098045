#include "proxy/net/client/listener.h"

#include <sys/un.h>

#include <barrier>
#include <cstddef>
#include <future>
#include <string>
#include <vector>

#include "tests/proxy/net/net_test_support.h"

namespace armgate::net {
namespace {

class ListenerTest : public NetTest {
 protected:
  Result<std::unique_ptr<Listener>> open(uint16_t port, PortUse use) {
    return Listener::open(clock_, executor(), "127.0.0.1", port, use);
  }
};

TEST_F(ListenerTest, APortThatAnotherGatewayListensOnIsRefused) {
  const auto first = open(0, PortUse::First);
  ASSERT_TRUE(first.ok());
  const auto second = open((*first)->port(), PortUse::First);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::Internal) << "it may pass by itself";
  EXPECT_NE(second.error().context.find("Address already in use"), std::string::npos) << second.error().context;
}

TEST_F(ListenerTest, TheOtherEventLoopsOfOneProcessShareItsPort) {
  const auto first = open(0, PortUse::First);
  ASSERT_TRUE(first.ok());
  const auto second = open((*first)->port(), PortUse::Join);
  ASSERT_TRUE(second.ok()) << second.error().context;
  EXPECT_EQ((*second)->port(), (*first)->port());
}

TEST_F(ListenerTest, APortIsFreeAgainOnceItsListenerHasStopped) {
  const auto first = open(0, PortUse::First);
  ASSERT_TRUE(first.ok());
  const uint16_t port = (*first)->port();
  (*first)->stop();
  EXPECT_TRUE(open(port, PortUse::First).ok());
}

TEST_F(ListenerTest, OfTwoThatStartAtTheSameInstantNotBothGetThePort) {
  const uint16_t port = (*open(0, PortUse::First))->port();
  for (int round = 0; round < 300; ++round) {
    std::barrier begin(2);
    const auto start_at = [&](const char* address) {
      boost::asio::io_context loop;
      begin.arrive_and_wait();
      auto listener = Listener::open(clock_, loop.get_executor(), address, port, PortUse::First);
      const bool is_open = listener.ok();
      EXPECT_TRUE(is_open || listener.error().context.ends_with("another armgate may run there")) << listener.error().context;
      begin.arrive_and_wait();  // not before both have tried
      return is_open;
    };
    auto everywhere = std::async(std::launch::async, start_at, "0.0.0.0");
    const bool here = start_at("127.0.0.1");
    EXPECT_FALSE(everywhere.get() && here) << round;
  }
}

TEST_F(ListenerTest, APortIsRefusedWhicheverOfItsAddressesAnotherGatewayListensOn) {
  const auto first = open(0, PortUse::First);
  ASSERT_TRUE(first.ok());
  const auto everywhere = Listener::open(clock_, executor(), "0.0.0.0", (*first)->port());
  ASSERT_FALSE(everywhere.ok());
  EXPECT_NE(everywhere.error().context.find("another armgate may run there"), std::string::npos) << everywhere.error().context;
}

TEST_F(ListenerTest, WhoJoinsGetsItsShareOfConnections) {
  constexpr size_t kConnections = 200;
  const auto first = *open(0, PortUse::First);
  const auto second = *open(first->port(), PortUse::Join);
  size_t taken[2] = {0, 0};
  bool over[2] = {false, false};
  start(first->run([&](AcceptedSocket accepted) { ::close(accepted.fd), ++taken[0]; }, {}), over[0]);
  start(second->run([&](AcceptedSocket accepted) { ::close(accepted.fd), ++taken[1]; }, {}), over[1]);
  for (size_t i = 0; i < kConnections; ++i) ::close(connect_to_port(first->port()));
  run_until([&] { return taken[0] + taken[1] == kConnections; });
  EXPECT_GT(taken[0], kConnections / 10);
  EXPECT_GT(taken[1], kConnections / 10);
  first->stop();
  second->stop();
  run_until([&] { return over[0] && over[1]; });
}

// Its last owner was killed, and was the one to close its connections.
TEST_F(ListenerTest, ConnectionsThatAreStillInTheKernelKeepNobodyOff) {
  auto first = *open(0, PortUse::First);
  const uint16_t port = first->port();
  const int client = connect_to_port(port);
  bool over = false;
  std::optional<int> taken;
  start(first->run([&](AcceptedSocket accepted) { taken = accepted.fd; }, {}), over);
  run_until([&] { return taken.has_value(); });
  ::close(*taken);
  first->stop();
  run_until([&] { return over; });
  EXPECT_TRUE(open(port, PortUse::First).ok()) << "the last owner closed, its client did not";
  ::close(client);
  EXPECT_TRUE(open(port, PortUse::First).ok()) << "in TIME_WAIT";
}

// Such a name could be anybody's.
TEST_F(ListenerTest, NobodyKeepsAGatewayOffByAName) {
  const uint16_t port = (*open(0, PortUse::First))->port();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "armgate/127.0.0.1:" + std::to_string(port);
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const int other = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(::bind(other, reinterpret_cast<sockaddr*>(&address), size), 0);
  ::listen(other, 1);
  EXPECT_TRUE(open(port, PortUse::First).ok());
  ::close(other);
}

TEST_F(ListenerTest, LetsOthersRunHoweverManyConnectionsWait) {
  constexpr size_t kWaiting = 200;
  const auto listener = *open(0, PortUse::First);
  std::vector<int> fds;
  for (size_t i = 0; i < kWaiting; ++i) fds.push_back(connect_to_port(listener->port()));
  size_t taken = 0;
  std::optional<size_t> at_others;
  const auto take = [&](AcceptedSocket accepted) {
    ::close(accepted.fd);
    if (++taken == 1) boost::asio::post(executor(), [&] { at_others = taken; });
  };
  bool over = false;
  start(listener->run(take, {}), over);
  run_until([&] { return taken == kWaiting; });
  EXPECT_LT(at_others.value_or(kWaiting), kWaiting);
  listener->stop();
  run_until([&] { return over; });
  for (const int fd : fds) ::close(fd);
}

}  // namespace
}  // namespace armgate::net
