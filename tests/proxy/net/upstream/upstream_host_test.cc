// Goal: never more connections than allowed, in the order asked for, and none handed out again that is old or has something to say.
// Method: the real host against a scripted HTTPS server on loopback; a clock that stands.
#include "proxy/net/upstream/upstream_host.h"

#include <gmock/gmock.h>

#include "tests/proxy/net/upstream/test_gate.h"
#include "tests/proxy/net/upstream/test_host.h"

namespace armgate::net::upstream_host_test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

Task<void> store_acquired(UpstreamHost& host, TimePoint deadline, std::optional<Acquired>& into, SendGate* gate = nullptr) {
  into.emplace(co_await host.acquire(deadline, gate));
}

class UpstreamHostTest : public HostTest {
 protected:
  std::unique_ptr<UpstreamConnection> take() {
    auto connection = await(acquire(kNever));
    EXPECT_TRUE(connection.ok()) << connection.error().context;
    return connection.ok() ? *std::move(connection) : nullptr;
  }
  void make_host_of(size_t connections_max, size_t idle_max = 256) {
    UpstreamHostOptions options;
    options.connections_max = connections_max;
    options.idle_connections_max = idle_max;
    make_host(options);
  }
  // Asks for one and is in line then.
  struct Asking {
    std::optional<Acquired> got;
    bool done = false;
  };
  std::unique_ptr<Asking> ask(TimePoint deadline = kNever, SendGate* gate = nullptr) {
    auto asking = std::make_unique<Asking>();
    start(store_acquired(*host_, deadline, asking->got, gate), asking->done);
    settle();
    return asking;
  }
};

TEST_F(UpstreamHostTest, WhatWasGivenBackLastIsHandedOutFirst) {
  EXPECT_TRUE(host_->unused());
  auto first = take(), second = take();
  EXPECT_FALSE(host_->unused());
  EXPECT_EQ(first->exchanges, 0u) << "fresh";
  EXPECT_EQ(host_->open(), 2u);
  const ByteStream* const last = first->stream.get();
  host_->give_back(std::move(second));
  host_->give_back(std::move(first));
  const auto again = take();
  EXPECT_EQ(again->stream.get(), last);
  EXPECT_EQ(again->exchanges, 1u);
  EXPECT_EQ(host_->open(), 2u);
  EXPECT_EQ(origin_.connections, 2);
}

TEST_F(UpstreamHostTest, WhatWasDiscardedIsClosedAndCountsNoMore) {
  host_->discard(take());
  EXPECT_EQ(host_->open(), 0u);
  EXPECT_TRUE(host_->unused());
  EXPECT_EQ(take()->exchanges, 0u);
  EXPECT_EQ(origin_.connections, 2);
}

TEST_F(UpstreamHostTest, IdleOnesMayBeGivenUpAllAtOnce) {
  auto first = take(), second = take(), used = take();
  host_->give_back(std::move(first));
  host_->give_back(std::move(second));
  host_->discard_idle();
  EXPECT_EQ(host_->open(), 1u) << "the one that is in use";
  EXPECT_EQ(take()->exchanges, 0u);
  host_->discard(std::move(used));
}

TEST_F(UpstreamHostTest, AnIdleConnectionWithAnythingToReadIsNotHandedOut) {
  for (const auto& [name, play] :
       {std::pair{"a farewell", Play{"", Play::Then::CloseNotify}}, std::pair{"an end", Play{"", Play::Then::BareFin}},
        std::pair{"a reset", Play{"", Play::Then::Reset}},
        std::pair{"an answer", Play{"HTTP/1.1 408 Request Timeout\r\n\r\n"}}}) {
    auto connection = take();
    ByteStream& stream = *connection->stream;
    // The ticket first: it is no content, and what follows it must be seen.
    run_until([&] { return stream.has_input(); });
    ASSERT_TRUE(stream.is_quiet());
    origin_.plays = {play};
    ASSERT_TRUE(await(write_pieces(stream, {"GET / HTTP/1.1\r\n\r\n"})).ok());
    host_->give_back(std::move(connection));
    run_until([&] { return stream.has_input(); });
    auto next = take();
    EXPECT_EQ(next->exchanges, 0u) << name;
    EXPECT_EQ(host_->open(), 1u) << name << ": the other is closed";
    host_->discard(std::move(next));
  }
}

