// Goal: what a client sends early is kept for its next request, up to a limit, and is no younger than it is; that it left is noticed.
// Method: one end of a loopback connection.
#include "proxy/net/client/client_input.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proxy/net/socket/plain_stream.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::client_input_test {
namespace {

class ClientInputTest : public NetTest {
 protected:
  ClientInputTest() : ends_(make_tcp_pair()), stream_(wrap(ends_.first)), input_(stream_, clock_, executor(), 8) {}
  ~ClientInputTest() override {
    stream_.close();
    await(input_.stop());
    if (ends_.second >= 0) ::close(ends_.second);
  }
  void send(std::string_view text) {
    send_text(ends_.second, text);
    settle();
  }
  void watch() {
    input_.watch(&waiter_, 1);
    settle();
  }

  std::pair<int, int> ends_;
  PlainStream stream_;
  Waiter waiter_{executor()};
  ClientInput input_;
};

TEST_F(ClientInputTest, TheFirstUnusedByteSaysWhenItArrived) {
  send_text(ends_.second, "abc");
  ASSERT_EQ(*await(input_.more(kNever)), 3u);
  const uint64_t first = input_.arrived().order;
  send_text(ends_.second, "de");
  ASSERT_EQ(*await(input_.more(kNever)), 2u);
  EXPECT_EQ(input_.bytes(), "abcde");
  EXPECT_EQ(input_.arrived().order, first);
  input_.consume(2);
  EXPECT_EQ(input_.arrived().order, first) << "\"c\" came with the first";
  input_.consume(1);
  EXPECT_GT(input_.arrived().order, first);
}

TEST_F(ClientInputTest, WhatIsNotedAsEarlyIsNoYoungerThanThat) {
  const Moment before = clock_.next_moment();
  input_.note_early(before);
  clock_.next_moment();
  send_text(ends_.second, "abc");
  ASSERT_TRUE(await(input_.more(kNever)).ok());
  EXPECT_EQ(input_.arrived().order, before.order);
}

TEST_F(ClientInputTest, AWatchKeepsWhatComesUpToItsLimit) {
  watch();
  send("0123");
  EXPECT_EQ(input_.bytes(), "0123");
  send("4567");
  send("89");
  EXPECT_EQ(input_.bytes(), "01234567") << "eight are enough";
  await(input_.stop());
  EXPECT_FALSE(input_.gone());
  EXPECT_EQ(*await(input_.more(kNever)), 2u);
  EXPECT_EQ(input_.bytes(), "0123456789");
}

TEST_F(ClientInputTest, ThatItLeftIsNoticedByAWatch) {
  const auto presence = input_.presence();
  watch();
  EXPECT_FALSE(input_.gone());
  ::close(std::exchange(ends_.second, -1));
  run_until([&] { return input_.gone(); });
  EXPECT_TRUE(presence->gone.load());
  await(input_.stop());
  EXPECT_EQ(*await(input_.more(kNever)), 0u) << "an orderly end";
}

TEST_F(ClientInputTest, AResetIsAnErrorThatStays) {
  watch();
  reset(std::exchange(ends_.second, -1));
  run_until([&] { return input_.gone(); });
  await(input_.stop());
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(await(input_.more(kNever)).ok());
}

}  // namespace
}  // namespace armgate::net::client_input_test
