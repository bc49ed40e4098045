// Goal: every answer has one reading for its client: framed as method, status and version say, whole or visibly cut.
// Method: a stream that the test looks into; a table of answers and of what they must be on the wire.
#include "proxy/net/client/client_connection.h"

#include <gmock/gmock.h>

#include "tests/proxy/net/client/moved_stream.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net::client_connection_test {
namespace {

using arm::Method;
using http::Connection;
using Pieces = std::vector<std::string_view>;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr BodyLength kNone{};
constexpr BodyLength kUnknown{BodyLength::Kind::Unknown, 0};
constexpr BodyLength known(uint64_t bytes) { return {BodyLength::Kind::Known, bytes}; }

Task<Result<void>> answer(ClientConnection& client, arm::ResponseHead head, BodyLength length, Pieces pieces) {
  auto done = co_await client.write_head(head, length);
  for (const std::string_view piece : pieces) {
    if (done) done = co_await client.write_body(piece);
  }
  if (done) done = co_await client.finish();
  co_return done;
}

class ClientConnectionTest : public NetTest {
 protected:
  ~ClientConnectionTest() override {
    stream_.close();
    await(input_.stop());
  }
  Result<void> ask(Method method, int minor, arm::ResponseHead head, BodyLength length, Pieces pieces,
                   Connection connection = Connection::Keep) {
    stream_.written.clear();
    client_.begin(method, minor, connection);
    return await(answer(client_, std::move(head), length, std::move(pieces)));
  }
  static arm::ResponseHead ok() { return {200, "OK", {}}; }

