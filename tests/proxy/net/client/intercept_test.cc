// Goal: TLS is answered in the name of an intercepted host alone, which is CONNECT's, and nothing is minted for any other.
// Method: a table of names on either listener, asked for by a client of armgate's own; handshakes that fail, for what is said of them.
#include "proxy/net/client/intercept.h"

#include <gmock/gmock.h>

#include "certs/tls_context.h"
#include "tests/proxy/net/net_test_support.h"
#include "tests/proxy/net/socket/stream_tasks.h"

namespace armgate::net::intercept_test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using Intercepted = Result<Interceptor::Intercepted>;

Task<Result<void>> handshake(TlsStream& stream) { co_return co_await stream.handshake(kNever); }

// `connected`: the host of CONNECT; without one on the direct port.
Task<void> store_accepted(Interceptor& interceptor, std::unique_ptr<Socket> socket, std::optional<std::string> connected,
                          std::string early, std::optional<Intercepted>& into) {
  if (connected)
    into.emplace(co_await interceptor.accept(std::move(socket), *connected, std::move(early)));
  else
    into.emplace(co_await interceptor.accept_direct(std::move(socket)));
}

class InterceptTest : public NetTest {
 protected:
  ~InterceptTest() override {
    client_.reset();
    settle();
  }
  void begin(std::optional<std::string> connected, std::string early = {}) {
    const auto [server, client] = make_tcp_pair();
    client_fd_ = client;
    accepted_.reset();
    done_ = false;
    start(store_accepted(*interceptor_, wrap(server), std::move(connected), std::move(early), accepted_), done_);
  }
  // A client that asks for `sni`, which may be null, and expects `verified`.
  Result<void> shake_hands(const char* sni, const char* verified) {
    client_ = *TlsStream::make(wrap(client_fd_, ErrorSource::Upstream), context_.get());
    SSL_set_connect_state(client_->ssl());
    if (sni != nullptr) SSL_set_tlsext_host_name(client_->ssl(), sni);
    SSL_set1_host(client_->ssl(), verified);
    auto result = await(handshake(*client_));
    if (!result) client_->close();
    run_until([this] { return done_; });
    return result;
  }

  TestAuthority authority_;
  certs::ContextHandle context_ = *certs::make_client_context(authority_.root_file());
  std::unique_ptr<Interceptor> interceptor_ =
      *Interceptor::make(authority_.cache(), clock_, {{"arm.example.test", "*.login.example.test"}, seconds(10)});
  int client_fd_ = -1;
  std::unique_ptr<TlsStream> client_;
  std::optional<Intercepted> accepted_;
  bool done_ = false;
};

struct Name {
  std::optional<std::string> connected;  // nothing: the direct port
  const char* sni;
  std::string host;  // that is answered for; empty: refused
  const char* why = nullptr;
};

TEST_F(InterceptTest, TheNameDecides) {
  const Name names[] = {
      {"arm.example.test", "arm.example.test", "arm.example.test"},
      {"arm.example.test", "ARM.Example.Test", "arm.example.test"},
      {"arm.example.test", nullptr, "arm.example.test"},
      {"a.login.example.test", "a.login.example.test", "a.login.example.test"},
      {"arm.example.test", "a.login.example.test", "",
       "failed: the client asks TLS (SNI) for a.login.example.test, but its CONNECT for arm.example.test;"},
      {"arm.example.test", "other.example.test", "", "(SNI) for other.example.test, but its CONNECT for arm.example.test;"},
      {"other.example.test", "other.example.test", "", "asks for other.example.test, which the option intercept does not"},
      {"other.example.test", nullptr, "", "asks for other.example.test, which the option intercept does not name"},
      {{}, "arm.example.test", "arm.example.test"},
      {{}, "ARM.example.test", "arm.example.test"},
      {{}, "a.login.example.test", "a.login.example.test"},
      {{}, "login.example.test", "", "the option intercept does not name"},  // the suffix itself is not below it
      {{}, "other.example.test", "", "asks for other.example.test, which the option intercept does not name"},
      {{}, nullptr, "", "names no host in TLS (SNI)"},
  };
  for (const Name& c : names) {
    SCOPED_TRACE(c.connected.value_or("direct") + " " + (c.sni == nullptr ? "nothing" : c.sni));
    const size_t minted = authority_.cache().size();
    begin(c.connected);
    const auto result = shake_hands(c.sni, c.host.empty() ? "arm.example.test" : c.host.c_str());
    EXPECT_EQ(result.ok(), !c.host.empty());
    ASSERT_EQ(accepted_->ok(), !c.host.empty());
    if (c.host.empty()) {
      EXPECT_THAT(result.error().context, HasSubstr("unrecognized name")) << "RFC 6066 §3";
      EXPECT_THAT(accepted_->error().context, HasSubstr(c.why));
      EXPECT_THAT(accepted_->error().context, Not(HasSubstr("callback failed")));
      EXPECT_EQ(authority_.cache().size(), minted) << "a scanner could fill the cache";
    } else {
      EXPECT_EQ(accepted_->value().host, c.host);
      EXPECT_TRUE(await(write_pieces(*client_, {"hello"})).ok());
      EXPECT_EQ(*await(read_bytes(*accepted_->value().stream, 5)), "hello");
    }
  }
  EXPECT_EQ(authority_.cache().size(), 2u);
}

