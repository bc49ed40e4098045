#include "proxy/net/client/listener.h"

#include <sys/un.h>

#include <cstddef>
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
  // As another process would; negative if somebody has.
  enum class Serves { No, Yes };
  static int claim(uint16_t port, Serves serves = Serves::Yes) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "armgate/127.0.0.1:" + std::to_string(port);
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const bool is_bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
    if (is_bound && serves == Serves::Yes) ::listen(fd, 1);
    if (is_bound) return fd;
    ::close(fd);
    return -1;
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

// Two that start at the same instant both find that nobody listens yet.
TEST_F(ListenerTest, APortThatAnotherGatewayIsAboutToListenOnIsRefused) {
  const uint16_t port = (*open(0, PortUse::First))->port();
  const int other = claim(port);
  ASSERT_GE(other, 0);
  const auto second = open(port, PortUse::First);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::Internal) << "it may pass by itself";
  EXPECT_NE(second.error().context.find("another armgate may run there"), std::string::npos) << second.error().context;
  ::close(other);
  const auto first = open(port, PortUse::First);
  ASSERT_TRUE(first.ok()) << first.error().context;
  EXPECT_LT(claim(port), 0);
  EXPECT_TRUE(open(port, PortUse::Join).ok());
  (*first)->stop();
  const int next = claim(port);
  EXPECT_GE(next, 0) << "its successor may start while it still ends";
  ::close(next);
}

// Any user may take such a name.
TEST_F(ListenerTest, WhoHasTheNameButServesNobodyThereKeepsNoGatewayOff) {
  const uint16_t port = (*open(0, PortUse::First))->port();
  const int other = claim(port, Serves::No);
  ASSERT_GE(other, 0);
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
