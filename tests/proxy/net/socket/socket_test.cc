// Goal: waits end with news, at their own deadline, or when they are cancelled, each side for itself; looking takes nothing.
// Method: one end of a loopback connection; the other is the test's.
#include "proxy/net/socket/socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/tcp.h>

#include "proxy/net/upstream/connector.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::socket_test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

struct Wait {
  std::optional<Result<void>> result;
  bool done = false;
};

Task<void> store_wait(Socket& socket, Waiting who, Readiness what, TimePoint deadline, Wait& into) {
  into.result.emplace(co_await socket.wait(who, what, deadline));
}

class SocketTest : public NetTest {
 protected:
  SocketTest() {
    const auto [near, far] = make_tcp_pair();
    socket_ = wrap(near, ErrorSource::Upstream);
    far_ = far;
  }
  ~SocketTest() override {
    socket_->close();
    settle();
    if (far_ >= 0) ::close(far_);
  }
  std::unique_ptr<Wait> wait(Waiting who, Readiness what, TimePoint deadline = kNever) {
    auto one = std::make_unique<Wait>();
    start(store_wait(*socket_, who, what, deadline, *one), one->done);
    settle();
    return one;
  }
  void run(const Wait& one) {
    run_until([&] { return one.done; });
  }
  // Until the system takes nothing more, which a wait then knows.
  void fill() {
    const std::string much(1 << 20, 'x');
    do {
      while (::send(socket_->fd(), much.data(), much.size(), MSG_NOSIGNAL) > 0) {
      }
      settle();
    } while (::send(socket_->fd(), much.data(), much.size(), MSG_NOSIGNAL) > 0);
    auto news = wait(Waiting::Writer, Readiness::Writable, clock_.now() + seconds(1));
    clock_.advance(seconds(1));
    run(*news);
  }
  void take_all() {
    Received received;
    received.take_from(far_);
    ASSERT_FALSE(received.text.empty());
  }
  void read(size_t count) {
    std::string bytes(count, 0);
    ASSERT_EQ(::recv(socket_->fd(), bytes.data(), count, 0), static_cast<ssize_t>(count));
  }

  std::unique_ptr<Socket> socket_;
  int far_ = -1;
};

TEST_F(SocketTest, OwnsItsDescriptorAndMakesItNonBlocking) {
  EXPECT_NE(::fcntl(socket_->fd(), F_GETFL) & O_NONBLOCK, 0);
  auto far = wrap(std::exchange(far_, -1));
  socket_.reset();
  Received received;
  run_until([&] {
    received.take_from(far->fd());
    return received.ended;
  });
  socket_ = std::move(far);
}

TEST_F(SocketTest, ReadinessIsNewsSinceTheLastWaitAndAnEndStays) {
  auto first = wait(Waiting::Reader, Readiness::Readable);
  EXPECT_FALSE(first->done);
  send_text(far_, "abc");
  run(*first);
  EXPECT_TRUE(first->result->ok());
  read(3);
  auto second = wait(Waiting::Reader, Readiness::Readable);
  EXPECT_FALSE(second->done);
  ::shutdown(far_, SHUT_WR);
  run(*second);
  for (int i = 0; i < 3; ++i) {
    const auto after = wait(Waiting::Reader, Readiness::Readable);
    ASSERT_TRUE(after->done);
    EXPECT_TRUE(after->result->ok());
  }
}

// What is told while nobody waits for it is not told again by the system.
TEST_F(SocketTest, NewsThatCameWhileNobodyWaitedIsKept) {
  auto other = wait(Waiting::Reader, Readiness::Readable, clock_.now() + seconds(1));
  clock_.advance(seconds(1));
  run(*other);
  send_text(far_, "abc");
  run_until([this] { return socket_->has_input(); });
  settle();
  const auto late = wait(Waiting::Reader, Readiness::Readable);
  EXPECT_TRUE(late->done);
}

TEST_F(SocketTest, ReaderAndWriterWaitAndEndEachForItself) {
  fill();
  const TimePoint now = clock_.now();
  auto reader = wait(Waiting::Reader, Readiness::Readable, now + seconds(3));
  auto writer = wait(Waiting::Writer, Readiness::Writable, now + seconds(5));
  EXPECT_FALSE(reader->done || writer->done);
  clock_.advance(seconds(3));
  run(*reader);
  EXPECT_EQ(reader->result->error().kind, ErrorKind::TimedOut);
  EXPECT_EQ(reader->result->error().source, ErrorSource::Upstream);
  EXPECT_THAT(reader->result->error().context, HasSubstr("the peer did not answer in time"));
  settle();
  EXPECT_FALSE(writer->done);
  reader = wait(Waiting::Reader, Readiness::Readable, now + seconds(100));
  socket_->cancel(Waiting::Reader);
  run(*reader);
  EXPECT_EQ(reader->result->error().kind, ErrorKind::Cancelled);
  settle();
  EXPECT_FALSE(writer->done);
  take_all();
  run(*writer);
  EXPECT_TRUE(writer->result->ok());
}

