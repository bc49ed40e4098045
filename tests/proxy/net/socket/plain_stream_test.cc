// Goal: what a stream without TLS promises beyond every stream: FIN is an orderly end, nothing is added, its socket can be had back.
// Method: two ends of a loopback connection.
#include "proxy/net/socket/plain_stream.h"

#include <gtest/gtest.h>

#include "tests/proxy/net/net_test_support.h"
#include "tests/proxy/net/socket/stream_tasks.h"

namespace armgate::net::plain_stream_test {
namespace {

class PlainStreamTest : public NetTest {
 protected:
  PlainStreamTest() : fds_(make_tcp_pair()), stream_(std::make_unique<PlainStream>(wrap(fds_.first))) {}
  ~PlainStreamTest() override {
    stream_->close();
    settle();
    if (fds_.second >= 0) ::close(fds_.second);
  }
  void await_input() {
    run_until([this] { return stream_->has_input(); });
  }

  std::pair<int, int> fds_;
  std::unique_ptr<PlainStream> stream_;
};

TEST_F(PlainStreamTest, FinIsAnOrderlyEndAndStays) {
  send_text(fds_.second, "last words");
  ::shutdown(fds_.second, SHUT_WR);
  EXPECT_EQ(stream_->end(), StreamEnd::Open);
  EXPECT_EQ(*await(read_bytes(*stream_, 10)), "last words");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(*await(read_once(*stream_)), 0u);
    EXPECT_EQ(stream_->end(), StreamEnd::Notified);
    EXPECT_FALSE(stream_->is_quiet());
  }
  EXPECT_TRUE(await(write_pieces(*stream_, {"an answer"})).ok()) << "our direction is still open";
}

TEST_F(PlainStreamTest, WritesThePiecesAndNothingElse) {
  std::string all;
  std::vector<std::string> texts;
  for (size_t i = 0; i < 20; ++i) texts.emplace_back(i % 5, static_cast<char>('a' + i));  // more than leave at once
  for (const std::string& text : texts) all += text;
  ASSERT_TRUE(await(write_pieces(*stream_, {texts.begin(), texts.end()})).ok());
  EXPECT_EQ(stream_->bytes_written(), all.size());
  ASSERT_TRUE(await(write_pieces(*stream_, {"", ""})).ok());
  EXPECT_EQ(stream_->bytes_written(), all.size());
  await(stream_->shutdown(kNever));
  Received received;
  run_until([&] {
    received.take_from(fds_.second);
    return received.ended;
  });
  EXPECT_EQ(received.text, all);
  const auto after = await(write_pieces(*stream_, {"more"}));
  ASSERT_FALSE(after.ok()) << "our direction is over";
  EXPECT_EQ(after.error().kind, ErrorKind::Reset);
}

TEST_F(PlainStreamTest, LookingForInputTakesNothingNorThatTheConnectionBroke) {
  EXPECT_FALSE(stream_->has_input());
  EXPECT_TRUE(stream_->is_quiet());
  send_text(fds_.second, "abc");
  await_input();
  EXPECT_FALSE(stream_->is_quiet());
  EXPECT_EQ(*await(read_bytes(*stream_, 3)), "abc");
  EXPECT_TRUE(stream_->is_quiet());
  reset(std::exchange(fds_.second, -1));
  await_input();
  EXPECT_FALSE(stream_->is_quiet());
  const auto got = await(read_once(*stream_));
  ASSERT_FALSE(got.ok()) << "no orderly end";
  EXPECT_EQ(got.error().kind, ErrorKind::Reset);
  EXPECT_EQ(stream_->end(), StreamEnd::Open);
}

// A TLS handshake follows on it, and what was not read is the handshake's.
TEST_F(PlainStreamTest, GivesItsSocketUpWithWhatWasNotRead) {
  send_text(fds_.second, "CONNECTand more");
  await_input();
  char head[7];
  const auto read_head = [](ByteStream& stream, std::span<char> into) { return stream.read_some(into, kNever); };
  ASSERT_EQ(*await(read_head(*stream_, head)), 7u);
  stream_ = std::make_unique<PlainStream>(stream_->release());
  EXPECT_EQ(*await(read_bytes(*stream_, 8)), "and more");
  EXPECT_TRUE(await(write_pieces(*stream_, {"x"})).ok());
}

TEST_F(PlainStreamTest, ClosedItDoesNothingMore) {
  send_text(fds_.second, "abc");
  await_input();
  stream_->close();
  const auto got = await(read_once(*stream_));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::Cancelled);
  const auto written = await(write_pieces(*stream_, {"x"}));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::Cancelled);
  EXPECT_FALSE(stream_->is_quiet());
}

}  // namespace
}  // namespace armgate::net::plain_stream_test
