// Goal: which address is connected to, and which is never: overrides, literals, the next one after a dead one. Method: a resolver that
// tells what a table says, and one listener.
#include "proxy/net/upstream/connector.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/net/client/listener.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::connector_test {
namespace {

using std::chrono::seconds;

Addresses parsed(const std::vector<std::string>& addresses) {
  Addresses all;
  all.reserve(addresses.size());
  for (const auto& address : addresses) all.push_back(boost::asio::ip::make_address(address));
  return all;
}

class ConnectorTest : public NetTest {
 protected:
  ConnectorTest() : listener_(*Listener::open(clock_, executor(), "127.0.0.1", 0)), port_(listener_->port()) {}

  Result<std::unique_ptr<Socket>> connect(const std::string& host, uint16_t port, LocalTargets local,
                                          const std::vector<std::string>& addresses, HostOverrides overrides = {}) {
    const Resolve resolve = [this, addresses](const std::string& name, TimePoint) { return resolved(name, addresses); };
    Connector connector(clock_, executor(), {seconds(4), std::move(overrides), {}}, resolve);
    return await(connector.connect(host, port, local, clock_.now() + seconds(10)));
  }
  Task<Result<Addresses>> resolved(std::string name, std::vector<std::string> addresses) {
    asked_.push_back(std::move(name));
    co_return parsed(addresses);
  }

  std::unique_ptr<Listener> listener_;
  const uint16_t port_;
  std::vector<std::string> asked_;  // names that were resolved
};

TEST_F(ConnectorTest, GoesWhereAnOverrideSaysAndAsksNobodyAboutAnAddress) {
  const HostOverrides here{{"arm.test", {"127.0.0.1", port_, {}}}};
  EXPECT_TRUE(connect("arm.test", 443, LocalTargets::Refuse, {"10.0.0.1"}, here).ok()) << "an override may be local";
  EXPECT_TRUE(asked_.empty());
  EXPECT_TRUE(connect("127.0.0.1", port_, LocalTargets::Allow, {}).ok());
  EXPECT_TRUE(asked_.empty());
  EXPECT_TRUE(connect("arm.test", port_, LocalTargets::Allow, {"127.0.0.1"}, here).ok()) << "of another port it says nothing";
  EXPECT_EQ(asked_, std::vector<std::string>{"arm.test"});
}

TEST_F(ConnectorTest, AnAddressOfThisMachineIsRefusedUnlessItMayBeLocal) {
  const struct {
    LocalTargets local;
    std::vector<std::string> addresses;
    bool ok;
    ErrorKind kind;  // unless ok
  } rows[] = {
      {LocalTargets::Allow, {"127.0.0.1"}, true, {}},
      {LocalTargets::Refuse, {"127.0.0.1"}, false, ErrorKind::BadInput},
      {LocalTargets::Refuse, {"169.254.169.254"}, false, ErrorKind::BadInput},
      {LocalTargets::Refuse, {}, false, ErrorKind::Unreachable},
  };
  for (const auto& row : rows) {
    const auto socket = connect("name.test", port_, row.local, row.addresses);
    ASSERT_EQ(socket.ok(), row.ok) << row.addresses.size();
    if (row.ok) continue;
    EXPECT_EQ(socket.error().kind, row.kind);
    EXPECT_EQ(socket.error().sent, Sent::No);
  }
}

TEST_F(ConnectorTest, TheNextAddressIsTriedAfterOneThatRefuses) {
  EXPECT_TRUE(connect("name.test", port_, LocalTargets::Allow, {"127.0.0.2", "127.0.0.1"}).ok());
  const auto none = connect("name.test", port_, LocalTargets::Allow, {"127.0.0.2", "127.0.0.3"});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().context.find("name.test at 127.0.0.3"), std::string::npos) << none.error().context;
}

TEST(ConnectorAddresses, FamiliesTakeTurns) {
  const struct {
    std::vector<std::string> resolved, tried;
  } rows[] = {
      {{}, {}},
      {{"10.0.0.1"}, {"10.0.0.1"}},
      {{"::1", "::2", "::3", "10.0.0.1", "10.0.0.2"}, {"::1", "10.0.0.1", "::2", "10.0.0.2", "::3"}},
      {{"10.0.0.1", "10.0.0.2", "::1"}, {"10.0.0.1", "::1", "10.0.0.2"}},
      {{"::1", "::2"}, {"::1", "::2"}},
  };
  for (const auto& row : rows) EXPECT_EQ(in_turns(parsed(row.resolved)), parsed(row.tried)) << row.resolved.size();
}

// Else every new connection waits for the dead one.
TEST_F(ConnectorTest, TheAddressThatAnsweredAfterADeadOneIsTriedFirst) {
  std::vector<std::string> addresses{"127.0.0.2", "127.0.0.1"};
  const Resolve resolve = [&](const std::string& name, TimePoint) { return resolved(name, addresses); };
  Connector connector(clock_, executor(), {seconds(4), {}, {}}, resolve);
  const auto far = [&]() -> std::string {
    const auto socket = await(connector.connect("name.test", port_, LocalTargets::Allow, clock_.now() + seconds(10)));
    return socket.ok() ? far_end((*socket)->fd()).substr(0, 9) : socket.error().context;
  };
  EXPECT_EQ(far(), "127.0.0.1");
  auto other = *Listener::open(clock_, executor(), "127.0.0.2", port_);
  EXPECT_EQ(far(), "127.0.0.1") << "though the other one answers by now";
  listener_.reset();
  EXPECT_EQ(far(), "127.0.0.2");
  addresses = {"127.0.0.1", "127.0.0.3"};
  EXPECT_NE(far().find("127.0.0.3"), std::string::npos) << "it is not an address of that name any more";
}

}  // namespace
}  // namespace armgate::net::connector_test
