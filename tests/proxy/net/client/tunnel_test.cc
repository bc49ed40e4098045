// Goal: bytes pass both ways untouched until both sides have ended, and no side is left open alone. Method: two loopback connections
// with the tunnel between them.
#include "proxy/net/client/tunnel.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>

#include "proxy/net/socket/plain_stream.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::tunnel_test {
namespace {

using std::chrono::seconds;

class TunnelTest : public NetTest {
 protected:
  TunnelTest() {
    std::tie(near_client_, client_) = make_tcp_pair();
    std::tie(near_host_, host_) = make_tcp_pair();
    client_side_.emplace(wrap(near_client_));
    host_side_.emplace(wrap(near_host_));
  }
  ~TunnelTest() override {
    for (const int fd : {client_, host_}) {
      if (fd >= 0) ::close(fd);
    }
    run_until([this] { return counts_.has_value(); });
  }
  void begin(std::string early = "") { spawn(executor(), run(std::move(early))); }
  Task<void> run(std::string early) {
    counts_ = co_await run_tunnel(*client_side_, *host_side_, std::move(early), clock_, seconds(60));
  }
  std::string arrived_at(int fd, size_t bytes) {
    Received got;
    run_until([&] {
      got.take_from(fd);
      return got.text.size() >= bytes || got.ended || got.broken;
    });
    return got.text;
  }
  bool is_ended(int fd) {
    Received got;
    run_until([&] {
      got.take_from(fd);
      return got.ended || got.broken;
    });
    return got.ended || got.broken;
  }

  int near_client_ = -1, client_ = -1, near_host_ = -1, host_ = -1;
  std::optional<PlainStream> client_side_, host_side_;
  std::optional<TunnelCounts> counts_;
};

TEST_F(TunnelTest, WhatTheClientHadSentAlreadyComesFirstAndAllIsCounted) {
  begin("early ");
  send_text(client_, "late");
  EXPECT_EQ(arrived_at(host_, 10), "early late");
  send_text(host_, "back");
  EXPECT_EQ(arrived_at(client_, 4), "back");
  ::shutdown(client_, SHUT_WR);
  ::shutdown(host_, SHUT_WR);
  run_until([this] { return counts_.has_value(); });
  EXPECT_EQ(counts_->to_host_bytes, 10u);
  EXPECT_EQ(counts_->from_host_bytes, 4u);
}

// Both directions read into the same area of the thread.
TEST_F(TunnelTest, WhatIsReadAtOnceInBothDirectionsIsNotMixed) {
  const std::string there(40'000, 't');
  const std::string back(40'000, 'b');
  begin();
  send_text(client_, there);
  send_text(host_, back);
  EXPECT_EQ(arrived_at(host_, there.size()), there);
  EXPECT_EQ(arrived_at(client_, back.size()), back);
}

TEST_F(TunnelTest, OneDirectionGoesOnAfterTheEndOfTheOther) {
  begin();
  ::shutdown(client_, SHUT_WR);
  EXPECT_TRUE(is_ended(host_));
  EXPECT_FALSE(counts_.has_value());
  send_text(host_, "still here");
  EXPECT_EQ(arrived_at(client_, 10), "still here");
}

TEST_F(TunnelTest, ABrokenSideBreaksTheOther) {
  begin();
  settle();
  reset(std::exchange(host_, -1));
  EXPECT_TRUE(is_ended(client_));
  run_until([this] { return counts_.has_value(); });
}

TEST_F(TunnelTest, EndsWhenNothingMovesButNotWhileOneSideTalks) {
  begin();
  settle();
  for (int i = 0; i < 3; ++i) {
    clock_.advance(seconds(50));
    settle();
    ASSERT_FALSE(counts_.has_value()) << i;
    send_text(host_, "x");
    EXPECT_EQ(arrived_at(client_, 1), "x");
  }
  clock_.advance(seconds(61));
  settle();
  run_until([this] { return counts_.has_value(); });
}

}  // namespace
}  // namespace armgate::net::tunnel_test
