// Goal: a body that finds no room beside those of other requests is refused, and nothing of it stays. Method: the real session over a
// loopback connection, and a room that others fill.
#include <gmock/gmock.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "proxy/net/client/session.h"
#include "tests/proxy/net/client/session_fixture.h"

namespace armgate::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kBodyHost = "Host: arm.example.test\r\n";

class SessionBodyTest : public PlainSession {};

TEST_F(SessionBodyTest, ABodyThatFindsNoRoomIsRefusedWhileWhatHasArrivedGoesOn) {
  std::vector<NetEventKind> told;
  events_ = [&told](const NetEvent& event) { told.push_back(event.kind); };
  BodyShare others(&bodies_);
  ASSERT_TRUE(others.grow_to(bodies_.bytes_max() - 2 * kSmallBody));
  const auto put = [](size_t bytes) {
    return "PUT /a HTTP/1.1\r\n" + std::string(kBodyHost) + "Content-Length: " + std::to_string(bytes) + "\r\n\r\n" +
           std::string(bytes, 'x');
  };
  EXPECT_THAT(ask(put(2 * kSmallBody), "hello"), StartsWith("HTTP/1.1 200")) << "just as much as there is room for";
  EXPECT_EQ(bodies_.held(), bodies_.bytes_max() - 2 * kSmallBody) << "given back with its answer";
  others.grow_to(bodies_.bytes_max());
  EXPECT_THAT(ask(put(kSmallBody), "hello"), StartsWith("HTTP/1.1 200")) << "small ones have room always";
  const std::string refused = ask(put(kSmallBody + 1), "}}");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_THAT(refused, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(refused, HasSubstr("\"ArmgateTooManyBodies\""));
  EXPECT_THAT(refused, HasSubstr("limits.request_bodies_total"));
  EXPECT_THAT(told, ElementsAre(NetEventKind::BodyLimit));
  EXPECT_EQ(seen_.size(), 2u) << "what is refused reaches nobody";
  EXPECT_EQ(bodies_.held(), bodies_.bytes_max());
}

TEST_F(SessionBodyTest, ARefusalReachesAClientThatReadsOnlyOnceAllIsSent) {
  begin();
  send_text(client_, "PUT /a HTTP/1.1\r\n" + std::string(kBodyHost) + "Content-Length: 999999999\r\n\r\n");
  settle();
  for (int i = 0; i < 16; ++i) {
    clock_.advance(options_.linger_max / 4);
    send_text(client_, "some more of it");
    run_until([this] {
      int left = 0;
      return ::ioctl(client_, SIOCOUTQ, &left) == 0 && left == 0;
    });
    settle();
    ASSERT_FALSE(ended_) << i;
  }
  receive_until("}}");
  EXPECT_THAT(received_.text, StartsWith("HTTP/1.1 413"));
  clock_.advance(options_.linger_max);
  run_until([this] { return ended_; });
}

TEST_F(SessionBodyTest, WhatArrivedOfABodyIsGivenBackWhenItsClientLeaves) {
  begin();
  send_text(client_,
            "PUT /a HTTP/1.1\r\n" + std::string(kBodyHost) + "Content-Length: 99999\r\n\r\n" + std::string(50'000, 'x'));
  run_until([this] { return bodies_.held() == 50'000; });
  ::shutdown(client_, SHUT_WR);
  run_until([this] { return ended_; });
  EXPECT_EQ(bodies_.held(), 0u);
}

// What is posted when a session begins runs before it has read all of what a client sends as fast as it can.
TEST_F(SessionBodyTest, ASessionThatNeverHasToWaitLetsOthersRun) {
  std::string chunks;
  for (int i = 0; i < 5000; ++i) chunks += "1\r\nx\r\n";
  begin();
  send_text(client_,
            "PUT /a HTTP/1.1\r\n" + std::string(kBodyHost) + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n");
  std::optional<size_t> served;
  boost::asio::post(executor(), [&] { served = seen_.size(); });
  receive_until("hello");
  EXPECT_EQ(served, 0u) << "while the body was read";
  EXPECT_EQ(seen_.at(0).body.size(), 5000u);
}

}  // namespace
}  // namespace armgate::net
