// Goal: a tunnel through the parent proxy stands or fails in words that name the proxy and the remedy.
// Method: a proxy that says what the test tells it, on loopback; for TLS behind it, one that really tunnels, and a real origin.
#include "proxy/net/upstream/parent_proxy.h"

#include <gmock/gmock.h>

#include <array>
#include <optional>

#include "proxy/net/client/tunnel.h"
#include "proxy/net/socket/plain_stream.h"
#include "proxy/net/upstream/upstream_pool.h"
#include "tests/proxy/net/upstream/test_origin.h"

namespace armgate::net {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Connected = std::optional<Result<std::unique_ptr<Socket>>>;

Task<void> store_connect(Connector& connector, std::string host, uint16_t port, TimePoint deadline, Connected& into) {
  into.emplace(co_await connector.connect(std::move(host), port, LocalTargets::Refuse, deadline));
}

class BehindParent : public NetTest {
 protected:
  BehindParent() : listener_(*Listener::open(clock_, executor(), "127.0.0.1", 0)) {
    start(listener_->run([this](AcceptedSocket accepted) { take(accepted.fd); }, {}), over_);
    parent_.host = "127.0.0.1";
    parent_.port = listener_->port();
    parent_.named_by = "upstream.proxy";
    parent_.mark = "armgate-mark";
  }
  ~BehindParent() override {
    for (const int fd : asked_) ::close(fd);
    listener_->stop();
    run_until([this] { return over_; });
  }
  virtual void take(int fd) { asked_.push_back(fd); }

  const std::unique_ptr<Listener> listener_;
  bool over_ = false;
  ParentProxy parent_;
  std::vector<int> asked_;  // connections to the proxy
};

class ParentProxyTest : public BehindParent {
 protected:
  void make(HostOverrides overrides = {}) {
    connector_ = std::make_unique<Connector>(clock_, executor(), ConnectorOptions{seconds(4), std::move(overrides), parent_},
                                             names_.as_resolve());
  }
  void begin(const std::string& host, uint16_t port = 443) {
    connected_.reset();
    done_ = false;
    start(store_connect(*connector_, host, port, clock_.now() + seconds(10), connected_), done_);
  }
  // What the proxy is asked, once it was.
  std::string await_request() {
    Received request;
    run_until([&] {
      if (!asked_.empty()) request.take_from(asked_.back());
      return request.text.ends_with("\r\n\r\n");
    });
    return request.text;
  }
  void finish() {
    run_until([this] { return done_; });
  }
  // How a connection fails whose proxy answers this.
  std::string failure(const std::string& answer) {
    make();
    begin("login.example.test");
    await_request();
    send_text(asked_.back(), answer);
    ::shutdown(asked_.back(), SHUT_WR);
    finish();
    EXPECT_FALSE(connected_->ok());
    EXPECT_EQ(connected_->error().sent, Sent::No);
    return connected_->error().context;
  }

