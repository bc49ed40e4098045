// Goal: what a connection's end says about its last answers: they arrived, they did not, and nobody waits for ever to know.
// Method: real TLS over loopback for what OpenSSL and the system do; a stream that the test moves for what only a slow or broken
// network shows; a clock that stands.
#include <gmock/gmock.h>

#include <array>
#include <optional>

#include "tests/proxy/net/client/moved_stream.h"
#include "tests/proxy/net/client/session_fixture.h"
#include "tests/proxy/net/socket/tls_ends.h"

namespace armgate::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MovedSession : public SessionFixture {
 protected:
  MovedSession() {
    auto stream = std::make_unique<MovedStream>(clock_, executor());
    stream_ = stream.get();
    make_session(std::move(stream));
    begin();
  }
  void ask(const std::string& request) {
    const size_t before = seen_.size();
    stream_->send(request);
    run_until([&] { return seen_.size() > before; });
    settle();
  }
  void pass(Duration time) {
    clock_.advance(time);
    settle();
  }
  // A client that ended its direction while its answer was still to come.
  void answer_somebody_who_had_left() {
    ask(get("/slow"));
    stream_->leave();
    pass(seconds(1));
    ASSERT_THAT(stream_->written, HasSubstr("hello"));
    EXPECT_THAT(log_, ElementsAre());
  }

  MovedStream* stream_;
};

TEST_F(MovedSession, AnAnswerToSomebodyWhoHadLeftIsDroppedAsSoonAsThatIsKnown) {
  answer_somebody_who_had_left();
  stream_->break_off();
  pass(milliseconds(10));
  EXPECT_THAT(log_, ElementsAre("drop /slow"));
  EXPECT_TRUE(ended_);
}

TEST_F(MovedSession, WhoEndedOnlyItsOwnDirectionIsAwaited) {
  answer_somebody_who_had_left();
  EXPECT_TRUE(stream_->has_ended_writing) << "it may wait for that";
  stream_->acknowledged = stream_->written.size();
  pass(milliseconds(10));
  EXPECT_THAT(log_, ElementsAre("confirm /slow"));
  EXPECT_TRUE(ended_);
}

TEST_F(MovedSession, WhoNeverAcknowledgesIsNotAwaitedForLong) {
  answer_somebody_who_had_left();
  for (int i = 0; i < 12; ++i) pass(milliseconds(200));
  EXPECT_THAT(log_, ElementsAre("drop /slow"));
  EXPECT_TRUE(ended_);
}

TEST_F(MovedSession, WhatWasAcknowledgedBeforeAResetToOurFarewellHasArrived) {
  ask(get("/a", "Connection: close\r\n"));
  stream_->acknowledged = stream_->written.size();
  stream_->leave();
  stream_->break_off();
  stream_->written += "close_notify";
  pass(seconds(1));
  EXPECT_THAT(log_, ElementsAre("confirm /a"));
}

TEST_F(MovedSession, ACutLeavesOpenWhatItsAnswersCameTo) {
  answer_somebody_who_had_left();
  session_->abort();
  pass(seconds(5));
  EXPECT_TRUE(ended_);
  EXPECT_THAT(log_, ElementsAre());
}

TEST_F(MovedSession, HalfARecordDoesNotHoldTheDrain) {
  ask(get("/a"));
  stream_->acknowledged = stream_->written.size();
  stream_->half_a_record = true;
  session_->drain();
  pass(milliseconds(1900));
  EXPECT_FALSE(stream_->has_ended_writing) << "the rest may be on its way";
  for (int i = 0; i < 12; ++i) pass(milliseconds(200));
  EXPECT_TRUE(ended_);
  EXPECT_THAT(log_, ElementsAre("confirm /a"));
}

TEST_F(MovedSession, HalfARecordDoesNotOutliveTheConnection) {
  ask(get("/a"));
  stream_->half_a_record = true;
  session_->drain();
  settle();
  session_->abort();
  settle();
  EXPECT_TRUE(ended_);
}

// Whoever asks for the end of the connection may wait for it.
TEST_F(MovedSession, TheEndAfterALastAnswerComesSoon) {
  ask(get("/a", "Connection: close\r\n"));
  stream_->acknowledged = stream_->written.size();
  EXPECT_FALSE(stream_->has_ended_writing) << "it may close first";
  pass(milliseconds(250));
  EXPECT_THAT(log_, ElementsAre("confirm /a"));
  EXPECT_TRUE(stream_->has_ended_writing);
  EXPECT_FALSE(ended_) << "what it still sends must not destroy the answer";
  stream_->leave();
  settle();
  EXPECT_TRUE(ended_);
}

TEST_F(MovedSession, WhatComesAfterTheAnswerWhileItsHandlerStillWatchesIsAReceipt) {
  ask(get("/watch-to-the-end"));
  stream_->send(get("/b"));
  settle();
  pass(seconds(1));
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_THAT(log_, ElementsAre("confirm /watch-to-the-end"));
}

TEST_F(MovedSession, AHeadWhoseContentIsStillToComeIsAcknowledgedAtOnce) {
  ask(get("/a"));
  EXPECT_EQ(stream_->acknowledgements, 0) << "its answer does that";
  stream_->send("PUT /b HTTP/1.1\r\nHost: arm.example.test\r\nContent-Length: 3\r\n\r\n");
  settle();
  EXPECT_EQ(stream_->acknowledgements, 1);
  stream_->send("abc");
  run_until([this] { return seen_.size() == 2; });
}

Task<void> ask_once(TlsStream& stream, std::string request, std::string& answer) {
  const auto written = co_await stream.write_all(request, kNever);
  EXPECT_TRUE(written.ok());
  std::array<char, 1024> piece;
  while (!answer.ends_with("hello")) {
    const auto got = co_await stream.read_some(piece, kNever);
    if (!got || *got == 0) co_return;
    answer.append(piece.data(), *got);
  }
}

class TlsSession : public SessionFixture {
 protected:
  void SetUp() override {
    const auto [server, client] = make_tcp_pair();
    ends_.make_server(wrap(server));
    ends_.make_client(wrap(client));
    ASSERT_TRUE(await(TlsEnds::shake_hands(*ends_.server, *ends_.client)));
    make_session(std::move(ends_.server));
    begin();
  }

  TlsEnds ends_;
};

// As Python's http.client does, and every process that ends: FIN without close_notify.
TEST_F(TlsSession, AClientThatHasReadItsAnswerAndIsGoneWithoutFarewellHasGotIt) {
  std::string answer;
  bool read = false;
  start(ask_once(*ends_.client, get("/a"), answer), read);
  run_until([&] { return read; });
  ASSERT_THAT(answer, ::testing::EndsWith("hello"));
  ends_.client->close();
  run_until([this] { return ended_; });
  EXPECT_THAT(log_, ElementsAre("confirm /a"));
}

}  // namespace
}  // namespace armgate::net
