// Goal: both streams carry bytes whole, tell an orderly end from a break, and obey deadlines and cancels.
// Method: loopback sockets; TLS between two of armgate's own streams.
#include <gmock/gmock.h>

#include <algorithm>

#include "certs/record_pool.h"
#include "certs/tls_context.h"
#include "proxy/net/socket/input_buffer.h"
#include "proxy/net/socket/plain_stream.h"
#include "proxy/net/socket/tls_stream.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net {
namespace {

const bool kPooled = certs::use_record_pool();  // before anything of OpenSSL is used

Task<Result<std::string>> read_all(ByteStream& stream) {
  std::string text;
  while (true) {
    const auto got = co_await stream.read_some(scratch_area(), kNever);
    if (!got) co_return got.error();
    if (*got == 0) co_return text;
    text.append(scratch_area().data(), *got);
  }
}

Task<Result<void>> write_pieces(ByteStream& stream, std::vector<std::string_view> pieces, TimePoint deadline) {
  co_return co_await stream.write_all(pieces, deadline);
}

Task<void> write_and_end(ByteStream& stream, std::vector<std::string_view> pieces) {
  const auto written = co_await stream.write_all(pieces, kNever);
  if (written) co_await stream.shutdown(kNever);
}

Task<void> store_handshake(TlsStream& stream, std::optional<Result<void>>& into) {
  into.emplace(co_await stream.handshake(kNever));
}

Task<void> store_read(ByteStream& stream, TimePoint deadline, std::optional<Result<size_t>>& into) {
  into.emplace(co_await stream.read_some(scratch_area(), deadline));
}

Task<void> store_write(ByteStream& stream, std::string_view text, TimePoint deadline, std::optional<Result<void>>& into) {
  into.emplace(co_await stream.write_all(text, deadline));
}

enum class Kind { Plain, Tls };

class StreamTest : public NetTest, public ::testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    const auto [near, far] = make_tcp_pair();
    far_fd_ = far;
    if (GetParam() == Kind::Plain) {
      near_ = std::make_unique<PlainStream>(wrap(near));
      far_ = std::make_unique<PlainStream>(wrap(far));
      return;
    }
    client_context_ = *certs::make_client_context(authority_.root_file());
    server_context_ = *authority_.cache().context_for("a.example.test", TestAuthority::now());
    auto server = *TlsStream::make(wrap(near), server_context_.get());
    auto client = *TlsStream::make(wrap(far), client_context_.get());
    SSL_set_accept_state(server->ssl());
    SSL_set_connect_state(client->ssl());
    SSL_set1_host(client->ssl(), "a.example.test");
    std::optional<Result<void>> one, two;
    bool one_done = false, two_done = false;
    start(store_handshake(*server, one), one_done);
    start(store_handshake(*client, two), two_done);
    run_until([&] { return one_done && two_done; });
    ASSERT_TRUE(one->ok() && two->ok());
    near_ = std::move(server);
    far_ = std::move(client);
  }
  void TearDown() override {
    near_->close();
    far_->close();
    settle();
  }

  TestAuthority authority_;
  certs::ContextHandle client_context_;
  std::shared_ptr<SSL_CTX> server_context_;
  std::unique_ptr<ByteStream> near_, far_;
  int far_fd_ = -1;
};

INSTANTIATE_TEST_SUITE_P(Both, StreamTest, ::testing::Values(Kind::Plain, Kind::Tls),
                         [](const auto& row) { return row.param == Kind::Plain ? "Plain" : "Tls"; });

TEST_P(StreamTest, CarriesManyPiecesOfAllSizesInOrder) {
  std::vector<std::string> texts;
  for (const size_t size : {0, 1, 16383, 16384, 16385, 100000, 0, 3, 3000000, 7, 16380, 10, 1, 0, 40000}) {
    texts.emplace_back(size, static_cast<char>('a' + texts.size()));
  }
  std::string all;
  for (const auto& text : texts) all += text;
  bool written = false;
  start(write_and_end(*near_, {texts.begin(), texts.end()}), written);
  const auto got = await(read_all(*far_));
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(*got == all);
  EXPECT_TRUE(written);
  EXPECT_EQ(far_->end(), StreamEnd::Notified);
  EXPECT_GE(near_->bytes_written(), all.size());
}

TEST_P(StreamTest, TellsAResetFromAnEnd) {
  const linger at_once{1, 0};
  ::setsockopt(far_fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  far_->close();
  const auto got = await(read_all(*near_));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::Reset);
}

TEST_P(StreamTest, TellsAnUnnotifiedEndOfTls) {
  ::shutdown(far_fd_, SHUT_WR);
  EXPECT_TRUE(await(read_all(*near_)).ok());
  EXPECT_EQ(near_->end(), GetParam() == Kind::Tls ? StreamEnd::Bare : StreamEnd::Notified);
}

// Who only half-closes still reads; an alert would tell the world that its answer did not arrive.
TEST_P(StreamTest, MeetsAnUnnotifiedEndWithSilenceAndCanStillWrite) {
  const uint64_t before = near_->bytes_written();
  ::shutdown(far_fd_, SHUT_WR);
  EXPECT_TRUE(await(read_all(*near_)).ok());
  EXPECT_EQ(near_->bytes_written(), before);
  bool written = false;
  start(write_and_end(*near_, {"the answer"}), written);
  const auto got = await(read_all(*far_));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, "the answer");
}