  std::unique_ptr<Connector> connector_;
  Connected connected_;
  bool done_ = false;
};

TEST_F(ParentProxyTest, IsAskedForATunnelAndWhatComesThroughFirstIsItsUsers) {
  parent_.credentials = "user:pass:word";
  make();
  begin("login.example.test");
  EXPECT_EQ(await_request(),
            "CONNECT login.example.test:443 HTTP/1.1\r\nHost: login.example.test:443\r\nVia: 1.1 armgate-mark\r\n"
            "Proxy-Authorization: Basic dXNlcjpwYXNzOndvcmQ=\r\n\r\n");
  for (const char c : std::string("HTTP/1.0 200 Connection established\r\nProxy-Agent: tinyproxy\r\n\r")) {
    send_text(asked_.back(), std::string(1, c));
    settle();
  }
  EXPECT_FALSE(done_);
  send_text(asked_.back(), "\nthe far end speaks first");
  finish();
  ASSERT_TRUE(connected_->ok());
  Received through;
  through.take_from((**connected_)->fd());
  EXPECT_EQ(through.text, "the far end speaks first");
}

TEST_F(ParentProxyTest, MaySayThatItIsAtWorkBeforeItAnswers) {
  make();
  begin("login.example.test");
  await_request();
  send_text(asked_.back(), "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfirst");
  finish();
  ASSERT_TRUE(connected_->ok()) << connected_->error().context;
  Received through;
  through.take_from((**connected_)->fd());
  EXPECT_EQ(through.text, "first");
  std::string endless;
  for (int i = 0; i < 20; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_THAT(failure(endless), HasSubstr("opens no tunnel to login.example.test:443 (100 Continue)"));
}

TEST_F(ParentProxyTest, IsAskedForWhereAHostIsReallyToBeFound) {
  make({{"arm.example.test", {"10.0.0.4", 8443, {}}}, {"six.example.test", {"fd00::4", 0, {}}}});
  const auto asked_for = [this](const std::string& host, uint16_t port) {
    const size_t before = asked_.size();
    begin(host, port);
    run_until([&] { return asked_.size() > before; });
    const std::string request = await_request();
    ::shutdown(asked_.back(), SHUT_RDWR);
    finish();
    return request.substr(0, request.find(" HTTP"));
  };
  EXPECT_EQ(asked_for("arm.example.test", 443), "CONNECT 10.0.0.4:8443");
  EXPECT_EQ(asked_for("six.example.test", 443), "CONNECT [fd00::4]:443");
  EXPECT_EQ(asked_for("arm.example.test", 80), "CONNECT arm.example.test:80") << "another service of that host";
}

TEST_F(ParentProxyTest, IsPassedByForWhatNeedsNoProxy) {
  const auto origin = *Listener::open(clock_, executor(), "127.0.0.1", 0);
  bool met = false;
  bool origin_over = false;
  start(origin->run([&met](AcceptedSocket accepted) { met = ::close(accepted.fd) == 0; }, {}), origin_over);
  parent_.exceptions = NoProxy({"127.0.0.0/8", "direct.example.test"});
  make({{"arm.example.test", {"127.0.0.1", origin->port(), {}}}});
  EXPECT_EQ(connector_->parent_of("direct.example.test", 443), nullptr);
  EXPECT_NE(connector_->parent_of("other.example.test", 443), nullptr);
  begin("arm.example.test");
  finish();
  EXPECT_TRUE(connected_->ok());
  run_until([&] { return met; });
  EXPECT_TRUE(asked_.empty());
  origin->stop();
  run_until([&] { return origin_over; });
}

TEST_F(ParentProxyTest, SaysWhatIsWrongAndWhatToDo) {
  const std::string proxy = "the proxy 127.0.0.1:" + std::to_string(listener_->port()) + " (upstream.proxy) ";
  EXPECT_EQ(failure("HTTP/1.1 403 Forbidden\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\nContent-Length: 3\r\n\r\nno!"),
            proxy +
                "opens no tunnel to login.example.test:443 (403 Forbidden, ERR_ACCESS_DENIED); let its operator allow CONNECT "
                "there, or add the host to upstream.no_proxy (NO_PROXY) if it can be reached directly");
  EXPECT_THAT(failure("HTTP/1.1 503 Service Unavailable\r\nX-Squid-Error: ERR_DNS_FAIL 0\r\n\r\n"),
              HasSubstr("could not reach login.example.test:443 (503 Service Unavailable, ERR_DNS_FAIL)"));
  EXPECT_THAT(failure("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n"),
              AllOf(HasSubstr("asks for a user name (407)"), HasSubstr("upstream.proxy_password_file")));
  EXPECT_THAT(failure("HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nproxy-authenticate: NTLM\r\n\r\n"),
              AllOf(HasSubstr("asks for Negotiate or NTLM"), HasSubstr("cntlm")));
  EXPECT_THAT(failure("HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\n\r\n"), HasSubstr("(302 Found)"));
  EXPECT_THAT(failure("<html>Welcome\r\n\r\n"), HasSubstr("does not answer as an HTTP proxy"));
  EXPECT_THAT(failure("SSH-2.0-OpenSSH\r\n\r\n"), HasSubstr("does not answer as an HTTP proxy"));
  EXPECT_THAT(failure(std::string(20000, 'x')), HasSubstr("does not answer as an HTTP proxy"));
  EXPECT_THAT(failure(""), HasSubstr("ended the connection instead of opening a tunnel"));
  EXPECT_THAT(failure("HTTP/1.1 407 \x1b[31m\r\nProxy-Authenticate: \x1b]0;x\r\n\r\n"), Not(HasSubstr("\x1b")));
}

TEST_F(ParentProxyTest, IsToldApartFromItsTargetIfItIsNotThere) {
  listener_->stop();
  run_until([this] { return over_; });
  make();
  begin("login.example.test");
  finish();
  ASSERT_FALSE(connected_->ok());
  EXPECT_THAT(connected_->error().context, AllOf(HasSubstr("cannot connect to the proxy 127.0.0.1:"), HasSubstr("refused")));
}

TEST_F(ParentProxyTest, IsNotWaitedForForEver) {
  make();
  begin("login.example.test");
  await_request();
  clock_.advance(seconds(11));
  finish();
  ASSERT_FALSE(connected_->ok());
  EXPECT_EQ(connected_->error().kind, ErrorKind::TimedOut);
  EXPECT_THAT(connected_->error().context, HasSubstr("did not open a tunnel to login.example.test:443 in time"));
}

// An account is soon locked.
TEST_F(ParentProxyTest, IsNotAskedAgainAtOnceWithAPasswordThatItRefused) {
  parent_.credentials = "user:wrong";
  const std::string refusal = failure("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n");
  EXPECT_THAT(refusal, AllOf(HasSubstr("does not take this user name and password (407)"), Not(HasSubstr("wrong"))));
  begin("other.example.test");
  finish();
  EXPECT_EQ(connected_->error().context, refusal);
  EXPECT_EQ(asked_.size(), 1u);
  clock_.advance(seconds(31));
  begin("other.example.test");
  EXPECT_THAT(await_request(), HasSubstr("CONNECT other.example.test:443"));
  send_text(asked_.back(), "HTTP/1.1 200 OK\r\n\r\n");
  finish();
  EXPECT_TRUE(connected_->ok());
}

TEST_F(ParentProxyTest, IsShownAPasswordByOneAtATimeUntilItTakesIt) {
  parent_.credentials = "user:perhaps";
  make();
  Connected other;
  bool other_done = false;
  begin("one.example.test");
  EXPECT_THAT(await_request(), HasSubstr("CONNECT one.example.test:443"));
  start(store_connect(*connector_, "two.example.test", 443, clock_.now() + seconds(10), other), other_done);
  run_until([this] { return asked_.size() == 2; });
  settle();
  Received early;
  early.take_from(asked_[1]);
  EXPECT_EQ(early.text, "");
  send_text(asked_[0], "HTTP/1.1 200 OK\r\n\r\n");
  finish();
  EXPECT_TRUE(connected_->ok());
  EXPECT_THAT(await_request(), HasSubstr("CONNECT two.example.test:443"));
  send_text(asked_[1], "HTTP/1.1 200 OK\r\n\r\n");
  run_until([&] { return other_done; });
  EXPECT_TRUE(other->ok());
}

// One connection to a proxy that opens a tunnel to the origin, whatever it was asked for; or behind its 200 says something else.
struct Opened {
  std::unique_ptr<Socket> near;
  std::unique_ptr<Socket> far;
  std::string instead;
};

Task<void> serve_tunnel(Opened opened, Clock& clock) {
  PlainStream near(std::move(opened.near));
  PlainStream far(std::move(opened.far));
  std::string request;
  while (!request.ends_with("\r\n\r\n")) {
    std::array<char, 1024> piece;
    const auto got = co_await near.read_some(piece, kNever);
    if (!got || *got == 0) co_return;
    request.append(piece.data(), *got);
  }
  const auto written = co_await near.write_all("HTTP/1.1 200 OK\r\n\r\n" + opened.instead, kNever);
  if (written && opened.instead.empty()) co_await run_tunnel(near, far, {}, clock, std::chrono::minutes(1));
  co_await near.shutdown(kNever);
}

class TlsBehindParent : public BehindParent {
 protected:
  ~TlsBehindParent() override {
    pool_.reset();
    origin_.stop();
    settle();
  }
  void take(int fd) override {
    spawn(executor(), serve_tunnel({wrap(fd), wrap(connect_to_port(origin_.port())), instead_}, clock_));
  }
  Result<UpstreamAnswer> ask() {
    arm::Request request;
    request.head.method = arm::Method::Get;
    request.head.method_token = "GET";
    request.head.host = "arm.example.test";
    request.head.target = "/";
    return await(pool_->send(request, clock_.now() + seconds(30)));
  }
  void make(bool trusts) {
    UpstreamOptions options;
    options.connector.parent = parent_;
    if (trusts) options.parent_ca_file = authority_.root_file();
    pool_ = *UpstreamPool::make(clock_, executor(), options, names_.as_resolve());
  }

  TestAuthority authority_;
  TestOrigin origin_{clock_, executor(), authority_.cache()};
  std::unique_ptr<UpstreamPool> pool_;
  std::string instead_;
};

TEST_F(TlsBehindParent, ItsAuthorityCountsBesidesTheOthersForWhatIsBehindIt) {
  make(true);
  origin_.plays = {{"HTTP/1.1 204 No Content\r\n\r\n"}};
  const auto answer = ask();
  ASSERT_TRUE(answer.ok()) << answer.error().context;
  EXPECT_EQ(answer->head.status, 204);
}

TEST_F(TlsBehindParent, AnAuthorityThatNobodyKnowsMayBeTheProxys) {
  make(false);
  const auto answer = ask();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::Untrusted);
  EXPECT_EQ(answer.error().sent, Sent::No);
  EXPECT_THAT(answer.error().context, AllOf(HasSubstr("is not trusted"), HasSubstr("upstream.proxy_ca_file")));
}

TEST_F(TlsBehindParent, APageInPlaceOfATunnelIsToldAsSuch) {
  instead_ = "<html><body>Please accept our terms</body></html>";
  make(true);
  const auto answer = ask();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().sent, Sent::No);
  EXPECT_THAT(answer.error().context, HasSubstr("a page of its own"));
}

TEST_F(TlsBehindParent, ATunnelThatIsCutAtOnceIsToldAsSuch) {
  instead_ = "\x15\x03\x03";  // the beginning of a TLS record
  make(true);
  const auto answer = ask();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().sent, Sent::No);
  EXPECT_THAT(answer.error().context, HasSubstr("cut the tunnel"));
}

}  // namespace
}  // namespace armgate::net
