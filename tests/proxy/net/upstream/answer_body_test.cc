// Goal: a connection is used again only if its answer ended where its framing said and nothing else came; what was cut is no answer.
// Method: a table of contents, of what arrives with the head and after it, and of ends; a scripted HTTPS server over loopback.
#include "proxy/net/upstream/answer_body.h"

#include <gmock/gmock.h>

#include "tests/proxy/net/upstream/test_host.h"

namespace armgate::net::answer_body_test {
namespace {

using Then = Play::Then;
using http::Framing;
using std::chrono::seconds;

constexpr Framing kNone{};
constexpr Framing kChunked{Framing::Kind::Chunked, 0};
constexpr Framing kUntilClose{Framing::Kind::UntilClose, 0};
constexpr Framing of_length(uint64_t bytes) { return {Framing::Kind::Length, bytes}; }

constexpr Duration kStall = seconds(60);

Task<Result<std::string>> read_to_the_end(BodySource& body) {
  std::string text;
  while (true) {
    const auto piece = co_await body.read();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return text;
    text += *piece;
  }
}

Task<void> store_piece(BodySource& body, std::optional<Result<std::string>>& into) {
  const auto piece = co_await body.read();
  if (piece)
    into.emplace(std::string(*piece));
  else
    into.emplace(piece.error());
}

class AnswerBodyTest : public HostTest {
 protected:
  // The body of an answer of which `with_head` came with its head; what the origin plays follows.
  void begin(const Framing& framing, bool keep_alive, std::string_view with_head) {
    auto connection = await(acquire(kNever));
    ASSERT_TRUE(connection.ok());
    stream_ = (*connection)->stream.get();
    if (!origin_.plays.empty()) ask_origin();
    (*connection)->input.append(with_head);
    http::ParsedResponseHead head;
    head.framing = framing;
    head.keep_alive = keep_alive;
    body_ = std::make_unique<AnswerBody>(host_, *std::move(connection), clock_, head, http::Limits{}, kStall);
  }
  void ask_origin() {
    const size_t before = origin_.requests.size();
    ASSERT_TRUE(await(write_pieces(*stream_, {"GET / HTTP/1.1\r\n\r\n"})).ok());
    run_until([&] { return origin_.requests.size() > before; });
  }
  bool is_reused() {
    if (host_->open() == 0) return false;
    auto next = await(acquire(kNever));
    const bool same = next.ok() && (*next)->stream.get() == stream_ && (*next)->exchanges == 1;
    if (next.ok()) host_->discard(*std::move(next));
    return same;
  }

