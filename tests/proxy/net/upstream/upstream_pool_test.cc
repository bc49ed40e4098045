// Goal: one request goes out once, over a verified connection, and no cut answer passes for a whole one.
// Method: the real pool against a scripted HTTPS server on loopback.
#include "proxy/net/upstream/upstream_pool.h"

#include <gmock/gmock.h>

#include <array>

#include "tests/proxy/net/upstream/test_gate.h"
#include "tests/proxy/net/upstream/test_origin.h"

namespace armgate::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Task<Result<std::string>> fetch(UpstreamPool& pool, arm::Request request, SendLimits limits) {
  auto answer = co_await pool.send(request, limits);
  if (!answer) co_return std::move(answer).error();
  TestClock clock;
  auto body = co_await read_whole(*answer->body, clock, {1 << 20, kNever});
  if (!body) co_return std::move(body).error();
  co_return std::to_string(answer->head.status) + " " + *body;
}

arm::Request request_to(const std::string& host, arm::Method method = arm::Method::Get, std::string body = {}) {
  arm::Request request;
  request.head.method = method;
  request.head.method_token = std::string(arm::to_text(method));
  request.head.target = "/x?api-version=1";
  request.head.host = host;
  request.body = std::move(body);
  return request;
}

Task<void> store_fetched(UpstreamPool& pool, std::optional<Result<std::string>>& into, SendLimits limits = kNever) {
  into.emplace(co_await fetch(pool, request_to("arm.example.test"), limits));
}

class UpstreamPoolTest : public NetTest {
 protected:
  UpstreamPoolTest() : origin_(clock_, executor(), authority_.cache()) { make_pool(authority_.root_file()); }
  ~UpstreamPoolTest() override {
    origin_.stop();
    settle();
    pool_.reset();
  }
  void make_pool(std::optional<std::filesystem::path> ca_file, size_t connections_max = 256) {
    UpstreamOptions options;
    options.connector.overrides["arm.example.test"] = {"127.0.0.1", origin_.port(), ca_file};
    options.connector.overrides["arm.example.org"] = {"127.0.0.1", origin_.port(), ca_file};
    options.host.connections_max = connections_max;
    pool_ = *UpstreamPool::make(clock_, executor(), options, names_.as_resolve());
  }
  Result<std::string> get(const std::string& host = "arm.example.test") {
    return await(fetch(*pool_, request_to(host), kNever));
  }
  std::string got(const std::string& host = "arm.example.test") {
    auto text = get(host);
    return text.ok() ? *text : "error: " + text.error().context;
  }
  static Play ok(const std::string& body) {
    return {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body};
  }

  TestAuthority authority_;
  TestOrigin origin_;
  std::unique_ptr<UpstreamPool> pool_;
};

TEST_F(UpstreamPoolTest, SendsARequestAndReusesTheConnection) {
  origin_.plays = {ok("one"), ok("two"), {"HTTP/1.1 204 No Content\r\n\r\n"}, ok("four")};
  EXPECT_EQ(got(), "200 one");
  EXPECT_EQ(got(), "200 two");
  EXPECT_EQ(got(), "204 ");
  EXPECT_EQ(await(fetch(*pool_, request_to("arm.example.test", arm::Method::Put, "body"), kNever)).value(), "200 four");
  EXPECT_EQ(origin_.connections, 1);
  EXPECT_THAT(origin_.requests[0], StartsWith("GET /x?api-version=1 HTTP/1.1\r\nHost: arm.example.test\r\n"));
  EXPECT_THAT(origin_.requests[3], HasSubstr("Content-Length: 4\r\n"));
}

TEST_F(UpstreamPoolTest, AsksRightBeforeTheFirstByteWhetherItMayBegin) {
  origin_.plays = {ok("one"), ok("two")};
  EXPECT_EQ(got(), "200 one");
  TestGate gate(executor());
  gate.may = false;
  SendLimits limits(kNever);
  limits.gate = &gate;
  const arm::Request write = request_to("arm.example.test", arm::Method::Put, "body");
  const auto refused = await(fetch(*pool_, write, limits));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().sent, Sent::No);
  EXPECT_EQ(refused.error().kind, ErrorKind::Cancelled);
  EXPECT_EQ(origin_.requests.size(), 1u);
  gate.may = true;
  EXPECT_EQ(await(fetch(*pool_, write, limits)).value(), "200 two");
  EXPECT_EQ(origin_.connections, 1) << "the connection is as good as before";
}

