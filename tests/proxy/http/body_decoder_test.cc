// Goal: the decoder takes exactly the grammar of RFC 9112 §7.1, whatever way the bytes are cut. Method: tables, each
// run whole and split at every byte.
#include "proxy/http/body_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/http/whole_message.h"

namespace armgate::http::body_decoder_test {
namespace {

using namespace std::string_literals;
using testing::decode;

constexpr Framing kChunked{Framing::Kind::Chunked};
constexpr Framing kUntilClose{Framing::Kind::UntilClose};

Framing length(uint64_t bytes) { return {Framing::Kind::Length, bytes}; }

TEST(BodyDecoder, RefusesEveryOtherChunkSyntaxHoweverItIsCut) {
  const std::vector<std::string> cases = {
      // Sizes.
      "\r\nhello\r\n0\r\n\r\n",
      "x\r\nhello\r\n0\r\n\r\n",
      "0x5\r\nhello\r\n0\r\n\r\n",
      "0X5\r\nhello\r\n0\r\n\r\n",
      "5x\r\nhello\r\n0\r\n\r\n",
      "+5\r\nhello\r\n0\r\n\r\n",
      "-5\r\nhello\r\n0\r\n\r\n",
      " 5\r\nhello\r\n0\r\n\r\n",
      "5 \r\nhello\r\n0\r\n\r\n",
      "\t5\r\nhello\r\n0\r\n\r\n",
      "5\t\r\nhello\r\n0\r\n\r\n",
      "0_5\r\nhello\r\n0\r\n\r\n",
      "5_\r\nhello\r\n0\r\n\r\n",
      "5,\r\nhello\r\n0\r\n\r\n",
      "5.0\r\nhello\r\n0\r\n\r\n",
      "\"5\"\r\nhello\r\n0\r\n\r\n",
      "g\r\nhello\r\n0\r\n\r\n",
      "5h\r\nhello\r\n0\r\n\r\n",
      "\xd9\xa5\r\nhello\r\n0\r\n\r\n",
      "5\0\r\nhello\r\n0\r\n\r\n"s,
      "\0"
      "5\r\nhello\r\n0\r\n\r\n"s,
      "10000000000000005\r\nhello\r\n0\r\n\r\n",
      "00000000000000005\r\nhello\r\n0\r\n\r\n",
      "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
      "5\r\nhello\r\n-0\r\n\r\n",
      "5\r\nhello\r\n0x0\r\n\r\n",
      // Line ends of the size line.
      "5\nhello\r\n0\r\n\r\n",
      "5\rhello\r\n0\r\n\r\n",
      "5\r\rhello\r\n0\r\n\r\n",
      "5\n\rhello\r\n0\r\n\r\n",
      "5\r\nhello\r\n0\n\r\n",
      "5\r\nhello\r\n0\r\r\n",
      "\n5\r\nhello\r\n0\r\n\r\n",
      // Ends of the data.
      "5\r\nhello!\r\n0\r\n\r\n",
      "5\r\nhell\r\n0\r\n\r\n",
      "5\r\nhello\n0\r\n\r\n",
      "5\r\nhello\r0\r\n\r\n",
      "5\r\nhello0\r\n\r\n",
      "5\r\nhelloXX0\r\n\r\n",
      "5\r\nhello\n\r0\r\n\r\n",
      "5\r\nhello\r\r0\r\n\r\n",
      "5\r\nhello\r\n\r\n0\r\n\r\n",
      // Extensions.
      "5;\r\nhello\r\n0\r\n\r\n",
      "5;;a\r\nhello\r\n0\r\n\r\n",
      "5 ;a\r\nhello\r\n0\r\n\r\n",
      "5; a\r\nhello\r\n0\r\n\r\n",
      "5;a \r\nhello\r\n0\r\n\r\n",
      "5;a =b\r\nhello\r\n0\r\n\r\n",
      "5;a= b\r\nhello\r\n0\r\n\r\n",
      "5;a=\r\nhello\r\n0\r\n\r\n",
      "5;=b\r\nhello\r\n0\r\n\r\n",
      "5;a=b=c\r\nhello\r\n0\r\n\r\n",
      "5;a\nhello\r\n0\r\n\r\n",
      "5;a\rhello\r\n0\r\n\r\n",
      "5;a=b\nhello\r\n0\r\n\r\n",
      "5;\nhello\r\n0\r\n\r\n",
      "5;a=\"b\r\nhello\r\n0\r\n\r\n",
      "5;a=\"b\nc\"\r\nhello\r\n0\r\n\r\n",
      "5;a=\"b\\\r\nhello\r\n0\r\n\r\n",
      "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n",
      "5;a=\"b\0\"\r\nhello\r\n0\r\n\r\n"s,
      "5;a\0\r\nhello\r\n0\r\n\r\n"s,
      "5;a=(b)\r\nhello\r\n0\r\n\r\n",
      "5:a=b\r\nhello\r\n0\r\n\r\n",
      "5,a=b\r\nhello\r\n0\r\n\r\n",
      "0;a\nGET / HTTP/1.1\r\n\r\n",
      // Trailers.
      "0\r\n: x\r\n\r\n",
      "0\r\n x: y\r\n\r\n",
      "0\r\n\tx: y\r\n\r\n",
      "0\r\nx : y\r\n\r\n",
      "0\r\nx y\r\n\r\n",
      "0\r\nx\r\n\r\n",
      "0\r\nx: y\n\r\n",
      "0\r\nx: y\r\r\n\r\n",
      "0\r\nx: y\r\n z\r\n\r\n",
      "0\r\nx: \0\r\n\r\n"s,
      "0\r\nx: y\x7f\r\n\r\n",
      "0\r\n\n",
      "0\r\n\rx",
      "0\r\nx: y\r\n\n",
      "0\r\nx: y\rz\r\n\r\n",
      "0\r\n\0\r\n\r\n"s,
      "0\r\nx: y\r\n\rz",
  };
  for (const std::string& bytes : cases) {
    for (const size_t step : {~size_t{0}, size_t{1}}) {
      const auto read = decode(bytes, kChunked, {}, step);
      ASSERT_FALSE(read.ok()) << ::testing::PrintToString(bytes);
      EXPECT_EQ(read.error().kind, ErrorKind::BadInput) << ::testing::PrintToString(bytes) << read.error().context;
    }
  }
}

struct Good {
  Framing framing;
  std::string bytes;
  std::string content;
  size_t left_over = 0;  // at the end of `bytes`
};

const std::vector<Good>& good_bodies() {
  static const std::vector<Good> cases = {
      {kChunked, "0\r\n\r\n", ""},
      {kChunked, "5\r\nhello\r\n0\r\n\r\n", "hello"},
      {kChunked, "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "hello!"},
      {kChunked, "A\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
      {kChunked, "a\r\n0123456789\r\n000\r\n\r\n", "0123456789"},
      {kChunked, "0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n", "hello"},
      {kChunked, "2\r\n\r\n\r\n0\r\n\r\n", "\r\n"},
      {kChunked, "7\r\n0\r\n\r\nab\r\n0\r\n\r\n", "0\r\n\r\nab"},
      {kChunked, "3\r\na\0b\r\n0\r\n\r\n"s, "a\0b"s},
      {kChunked, "5;a\r\nhello\r\n0;b\r\n\r\n", "hello"},
      {kChunked, "5;a=b;c=\"d;\\\" e\";f\r\nhello\r\n0\r\n\r\n", "hello"},
      {kChunked, "0\r\nIf-Match: \"a\"\r\nAuthorization: x\r\nHost:\r\n\r\n", ""},
      {kChunked, "1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\n", "a", 16},
      {length(0), "", ""},
      {length(0), "GET", "", 3},
      {length(5), "hello", "hello"},
      {length(5), "helloGET", "hello", 3},
      {Framing{}, "GET", "", 3},
      {kUntilClose, "", ""},
      {kUntilClose, "0\r\n\r\nanything", "0\r\n\r\nanything"},
  };
  return cases;
}

TEST(BodyDecoder, DecodesTheSameWhereverTheBytesAreCut) {
  for (const Good& good : good_bodies()) {
    for (size_t cut = 0; cut <= good.bytes.size(); ++cut) {
      BodyDecoder decoder(good.framing, ErrorSource::Client, Limits{});
      std::string content;
      size_t consumed = 0;
      for (const size_t end : {cut, good.bytes.size()}) {
        while (consumed < end && !decoder.done()) {
          const auto step = decoder.feed(std::string_view(good.bytes).substr(consumed, end - consumed));
          ASSERT_TRUE(step.ok()) << ::testing::PrintToString(good.bytes) << step.error().context;
          content += step->piece;
          consumed += step->consumed;
          ASSERT_EQ(step->done, decoder.done());
        }
      }
      EXPECT_TRUE(decoder.end_of_input().ok());
      EXPECT_EQ(content, good.content) << ::testing::PrintToString(good.bytes) << " cut at " << cut;
      EXPECT_EQ(consumed, good.bytes.size() - good.left_over);
    }
  }
}

TEST(BodyDecoder, ABodyThatIsCutShortIsNeverWhole) {
  for (const Good& good : good_bodies()) {
    if (good.framing.kind == Framing::Kind::UntilClose) continue;
    for (size_t size = 0; size + good.left_over < good.bytes.size(); ++size) {
      const auto read = decode(std::string_view(good.bytes).substr(0, size), good.framing);
      ASSERT_FALSE(read.ok()) << ::testing::PrintToString(good.bytes) << " cut to " << size;
    }
  }
  EXPECT_EQ(decode("hell", length(5)).error().kind, ErrorKind::Closed);
  const Error upstream = decode("5\r\nhel", kChunked, {}, 1, ErrorSource::Upstream).error();
  EXPECT_EQ(upstream.kind, ErrorKind::Closed);
  EXPECT_EQ(upstream.source, ErrorSource::Upstream);
  EXPECT_EQ(upstream.sent, Sent::Answered);
}

TEST(BodyDecoder, OnlyClientsAreToldWhatToSend) {
  const std::string bytes = "5;" + std::string(5000, 'a') + "\r\nhello\r\n0\r\n\r\n";
  EXPECT_TRUE(decode(bytes, kChunked).error().context.ends_with("its chunk extensions are too long; send none"));
  const std::string of_arm = decode(bytes, kChunked, {}, 1, ErrorSource::Upstream).error().context;
  EXPECT_TRUE(of_arm.ends_with("its chunk extensions are too long")) << of_arm;
}

TEST(BodyDecoder, PiecesAreViewsOfTheInput) {
  const std::string bytes = "5\r\nhello\r\n0\r\n\r\nnext";
  BodyDecoder decoder(kChunked, ErrorSource::Client, Limits{});
  const auto step = decoder.feed(bytes);
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step->piece.data(), bytes.data() + 3);
  EXPECT_EQ(step->consumed, bytes.size() - 4);
  EXPECT_TRUE(step->done);
}

TEST(BodyDecoder, ContentBeyondTheLimitIsRefusedByItsAnnouncement) {
  const auto kind = [](std::string_view bytes, Framing framing) {
    const auto read = decode(bytes, framing, {}, ~size_t{0}, ErrorSource::Client, 5);
    return read.ok() ? std::string("read") : read.error().kind == ErrorKind::TooLarge ? "too large" : read.error().context;
  };
  EXPECT_EQ(kind("hello", length(5)), "read");
  EXPECT_EQ(kind("h", length(6)), "too large");
  EXPECT_EQ(kind("5\r\nhello\r\n0\r\n\r\n", kChunked), "read");
  EXPECT_EQ(kind("6\r\n", kChunked), "too large");
  EXPECT_EQ(kind("ffffffffffffffff\r\n", kChunked), "too large");
  EXPECT_EQ(kind("4\r\nhell\r\n2\r\n", kChunked), "too large");
  EXPECT_EQ(kind("4\r\nhell\r\nffffffffffffffff\r\n", kChunked), "too large");
  EXPECT_EQ(kind("hello", kUntilClose), "read");
  EXPECT_EQ(kind("hello!", kUntilClose), "too large");
}

TEST(BodyDecoder, ExtensionsAndTrailersAreBoundedOverTheWholeMessage) {
  Limits limits;
  limits.chunk_extension_bytes_max = 10;
  limits.trailer_bytes_max = 12;
  const auto refused = [&](std::string_view bytes, std::string_view word) {
    const auto read = decode(bytes, kChunked, limits, 1);
    return !read.ok() && read.error().kind == ErrorKind::TooLarge && read.error().context.find(word) != std::string::npos;
  };
  EXPECT_TRUE(decode("1;aaa\r\nx\r\n0;aaa\r\n\r\n", kChunked, limits).ok());
  EXPECT_TRUE(refused("1;aaaaaaaaaaaaaaaaaaa", "chunk extensions"));
  EXPECT_TRUE(refused("1;aaaaaa\r\nx\r\n1;aaaaaa", "chunk extensions"));
  EXPECT_TRUE(decode("0\r\nA: 345\r\n\r\n", kChunked, limits).ok());
  EXPECT_TRUE(refused("0\r\nA: 3456789abcdef", "trailers"));
  EXPECT_TRUE(refused("0\r\nA: 3\r\nB: 9\r\n\r\n", "trailers"));
}

}  // namespace
}  // namespace armgate::http::body_decoder_test