TEST_F(UpstreamHostTest, EachIdleConnectionIsClosedWhenItIsOldEnough) {
  const Duration idle_max = UpstreamHostOptions{}.idle_max;
  auto first = take(), second = take();
  host_->give_back(std::move(first));
  clock_.advance(seconds(5));
  settle();
  host_->give_back(std::move(second));
  clock_.advance(idle_max - seconds(5) - std::chrono::milliseconds(1));
  settle();
  EXPECT_EQ(host_->open(), 2u);
  clock_.advance(std::chrono::milliseconds(1));
  settle();
  EXPECT_EQ(host_->open(), 1u);
  clock_.advance(seconds(5));
  settle();
  EXPECT_EQ(host_->open(), 0u);
}

TEST_F(UpstreamHostTest, OfTooManyIdleOnesTheOldestIsClosed) {
  make_host_of(8, 2);
  std::vector<std::unique_ptr<UpstreamConnection>> taken(3);
  for (auto& connection : taken) connection = take();
  const ByteStream* const kept[] = {taken[2]->stream.get(), taken[1]->stream.get()};
  for (auto& connection : taken) host_->give_back(std::move(connection));
  EXPECT_EQ(host_->open(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    taken[i] = take();
    EXPECT_EQ(taken[i]->stream.get(), kept[i]);
  }
}

TEST_F(UpstreamHostTest, WhoComesBeyondTheLimitWaitsItsTurn) {
  make_host_of(1);
  auto connection = take();
  auto first = ask(), second = ask(), third = ask();
  EXPECT_FALSE(first->done || second->done || third->done);
  EXPECT_FALSE(host_->unused());
  host_->give_back(std::move(connection));
  ASSERT_TRUE(run_until([&] { return first->done; }));
  EXPECT_EQ((*first->got->value()).exchanges, 1u);
  settle();
  EXPECT_FALSE(second->done);
  host_->discard(*std::move(*first->got));
  ASSERT_TRUE(run_until([&] { return second->done; }));
  EXPECT_EQ((*second->got->value()).exchanges, 0u) << "there is room for a new one";
  EXPECT_EQ(host_->open(), 1u);
  settle();
  EXPECT_FALSE(third->done);
  host_->give_back(*std::move(*second->got));
  ASSERT_TRUE(run_until([&] { return third->done; }));
}

// Who asks again at once would otherwise take its own connection each time before the one in line has run.
TEST_F(UpstreamHostTest, NobodyOvertakesWhoWaits) {
  make_host_of(1);
  auto connection = take();
  auto waiting = ask();
  host_->give_back(std::move(connection));
  std::optional<Acquired> at_once;
  bool done = false;
  start(store_acquired(*host_, kNever, at_once), done);
  ASSERT_TRUE(run_until([&] { return waiting->done; }));
  settle();
  EXPECT_FALSE(done);
  host_->give_back(*std::move(*waiting->got));
  ASSERT_TRUE(run_until([&] { return done; }));
  EXPECT_EQ(at_once->value()->exchanges, 2u);
}

TEST_F(UpstreamHostTest, EachWaitEndsAtItsOwnDeadlineAndLosesNothingToTheOthers) {
  make_host_of(1);
  auto connection = take();
  auto late = ask(clock_.now() + seconds(9)), soon = ask(clock_.now() + seconds(3)), ever = ask();
  clock_.advance(seconds(3));
  ASSERT_TRUE(run_until([&] { return soon->done; }));
  EXPECT_EQ(soon->got->error().kind, ErrorKind::Busy);
  EXPECT_EQ(soon->got->error().sent, Sent::No);
  EXPECT_THAT(soon->got->error().context, HasSubstr("All 1 connections to arm.example.test (upstream.connections_per_host)"));
  settle();
  EXPECT_FALSE(late->done);
  clock_.advance(seconds(6));
  ASSERT_TRUE(run_until([&] { return late->done; }));
  EXPECT_EQ(late->got->error().kind, ErrorKind::Busy);
  settle();
  EXPECT_FALSE(ever->done);
  host_->give_back(std::move(connection));
  ASSERT_TRUE(run_until([&] { return ever->done; }));
  EXPECT_TRUE(ever->got->ok());
}

TEST_F(UpstreamHostTest, WhoMayWaitNoLongerLeavesTheLine) {
  make_host_of(1);
  auto connection = take();
  TestGate gate(executor()), shut(executor()), lucky(executor());
  auto first = ask(kNever, &gate), second = ask(kNever, &lucky);
  gate.tell();
  settle();
  EXPECT_FALSE(first->done) << "there may be other news";
  gate.may = shut.may = false;
  gate.tell();
  ASSERT_TRUE(run_until([&] { return first->done; }));
  EXPECT_EQ(first->got->error().kind, ErrorKind::Cancelled);
  EXPECT_EQ(first->got->error().sent, Sent::No);
  EXPECT_TRUE(ask(kNever, &shut)->done) << "it does not even begin to wait";
  EXPECT_FALSE(second->done);
  host_->give_back(std::move(connection));
  lucky.may = false;  // in the same moment: a connection that is promised to it is not lost
  lucky.tell();
  ASSERT_TRUE(run_until([&] { return second->done; }));
  ASSERT_TRUE(second->got->ok());
  host_->give_back(*std::move(*second->got));
  EXPECT_TRUE(take() != nullptr);
}

TEST_F(UpstreamHostTest, WhoFailsToConnectLeavesItsPlaceToTheNext) {
  make_host_of(1);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);  // takes connections, and says nothing
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(fd, 8), 0);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  const uint16_t port = ntohs(address.sin_port);
  Connector silent(clock_, executor(), {seconds(4), {{"arm.example.test", {"127.0.0.1", port, {}}}}, {}}, names_.as_resolve());
  UpstreamHostOptions options;
  options.connections_max = 1;
  host_ = std::make_shared<UpstreamHost>("arm.example.test", clock_, executor(), silent, context_.get(), options);
  auto first = ask(), second = ask();
  EXPECT_EQ(host_->open(), 1u);
  ASSERT_TRUE(run_until([&] {
    clock_.advance(seconds(1));
    return first->done;
  }));
  EXPECT_EQ(first->got->error().kind, ErrorKind::TimedOut);
  EXPECT_EQ(first->got->error().sent, Sent::No);
  ::close(fd);
  ASSERT_TRUE(run_until([&] {
    clock_.advance(seconds(1));
    return second->done;
  }));
  EXPECT_FALSE(second->got->ok());
  EXPECT_EQ(second->got->error().sent, Sent::No);
  EXPECT_TRUE(host_->unused());
}