  MovedStream stream_{clock_, executor()};
  ClientInput input_{stream_, clock_, executor(), 1024};
  ClientConnection client_{stream_, input_, clock_, std::chrono::seconds(10)};
};

struct Answer {
  const char* name;
  Method method;
  int minor;
  arm::ResponseHead head;
  BodyLength length;
  Pieces pieces;
  std::string wire;
  bool can_continue = true;
  bool ends_with_connection = false;
};

const Answer kAnswers[] = {
    {"of known length",
     Method::Get,
     1,
     {200, "OK", {}},
     known(5),
     {"he", "", "llo"},
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
    {"whose own length counts no more",
     Method::Get,
     1,
     {200, "OK", {{"Content-Length", "9"}}},
     known(5),
     {"hello"},
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
    {"of known length to 1.0",
     Method::Get,
     0,
     {200, "OK", {}},
     known(5),
     {"hello"},
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"},
    // RFC 9112 §6.3: without a length its client would wait for content until the connection ends.
    {"without a length", Method::Get, 1, {200, "OK", {}}, kNone, {}, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
    {"without content but with a length",
     Method::Put,
     1,
     {201, "Created", {{"content-length", "9"}}},
     kNone,
     {},
     "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"},
    {"empty", Method::Get, 1, {200, "OK", {}}, known(0), {}, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
    // RFC 9110 §9.3.2, §8.6: the head of what GET would return, and no content.
    {"to HEAD", Method::Head, 1, {200, "OK", {}}, known(5), {"hello"}, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
    {"to HEAD, as announced",
     Method::Head,
     1,
     {200, "OK", {{"Content-Length", "7"}}},
     kNone,
     {},
     "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"},
    {"to HEAD, of unknown length", Method::Head, 1, {200, "OK", {}}, kUnknown, {"hello"}, "HTTP/1.1 200 OK\r\n\r\n"},
    {"to HEAD of 1.0, of unknown length",
     Method::Head,
     0,
     {200, "OK", {}},
     kUnknown,
     {"hello"},
     "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n"},
    // RFC 9110 §8.6: no Content-Length in a 204; §15.4.5: a 304 may announce one.
    {"204", Method::Delete, 1, {204, "No Content", {{"Content-Length", "0"}}}, known(0), {}, "HTTP/1.1 204 No Content\r\n\r\n"},
    {"204 with content", Method::Get, 1, {204, "No Content", {}}, kUnknown, {"hello"}, "HTTP/1.1 204 No Content\r\n\r\n"},
    {"304",
     Method::Get,
     1,
     {304, "Not Modified", {{"Content-Length", "9"}}},
     kNone,
     {},
     "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"},
    {"304 with content", Method::Get, 1, {304, "Not Modified", {}}, known(5), {"hello"}, "HTTP/1.1 304 Not Modified\r\n\r\n"},
    // RFC 9112 §6.1, §7.1.
    {"of unknown length",
     Method::Get,
     1,
     {200, "OK", {}},
     kUnknown,
     {"he", "", "llo, there you are"},
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n12\r\nllo, there you are\r\n0\r\n\r\n"},
    {"of unknown length, empty",
     Method::Get,
     1,
     {200, "OK", {}},
     kUnknown,
     {},
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    // 1.0 knows no chunks: the content ends with the connection.
    {"of unknown length to 1.0",
     Method::Get,
     0,
     {200, "OK", {{"Content-Length", "9"}}},
     kUnknown,
     {"he", "llo"},
     "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
     false,
     true},
};

TEST_F(ClientConnectionTest, AnAnswerIsFramedAsMethodStatusAndVersionSay) {
  for (const Answer& c : kAnswers) {
    ClientConnection client(stream_, input_, clock_, std::chrono::seconds(10));
    stream_.written.clear();
    client.begin(c.method, c.minor, Connection::Keep);
    EXPECT_FALSE(client.complete()) << c.name;
    const auto done = await(answer(client, c.head, c.length, c.pieces));
    EXPECT_TRUE(done.ok()) << c.name;
    EXPECT_EQ(stream_.written, c.wire) << c.name;
    EXPECT_TRUE(client.complete()) << c.name;
    EXPECT_EQ(client.can_continue(), c.can_continue) << c.name;
    EXPECT_EQ(client.ends_with_connection(), c.ends_with_connection) << c.name;
  }
}

TEST_F(ClientConnectionTest, TheHeadLeavesWithTheFirstPieceInOneWrite) {
  for (const BodyLength length : {known(5), kUnknown}) {
    stream_.writes = 0;
    client_.begin(Method::Get, 1, Connection::Keep);
    ASSERT_TRUE(await(static_cast<ClientLink&>(client_).write_head(ok(), length)).ok());
    EXPECT_EQ(stream_.writes, 0);
    ASSERT_TRUE(await(client_.write_body("hello")).ok());
    EXPECT_EQ(stream_.writes, 1);
    ASSERT_TRUE(await(client_.finish()).ok());
  }
}

TEST_F(ClientConnectionTest, WhoeverWantsTheConnectionClosedIsToldSoAndThatIsKept) {
  ASSERT_TRUE(ask(Method::Get, 1, ok(), known(0), {}, Connection::Close).ok());
  EXPECT_THAT(stream_.written, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_FALSE(client_.can_continue());
  ASSERT_TRUE(ask(Method::Get, 1, ok(), known(0), {}).ok());
  EXPECT_THAT(stream_.written, HasSubstr("\r\nConnection: close\r\n")) << "it was told before";
  EXPECT_FALSE(client_.can_continue());
}

TEST_F(ClientConnectionTest, ItEndsAfterThisAnswerOnlyIfItsHeadCanStillSaySo) {
  client_.begin(Method::Get, 1, Connection::Keep);
  ASSERT_TRUE(await(client_.write_head(ok(), known(0))).ok());
  client_.close_after_answer();
  ASSERT_TRUE(await(client_.finish()).ok());
  EXPECT_TRUE(client_.can_continue()) << "the client was not told";
  client_.close_after_answer();
  ASSERT_TRUE(ask(Method::Get, 1, ok(), known(0), {}).ok());
  EXPECT_THAT(stream_.written, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_FALSE(client_.can_continue());
}

Task<Result<void>> body_alone(ClientConnection& client) { co_return co_await client.write_body("x"); }
Task<Result<void>> finish_alone(ClientConnection& client) { co_return co_await client.finish(); }
Task<Result<void>> two_heads(ClientConnection& client) {
  const arm::ResponseHead head{200, "OK", {}};
  auto first = co_await client.write_head(head, known(0));
  if (!first) co_return first;
  co_return co_await client.write_head(head, known(0));
}
Task<Result<void>> too_much(ClientConnection& client) { return answer(client, {200, "OK", {}}, known(5), {"hell", "o!"}); }
Task<Result<void>> too_little(ClientConnection& client) { return answer(client, {200, "OK", {}}, known(5), {"hell"}); }
Task<Result<void>> nothing_of_it(ClientConnection& client) { return answer(client, {200, "OK", {}}, known(5), {}); }
Task<Result<void>> again_after_the_end(ClientConnection& client) {
  const arm::ResponseHead head{200, "OK", {}};
  auto first = co_await answer(client, head, known(5), Pieces(1, "hello"));
  if (!first) co_return first;
  co_return co_await client.write_body("more");
}
Task<Result<void>> a_split_head(ClientConnection& client) {
  return answer(client, {200, "OK", {{"ETag", "\"1\"\r\nSet-Cookie: x"}}}, known(0), {});
}

struct Misuse {
  const char* name;
  Task<Result<void>> (*run)(ClientConnection& client);
  const char* written;  // the end of what was
};

// A second answer behind a cut one would be taken for the rest of it.
TEST_F(ClientConnectionTest, NothingFollowsAnAnswerThatIsNotWrittenToItsDeclaredEnd) {
  const Misuse cases[] = {
      {"content without a head", body_alone, ""},
      {"an end without a head", finish_alone, ""},
      {"a second head", two_heads, ""},
      {"more than declared", too_much, "hell"},
      {"less than declared", too_little, "hell"},
      {"nothing of what was declared", nothing_of_it, ""},
      {"more after the end", again_after_the_end, "hello"},
      {"a head in two", a_split_head, ""},
  };
  for (const Misuse& c : cases) {
    ClientConnection client(stream_, input_, clock_, std::chrono::seconds(10));
    stream_.written.clear();
    client.begin(Method::Get, 1, Connection::Keep);
    const auto done = await(c.run(client));
    ASSERT_FALSE(done.ok()) << c.name;
    EXPECT_EQ(done.error().kind, ErrorKind::Internal) << c.name;
    EXPECT_FALSE(client.complete() || client.can_continue()) << c.name;
    const std::string written = stream_.written;
    EXPECT_THAT(written, EndsWith(c.written)) << c.name;
    EXPECT_EQ(written.empty(), *c.written == '\0') << c.name;
    EXPECT_FALSE(await(body_alone(client)).ok()) << c.name;
    EXPECT_FALSE(await(finish_alone(client)).ok()) << c.name;
    EXPECT_EQ(stream_.written, written) << c.name << ": nothing more";
  }
}

TEST_F(ClientConnectionTest, NothingIsWrittenAfterAWriteThatFailed) {
  for (const BodyLength length : {known(10), kUnknown, known(0)}) {
    stream_.takes_nothing = true;
    const Pieces pieces = length.kind == BodyLength::Kind::Known && length.bytes == 0 ? Pieces{} : Pieces{"hello", "again"};
    const auto done = ask(Method::Get, 1, ok(), length, pieces);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().kind, ErrorKind::TimedOut);
    EXPECT_FALSE(client_.complete() || client_.can_continue());
    stream_.takes_nothing = false;
    EXPECT_FALSE(await(body_alone(client_)).ok());
    EXPECT_FALSE(await(finish_alone(client_)).ok());
    EXPECT_EQ(stream_.written, "");
  }
}

// Somebody who had read the answer cannot have sent what was here before it was written.
TEST_F(ClientConnectionTest, WhatCameBeforeTheEndOfTheAnswerCameEarly) {
  for (const BodyLength length : {known(5), kUnknown, known(0)}) {
    const Pieces pieces = length.kind == BodyLength::Kind::Known && length.bytes == 0 ? Pieces{} : Pieces{"hello"};
    ASSERT_TRUE(ask(Method::Get, 1, ok(), length, pieces).ok());
    EXPECT_FALSE(client_.next_came_early());

    stream_.send("GET /next");
    ASSERT_TRUE(ask(Method::Get, 1, ok(), length, pieces).ok());
    EXPECT_TRUE(client_.next_came_early());
    EXPECT_TRUE(client_.unread_came_early());

    ASSERT_TRUE(await(input_.more(kNever)).ok());
    ASSERT_TRUE(ask(Method::Get, 1, ok(), length, pieces).ok());
    EXPECT_TRUE(client_.next_came_early());
    EXPECT_FALSE(client_.unread_came_early()) << "it is read, and when it came is known";
    input_.discard();
  }
}

TEST_F(ClientConnectionTest, WhoWaitsIsWokenWhenItIsClosing) {
  Waiter waiter(executor());
  client_.begin(Method::Put, 1, Connection::Keep);
  client_.watch(&waiter, 4);
  EXPECT_FALSE(client_.closing());
  client_.stop_waiting();
  EXPECT_TRUE(client_.closing());
  EXPECT_FALSE(client_.gone());
  EXPECT_EQ(await(waiter.wait()), 4u);
  client_.watch(nullptr, 0);
}

}  // namespace
}  // namespace armgate::net::client_connection_test
