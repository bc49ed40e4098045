// Goal: what the first request on the proxy port leads to. Method: tables.
#include "proxy/net/client/connect_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/net/upstream/address_policy.h"

namespace armgate::net {
namespace {

using ::testing::HasSubstr;

ConnectPolicy policy() {
  ConnectPolicy policy;
  policy.intercepted = {"management.azure.com", "*.arm.example.test"};
  policy.allowed = {"login.example.test", "127.0.0.9"};
  return policy;
}

ConnectDecision decide(const std::string& authority, const std::string& more = {}) {
  return decide_connect("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n" + more + "\r\n", {}, policy());
}

TEST(ConnectPolicy, DecidesByHostAndPort) {
  const std::pair<const char*, ConnectAction> rows[] = {
      {"management.azure.com:443", ConnectAction::Intercept},
      {"MANAGEMENT.azure.com:443", ConnectAction::Intercept},
      {"management.azure.com.:443", ConnectAction::Intercept},
      {"management.azure.com..:443", ConnectAction::Refuse},
      {"login.microsoftonline.com.:443", ConnectAction::Tunnel},
      {"localhost.:443", ConnectAction::Refuse},
      {"127.0.0.1.:443", ConnectAction::Refuse},
      {"management.azure.com:8443", ConnectAction::Tunnel},
      {"x.management.azure.com:443", ConnectAction::Tunnel},
      {"west.arm.example.test:443", ConnectAction::Intercept},
      {"arm.example.test:443", ConnectAction::Tunnel},
      {"evilarm.example.test:443", ConnectAction::Tunnel},
      {"login.microsoftonline.com:443", ConnectAction::Tunnel},
      {"10.1.2.3:443", ConnectAction::Tunnel},
      {"localhost:443", ConnectAction::Refuse},
      {"x.localhost:443", ConnectAction::Refuse},
      {"127.0.0.1:8080", ConnectAction::Refuse},
      {"127.9.9.9:443", ConnectAction::Refuse},
      {"127.0.0.9:443", ConnectAction::Tunnel},
      {"169.254.169.254:80", ConnectAction::Refuse},
      {"168.63.129.16:80", ConnectAction::Refuse},
      {"0.0.0.0:443", ConnectAction::Refuse},
      {"[::1]:443", ConnectAction::Refuse},
      {"[fe80::1]:443", ConnectAction::Refuse},
      {"[::ffff:127.0.0.1]:443", ConnectAction::Refuse},
      {"[2001:db8::1]:443", ConnectAction::Tunnel},
      {"login.example.test:443", ConnectAction::Tunnel},
      {"management.azure.com", ConnectAction::Refuse},
      {"management.azure.com:0", ConnectAction::Refuse},
      {"management.azure.com:65979", ConnectAction::Refuse},
      {"user@management.azure.com:443", ConnectAction::Refuse},
  };
  for (const auto& [authority, action] : rows) EXPECT_EQ(decide(authority).action, action) << authority;
}

TEST(ConnectPolicy, AllowsLocalTargetsWhenTold) {
  ConnectPolicy open = policy();
  open.local_targets = LocalTargets::Allow;
  EXPECT_EQ(decide_connect("CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", {}, open).action,
            ConnectAction::Tunnel);
}

TEST(ConnectPolicy, AUserNameThatIsNotTakenIsNoted) {
  const auto decision = decide("management.azure.com:443", "Proxy-Authorization: Basic YQpiOng=\r\n");
  EXPECT_EQ(decision.action, ConnectAction::Intercept);
  EXPECT_EQ(decision.proxy_user, "");
  EXPECT_TRUE(decision.user_is_unusable);
  EXPECT_FALSE(decide("management.azure.com:443").user_is_unusable);
}

TEST(ConnectPolicy, TakesTheUserNameFromTheCredentials) {
  const auto decision = decide("management.azure.com:443", "Proxy-Authorization: Basic c3Bpbm5ha2VyOnNlY3JldA==\r\n");
  EXPECT_EQ(decision.proxy_user, "spinnaker");
  EXPECT_EQ(decide("management.azure.com:443").proxy_user, "");
}

TEST(ConnectPolicy, ExplainsWhatToDoInstead) {
  const std::pair<const char*, const char*> rows[] = {
      {"GET http://169.254.169.254/metadata/identity HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n", "NO_PROXY=169.254.169.254"},
      {"GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n", "set HTTPS_PROXY"},
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "proxy port of armgate"},
      {"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", "NO_PROXY"},
      {"CONNECT a..b:1 HTTP/1.1\r\nHost: a..b:1\r\n\r\n", "the target of CONNECT, `a..b:1`, is not"},
      {"CONNECT user:secret@a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "the target of CONNECT, `***@a:1`, is not"},
  };
  for (const auto& [head, text] : rows) {
    const auto decision = decide_connect(head, {}, policy());
    EXPECT_EQ(decision.action, ConnectAction::Refuse) << head;
    EXPECT_THAT(decision.refusal.message, HasSubstr(text));
    EXPECT_EQ(decision.refusal.status / 100, 4);
  }
}

TEST(AddressPolicy, KnowsAddressesInsideAddresses) {
  const std::pair<const char*, bool> rows[] = {
      {"127.0.0.1", true},       {"::ffff:169.254.169.254", true},
      {"64:ff9b::7f00:1", true}, {"::127.0.0.1", true},
      {"fd00:ec2::254", true},   {"ff02::1", true},
      {"255.255.255.255", true}, {"::", true},
      {"8.8.8.8", false},        {"192.168.1.1", false},
      {"2603:1030::1", false},   {"64:ff9b::808:808", false},
  };
  for (const auto& [text, refused] : rows) {
    EXPECT_EQ(refused_address(boost::asio::ip::make_address(text)).has_value(), refused) << text;
  }
}

TEST(ConnectPolicy, RefusesWhatThisProcessAskedForItself) {
  ConnectPolicy own = policy();
  own.own_mark = "armgate-1";
  const auto asked = [&own](const std::string& via) {
    return decide_connect("CONNECT management.azure.com:443 HTTP/1.1\r\nHost: management.azure.com:443\r\n" + via + "\r\n", {},
                          own);
  };
  EXPECT_EQ(asked("Via: 1.1 armgate-2\r\n").action, ConnectAction::Intercept);
  EXPECT_EQ(asked("").action, ConnectAction::Intercept);
  for (const char* via :
       {"Via: 1.1 armgate-1\r\n", "via: 1.1 armgate-1, 1.1 squid\r\n", "Via: 1.1 a\r\nVia: 1.1 armgate-1\r\n"}) {
    const auto loop = asked(via);
    EXPECT_EQ(loop.action, ConnectAction::Refuse) << via;
    EXPECT_THAT(loop.refusal.message, HasSubstr("armgate itself")) << via;
  }
}

}  // namespace
}  // namespace armgate::net
