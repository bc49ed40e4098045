#include "proxy/net/client/listener.h"

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