TEST_F(UpstreamHostTest, WhatCannotBeConnectedToWasSentNothing) {
  const TestAuthority other;
  const auto foreign = *certs::make_client_context(other.root_file());
  host_ =
      std::make_shared<UpstreamHost>("arm.example.test", clock_, executor(), connector_, foreign.get(), UpstreamHostOptions{});
  const auto untrusted = await(acquire(kNever));
  ASSERT_FALSE(untrusted.ok());
  EXPECT_EQ(untrusted.error().kind, ErrorKind::Untrusted);
  origin_.stop();
  make_host({});
  const auto closed = await(acquire(kNever));
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().kind, ErrorKind::Unreachable);
  for (const Acquired* failed : {&untrusted, &closed}) {
    EXPECT_EQ(failed->error().sent, Sent::No);
    EXPECT_EQ(failed->error().source, ErrorSource::Upstream);
  }
  EXPECT_TRUE(host_->unused());
}

TEST_F(UpstreamHostTest, AHandshakeThatDoesNotEndIsToldWithWhereItLedToAndWhichTimeIsOver) {
  const auto silent = *Listener::open(clock_, executor(), "127.0.0.1", 0);
  Connector connector(clock_, executor(), {seconds(4), {{"arm.example.test", {"127.0.0.1", silent->port(), {}}}}, {}},
                      names_.as_resolve());
  host_ =
      std::make_shared<UpstreamHost>("arm.example.test", clock_, executor(), connector, context_.get(), UpstreamHostOptions{});
  const struct {
    TimePoint deadline;
    std::string ending;
  } rows[] = {{kNever, "in time (upstream.handshake_max)"}, {clock_.now() + seconds(20), "in the 9000 ms that were left"}};
  for (const auto& row : rows) {
    const auto asking = ask(row.deadline);
    clock_.advance(seconds(11));
    run_until([&] { return asking->done; });
    const Acquired& got = *asking->got;
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().context, "the TLS handshake with arm.example.test at 127.0.0.1 port " +
                                       std::to_string(silent->port()) + " did not end " + row.ending);
    EXPECT_EQ(got.error().kind, ErrorKind::TimedOut);
  }
}

}  // namespace
}  // namespace armgate::net::upstream_host_test
