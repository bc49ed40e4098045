// Goal: both streams carry bytes whole, tell an orderly end from a break, and obey deadlines and cancels.
// Method: loopback sockets; TLS between two of armgate's own streams.
#include <gmock/gmock.h>

#include <algorithm>

#include "proxy/net/socket/plain_stream.h"
#include "tests/proxy/net/socket/stream_tasks.h"
#include "tests/proxy/net/socket/tls_ends.h"

namespace armgate::net {
namespace {

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
    ends_.make_server(wrap(near));
    ends_.make_client(wrap(far));
    ASSERT_TRUE(await(TlsEnds::shake_hands(*ends_.server, *ends_.client)));
    near_ = std::move(ends_.server);
    far_ = std::move(ends_.client);
  }
  void TearDown() override {
    near_->close();
    far_->close();
    settle();
  }

  TlsEnds ends_;
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
  reset_when_closed(far_fd_);
  far_->close();
  const auto got = await(read_all(*near_));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::Reset);
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

TEST_P(StreamTest, AReadGoesOnWhileAWriteWaitsAndCloseWakesTheWrite) {
  const std::string much(16 << 20, 'x');
  std::optional<Result<void>> result;
  bool done = false;
  start(store_write(*near_, much, kNever, result), done);
  settle();
  ASSERT_FALSE(done);
  ASSERT_TRUE(await(write_pieces(*far_, {"against the stream"})).ok());
  const auto got = await(read_bytes(*near_, 18));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, "against the stream");
  ASSERT_FALSE(done);
  near_->close();
  run_until([&] { return done; });
  EXPECT_EQ(result->error().kind, ErrorKind::Cancelled);
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

// One byte each, until an error.
Task<void> read_bytewise(ByteStream& stream, size_t& count, std::optional<Error>& failure) {
  char byte = 0;
  while (!failure) {
    const auto got = co_await stream.read_some(std::span(&byte, 1), kNever);
    if (got)
      ++count;
    else
      failure = got.error();
  }
}

Task<void> write_bytewise(ByteStream& stream, size_t& count) {
  for (; count < 1000; ++count) {
    const auto written = co_await stream.write_all("x", kNever);
    EXPECT_TRUE(written.ok());
  }
}

// A peer that is as fast as this machine is never waited for.
TEST_P(StreamTest, WhoNeverHasToWaitLetsOthersRunAndCanBeStoppedThen) {
  const std::string text(1000, 'x');
  for (const bool close : {false, true}) {
    ASSERT_TRUE(await(write_pieces(*far_, {text}, kNever)).ok());
    char first = 0;
    ASSERT_TRUE(await(near_->read_some(std::span(&first, 1), kNever)).ok());  // all of it is here then
    size_t count = 1;
    std::optional<Error> failure;
    bool done = false;
    start(read_bytewise(*near_, count, failure), done);
    boost::asio::post(executor(), [&] { close ? near_->close() : near_->cancel_read(); });
    run_until([&] { return count == 1000 || done; });
    ASSERT_TRUE(failure.has_value()) << "nobody else ran";
    EXPECT_EQ(failure->kind, ErrorKind::Cancelled);
    EXPECT_LE(count, 50u);
    if (close) continue;
    EXPECT_EQ(await(read_bytes(*near_, 1000 - count))->size(), 1000 - count) << "the rest is still there";
  }
}

TEST_P(StreamTest, WhoseBytesAreAlwaysTakenLetsOthersRunAllTheSame) {
  size_t count = 0;
  size_t at_the_others_turn = 0;
  bool done = false;
  start(write_bytewise(*near_, count), done);
  boost::asio::post(executor(), [&] { at_the_others_turn = count; });
  run_until([&] { return done; });
  EXPECT_LE(at_the_others_turn, 50u);
  EXPECT_EQ(count, 1000u);
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