TEST_F(UpstreamPoolTest, TheTimeForAnAnswerBeginsWithTheFirstByte) {
  using std::chrono::seconds;
  make_pool(authority_.root_file(), 1);
  std::optional<Result<std::string>> before, in_line, unanswered;
  bool done = false;
  start(store_fetched(*pool_, before, clock_.now() + seconds(20)), done);
  run_until([&] { return origin_.requests.size() == 1; });
  TestGate gate(executor()), later(executor());
  SendLimits limits(kNever);
  limits.answer_max = seconds(10);
  limits.gate = &gate;
  start(store_fetched(*pool_, in_line, limits), done);
  settle();
  EXPECT_FALSE(gate.begun());
  origin_.plays = {ok("late")};
  clock_.advance(seconds(20));
  run_until([&] { return in_line.has_value(); });
  EXPECT_FALSE(before->ok());
  EXPECT_EQ(in_line->value(), "200 late");
  limits.gate = &later;
  start(store_fetched(*pool_, unanswered, limits), done);
  run_until([&] { return origin_.requests.size() == 3; });
  clock_.advance(seconds(9));
  settle();
  EXPECT_FALSE(unanswered.has_value());
  clock_.advance(seconds(1));
  run_until([&] { return unanswered.has_value(); });
  EXPECT_EQ(unanswered->error().kind, ErrorKind::TimedOut);
}

TEST_F(UpstreamPoolTest, AfterALostAnswerNoOtherIdleConnectionIsTried) {
  std::array<std::optional<Result<std::string>>, 2> got_both;
  bool first = false, second = false;
  start(store_fetched(*pool_, got_both[0]), first);
  start(store_fetched(*pool_, got_both[1]), second);
  origin_.plays = {ok("one"), ok("two"), {"", Play::Then::Reset}, ok("three")};
  run_until([&] { return first && second; });
  EXPECT_EQ(origin_.connections, 2);
  EXPECT_FALSE(get().ok());
  EXPECT_EQ(got(), "200 three");
  EXPECT_EQ(origin_.connections, 3);
}

TEST_F(UpstreamPoolTest, AnAnswerThatCannotBeReadLeavesTheOtherIdleConnections) {
  for (const Play& unreadable :
       {Play{"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"}, Play{"HTTP/1.1 200 OK\r\nX-Half", Play::Then::CloseNotify}}) {
    SCOPED_TRACE(unreadable.answer);
    std::array<std::optional<Result<std::string>>, 2> got_both;
    bool first = false, second = false;
    start(store_fetched(*pool_, got_both[0]), first);
    start(store_fetched(*pool_, got_both[1]), second);
    origin_.plays = {ok("one"), ok("two"), unreadable, ok("three"), ok("four")};
    run_until([&] { return first && second; });
    const int connections = origin_.connections;
    const auto lost = get();
    ASSERT_FALSE(lost.ok());
    EXPECT_TRUE(is_unreadable(lost.error())) << lost.error().context;
    EXPECT_EQ(got(), "200 three");
    EXPECT_EQ(origin_.connections, connections);
    EXPECT_EQ(got(), "200 four");
  }
}

TEST_F(UpstreamPoolTest, ConsumesInterimAnswers) {
  origin_.plays = {{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok("done").answer}};
  EXPECT_EQ(got(), "200 done");
}

TEST_F(UpstreamPoolTest, TakesChunkedAndConnectionDelimitedContent) {
  origin_.plays = {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
                   {"HTTP/1.1 200 OK\r\n\r\nuntil the end", Play::Then::CloseNotify},
                   ok("after")};
  EXPECT_EQ(got(), "200 abc");
  EXPECT_EQ(got(), "200 until the end");
  EXPECT_EQ(got(), "200 after");
  EXPECT_EQ(origin_.connections, 2);
  EXPECT_EQ(origin_.resumed, 1) << "the second handshake resumes the first session";
}

