// Goal: the listener as a client meets it: CONNECT, interception, tunnels, refusals, limits, draining.
// Method: the real server on a loopback port; TLS clients are armgate's own stream in client mode.
#include "proxy/net/client/server.h"

#include <gmock/gmock.h>

#include <tuple>

#include "certs/tls_context.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

Task<Receipt> answer_host(Exchange& exchange, ClientLink& link) {
  const std::string body = exchange.from.proxy_user + "@" + exchange.request.head.host + exchange.request.head.target;
  const arm::ResponseHead head{200, "OK", {}};
  std::ignore = co_await link.write_head(head, {BodyLength::Kind::Known, body.size()});
  std::ignore = co_await link.write_body(body);
  std::ignore = co_await link.finish();
  co_return Receipt{};
}

Task<Result<void>> handshake(TlsStream& stream) { co_return co_await stream.handshake(kNever); }

Task<Result<std::string>> ask(ByteStream& stream, std::string request, std::string until) {
  auto written = co_await stream.write_all(request, kNever);
  if (!written) co_return std::move(written).error();
  std::string text;
  while (text.find(until) == std::string::npos) {
    char piece[1024];
    const auto got = co_await stream.read_some(piece, kNever);
    if (!got) co_return got.error();
    if (*got == 0) break;
    text.append(piece, *got);
  }
  co_return text;
}

class ServerTest : public NetTest {
 protected:
  ServerTest() {
    interceptor_ = *Interceptor::make(authority_.cache(), clock_, {{"arm.example.test"}, std::chrono::seconds(10)});
    client_context_ = *certs::make_client_context(authority_.root_file());
    options_.port = 0;
    options_.connect.intercepted = {"arm.example.test"};
  }
  ~ServerTest() override {
    for (const int fd : fds_) ::close(fd);
    if (!server_) return;
    bool drained = false;
    server_->drain([&drained] { drained = true; });
    server_->abort();
    run_until([&] { return drained && counter_.open == 0; });
  }
  void open(ListenerKind listener_kind = ListenerKind::Proxy) {
    options_.listener_kind = listener_kind;
    server_ = *ProxyServer::open({clock_, executor(), *interceptor_, connector_, answer_host, counter_, events_}, options_);
    server_->start();
  }
  int connect() {
    fds_.push_back(connect_to_port(server_->port()));
    return fds_.back();
  }
  // Everything that a plain client receives until the end or `until`.
  std::string converse(int fd, const std::string& text, const std::string& until = "\r\n\r\n") {
    send_text(fd, text);
    Received received;
    run_until([&] {
      received.take_from(fd);
      return received.ended || received.broken || received.text.find(until) != std::string::npos;
    });
    return received.text;
  }
  static std::string connect_to(const std::string& authority, const std::string& more = {}) {
    return "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n" + more + "\r\n";
  }
  std::unique_ptr<TlsStream> tls_client(int fd, const char* name) {
    auto stream = *TlsStream::make(wrap(::dup(fd), ErrorSource::Upstream), client_context_.get());
    SSL_set_connect_state(stream->ssl());
    if (name != nullptr) SSL_set_tlsext_host_name(stream->ssl(), name);
    SSL_set1_host(stream->ssl(), "arm.example.test");
    return stream;
  }

  TestAuthority authority_;
  std::unique_ptr<Interceptor> interceptor_;
  certs::ContextHandle client_context_;
  HostOverrides overrides_;
  Connector connector_{clock_, executor(), {}, names_.as_resolve()};
  ConnectionCounter counter_;
  NetEventSink events_;
  ServerOptions options_;
  std::unique_ptr<ProxyServer> server_;
  std::vector<int> fds_;
};

constexpr const char* kGet = "GET /x HTTP/1.1\r\nHost: arm.example.test\r\n\r\n";

TEST_F(ServerTest, InterceptsAndServesWithTheProxyUser) {
  open();
  const int fd = connect();
  EXPECT_EQ(converse(fd, connect_to("arm.example.test:443", "Proxy-Authorization: Basic c3Bpbm5ha2VyOng=\r\n")),
            "HTTP/1.1 200 Connection established\r\n\r\n");
  auto client = tls_client(fd, "arm.example.test");
  ASSERT_TRUE(await(handshake(*client)).ok());
  EXPECT_THAT(*await(ask(*client, kGet, "/x")), HasSubstr("spinnaker@arm.example.test/x"));
  EXPECT_THAT(*await(ask(*client, kGet, "/x")), HasSubstr("spinnaker@arm.example.test/x"));
  client->close();
}