TEST_P(StreamTest, KnowsWhatThePeersMachineHasTaken) {
  ASSERT_TRUE(await(write_pieces(*near_, {"the answer"}, kNever)).ok());
  const uint64_t answered = near_->bytes_written();
  std::optional<Result<size_t>> got;
  bool done = false;
  start(store_read(*far_, kNever, got), done);
  run_until([&] { return done; });
  far_->acknowledge_now();
  EXPECT_EQ(near_->bytes_acknowledged(), answered) << "without waiting for something to send it with";
  EXPECT_FALSE(near_->is_broken());
  far_->close();
  await(near_->shutdown(kNever));
  settle();
  EXPECT_GE(near_->bytes_acknowledged(), answered) << "whatever became of our own end";
  EXPECT_EQ(near_->is_broken(), GetParam() == Kind::Tls) << "close_notify came to a connection that was gone";
}

TEST_P(StreamTest, WritingToABrokenPeerIsAnErrorAndNoSignal) {
  far_->close();
  settle();
  std::optional<Result<void>> last;
  for (int i = 0; i < 3; ++i) {
    last.emplace(await(write_pieces(*near_, {"x"}, kNever)));
    settle();
  }
  ASSERT_FALSE(last->ok());
  EXPECT_EQ(last->error().kind, ErrorKind::Reset);
}

TEST_P(StreamTest, ReadsUntilTheDeadlineAndCanReadAgain) {
  std::optional<Result<size_t>> got;
  bool done = false;
  start(store_read(*near_, clock_.now() + std::chrono::seconds(5), got), done);
  settle();
  EXPECT_FALSE(done);
  clock_.advance(std::chrono::seconds(6));
  run_until([&] { return done; });
  EXPECT_EQ(got->error().kind, ErrorKind::TimedOut);
  ASSERT_TRUE(await(write_pieces(*far_, {"still here"}, kNever)).ok());
  done = false;
  start(store_read(*near_, clock_.now() + std::chrono::seconds(5), got), done);
  run_until([&] { return done; });
  EXPECT_EQ(got->value(), 10u);
}

TEST_P(StreamTest, AWriteThatNobodyTakesEndsAtItsDeadline) {
  const std::string much(16 << 20, 'x');
  std::optional<Result<void>> result;
  bool done = false;
  start(store_write(*near_, much, clock_.now() + std::chrono::seconds(5), result), done);
  settle();
  EXPECT_FALSE(done);
  EXPECT_GT(near_->unacknowledged(), 0u);
  clock_.advance(std::chrono::seconds(6));
  run_until([&] { return done; });
  EXPECT_EQ(result->error().kind, ErrorKind::TimedOut);
}

TEST_P(StreamTest, ACancelledOrClosedReadSaysSo) {
  for (const bool close : {false, true}) {
    std::optional<Result<size_t>> got;
    bool done = false;
    start(store_read(*near_, kNever, got), done);
    settle();
    if (close)
      near_->close();
    else
      near_->cancel_read();
    run_until([&] { return done; });
    EXPECT_EQ(got->error().kind, ErrorKind::Cancelled);
  }
}

TEST_P(StreamTest, TellsOnceThatSomethingMayBeRead) {
  std::optional<Result<size_t>> got;
  bool done = false;
  start(store_read(*near_, kNever, got), done);
  ASSERT_TRUE(await(write_pieces(*far_, {"first"}, kNever)).ok());
  run_until([&] { return done; });
  int told = 0;
  ASSERT_TRUE(near_->tell_readable([&] { ++told; }));
  settle();
  EXPECT_EQ(told, 0);
  ASSERT_TRUE(await(write_pieces(*far_, {"second"}, kNever)).ok());
  run_until([&] { return told > 0; });
  ASSERT_TRUE(await(write_pieces(*far_, {"third"}, kNever)).ok());
  settle();
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(near_->tell_readable([&] { ++told; })) << "what came is still there";
  far_->close();
  const auto rest = await(read_all(*near_));
  if (rest.ok()) {
    EXPECT_EQ(*rest, "secondthird");
  }
}

TEST_P(StreamTest, TellsNothingThatWasTakenBack) {
  std::optional<Result<size_t>> got;
  bool done = false;
  start(store_read(*near_, clock_.now(), got), done);
  run_until([&] {
    clock_.advance(std::chrono::seconds(1));
    return done;
  });
  int told = 0;
  ASSERT_TRUE(near_->tell_readable([&] { ++told; }));
  near_->tell_readable(nullptr);
  ASSERT_TRUE(await(write_pieces(*far_, {"x"}, kNever)).ok());
  settle();
  EXPECT_EQ(told, 0);
  EXPECT_FALSE(near_->is_quiet());
}

// OpenSSL takes 17 KB for a read and as much for a write, thousands of times over where thousands of connections are idle.
TEST_P(StreamTest, HoldsNoRecordMemoryWhileItWaits) {
  ASSERT_TRUE(kPooled);
  for (int i = 0; i < 3; ++i) {
    std::optional<Result<size_t>> got;
    bool done = false;
    start(store_read(*near_, kNever, got), done);
    settle();
    EXPECT_EQ(certs::record_blocks_in_use(), 0u);
    ASSERT_TRUE(await(write_pieces(*far_, {"a", "b"}, kNever)).ok());
    run_until([&] { return got.has_value(); });
    EXPECT_EQ(got->value(), 2u);
  }
}

TEST_P(StreamTest, IsQuietUntilSomethingComes) {
  settle();
  EXPECT_TRUE(near_->is_quiet());
  EXPECT_TRUE(far_->is_quiet()) << "session tickets are no content";
  ASSERT_TRUE(await(write_pieces(*far_, {"x"}, kNever)).ok());
  settle();
  EXPECT_FALSE(near_->is_quiet());
  near_->close();
  settle();
  EXPECT_FALSE(far_->is_quiet());
}

}  // namespace
}  // namespace armgate::net