TEST_F(UpstreamPoolTest, TakesACutAnswerForAnError) {
  const Play cuts[] = {{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", Play::Then::CloseNotify},
                       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Play::Then::CloseNotify},
                       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Play::Then::Reset},
                       {"HTTP/1.1 200 OK\r\n\r\nabc", Play::Then::BareFin}};
  for (const Play& cut : cuts) {
    origin_.plays = {cut};
    const auto result = get();
    ASSERT_FALSE(result.ok()) << cut.answer;
    EXPECT_EQ(result.error().sent, Sent::Answered) << result.error().context;
    EXPECT_EQ(result.error().source, ErrorSource::Upstream);
  }
}

// RFC 9112 §9.5: a server may refuse a request before it has read all of it, and close the connection.
TEST_F(UpstreamPoolTest, TakesARefusalThatCameBeforeTheRequestWasSentWhole) {
  const std::string refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nless";
  origin_.plays = {{refusal, Play::Then::Reset, Play::When::HeadIsWhole}, ok("after")};
  const auto put = [&] { return request_to("arm.example.test", arm::Method::Put, std::string(64u << 20, 'x')); };
  const auto refused = await(fetch(*pool_, put(), kNever));
  ASSERT_TRUE(refused.ok()) << refused.error().context;
  EXPECT_EQ(*refused, "413 less");
  EXPECT_EQ(got(), "200 after") << "on another connection";
  EXPECT_EQ(origin_.connections, 2);
}

TEST_F(UpstreamPoolTest, DoesNotTakeAnythingElseForTheAnswerToHalfARequest) {
  for (const std::string answer : {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", ""}) {
    origin_.plays = {{answer, Play::Then::Reset, Play::When::HeadIsWhole}};
    const auto result =
        await(fetch(*pool_, request_to("arm.example.test", arm::Method::Put, std::string(64u << 20, 'x')), kNever));
    ASSERT_FALSE(result.ok()) << answer;
    EXPECT_EQ(result.error().sent, Sent::Maybe) << result.error().context;
  }
}

TEST_F(UpstreamPoolTest, SaysMaybeWhenNoAnswerCame) {
  for (const auto then : {Play::Then::CloseNotify, Play::Then::BareFin, Play::Then::Reset}) {
    origin_.plays = {{"HTTP/1.1 200", then}};
    const auto result = get();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().sent, Sent::Maybe) << result.error().context;
  }
}

TEST_F(UpstreamPoolTest, SaysMaybeAtTheDeadline) {
  std::optional<Result<std::string>> result;
  bool done = false;
  auto task = [](UpstreamPool& pool, TimePoint deadline, std::optional<Result<std::string>>& into) -> Task<void> {
    into.emplace(co_await fetch(pool, request_to("arm.example.test", arm::Method::Put, "x"), deadline));
  };
  start(task(*pool_, clock_.now() + std::chrono::seconds(30), result), done);
  run_until([&] { return origin_.requests.size() == 1; });
  clock_.advance(std::chrono::seconds(31));
  run_until([&] { return done; });
  EXPECT_EQ(result->error().kind, ErrorKind::TimedOut);
  EXPECT_EQ(result->error().sent, Sent::Maybe);
  EXPECT_EQ(pool_->connections(), 0u);
}

// A request whose gate says whether it is awaited, and what came of it.
struct Gated {
  Gated(const Executor& executor, bool is_read) : gate(executor) {
    gate.is_read = is_read;
    limits.gate = &gate;
  }
  TestGate gate;
  SendLimits limits{kNever};
  std::optional<Result<std::string>> asked{};
  bool done = false;
};

