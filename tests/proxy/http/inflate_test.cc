// Goal: what gzip and zlib wrote is read back, and damaged, cut, trailing or bomb bytes are refused.
#include "proxy/http/inflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace armgate::http {
namespace {

constexpr int kGzip = MAX_WBITS + 16;
constexpr int kZlib = MAX_WBITS;

std::string deflated(std::string_view text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string outcome(std::string_view bytes, size_t bytes_max = 1 << 20) {
  const Result<std::string> inflated = inflate_gzip(bytes, bytes_max);
  if (inflated.ok()) return *inflated;
  return inflated.error().kind == ErrorKind::TooLarge ? "too large" : "bad";
}

TEST(Inflate, ReadsBackWhatWasWritten) {
  std::string large;
  for (int i = 0; i < 50000; ++i) large += std::to_string(i * 7919);
  for (const int format : {kGzip, kZlib}) {
    EXPECT_EQ(outcome(deflated("", format)), "");
    EXPECT_EQ(outcome(deflated("hello", format)), "hello");
    EXPECT_EQ(outcome(deflated(large, format)), large);
  }
}

TEST(Inflate, GzipMembersFollowEachOther) {
  EXPECT_EQ(outcome(deflated("hello ", kGzip) + deflated("", kGzip) + deflated("world", kGzip)), "hello world");
}

TEST(Inflate, RefusesAllElse) {
  const std::string gzip = deflated("hello, hello, hello", kGzip);
  for (size_t size = 0; size < gzip.size(); ++size) EXPECT_EQ(outcome(gzip.substr(0, size)), "bad") << size;
  for (const size_t at : {size_t{0}, size_t{2}, size_t{12}, gzip.size() - 6, gzip.size() - 1}) {
    std::string damaged = gzip;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_EQ(outcome(damaged), "bad") << at;
  }
  EXPECT_EQ(outcome(gzip + "x"), "bad");
  EXPECT_EQ(outcome(gzip + std::string(4, '\0')), "bad");
  EXPECT_EQ(outcome(gzip + gzip.substr(0, 9)), "bad");
  EXPECT_EQ(outcome(gzip + deflated("x", kZlib)), "bad");
  EXPECT_EQ(outcome(deflated("x", kZlib) + gzip), "bad");
  EXPECT_EQ(outcome("{\"not\":\"compressed\"}"), "bad");
}

TEST(Inflate, StopsAtTheLimit) {
  const std::string bomb = deflated(std::string(10 << 20, 'a'), kGzip);
  ASSERT_LT(bomb.size(), 20000u);
  EXPECT_EQ(outcome(bomb, 1 << 20), "too large");
  EXPECT_EQ(outcome(bomb, (10 << 20) - 1), "too large");
  EXPECT_EQ(outcome(bomb, 10 << 20).size(), size_t{10 << 20});
  EXPECT_EQ(outcome(bomb, ~size_t{0}).size(), size_t{10 << 20});
  EXPECT_EQ(outcome(bomb + bomb, (20 << 20) - 1), "too large");
  EXPECT_EQ(outcome(deflated("hello", kZlib), 4), "too large");
  EXPECT_EQ(outcome(deflated("hello", kZlib), 5), "hello");
  EXPECT_EQ(outcome(deflated("", kZlib), 0), "");
}

}  // namespace
}  // namespace armgate::http