TEST_F(ServerTest, RequiresAnInterceptedNameOnTheDirectDoor) {
  open(ListenerKind::Direct);
  for (const char* name : {static_cast<const char*>(nullptr), "other.example.test", "example.org"}) {
    auto client = tls_client(connect(), name);
    EXPECT_FALSE(await(handshake(*client)).ok()) << (name == nullptr ? "none" : name);
  }
  EXPECT_EQ(authority_.cache().size(), 0u);
  auto client = tls_client(connect(), "ARM.example.test");
  ASSERT_TRUE(await(handshake(*client)).ok());
  EXPECT_THAT(*await(ask(*client, kGet, "/x")), HasSubstr("@arm.example.test/x"));
  const std::string with_port = "GET /x HTTP/1.1\r\nHost: arm.example.test:" + std::to_string(server_->port()) + "\r\n\r\n";
  EXPECT_THAT(*await(ask(*client, with_port, "/x")), HasSubstr("@arm.example.test/x")) << "as its URL names this listener";
  client->close();
}

// As the health probes of balancers do.
TEST_F(ServerTest, SaysNothingOfWhoOnlyLooksWhetherItListens) {
  std::vector<NetEventKind> told;
  events_ = [&told](const NetEvent& event) {
    if (event.kind != NetEventKind::ConnectionAccepted) told.push_back(event.kind);
  };
  open(ListenerKind::Direct);
  for (const bool resets : {false, true}) {
    for (const char* sent : {"", "\x16"}) {
      const int fd = connect_to_port(server_->port());
      run_until([this] { return counter_.open == 1; });
      if (*sent != '\0') send_text(fd, sent);
      settle();
      if (resets) reset_when_closed(fd);
      ::close(fd);
      run_until([this] { return counter_.open == 0; });
      EXPECT_EQ(told.size(), *sent != '\0' ? 1u : 0u) << "what has begun a handshake may not trust us";
      told.clear();
    }
  }
}