TEST_F(SocketTest, NewsWakesEverySideThatWaitsForIt) {
  fill();
  auto reader = wait(Waiting::Reader, Readiness::Writable);
  auto writer = wait(Waiting::Writer, Readiness::Writable);
  EXPECT_FALSE(reader->done || writer->done);
  take_all();
  run_until([&] { return reader->done && writer->done; });
  EXPECT_TRUE(reader->result->ok());
  EXPECT_TRUE(writer->result->ok());
}

// A TLS read may have to write first.
TEST_F(SocketTest, AReaderMayWaitUntilItCanWrite) {
  fill();
  auto reader = wait(Waiting::Reader, Readiness::Writable);
  send_text(far_, "not what it waits for");
  settle();
  EXPECT_FALSE(reader->done);
  take_all();
  run(*reader);
  EXPECT_TRUE(reader->result->ok());
}

TEST_F(SocketTest, ACancelWithoutAWaitDoesNotReachTheNext) {
  socket_->cancel(Waiting::Reader);
  auto reader = wait(Waiting::Reader, Readiness::Readable);
  EXPECT_FALSE(reader->done);
  send_text(far_, "x");
  run(*reader);
  EXPECT_TRUE(reader->result->ok());
}

TEST_F(SocketTest, CloseWakesBothAndNobodyWaitsAfterIt) {
  fill();
  auto reader = wait(Waiting::Reader, Readiness::Readable);
  auto writer = wait(Waiting::Writer, Readiness::Writable);
  EXPECT_FALSE(reader->done || writer->done);
  socket_->close();
  EXPECT_FALSE(socket_->is_open());
  EXPECT_FALSE(reader->done || writer->done) << "who closes is not interrupted by them";
  run_until([&] { return reader->done && writer->done; });
  const auto after = wait(Waiting::Reader, Readiness::Readable);
  for (const Wait* ended : {reader.get(), writer.get(), after.get()}) {
    ASSERT_TRUE(ended->done);
    EXPECT_EQ(ended->result->error().kind, ErrorKind::Cancelled);
  }
  socket_->close();  // no harm
}

TEST_F(SocketTest, TellsOnceUnlessSomethingMayBeThereOrItWasTakenBack) {
  int told = 0;
  const auto tell = [&] { ++told; };
  EXPECT_FALSE(socket_->tell_readable(tell)) << "nobody has asked the system yet";
  auto reader = wait(Waiting::Reader, Readiness::Readable, clock_.now() + seconds(1));
  clock_.advance(seconds(1));
  run(*reader);
  ASSERT_TRUE(socket_->tell_readable(tell));
  ASSERT_TRUE(socket_->tell_readable(nullptr));
  ASSERT_TRUE(socket_->tell_readable(tell)) << "instead of that before";
  send_text(far_, "x");
  run_until([&] { return told > 0; });
  send_text(far_, "y");
  settle();
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(socket_->tell_readable(tell)) << "what came is still there";
  read(2);
  ::shutdown(far_, SHUT_WR);
  for (int i = 0; i < 2; ++i) {  // the first has news of what was read
    reader = wait(Waiting::Reader, Readiness::Readable);
    run(*reader);
  }
  EXPECT_FALSE(socket_->tell_readable(tell)) << "an end stays";
  EXPECT_EQ(told, 1);
}

TEST_F(SocketTest, AClosedSocketTellsNobody) {
  int told = 0;
  auto reader = wait(Waiting::Reader, Readiness::Readable, clock_.now() + seconds(1));
  clock_.advance(seconds(1));
  run(*reader);
  ASSERT_TRUE(socket_->tell_readable([&] { ++told; }));
  send_text(far_, "x");
  socket_->close();
  settle();
  EXPECT_EQ(told, 0);
}

struct Look {
  const char* name;
  void (*happens)(Socket& near, int& far);
  bool has_input;
  bool is_broken;
};

