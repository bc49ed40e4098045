// Goal: what TLS adds to a stream: how it ended, whom it trusts, which bytes share a record, and what an idle connection holds.
// Method: a client and a server of armgate's own over loopback; below them, the test reads and writes the sockets itself.
#include "proxy/net/socket/tls_stream.h"

#include <gmock/gmock.h>

#include <functional>
#include <numeric>

#include "certs/record_pool.h"
#include "tests/proxy/net/socket/stream_tasks.h"
#include "tests/proxy/net/socket/tls_ends.h"

namespace armgate::net::tls_stream_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Sizes = std::vector<size_t>;

const bool kPooled = certs::use_record_pool();  // before anything of OpenSSL is used

Task<Result<void>> handshake(TlsStream& stream) { co_return co_await stream.handshake(kNever); }

// The lengths of the content in the records that `bytes` begins with. RFC 8446 §5.2: the header has 5 bytes, and behind the content
// stand its type and, of the AEAD ciphers in use, 16 bytes more.
Sizes contents_of(std::string_view bytes) {
  Sizes sizes;
  while (bytes.size() >= 5) {
    const size_t length = static_cast<uint8_t>(bytes[3]) * 256u + static_cast<uint8_t>(bytes[4]);
    sizes.push_back(length - 17);
    bytes.remove_prefix(std::min(bytes.size(), 5 + length));
  }
  return sizes;
}

class TlsStreamTest : public NetTest {
 protected:
  TlsStreamTest() : fds_(make_tcp_pair()) {}
  ~TlsStreamTest() override {
    for (TlsStream* stream : {ends_.server.get(), ends_.client.get()}) {
      if (stream != nullptr) stream->close();
    }
    settle();
  }
  // The client is the one under test: a server also sends tickets.
  void connect() {
    ends_.make_server(wrap(fds_.first));
    ends_.make_client(wrap(fds_.second, ErrorSource::Upstream));
    ASSERT_TRUE(await(TlsEnds::shake_hands(*ends_.server, *ends_.client)));
    ASSERT_EQ(SSL_version(near().ssl()), TLS1_3_VERSION);
    run_until([this] { return near().has_input(); });
    ASSERT_TRUE(near().is_quiet()) << "a ticket is no content";
    ASSERT_FALSE(near().has_input());
  }
  // Something has come to the client.
  void await_input() {
    run_until([this] { return near().has_input(); });
  }
  TlsStream& near() { return *ends_.client; }
  TlsStream& far() { return *ends_.server; }
  int far_fd() const { return fds_.first; }

  const std::pair<int, int> fds_;  // of the server, of the client
  TlsEnds ends_;
};

struct Ending {
  const char* name;
  std::function<void(TlsStream& far, int fd)> ends;
  StreamEnd end;                         // of the client's view
  std::optional<ErrorKind> broken = {};  // instead
};

void say_goodbye(TlsStream& far) { EXPECT_EQ(SSL_shutdown(far.ssl()), 0); }

class TlsEnd : public TlsStreamTest, public ::testing::WithParamInterface<Ending> {};