TEST_F(ServerTest, ExplainsItselfToPlainRequests) {
  open();
  EXPECT_THAT(converse(connect(), "GET http://169.254.169.254/metadata HTTP/1.1\r\nHost: x\r\n\r\n", "}"),
              HasSubstr("NO_PROXY"));
  EXPECT_THAT(converse(connect(), "GET http://example.org/ HTTP/1.1\r\nHost: x\r\n\r\n", "}"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(converse(connect(), connect_to("127.0.0.1:1"), "}"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(converse(connect(), "nonsense\r\n\r\n", "}"), StartsWith("HTTP/1.1 4"));
  for (const char version : {4, 5}) {  // nothing more is waited for
    EXPECT_THAT(converse(connect(), {version, 1}, "}"), HasSubstr("speaks SOCKS to the proxy port")) << int{version};
  }
  EXPECT_THAT(converse(connect(), "\r\n" + connect_to("127.0.0.1:1"), "}"), StartsWith("HTTP/1.1 403")) << "RFC 9112 §2.2";
}

TEST_F(ServerTest, NamesTheClientOfWhatFailsOnceItsConnectWasRead) {
  std::vector<std::pair<NetEventKind, std::string>> told;
  events_ = [&told](const NetEvent& event) {
    if (event.kind != NetEventKind::ConnectionAccepted) told.emplace_back(event.kind, event.client);
  };
  options_.connect.local_targets = LocalTargets::Allow;
  open();
  const std::string user = "Proxy-Authorization: Basic c3Bpbm5ha2VyOng=\r\n";
  converse(connect(), "CONNECT spinnaker HTTP/1.1\r\nHost: x\r\n" + user + "\r\n", "}");
  const auto closed = *Listener::open(clock_, executor(), "127.0.0.1", 0);
  closed->stop();
  converse(connect(), connect_to("127.0.0.1:" + std::to_string(closed->port()), user), "}");
  const int fd = connect();
  converse(fd, connect_to("arm.example.test:443", user));
  send_text(fd, "no TLS at all");
  run_until([&told] { return told.size() == 4; });
  EXPECT_THAT(told,
              ElementsAre(Pair(NetEventKind::ProxyRefused, ""), Pair(NetEventKind::TunnelFailed, "spinnaker"),
                          Pair(NetEventKind::ProxyRefused, "spinnaker"), Pair(NetEventKind::HandshakeFailed, "spinnaker")));
}

TEST_F(ServerTest, TellsOfAUserNameThatItCannotTakeWithoutItsBytes) {
  std::vector<std::string> told;
  events_ = [&told](const NetEvent& event) {
    if (event.kind == NetEventKind::NameNotTaken) told.push_back(std::string(event.client) + std::string(event.text));
  };
  open();
  converse(connect(), connect_to("arm.example.test:443", "Proxy-Authorization: Basic YQpiOng=\r\n"));  // "a", line feed, "b:x"
  EXPECT_THAT(told, ElementsAre(StartsWith("the user name in the client's proxy URL has a control character")));
  converse(connect(), connect_to("arm.example.test:443", "Proxy-Authorization: Basic Ong=\r\n"));  // none, and a password
  EXPECT_EQ(told.size(), 1u);
}

// With a Kerberos ticket it may be longer than one packet.
TEST_F(ServerTest, HowLongAHeadMayBeDoesNotDependOnHowItIsCut) {
  open();
  const size_t limit = options_.session.limits.head_bytes_max;
  const std::string fits = connect_to("arm.example.test:443", "X: " + std::string(20'000, 'x') + "\r\n");
  const std::string too_long = connect_to("arm.example.test:443", "X: " + std::string(limit, 'x') + "\r\n");
  for (const size_t piece : {size_t{1000}, size_t{17'000}, too_long.size()}) {
    for (const bool is_long : {false, true}) {
      const std::string& head = is_long ? too_long : fits;
      const int fd = connect();
      for (size_t sent = 0; sent < head.size(); sent += piece) {
        send_text(fd, std::string_view(head).substr(sent, piece));
        settle();
      }
      const std::string answer = converse(fd, "", is_long ? "}" : "\r\n\r\n");
      EXPECT_THAT(answer, StartsWith(is_long ? "HTTP/1.1 431" : "HTTP/1.1 200")) << piece;
      const std::string named = is_long ? std::to_string(limit) + " bytes (limits.head_bytes)" : "";
      EXPECT_THAT(answer, HasSubstr(named)) << piece;
    }
  }
}

TEST_F(ServerTest, ClosesAClientThatNeverAsks) {
  open();
  const int fd = connect();
  send_text(fd, "CONN");
  settle();
  clock_.advance(options_.connect_head_max + std::chrono::seconds(1));
  EXPECT_THAT(converse(fd, "", "}"), StartsWith("HTTP/1.1 408"));
  clock_.advance(options_.session.linger_max + std::chrono::seconds(1));
  run_until([this] { return counter_.open == 0; });
}

TEST_F(ServerTest, ClosesAClientThatSendsEmptyLinesWithoutEnd) {
  open();
  const int fd = connect();
  send_text(fd, empty_lines(options_.session.limits.head_bytes_max + 1));
  Received received;
  run_until([&] {
    received.take_from(fd);
    return received.ended || received.broken;
  });
}

TEST_F(ServerTest, TunnelsUntouchedWithHalfClose) {
  const auto target = *Listener::open(clock_, executor(), "127.0.0.1", 0);
  int host = -1;
  bool over = false;
  start(target->run([&host](AcceptedSocket accepted) { host = accepted.fd; }, {}), over);
  options_.connect.local_targets = LocalTargets::Allow;
  open();
  const int fd = connect();
  EXPECT_EQ(converse(fd, connect_to("127.0.0.1:" + std::to_string(target->port())) + "early"),
            "HTTP/1.1 200 Connection established\r\n\r\n");
  Received at_host;
  send_text(fd, " and late");
  ::shutdown(fd, SHUT_WR);
  run_until([&] {
    at_host.take_from(host);
    return at_host.ended;
  });
  EXPECT_EQ(at_host.text, "early and late");
  EXPECT_EQ(converse(host, "", "never"), "") << "nothing to read";
  send_text(host, "answer after the half-close");
  ::close(host);
  Received at_client;
  run_until([&] {
    at_client.take_from(fd);
    return at_client.ended;
  });
  EXPECT_EQ(at_client.text, "answer after the half-close");
  run_until([this] { return counter_.open == 0; });
  target->stop();
  run_until([&] { return over; });
}

TEST_F(ServerTest, RefusesANameThatResolvesToThisMachine) {
  Resolve rebinding = [](std::string, TimePoint) -> Task<Result<std::vector<boost::asio::ip::address>>> {
    std::vector<boost::asio::ip::address> addresses{boost::asio::ip::make_address("127.0.0.1")};
    co_return addresses;
  };
  Connector connector(clock_, executor(), {}, rebinding);
  server_ = *ProxyServer::open({clock_, executor(), *interceptor_, connector, answer_host, counter_, {}}, options_);
  server_->start();
  EXPECT_THAT(converse(connect(), connect_to("innocent.example.org:443"), "}"), StartsWith("HTTP/1.1 403"));
  run_until([this] { return counter_.open <= 1; });
  for (const int fd : std::exchange(fds_, {})) ::close(fd);
  run_until([this] { return counter_.open == 0; });
}

TEST_F(ServerTest, RefusesConnectionsBeyondItsLimit) {
  options_.connections_max = 1;
  open();
  connect();
  run_until([this] { return counter_.open == 1; });
  const int second = connect();
  send_text(second, connect_to("arm.example.test:443"));
  Received received;
  run_until([&] {
    received.take_from(second);
    return received.ended || received.broken;
  });
  EXPECT_THAT(received.text, StartsWith("HTTP/1.1 503"));
  EXPECT_FALSE(received.broken) << "a reset may destroy the answer before its client has read it";
  EXPECT_THAT(received.text, HasSubstr("Retry-After: 1"));
}

TEST_F(ServerTest, DrainsWhenItsIdleConnectionsAreClosed) {
  open(ListenerKind::Direct);
  auto client = tls_client(connect(), "arm.example.test");
  ASSERT_TRUE(await(handshake(*client)).ok());
  EXPECT_TRUE(await(ask(*client, kGet, "/x")).ok());
  bool drained = false;
  server_->drain([&drained] { drained = true; });
  run_until([&] { return drained; });
  EXPECT_EQ(*await(ask(*client, "", "never")), "") << "closed in order";
}

}  // namespace
}  // namespace armgate::net
