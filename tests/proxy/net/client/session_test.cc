// Goal: an intercepted connection serves well-formed requests in order, refuses the rest, and knows what was delivered.
// Method: the real session over a loopback connection, a handler that answers by the request's path, a clock that
// stands.
#include "proxy/net/client/session.h"

#include <gmock/gmock.h>

#include "tests/proxy/net/client/session_fixture.h"

namespace armgate::net {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kHost = "Host: arm.example.test\r\n";

class SessionTest : public PlainSession {
 protected:
  // While the answer to `first`, which takes a second, is not written yet.
  void ask_for_b_during(const std::string& first) {
    begin();
    send_text(client_, get(first));
    run_until([this] { return !seen_.empty(); });
    send_text(client_, get("/b"));
    settle();
    clock_.advance(std::chrono::seconds(2));
    run_until([this] { return seen_.size() == 2; });
  }
  void leave_orderly() {
    ::shutdown(client_, SHUT_WR);
    run_until([this] { return ended_; });
  }
};

TEST_F(SessionTest, ServesRequestAfterRequest) {
  EXPECT_THAT(ask(get("/a"), "hello"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(log_, ElementsAre());
  EXPECT_THAT(ask(get("/b"), "hello"), HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(log_, ElementsAre("confirm /a"));
  leave_orderly();
  EXPECT_THAT(log_, ElementsAre("confirm /a", "confirm /b"));
  EXPECT_LT(arrived_[0], arrived_[1]);
}

TEST_F(SessionTest, ServesPipelinedRequestsInOrderWithoutTakingThemForAReceipt) {
  begin();
  send_text(client_, get("/a") + get("/b") + get("/c", "Connection: close\r\n"));
  receive_until("Connection: close\r\n\r\nhello");
  ASSERT_EQ(seen_.size(), 3u);
  EXPECT_EQ(seen_[2].head.target, "/c");
  EXPECT_EQ(arrived_[2], arrived_[0]);
  EXPECT_THAT(log_, ElementsAre());
  leave_orderly();
  EXPECT_THAT(log_, ElementsAre("confirm /a", "confirm /b", "confirm /c"));
}

TEST_F(SessionTest, WhatFollowsPipelinedRequestsComesWhenItComes) {
  begin();
  send_text(client_, get("/a") + get("/b"));
  run_until([this] { return seen_.size() == 2; });
  receive_until("hello");
  receive_until("hello");
  settle();
  clock_.advance(std::chrono::seconds(2));
  send_text(client_, get("/c"));
  run_until([this] { return seen_.size() == 3; });
  EXPECT_LT(arrived_[1], arrived_[2]) << "or it would count as asked before the answers that its client has read";
  EXPECT_THAT(log_, ElementsAre("confirm /a", "confirm /b"));
}

TEST_F(SessionTest, ARequestThatWasSentBeforeTheAnswerIsNoReceipt) {
  ask_for_b_during("/slow");
  EXPECT_EQ(arrived_[1], arrived_[0]) << "no later than the answer that its client had not read";
  receive_until("hello");
  EXPECT_THAT(log_, ElementsAre());
  EXPECT_THAT(ask(get("/c"), "hello"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(log_, ElementsAre("confirm /slow", "confirm /b"));
}

// RFC 9112 §2.2.
TEST_F(SessionTest, EmptyLinesBeforeARequestAreNoPartOfIt) {
  EXPECT_THAT(ask("\r\n" + get("/a"), "hello"), StartsWith("HTTP/1.1 200"));
  send_text(client_, "\r\n");
  settle();
  EXPECT_THAT(log_, ElementsAre()) << "it may have been sent before the answer came";
  clock_.advance(options_.head_max + std::chrono::seconds(1));
  settle();
  send_text(client_, "\r");
  settle();
  EXPECT_THAT(ask("\n\r\n" + get("/b"), "hello"), StartsWith("HTTP/1.1 200"));
  send_text(client_, "\r\n");
  settle();
  session_->drain();
  run_until([this] { return ended_; });
  EXPECT_THAT(log_, ElementsAre("confirm /a", "confirm /b"));
}

TEST_F(SessionTest, EmptyLinesBeforeARequestCountAsPartOfItsHead) {
  options_.limits.head_bytes_max = 1000;
  EXPECT_THAT(ask(get("/a"), "hello"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(empty_lines(500) + get("/b"), "hello"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(empty_lines(500) + get("/c"), "hello"), StartsWith("HTTP/1.1 200")) << "each for itself";
  EXPECT_THAT(ask(empty_lines(1002), "}}"), StartsWith("HTTP/1.1 400"));
}

TEST_F(SessionTest, WhatThisProcessSentItselfIsRefusedUnreadAndWhatAnotherArmgateSentIsNot) {
  options_.own_mark = "armgate-1";
  EXPECT_THAT(ask(get("/a", "Via: 1.1 armgate-2\r\n"), "hello"), StartsWith("HTTP/1.1 200"));
  const std::string refused =
      ask("PUT /b HTTP/1.1\r\n" + std::string(kHost) + "Via: 1.1 armgate-2\r\nVia: 1.1 armgate-1\r\nContent-Length: 5\r\n\r\n",
          "}}");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 508 Loop Detected\r\n"));
  EXPECT_THAT(refused, HasSubstr("\"ArmgateLoopDetected\""));
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(SessionTest, ReadsBodiesOfBothFramings) {
  ask("PUT /a HTTP/1.1\r\n" + std::string(kHost) + "Content-Length: 3\r\n\r\nabc", "hello");
  ask("PUT /b HTTP/1.1\r\n" + std::string(kHost) +
          "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nIf-Match: evil\r\n\r\n",
      "hello");
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].body, "abc");
  EXPECT_EQ(seen_[1].body, "abcde");
  EXPECT_FALSE(seen_[1].head.fields.has("If-Match"));
}

TEST_F(SessionTest, ReadsABodyThatArrivesByteByByte) {
  begin();
  for (const char c : "PUT /a HTTP/1.1\r\n" + std::string(kHost) + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n") {
    send_text(client_, std::string_view(&c, 1));
    settle();
  }
  receive_until("hello");
  EXPECT_EQ(seen_.at(0).body, "abc");
}

TEST_F(SessionTest, Says100OnlyWhenItIsAboutToReadTheBody) {
  const std::string head = "PUT /a HTTP/1.1\r\n" + std::string(kHost) + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  EXPECT_EQ(ask(head), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(ask("abc", "hello"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(head + "abc", "hello"), StartsWith("HTTP/1.1 200")) << "the body is here already";
  EXPECT_THAT(ask("PUT /a HTTP/1.1\r\n" + std::string(kHost) + "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
}

TEST_F(SessionTest, WritesNoContentWhereNoneMayBe) {
  EXPECT_THAT(ask("HEAD /a HTTP/1.1\r\n" + std::string(kHost) + "\r\n"), HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(ask(get("/204")), Not(HasSubstr("Content-Length")));
  EXPECT_THAT(ask(get("/304")), EndsWith("\r\n\r\n"));
  EXPECT_THAT(ask(get("/a"), "hello"), StartsWith("HTTP/1.1 200")) << "the connection is still in step";
}

TEST_F(SessionTest, EndsContentOfUnknownLengthWithTheConnectionForHttp10) {
  begin();
  send_text(client_, "GET /chunked HTTP/1.0\r\n" + std::string(kHost) + "\r\n");
  run_until([this] {
    received_.take_from(client_);
    return received_.ended;
  });
  EXPECT_THAT(received_.text, EndsWith("\r\n\r\nhello"));
}

TEST_F(SessionTest, CutsTheConnectionAfterAnUnfinishedAnswer) {
  ask(get("/cut"), "he\r\n");
  run_until([this] { return ended_; });
  received_.take_from(client_);
  EXPECT_TRUE(received_.ended || received_.broken);
  EXPECT_THAT(received_.text, Not(HasSubstr("0\r\n\r\n")));
  EXPECT_THAT(log_, ElementsAre("drop /cut"));
}

struct BadRequest {
  const char* name;
  std::string bytes;
  int status;
};

class MalformedRequest : public SessionTest, public ::testing::WithParamInterface<BadRequest> {};

TEST_P(MalformedRequest, GetsOneErrorInArmsShapeAndTouchesNothing) {
  const std::string answer = ask(GetParam().bytes, "}");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(GetParam().status) + " "));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n{\"error\":{\"code\":\"Armgate"));
  EXPECT_TRUE(seen_.empty());
  leave_orderly();
}

INSTANTIATE_TEST_SUITE_P(
    Session, MalformedRequest,
    ::testing::Values(
        BadRequest{"NoHost", "GET / HTTP/1.1\r\n\r\n", 400},
        BadRequest{"OtherHost", "GET / HTTP/1.1\r\nHost: other.example.test\r\n\r\n", 400},
        BadRequest{"OtherPort", "GET / HTTP/1.1\r\nHost: arm.example.test:444\r\n\r\n", 400},
        BadRequest{"TwoFramings",
                   "PUT / HTTP/1.1\r\nHost: arm.example.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        BadRequest{"BadChunk", "PUT / HTTP/1.1\r\nHost: arm.example.test\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\n", 400},
        BadRequest{"Nonsense", "\x01\x02\r\n\r\n", 400},
        BadRequest{"ConnectInside", "CONNECT a.example.test:443 HTTP/1.1\r\nHost: a.example.test:443\r\n\r\n", 400},
        BadRequest{"BodyTooLarge", "PUT / HTTP/1.1\r\nHost: arm.example.test\r\nContent-Length: 8388609\r\n\r\n", 413},
        BadRequest{"TargetTooLong", "GET /" + std::string(17000, 'a') + " HTTP/1.1\r\nHost: arm.example.test\r\n\r\n", 414},
        BadRequest{"HeadTooLong", "GET / HTTP/1.1\r\nHost: arm.example.test\r\nA: " + std::string(70000, 'a') + "\r\n\r\n",
                   431},
        BadRequest{"OtherVersion", "GET / HTTP/2.0\r\nHost: arm.example.test\r\n\r\n", 505}),
    [](const auto& row) { return row.param.name; });

TEST_F(SessionTest, RefusesASlowHeadAndASlowBody) {
  begin();
  send_text(client_, "GET / HT");
  settle();
  clock_.advance(std::chrono::seconds(11));
  receive_until("ArmgateRequestTimeout");
  EXPECT_THAT(received_.text, StartsWith("HTTP/1.1 408"));
}

TEST_F(SessionTest, ARefusalIsToldWithWhoAskedForWhat) {
  std::vector<std::string> told;
  events_ = [&told](const NetEvent& event) {
    for (const auto text : {event.client, event.host, event.method, event.path}) told.emplace_back(text);
  };
  ask("DELETE /a/b?sig=secret HTTP/1.1\r\nHost: other.example.test\r\n\r\n");
  EXPECT_THAT(told, ElementsAre("user", "arm.example.test", "DELETE", "/a/b"));
}

TEST_F(SessionTest, GivesABodyOneDeadlineInAll) {
  begin();
  send_text(client_, "PUT / HTTP/1.1\r\n" + std::string(kHost) + "Content-Length: 100\r\n\r\n");
  for (int i = 0; i < 5; ++i) {
    settle();
    clock_.advance(std::chrono::seconds(13));
    send_text(client_, "x");
  }
  receive_until("ArmgateRequestTimeout");
  EXPECT_TRUE(seen_.empty());
}

TEST_F(SessionTest, ClosesAnIdleConnection) {
  ask(get("/a"), "hello");
  settle();
  clock_.advance(SessionOptions{}.idle_max + std::chrono::seconds(1));
  run_until([this] { return ended_; });
  received_.take_from(client_);
  EXPECT_TRUE(received_.ended);
  EXPECT_THAT(log_, ElementsAre("confirm /a"));
}

TEST_F(SessionTest, DropsTheReceiptWhenTheConnectionIsReset) {
  ask(get("/a"), "hello");
  settle();
  reset(std::exchange(client_, -1));
  run_until([this] { return ended_; });
  EXPECT_THAT(log_, ElementsAre("drop /a"));
}

TEST_F(SessionTest, LetsTheClientCloseFirstAfterTheLastAnswer) {
  ask(get("/a", "Connection: close\r\n"), "hello");
  settle();
  received_.take_from(client_);
  EXPECT_FALSE(received_.ended);
  EXPECT_THAT(log_, ElementsAre());
  clock_.advance(std::chrono::seconds(3));
  run_until([this] { return ended_; });
  received_.take_from(client_);
  EXPECT_TRUE(received_.ended);
  EXPECT_THAT(log_, ElementsAre("confirm /a")) << "every byte was acknowledged and no reset came";
}

TEST_F(SessionTest, DropsTheReceiptOfALastAnswerThatMeetsAReset) {
  ask(get("/a", "Connection: close\r\n"), "hello");
  reset(std::exchange(client_, -1));
  run_until([this] { return ended_; });
  EXPECT_THAT(log_, ElementsAre("drop /a"));
}

TEST_F(SessionTest, NoticesThatTheClientLeftWhileItIsWatched) {
  begin();
  send_text(client_, get("/watch"));
  run_until([this] { return !seen_.empty(); });
  ::shutdown(client_, SHUT_WR);
  receive_until("hello");
  EXPECT_EQ(noticed_, 4u);
  run_until([this] { return ended_; });
}

TEST_F(SessionTest, NoticesAResetWhileItIsWatched) {
  begin();
  send_text(client_, get("/watch"));
  run_until([this] { return !seen_.empty(); });
  reset(std::exchange(client_, -1));
  run_until([this] { return ended_; });
  EXPECT_EQ(noticed_, 4u);
  EXPECT_THAT(log_, Not(::testing::Contains("confirm /watch")));
}

TEST_F(SessionTest, KeepsEarlyBytesOfAWatchedConnectionForTheNextRequest) {
  ask_for_b_during("/watch-briefly");
  EXPECT_EQ(seen_[1].head.target, "/b");
  EXPECT_LT(arrived_[0], arrived_[1]);
}

TEST_F(SessionTest, GoesOnAfterAWatchInWhichNothingHappened) {
  begin();
  send_text(client_, get("/watch-briefly"));
  run_until([this] { return !seen_.empty(); });
  settle();
  clock_.advance(std::chrono::seconds(2));
  receive_until("hello");
  EXPECT_THAT(ask(get("/b"), "hello"), StartsWith("HTTP/1.1 200"));
}

TEST_F(SessionTest, DrainsAtOnceWhenIdle) {
  ask(get("/a"), "hello");
  settle();
  session_->drain();
  run_until([this] { return ended_; });
}

// It lies in the system's buffer, and nobody has looked yet.
TEST_F(SessionTest, ARequestThatCameJustBeforeTheDrainIsAnswered) {
  ask(get("/a"), "hello");
  settle();
  send_text(client_, get("/b"));
  session_->drain();
  receive_until("Connection: close\r\n\r\nhello");
  leave_orderly();
}

// Its client was not told that the connection ends, and may ask again.
TEST_F(SessionTest, DrainWithinAnAnswerLeavesRoomForOneMoreRequest) {
  begin();
  send_text(client_, get("/paused"));
  receive_until("\r\n\r\nhe");
  settle();
  session_->drain();
  send_text(client_, get("/b"));
  clock_.advance(std::chrono::seconds(2));
  receive_until("Connection: close\r\n\r\nhello");
  leave_orderly();
}

TEST_F(SessionTest, DrainsAfterTheRunningExchange) {
  begin();
  send_text(client_, get("/watch-briefly"));
  run_until([this] { return !seen_.empty(); });
  session_->drain();
  settle();
  EXPECT_FALSE(ended_);
  clock_.advance(std::chrono::seconds(2));
  receive_until("hello");
  EXPECT_THAT(received_.text, HasSubstr("Connection: close\r\n"));
  leave_orderly();
}

TEST_F(SessionTest, ARequestThatHasStoppedArrivingDoesNotHoldTheDrain) {
  begin();
  send_text(client_, "PUT / HTTP/1.1\r\n" + std::string(kHost) + "Content-Length: 100\r\n\r\nx");
  settle();
  clock_.advance(std::chrono::seconds(1));
  session_->drain();
  settle();
  EXPECT_EQ(received_.text, "");
  clock_.advance(std::chrono::milliseconds(900));
  send_text(client_, "y");  // it still arrives
  settle();
  clock_.advance(std::chrono::milliseconds(1900));
  settle();
  received_.take_from(client_);
  EXPECT_EQ(received_.text, "");
  clock_.advance(std::chrono::milliseconds(200));
  receive_until("ArmgateRequestTimeout");
  EXPECT_TRUE(seen_.empty());
  leave_orderly();
}

TEST_F(SessionTest, ARequestThatIsStillArrivingIsServedWhileItDrains) {
  begin();
  send_text(client_, "PUT /a HTTP/1.1\r\n" + std::string(kHost) + "Content-Length: 2\r\n\r\nx");
  settle();
  session_->drain();
  settle();
  send_text(client_, "y");
  receive_until("hello");
  EXPECT_THAT(received_.text, HasSubstr("Connection: close\r\n"));
  leave_orderly();
}

}  // namespace
}  // namespace armgate::net
