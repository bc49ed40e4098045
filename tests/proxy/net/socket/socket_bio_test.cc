// Goal: OpenSSL gets early bytes first, is told what is only not there yet, and no dead peer kills the process.
// Method: the BIO by itself, over a pair of sockets.
#include "proxy/net/socket/socket_bio.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>

#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::socket_bio_test {
namespace {

class SocketBio : public ::testing::Test {
 protected:
  SocketBio() : fds_(make_tcp_pair()) {
    ::fcntl(fds_.first, F_SETFL, O_NONBLOCK);
    state_.fd = fds_.first;
  }
  ~SocketBio() override {
    for (const int fd : {fds_.first, fds_.second}) {
      if (fd >= 0) ::close(fd);
    }
  }
  // At most `size` bytes; nothing if it gives none.
  std::string read(size_t size) {
    std::string bytes(size, 0);
    const int count = BIO_read(bio_.get(), bytes.data(), static_cast<int>(size));
    bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return bytes;
  }
  void arrives(std::string_view text) {
    send_text(fds_.second, text);
    std::string seen(text.size(), 0);
    int tries = 0;
    fcntl(fds_.first, F_SETFL, 0);  // the test waits for it, not the BIO
    while (::recv(fds_.first, seen.data(), seen.size(), MSG_PEEK | MSG_WAITALL) < static_cast<ssize_t>(text.size())) {
      ASSERT_LT(++tries, 1000);
    }
    fcntl(fds_.first, F_SETFL, O_NONBLOCK);
  }
  bool wants_more() const { return BIO_should_read(bio_.get()) != 0 && BIO_should_retry(bio_.get()) != 0; }

  std::pair<int, int> fds_;
  SocketBioState state_;
  const certs::BioHandle bio_ = make_socket_bio(state_);
};

TEST_F(SocketBio, EarlyBytesComeFirstAndOnce) {
  state_.early = "CLIENT";
  state_.early.reserve(1000);
  state_.is_drained = true;  // says nothing of them
  arrives("hello");
  EXPECT_TRUE(state_.has_early());
  EXPECT_EQ(read(4), "CLIE");
  EXPECT_TRUE(state_.has_early());
  EXPECT_EQ(read(100), "NT") << "not together with what is the socket's";
  EXPECT_FALSE(state_.has_early());
  EXPECT_LT(state_.early.capacity(), 100u) << "nor kept for the connection's life";
  state_.is_drained = false;
  EXPECT_EQ(read(100), "hello");
}

TEST_F(SocketBio, AReadThatTookAllSavesTheNextItsQuestion) {
  arrives("hello");
  EXPECT_EQ(read(5), "hello");
  EXPECT_FALSE(state_.is_drained) << "there may be more";
  EXPECT_EQ(read(5), "");
  EXPECT_TRUE(wants_more());
  EXPECT_TRUE(state_.is_drained);
  arrives("again");
  EXPECT_EQ(read(6), "") << "nobody has said that it is readable";
  EXPECT_TRUE(wants_more());
  state_.is_drained = false;
  EXPECT_EQ(read(6), "again");
  EXPECT_TRUE(state_.is_drained) << "less than it had room for";
  EXPECT_EQ(state_.last_errno, 0);
}

TEST_F(SocketBio, AnEndIsToldAsSuch) {
  arrives("hello");
  ::shutdown(fds_.second, SHUT_WR);
  EXPECT_EQ(read(5), "hello");
  EXPECT_EQ(BIO_eof(bio_.get()), 0);
  ::fcntl(fds_.first, F_SETFL, 0);
  EXPECT_EQ(read(5), "");
  EXPECT_FALSE(BIO_should_retry(bio_.get()));
  EXPECT_EQ(BIO_eof(bio_.get()), 1);
  EXPECT_TRUE(state_.end_seen);
  EXPECT_EQ(state_.last_errno, 0);
}

TEST_F(SocketBio, WhatIsWrittenIsCountedAndAFullSocketIsNoFailure) {
  EXPECT_EQ(BIO_write(bio_.get(), "hello", 5), 5);
  EXPECT_EQ(state_.bytes_written, 5u);
  const std::string much(1 << 20, 'x');
  uint64_t written = 5;
  int count = 0;
  while ((count = BIO_write(bio_.get(), much.data(), static_cast<int>(much.size()))) > 0)
    written += static_cast<uint64_t>(count);
  EXPECT_TRUE(BIO_should_write(bio_.get()));
  EXPECT_TRUE(BIO_should_retry(bio_.get()));
  EXPECT_EQ(state_.bytes_written, written);
  EXPECT_EQ(state_.last_errno, 0);
  EXPECT_EQ(BIO_flush(bio_.get()), 1);
}

TEST_F(SocketBio, ABrokenPeerIsAnErrorNumberAndNoSignal) {
  reset(std::exchange(fds_.second, -1));
  ::fcntl(fds_.first, F_SETFL, 0);
  EXPECT_EQ(read(1), "");
  EXPECT_FALSE(BIO_should_retry(bio_.get()));
  EXPECT_EQ(state_.last_errno, ECONNRESET);
  EXPECT_FALSE(state_.end_seen);
  EXPECT_EQ(BIO_write(bio_.get(), "x", 1), -1);
  EXPECT_FALSE(BIO_should_retry(bio_.get()));
  EXPECT_EQ(state_.last_errno, EPIPE);
  EXPECT_EQ(state_.bytes_written, 0u);
}

}  // namespace
}  // namespace armgate::net::socket_bio_test