  ByteStream* stream_ = nullptr;
  std::unique_ptr<AnswerBody> body_;
};

struct Content {
  const char* name;
  Framing framing;
  std::string with_head;
  std::string arrives;
  Then then;
  std::string text;
  std::optional<ErrorKind> cut;  // instead
  bool reused;
  bool keep_alive = true;
};

const Content kContents[] = {
    {"no content", kNone, "", "", Then::Keep, "", {}, true},
    {"no content and more", kNone, "X", "", Then::Keep, "", {}, false},
    {"length 0", of_length(0), "", "", Then::Keep, "", {}, true},
    {"length 0, the last answer", of_length(0), "", "", Then::Keep, "", {}, false, false},
    {"length, all with the head", of_length(5), "hello", "", Then::Keep, "hello", {}, true},
    {"length, all later", of_length(5), "", "hello", Then::Keep, "hello", {}, true},
    {"length, in two", of_length(5), "he", "llo", Then::Keep, "hello", {}, true},
    {"length, the last answer", of_length(5), "", "hello", Then::Keep, "hello", {}, false, false},
    {"length, more with the head", of_length(5), "helloX", "", Then::Keep, "hello", {}, false},
    {"length, more later", of_length(5), "he", "lloX", Then::Keep, "hello", {}, false},
    {"length, another answer", of_length(5), "", "helloHTTP/1.1 200 OK\r\n\r\n", Then::Keep, "hello", {}, false},
    {"length, cut with a farewell", of_length(5), "", "hell", Then::CloseNotify, "", ErrorKind::Closed, false},
    {"length, cut without", of_length(5), "hell", "", Then::BareFin, "", ErrorKind::Closed, false},
    {"length, whole and ended", of_length(5), "", "hello", Then::CloseNotify, "hello", {}, false},
    {"chunked, all with the head", kChunked, "5\r\nhello\r\n0\r\n\r\n", "", Then::Keep, "hello", {}, true},
    {"chunked, all later", kChunked, "", "5\r\nhello\r\n0\r\n\r\n", Then::Keep, "hello", {}, true},
    {"chunked, cut in a size", kChunked, "0", "5\r\nhel", Then::BareFin, "", ErrorKind::Closed, false},
    {"chunked, in two", kChunked, "5\r\nhe", "llo\r\n0\r\n\r\n", Then::Keep, "hello", {}, true},
    {"chunked, more with the head", kChunked, "5\r\nhello\r\n0\r\n\r\nX", "", Then::Keep, "hello", {}, false},
    {"chunked, more later", kChunked, "5\r\n", "hello\r\n0\r\n\r\nX", Then::Keep, "hello", {}, false},
    {"chunked, without the last chunk", kChunked, "", "5\r\nhello\r\n", Then::CloseNotify, "", ErrorKind::Closed, false},
    {"chunked, no chunk", kChunked, "5\r\nhello", "5\r\nhello\r\n", Then::Keep, "", ErrorKind::BadInput, false},
    {"to the end, with a farewell", kUntilClose, "he", "llo", Then::CloseNotify, "hello", {}, false},
    {"to the end, without", kUntilClose, "he", "llo", Then::BareFin, "", ErrorKind::Closed, false},
    {"to the end, nothing and a farewell", kUntilClose, "", "", Then::CloseNotify, "", {}, false},
    {"to the end, nothing and none", kUntilClose, "", "", Then::BareFin, "", ErrorKind::Closed, false},
};

TEST_F(AnswerBodyTest, IsWholeOrCutAndOnlyAWholeOneLeavesItsConnectionToTheNext) {
  for (const Content& c : kContents) {
    SCOPED_TRACE(c.name);
    origin_.plays.clear();
    if (!c.arrives.empty() || c.then != Then::Keep) origin_.plays = {{c.arrives, c.then}};
    begin(c.framing, c.keep_alive, c.with_head);
    const auto text = await(read_to_the_end(*body_));
    EXPECT_EQ(text.ok(), !c.cut.has_value());
    if (text.ok()) {
      EXPECT_EQ(*text, c.text);
    } else {
      EXPECT_EQ(text.error().kind, *c.cut) << text.error().context;
      EXPECT_EQ(text.error().sent, Sent::Answered);
      EXPECT_EQ(text.error().source, ErrorSource::Upstream);
    }
    // A connection that ended in order after a whole answer is given back, and found to be dead.
    EXPECT_EQ(is_reused(), c.reused);
    EXPECT_EQ(host_->open(), 0u);
    body_.reset();
    EXPECT_EQ(host_->open(), 0u) << "given up once";
  }
}

// Its reader writes the end with it.
TEST_F(AnswerBodyTest, ThatAPieceIsTheLastOneIsKnownIfTheEndCameWithIt) {
  const struct {
    Framing framing;
    const char* with_head;
    bool is_last;
  } rows[] = {{of_length(5), "hello", true},
              {of_length(6), "hello", false},
              {kChunked, "5\r\nhello\r\n0\r\n\r\n", true},
              {kChunked, "5\r\nhello\r\n0\r\n", false},
              {kChunked, "5\r\nhello\r\n", false},
              {kUntilClose, "hello", false}};
  for (const auto& row : rows) {
    begin(row.framing, true, row.with_head);
    EXPECT_FALSE(body_->ended());
    std::optional<Result<std::string>> piece;
    bool done = false;
    start(store_piece(*body_, piece), done);
    run_until([&] { return done; });
    EXPECT_EQ(piece->value(), "hello");
    EXPECT_EQ(body_->ended(), row.is_last) << row.with_head;
    body_.reset();
  }
}

TEST_F(AnswerBodyTest, AResetIsACutWhateverTheFraming) {
  for (const Framing& framing : {of_length(5), kChunked, kUntilClose}) {
    origin_.plays = {{"", Then::Reset}};
    begin(framing, true, "");
    const auto text = await(read_to_the_end(*body_));
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(text.error().kind, ErrorKind::Reset);
    EXPECT_EQ(text.error().sent, Sent::Answered);
    EXPECT_EQ(host_->open(), 0u);
  }
}

TEST_F(AnswerBodyTest, LongContentComesWhole) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += static_cast<char>('a' + i / 7 % 26);
  origin_.plays = {{text}};
  begin(of_length(text.size() + 3), true, "abc");
  const auto got = await(read_to_the_end(*body_));
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(*got == "abc" + text);
  EXPECT_TRUE(is_reused());
}

// Nobody may ever ask for the end of what has none.
TEST_F(AnswerBodyTest, WithoutContentItsConnectionIsFreeAtOnce) {
  for (const Framing& framing : {kNone, of_length(0)}) {
    begin(framing, true, "");
    EXPECT_TRUE(is_reused());
  }
}

TEST_F(AnswerBodyTest, LeftBeforeItsEndItClosesTheConnection) {
  for (const bool last_piece : {false, true}) {
    begin(of_length(5), true, last_piece ? "hello" : "hell");
    std::optional<Result<std::string>> piece;
    bool done = false;
    start(store_piece(*body_, piece), done);
    run_until([&] { return done; });
    EXPECT_EQ(piece->value(), last_piece ? "hello" : "hell");
    EXPECT_EQ(host_->open(), 1u);
    body_.reset();
    EXPECT_EQ(is_reused(), last_piece) << "with the last piece it is at its end";
  }
}

TEST_F(AnswerBodyTest, EachPieceIsWaitedForAsLongAsTheOneBefore) {
  begin(of_length(5), true, "");
  for (const std::string_view expected : {"he", "l"}) {
    std::optional<Result<std::string>> piece;
    bool done = false;
    start(store_piece(*body_, piece), done);
    settle();
    clock_.advance(kStall - seconds(1));
    settle();
    EXPECT_FALSE(done);
    origin_.plays = {{std::string(expected)}};
    ask_origin();
    run_until([&] { return done; });
    EXPECT_EQ(piece->value(), expected);
  }
  std::optional<Result<std::string>> piece;
  bool done = false;
  start(store_piece(*body_, piece), done);
  settle();
  clock_.advance(kStall);
  run_until([&] { return done; });
  EXPECT_EQ(piece->error().kind, ErrorKind::TimedOut);
  EXPECT_EQ(piece->error().sent, Sent::Answered);
  EXPECT_EQ(piece->error().context, "the answer of arm.example.test stood still for too long (upstream.stall_max)");
  EXPECT_EQ(host_->open(), 0u);
}

}  // namespace
}  // namespace armgate::net::answer_body_test