TEST_F(SocketTest, LookingSaysWhatIsThereAsOftenAsOneLooks) {
  const Look cases[] = {
      {"nothing", [](Socket&, int&) {}, false, false},
      {"bytes", [](Socket&, int& far) { send_text(far, "x"); }, true, false},
      {"an end", [](Socket&, int& far) { ::shutdown(far, SHUT_WR); }, true, false},
      {"a reset", [](Socket&, int& far) { reset(std::exchange(far, -1)); }, true, true},
      {"closed here", [](Socket& near, int& far) { send_text(far, "x"), near.close(); }, false, false},
  };
  for (const Look& c : cases) {
    auto [fd, far] = make_tcp_pair();
    const auto near = wrap(fd);
    int other = far;
    c.happens(*near, other);
    if (c.has_input)
      run_until([&] { return near->has_input(); });
    else
      settle();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(near->has_input(), c.has_input) << c.name;
      EXPECT_EQ(near->is_broken(), c.is_broken) << c.name;
    }
    if (other >= 0) ::close(other);
  }
}

TEST_F(SocketTest, TheEndOfOurDirectionIsNoByteThatWaitsForItsAcknowledgement) {
  EXPECT_EQ(socket_->unacknowledged(), 0u);
  fill();
  const size_t before = socket_->unacknowledged();
  EXPECT_GT(before, 0u);
  socket_->shutdown_write();
  EXPECT_LE(socket_->unacknowledged(), before);
  Received received;
  run_until([&] {
    received.take_from(far_);
    return received.ended;
  });
  run_until([this] { return socket_->unacknowledged() == 0; });
  socket_->close();
  EXPECT_EQ(socket_->unacknowledged(), 0u);
}

// Else the system would deliver a write minutes after it was given up.
TEST_F(SocketTest, WhatHasNotLeftIsTakenBackAtItsClose) {
  for (const bool takes_back : {false, true}) {
    auto [near, far] = make_tcp_pair();
    auto socket = wrap(near);
    if (takes_back) socket->take_back_unacknowledged(seconds(30));
    const std::string much(1 << 20, 'x');
    size_t sent = 0;
    for (ssize_t taken = 0; (taken = ::send(socket->fd(), much.data(), much.size(), MSG_NOSIGNAL)) > 0;)
      sent += static_cast<size_t>(taken);
    socket->close();
    size_t arrived = 0;
    std::string area(1 << 20, 0);
    ssize_t got = 0;
    const auto has_news = [&, far = far] {
      got = ::recv(far, area.data(), area.size(), MSG_DONTWAIT);
      return got >= 0 || errno != EAGAIN;
    };
    for (run_until(has_news); got > 0; run_until(has_news)) arrived += static_cast<size_t>(got);
    EXPECT_EQ(got < 0, takes_back) << "a reset";
    EXPECT_EQ(arrived < sent, takes_back);
    ::close(far);
  }
}

TEST_F(SocketTest, AConnectionWithNothingUnderWayEndsInOrder) {
  auto [near, far] = make_tcp_pair();
  auto socket = wrap(near);
  socket->take_back_unacknowledged(seconds(30));
  socket->close();
  Received received;
  run_until([&, far = far] {
    received.take_from(far);
    return received.ended;
  });
  ::close(far);
}

// With a user timeout the system goes by the time alone, however many probes were to be lost before (tcp(7)).
TEST_F(SocketTest, AConnectionThatWaitsOutlivesAProbeThatIsLost) {
  for (const int after : {3, 10, 30, 600}) {
    auto [near, far] = make_tcp_pair();
    auto socket = wrap(near);
    tune_tcp(near);
    socket->take_back_unacknowledged(seconds(after));
    const auto value_of = [near = near](int option) {
      int value = 0;
      socklen_t size = sizeof value;
      EXPECT_EQ(::getsockopt(near, IPPROTO_TCP, option, &value, &size), 0);
      return value;
    };
    EXPECT_EQ(value_of(TCP_USER_TIMEOUT), after * 1000);
    EXPECT_GT(value_of(TCP_KEEPINTVL), 0);
    EXPECT_LE(value_of(TCP_KEEPIDLE) + 2 * value_of(TCP_KEEPINTVL), after);
    ::close(far);
  }
}

TEST_F(SocketTest, ErrorsNameThePeerAndWhatItDid) {
  for (const int number : {ECONNRESET, EPIPE, ETIMEDOUT, ENOTCONN, ECONNABORTED}) {
    EXPECT_EQ(socket_->error_of(number).context, "the peer broke the connection") << number;
  }
  EXPECT_EQ(socket_->error_of(EHOSTUNREACH).context, "the connection to the peer failed: No route to host");
  for (const int number : {ECONNRESET, EHOSTUNREACH}) {
    EXPECT_EQ(socket_->error_of(number).kind, ErrorKind::Reset);
    EXPECT_EQ(socket_->error_of(number).source, ErrorSource::Upstream);
  }
  EXPECT_EQ(socket_->cancelled().kind, ErrorKind::Cancelled);
}

}  // namespace
}  // namespace armgate::net::socket_test