INSTANTIATE_TEST_SUITE_P(
    Each, TlsEnd,
    ::testing::Values(Ending{"Farewell", [](TlsStream& far, int) { say_goodbye(far); }, StreamEnd::Notified},
                      Ending{"FarewellAndFin",
                             [](TlsStream& far, int fd) {
                               say_goodbye(far);
                               ::shutdown(fd, SHUT_WR);
                             },
                             StreamEnd::Notified},
                      Ending{"FinAlone", [](TlsStream&, int fd) { ::shutdown(fd, SHUT_WR); }, StreamEnd::Bare},
                      Ending{"FinWithinARecord",
                             [](TlsStream&, int fd) {
                               send_text(fd, std::string_view("\x17\x03\x03\x00\x30ten bytes", 14));
                               ::shutdown(fd, SHUT_WR);
                             },
                             StreamEnd::Bare},
                      Ending{"FarewellThatNobodySealed",
                             [](TlsStream&, int fd) { send_text(fd, std::string_view("\x15\x03\x03\x00\x02\x01\x00", 7)); },
                             StreamEnd::Open, ErrorKind::BadInput},
                      Ending{"NoRecord", [](TlsStream&, int fd) { send_text(fd, "HTTP/1.1 400 Bad Request\r\n\r\n"); },
                             StreamEnd::Open, ErrorKind::BadInput},
                      Ending{"Reset",
                             [](TlsStream& far, int fd) {
                               reset_when_closed(fd);
                               far.close();
                             },
                             StreamEnd::Open, ErrorKind::Reset}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_P(TlsEnd, IsToldAfterWhatCameBeforeItAndStays) {
  connect();
  ASSERT_TRUE(await(write_pieces(far(), {"last words"})).ok());
  await_input();
  GetParam().ends(far(), far_fd());
  EXPECT_FALSE(near().is_quiet());
  EXPECT_EQ(near().end(), StreamEnd::Open) << "not before it is read";
  const auto words = await(read_bytes(near(), 10));
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(*words, "last words");
  for (const bool again : {false, true}) {
    const auto got = await(read_once(near()));
    EXPECT_EQ(got.ok(), !GetParam().broken.has_value());
    if (got.ok()) {
      EXPECT_EQ(*got, 0u);
    }
    // Of what TLS was broken by, OpenSSL must not be asked again.
    if (!got.ok()) {
      EXPECT_EQ(got.error().kind, again ? ErrorKind::Reset : *GetParam().broken) << got.error().context;
      EXPECT_EQ(got.error().source, ErrorSource::Upstream);
    }
    EXPECT_EQ(near().end(), GetParam().end);
    EXPECT_FALSE(near().is_quiet());
  }
  const auto written = await(write_pieces(near(), {"an", "answer"}));
  EXPECT_EQ(written.ok(), !GetParam().broken.has_value());
  if (!written.ok()) {
    EXPECT_EQ(written.error().kind, ErrorKind::Reset);
  }
}

TEST_F(TlsStreamTest, WhatCameBeforeThePeerRefusedOurBytesCanBeRead) {
  connect();
  ASSERT_TRUE(await(write_pieces(far(), {"too large"})).ok());
  await_input();
  reset_when_closed(far_fd());
  far().close();
  bool refused = false;
  run_until([&] {
    refused = !await(write_pieces(near(), {"more", "and more"})).ok();
    return refused;
  });
  const auto why = await(read_bytes(near(), 9));
  ASSERT_TRUE(why.ok()) << why.error().context;
  EXPECT_EQ(*why, "too large");
  EXPECT_FALSE(near().is_quiet());
}

struct Handshake {
  const char* name;
  std::function<void(int fd)> peer;
  ErrorKind kind;
};

TEST_F(TlsStreamTest, AHandshakeSaysWhatCameInItsWay) {
  const Handshake cases[] = {
      {"an end", [](int fd) { ::shutdown(fd, SHUT_WR); }, ErrorKind::Closed},
      {"a reset", [](int fd) { reset(fd); }, ErrorKind::Reset},
      {"no TLS", [](int fd) { send_text(fd, "HTTP/1.1 400 Bad Request\r\n\r\n"); }, ErrorKind::BadInput},
      {"an alert", [](int fd) { send_text(fd, std::string_view("\x15\x03\x03\x00\x02\x02\x28", 7)); }, ErrorKind::BadInput},
  };
  for (const Handshake& c : cases) {
    const auto [far, near] = make_tcp_pair();
    ends_.make_client(wrap(near, ErrorSource::Upstream));
    c.peer(far);
    const auto done = await(handshake(*ends_.client));
    ASSERT_FALSE(done.ok()) << c.name;
    EXPECT_EQ(done.error().kind, c.kind) << c.name << ": " << done.error().context;
    EXPECT_EQ(done.error().source, ErrorSource::Upstream);
    EXPECT_EQ(done.error().sent, Sent::No);
    if (c.kind != ErrorKind::Reset) ::close(far);
  }
}

TEST_F(TlsStreamTest, AHandshakeThatNobodyAnswersEndsAtItsDeadlineOrWhenItIsClosed) {
  for (const bool close : {false, true}) {
    const auto [far, near] = make_tcp_pair();
    ends_.make_client(wrap(near));
    std::optional<Result<void>> result;
    bool done = false;
    start(store_handshake(*ends_.client, clock_.now() + std::chrono::seconds(10), result), done);
    settle();
    EXPECT_FALSE(done);
    if (close)
      ends_.client->close();
    else
      clock_.advance(std::chrono::seconds(11));
    run_until([&] { return done; });
    EXPECT_EQ(result->error().kind, close ? ErrorKind::Cancelled : ErrorKind::TimedOut);
    ::close(far);
  }
}

TEST_F(TlsStreamTest, ACertificateThatDoesNotVerifyIsUntrustedAndThePeerIsToldSo) {
  const TestAuthority other;
  for (const bool wrong_name : {false, true}) {
    const auto [server, client] = make_tcp_pair();
    if (!wrong_name) ends_.client_context = *certs::make_client_context(other.root_file());
    ends_.make_server(wrap(server));
    ends_.make_client(wrap(client, ErrorSource::Upstream));
    if (wrong_name) SSL_set1_host(ends_.client->ssl(), "other.example.test");
    std::optional<Result<void>> of_server;
    bool done = false;
    start(store_handshake(*ends_.server, kNever, of_server), done);
    const auto of_client = await(handshake(*ends_.client));
    ASSERT_FALSE(of_client.ok());
    EXPECT_EQ(of_client.error().kind, ErrorKind::Untrusted) << of_client.error().context;
    EXPECT_THAT(of_client.error().context, HasSubstr("upstream.ca_file"));
    run_until([&] { return done; });
    ASSERT_FALSE(of_server->ok());
    EXPECT_EQ(of_server->error().kind, ErrorKind::BadInput);
    EXPECT_THAT(of_server->error().context, Not(HasSubstr("not trusted"))) << "it is not the server that verifies";
    ends_.client_context = *certs::make_client_context(ends_.authority.root_file());
  }
}

// A client may send its ClientHello together with CONNECT.
TEST_F(TlsStreamTest, BytesThatWereReadBeforeComeFirst) {
  for (const size_t part : {1u, 2u, 1000u}) {
    const auto [server, client] = make_tcp_pair();
    ends_.make_client(wrap(client));
    std::optional<Result<void>> of_client;
    bool done = false;
    start(store_handshake(*ends_.client, kNever, of_client), done);
    Received hello;
    run_until([&hello, peer = server] {  // named anew: clang 14 does not capture structured bindings
      hello.take_from(peer);
      return !hello.text.empty();
    });
    const size_t early = std::min(hello.text.size(), hello.text.size() * part / 1000 + 1);
    send_text(client, hello.text.substr(early));
    ends_.make_server(wrap(server), hello.text.substr(0, early));
    EXPECT_TRUE(ends_.server->has_input());
    EXPECT_FALSE(ends_.server->tell_readable([] { ADD_FAILURE() << "it may be read now"; }));
    EXPECT_TRUE(await(handshake(*ends_.server)).ok()) << early << " of " << hello.text.size();
    run_until([&] { return done; });
    EXPECT_TRUE(of_client->ok());
    EXPECT_TRUE(await(write_pieces(*ends_.client, {"a request"})).ok());
    EXPECT_EQ(*await(read_bytes(*ends_.server, 9)), "a request");
  }
}

struct Writing {
  Sizes pieces;
  Sizes records;
};

// Each record costs an encryption of its own, and each write a system call.
TEST_F(TlsStreamTest, PiecesShareRecordsAndArriveInOrder) {
  constexpr size_t kRecord = 16 * 1024;
  const Writing cases[] = {
      {{}, {}},
      {{0, 0}, {}},
      {{5}, {5}},
      {{5, 1, 10}, {16}},
      {{0, 5, 0}, {5}},
      {{1, kRecord - 1}, {kRecord}},
      {{1, kRecord}, {kRecord, 1}},
      {{kRecord, 1}, {kRecord, 1}},
      {{kRecord + 1}, {kRecord, 1}},
      {{4000, 4000, 4000, 4000, 4000}, {kRecord, 20000 - kRecord}},
      {{300, 40000}, {kRecord, kRecord, 40300 - 2 * kRecord}},
      {{40000, 300}, {kRecord, kRecord, 40300 - 2 * kRecord}},
      {{100, 2 * kRecord - 100, 0}, {kRecord, kRecord}},
      {{100, 2 * kRecord, 7}, {kRecord, kRecord, 107}},
  };
  connect();
  for (const Writing& c : cases) {
    std::string all;
    for (const size_t size : c.pieces) {
      for (size_t i = 0; i < size; ++i) all += static_cast<char>('a' + (all.size() / 7) % 26);
    }
    std::vector<std::string_view> pieces;
    size_t begin = 0;
    for (const size_t size : c.pieces) pieces.push_back(std::string_view(all).substr(std::exchange(begin, begin + size), size));
    const uint64_t before = near().bytes_written();
    ASSERT_TRUE(await(write_pieces(near(), pieces)).ok());
    std::string sealed(near().bytes_written() - before, 0);
    run_until([&] {
      if (sealed.empty()) return true;
      return ::recv(far_fd(), sealed.data(), sealed.size(), MSG_PEEK | MSG_DONTWAIT) == static_cast<ssize_t>(sealed.size());
    });
    EXPECT_EQ(contents_of(sealed), c.records) << ::testing::PrintToString(c.pieces);
    const auto got = await(read_bytes(far(), all.size()));
    ASSERT_TRUE(got.ok());
    EXPECT_TRUE(*got == all) << ::testing::PrintToString(c.pieces);
  }
}

Task<void> write_often(ByteStream& stream, size_t times, std::string& all) {
  for (size_t i = 0; i < times; ++i) {
    const std::string head(900, static_cast<char>('a' + i % 26)), content(1100, static_cast<char>('A' + i % 26));
    all += head + content;
    const std::vector<std::string_view> pieces{head, content};
    const auto written = co_await stream.write_all(pieces, kNever);
    EXPECT_TRUE(written.ok());
  }
}

// They are gathered in memory that all connections of the thread share.
TEST_F(TlsStreamTest, SmallPiecesThatMustWaitAreNotThoseOfAnother) {
  connect();
  constexpr size_t kTimes = 10000;
  std::string all;
  bool done = false;
  start(write_often(near(), kTimes, all), done);
  settle();
  ASSERT_FALSE(done) << "the system takes it all";
  ASSERT_TRUE(await(write_pieces(far(), {std::string(5000, '1'), std::string(5000, '2')})).ok());
  const auto got = await(read_bytes(far(), kTimes * 2000));
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(*got == all);
  run_until([&] { return done; });
}

// OpenSSL takes 17 KB for a read and as much for a write, thousands of times over where thousands of connections are idle.
TEST_F(TlsStreamTest, HoldsNoRecordMemoryWhileItWaits) {
  ASSERT_TRUE(kPooled);
  ends_.make_server(wrap(fds_.first));
  ends_.make_client(wrap(fds_.second));
  ASSERT_TRUE(await(TlsEnds::shake_hands(far(), near())));
  for (int i = 0; i < 3; ++i) {
    std::optional<Result<size_t>> got;
    bool done = false;
    start(store_read(far(), kNever, got), done);
    settle();
    EXPECT_EQ(certs::record_blocks_in_use(), 0u);
    ASSERT_TRUE(await(write_pieces(near(), {"a", "b"})).ok());
    run_until([&] { return got.has_value(); });
    EXPECT_EQ(got->value(), 2u);
  }
}

TEST_F(TlsStreamTest, LookingForInputTakesNothingNorThatTheConnectionBroke) {
  connect();
  reset_when_closed(far_fd());
  far().close();
  await_input();
  EXPECT_TRUE(near().is_broken());
  const auto got = await(read_once(near()));
  ASSERT_FALSE(got.ok()) << "an end of kind " << static_cast<int>(near().end());
  EXPECT_EQ(got.error().kind, ErrorKind::Reset);
}

TEST_F(TlsStreamTest, IsNotQuietWithContentWhichCanStillBeRead) {
  connect();
  ASSERT_TRUE(await(write_pieces(far(), {"unasked"})).ok());
  await_input();
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(near().is_quiet());
  EXPECT_FALSE(near().tell_readable([] { ADD_FAILURE() << "it may be read now"; }));
  EXPECT_EQ(*await(read_bytes(near(), 7)), "unasked");
  EXPECT_TRUE(near().is_quiet());
  near().close();
  EXPECT_FALSE(near().is_quiet());
}

// The beginning of an unasked answer: the rest would come as the answer to whoever is handed the connection.
TEST_F(TlsStreamTest, IsNotQuietWithHalfARecord) {
  connect();
  send_text(far_fd(), std::string_view("\x17\x03\x03\x00\x30ten bytes", 14));
  await_input();
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(near().is_quiet());
}

}  // namespace
}  // namespace armgate::net::tls_stream_test