TEST_F(UpstreamPoolTest, ReadsThatNobodyAwaitsHoldNoConnectionAndOthersStayWithIt) {
  using std::chrono::seconds;
  for (const bool is_read : {false, true}) {
    make_pool(authority_.root_file(), 1);
    Gated one(executor(), is_read);
    const size_t before = origin_.requests.size();
    start(store_fetched(*pool_, one.asked, one.limits), one.done);
    run_until([&] { return origin_.requests.size() == before + 1; });
    for (int i = 0; i < 3; ++i) {
      clock_.advance(seconds(1));
      settle();
    }
    EXPECT_FALSE(one.done) << "its client is there";
    one.gate.awaited = false;
    clock_.advance(seconds(2));
    settle();
    EXPECT_EQ(one.done, is_read);
    EXPECT_EQ(one.gate.looks > 0, is_read);
    if (!is_read) origin_.close_all();
    run_until([&] { return one.done; });
    EXPECT_EQ(one.asked->error().kind == ErrorKind::Cancelled, is_read);
    EXPECT_EQ(one.asked->error().sent, Sent::Maybe);
    EXPECT_EQ(pool_->connections(), 0u);
    origin_.plays = {ok("next")};
    EXPECT_EQ(got(), "200 next");
  }
}

TEST_F(UpstreamPoolTest, AReadIsAnsweredHoweverOftenItIsLookedForWhoAsked) {
  Gated one(executor(), true);
  origin_.plays = {{"HTTP/1.1 200 OK\r\nContent-Le"}};
  start(store_fetched(*pool_, one.asked, one.limits), one.done);
  run_until([&] { return origin_.requests.size() == 1; });
  settle();
  clock_.advance(std::chrono::seconds(2));
  settle();
  EXPECT_GT(one.gate.looks, 0);
  origin_.send_all("ngth: 2\r\n\r\nok");
  run_until([&] { return one.done; });
  EXPECT_EQ(one.asked->value(), "200 ok");
}

TEST_F(UpstreamPoolTest, ReplacesAConnectionThatDiedWhileIdle) {
  origin_.plays = {ok("one"), ok("two")};
  EXPECT_EQ(got(), "200 one");
  origin_.close_all();
  settle();
  EXPECT_EQ(got(), "200 two");
  EXPECT_EQ(origin_.connections, 2);
  EXPECT_EQ(origin_.requests.size(), 2u) << "sent once each";
}

TEST_F(UpstreamPoolTest, RefusesAnUntrustedServerBeforeAnyRequest) {
  make_pool(std::nullopt);
  const auto result = get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Untrusted) << result.error().context;
  EXPECT_EQ(result.error().sent, Sent::No);
  EXPECT_TRUE(origin_.requests.empty());
}

TEST_F(UpstreamPoolTest, RefusesTheCertificateOfAnotherHost) {
  // The origin refuses the foreign name itself; so it is asked for a name it serves and shown as another.
  UpstreamOptions options;
  TestAuthority other;
  options.connector.overrides["arm.example.test"] = {"127.0.0.1", origin_.port(), other.root_file()};
  pool_ = *UpstreamPool::make(clock_, executor(), options, names_.as_resolve());
  const auto result = get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Untrusted) << result.error().context;
  EXPECT_THAT(got("arm.example.org"), StartsWith("error:"));
  EXPECT_TRUE(origin_.requests.empty());
}

TEST_F(UpstreamPoolTest, SaysNotSentWhenNobodyListens) {
  UpstreamOptions options;
  const auto unused = *Listener::open(clock_, executor(), "127.0.0.1", 0);
  const uint16_t port = unused->port();
  unused->stop();
  options.connector.overrides["arm.example.test"] = {"127.0.0.1", port, authority_.root_file()};
  pool_ = *UpstreamPool::make(clock_, executor(), options, names_.as_resolve());
  const auto result = get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Unreachable);
  EXPECT_EQ(result.error().sent, Sent::No);
}

TEST_F(UpstreamPoolTest, RefusesAnUnusableFileOfTrustedCertificates) {
  UpstreamOptions options;
  options.ca_file = "/nonexistent/ca.pem";
  const auto pool = UpstreamPool::make(clock_, executor(), options, names_.as_resolve());
  ASSERT_FALSE(pool.ok());
  EXPECT_THAT(pool.error().context, HasSubstr("/nonexistent/ca.pem"));
}

}  // namespace
}  // namespace armgate::net