// A client may send its ClientHello in the same segment as CONNECT.
TEST_F(InterceptTest, WhatCameBehindConnectBelongsToTheHandshake) {
  const auto [server, client] = make_tcp_pair();
  client_ = *TlsStream::make(wrap(client), context_.get());
  SSL_set_connect_state(client_->ssl());
  SSL_set1_host(client_->ssl(), "arm.example.test");
  std::optional<Result<size_t>> unused;
  bool client_done = false;
  start(store_read(*client_, kNever, unused), client_done);  // shakes hands first
  Received hello;
  run_until([&hello, peer = server] {  // named anew: clang 14 does not capture structured bindings
    hello.take_from(peer);
    return !hello.text.empty();
  });
  start(store_accepted(*interceptor_, wrap(server), "arm.example.test", hello.text, accepted_), done_);
  run_until([&] { return done_; });
  ASSERT_TRUE(accepted_->ok()) << accepted_->error().context;
  ASSERT_TRUE(await(write_pieces(*accepted_->value().stream, {"hello"})).ok());
  run_until([&] { return client_done; });
  EXPECT_EQ(unused->value(), 5u);
}

TEST_F(InterceptTest, SpeaksModernTlsOnly) {
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context_.get(), TLS1_1_VERSION);
  SSL_CTX_set_cipher_list(context_.get(), "ALL:@SECLEVEL=0");
  begin({});
  EXPECT_FALSE(shake_hands("arm.example.test", "arm.example.test").ok());
  EXPECT_FALSE(accepted_->ok());
}

TEST_F(InterceptTest, AClientThatDoesNotTrustUsIsToldWhatHelps) {
  const TestAuthority other;
  context_ = *certs::make_client_context(other.root_file());
  begin("arm.example.test");
  EXPECT_FALSE(shake_hands("arm.example.test", "arm.example.test").ok());
  ASSERT_FALSE(accepted_->ok());
  EXPECT_THAT(accepted_->error().context, HasSubstr("armgate's certificate for arm.example.test"));
  EXPECT_THAT(accepted_->error().context, HasSubstr("armgate ca path"));
}

// Some show their distrust by hanging up.
TEST_F(InterceptTest, AClientThatHangsUpMayNotTrustUs) {
  for (const bool resets : {false, true}) {
    begin("arm.example.test");
    settle();
    if (resets)
      reset(client_fd_);
    else
      ::close(client_fd_);
    run_until([this] { return done_; });
    ASSERT_FALSE(accepted_->ok());
    EXPECT_EQ(accepted_->error().kind, resets ? ErrorKind::Reset : ErrorKind::Closed);
    EXPECT_THAT(accepted_->error().context, HasSubstr("armgate ca path"));
  }
}

// As `curl --http1.0` does.
TEST_F(InterceptTest, AClientMayOfferHttp10Alone) {
  const unsigned char protocols[] = "\x08http/1.0";
  ASSERT_EQ(SSL_CTX_set_alpn_protos(context_.get(), protocols, 9), 0);
  begin("arm.example.test");
  EXPECT_TRUE(shake_hands("arm.example.test", "arm.example.test").ok());
  EXPECT_TRUE(accepted_->ok());
}

TEST_F(InterceptTest, AClientThatOffersOtherProtocolsIsToldSo) {
  const unsigned char protocols[] = "\x02h2\x03spd";
  ASSERT_EQ(SSL_CTX_set_alpn_protos(context_.get(), protocols, 7), 0);
  begin("arm.example.test");
  EXPECT_FALSE(shake_hands("arm.example.test", "arm.example.test").ok());
  ASSERT_FALSE(accepted_->ok());
  EXPECT_THAT(accepted_->error().context, HasSubstr("the client offers h2, spd only (ALPN), and armgate speaks http/1.1"));
}

TEST_F(InterceptTest, AClientThatSaysNothingIsNotWaitedForLong) {
  begin("arm.example.test");
  settle();
  clock_.advance(seconds(10) - std::chrono::milliseconds(1));
  settle();
  EXPECT_FALSE(done_);
  clock_.advance(std::chrono::milliseconds(1));
  run_until([this] { return done_; });
  ASSERT_FALSE(accepted_->ok());
  EXPECT_EQ(accepted_->error().kind, ErrorKind::TimedOut);
  ::close(client_fd_);
}

}  // namespace
}  // namespace armgate::net::intercept_test
