// Goal: an answer has one end and no field of its connection goes on. Method: raw answers read whole.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/http/whole_message.h"

namespace armgate::http::responses_test {
namespace {

using namespace std::string_literals;
using arm::Method;
using testing::read_response;

struct Good {
  std::string bytes;
  Method method;
  std::string body;
  Framing framing;
  bool keep_alive;
};

TEST(Responses, HaveOneEnd) {
  const std::vector<Good> cases = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Method::Get, "{}", {Framing::Kind::Length, 2}, true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
       Method::Get,
       "{}",
       {Framing::Kind::Length, 2},
       true},
      {"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", Method::Get, "", {Framing::Kind::Length, 0}, true},
      {"HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nETag: x\r\n\r\n",
       Method::Put,
       "{}",
       {Framing::Kind::Chunked},
       true},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
       Method::Get,
       "{}",
       {Framing::Kind::Length, 2},
       false},
      {"HTTP/1.1 200 OK\r\n\r\n{}", Method::Get, "{}", {Framing::Kind::UntilClose}, false},
      {"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n{}", Method::Get, "{}", {Framing::Kind::UntilClose}, false},
      {"HTTP/1.0 200 OK\r\n\r\n{}", Method::Get, "{}", {Framing::Kind::UntilClose}, false},
      {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", Method::Get, "{}", {Framing::Kind::Length, 2}, false},
      {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}",
       Method::Get,
       "{}",
       {Framing::Kind::Length, 2},
       true},
      // No content, whatever is announced.
      {"HTTP/1.1 204 No Content\r\n\r\n", Method::Delete, "", {}, true},
      {"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", Method::Delete, "", {}, true},
      {"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", Method::Delete, "", {}, false},
      {"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", Method::Delete, "", {}, false},
      {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", Method::Get, "", {}, true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Method::Head, "", {}, true},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Method::Head, "", {}, true},
      {"HTTP/1.1 404 Not Found\r\n\r\n", Method::Head, "", {}, true},
      {"HTTP/1.1 100 Continue\r\n\r\n", Method::Put, "", {}, true},
      {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", Method::Put, "", {}, true},
  };
  for (const Good& good : cases) {
    const auto read = read_response(good.bytes, good.method);
    ASSERT_TRUE(read.ok()) << good.bytes << read.error().context;
    EXPECT_EQ(read->body, good.body) << good.bytes;
    EXPECT_EQ(read->parsed.framing, good.framing) << good.bytes;
    EXPECT_EQ(read->parsed.keep_alive, good.keep_alive) << good.bytes;
    EXPECT_EQ(read->consumed, good.bytes.size()) << good.bytes;
    EXPECT_EQ(read->parsed.is_interim(), read->parsed.head.status < 200);
    EXPECT_FALSE(read->parsed.head.fields.has("Transfer-Encoding"));
    EXPECT_FALSE(read->parsed.head.fields.has("ETag")) << "from a trailer";
  }
}

TEST(Responses, KeepTheLengthThatTheyOnlyAnnounce) {
  const auto length = [](std::string_view bytes, Method method) -> std::string {
    const auto read = read_response(bytes, method);
    return std::string(read->parsed.head.fields.find("content-length").value_or("none"));
  };
  EXPECT_EQ(length("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Method::Head), "5");
  EXPECT_EQ(length("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n", Method::Get), "5");
  EXPECT_EQ(length("HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n", Method::Get), "none");
  EXPECT_EQ(length("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Method::Get), "none");
}

TEST(Responses, LoseTheFieldsOfTheirConnection) {
  const auto read = read_response(
      "HTTP/1.1 409 Conflict \r\nConnection: Keep-Alive, X-Mine\r\nKeep-Alive: timeout=5\r\nETag: W/\"a\"\r\nX-Mine: "
      "1\r\nTrailer: x\r\n"
      "Upgrade: h2\r\nProxy-Authenticate: Basic\r\netag: \"b\"\r\nContent-Length: 0\r\nRetry-After:  10\r\n\r\n");
  ASSERT_TRUE(read.ok()) << read.error().context;
  std::string text;
  for (const arm::Field& field : read->parsed.head.fields) text.append(field.name).append("=").append(field.value).append(";");
  EXPECT_EQ(text, "ETag=W/\"a\";etag=\"b\";Retry-After=10;");
  EXPECT_EQ(read->parsed.head.status, 409);
  EXPECT_EQ(read->parsed.head.reason, "Conflict ");
}

TEST(Responses, TwoReadingsAreRefused) {
  const std::vector<std::string> cases = {
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, foo\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
      "HTTP/1.1 304 x\r\nContent-Length: x\r\n\r\n",
      "HTTP/1.1 204 x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
      "HTTP/1.1 99 x\r\n\r\n",
      "HTTP/1.1 099 x\r\n\r\n",
      "HTTP/1.1 600 x\r\n\r\n",
      "HTTP/1.1 999 x\r\n\r\n",
      "HTTP/1.1 000 x\r\n\r\n",
      "HTTP/1.1 2000 x\r\n\r\n",
      "HTTP/1.1 20 x\r\n\r\n",
      "HTTP/1.1 2x0 x\r\n\r\n",
      "HTTP/1.1 +20 x\r\n\r\n",
      "HTTP/1.1 200\r\n\r\n",
      "HTTP/1.1  200 OK\r\n\r\n",
      "HTTP/1.1 200\tOK\r\n\r\n",
      "HTTP/1.1\t200 OK\r\n\r\n",
      "HTTP/1.1 \r\n\r\n",
      "HTTP/1.1\r\n\r\n",
      "HTTP/2.0 200 OK\r\n\r\n",
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.2 200 OK\r\n\r\n",
      "HTTP/0.9 200 OK\r\n\r\n",
      "ICY 200 OK\r\n\r\n",
      "http/1.1 200 OK\r\n\r\n",
      " HTTP/1.1 200 OK\r\n\r\n",
      "\r\nHTTP/1.1 200 OK\r\n\r\n",
      "<html>\r\n\r\n",
      "HTTP/1.1 200 O\rK\r\n\r\n",
      "HTTP/1.1 200 O\0K\r\n\r\n"s,
      "HTTP/1.1 200 OK\n\n",
      "HTTP/1.1 200 OK\r\nA: b\n\r\n",
      "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
      "HTTP/1.1 200 OK\r\n: b\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n"s,
      "HTTP/1.1 200 OK\r\nA\r\n\r\n",
      "HTTP/1.1 200 OK\r\nConnection: ETag\r\nETag: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nConnection: Azure-AsyncOperation\r\n\r\n",
      "HTTP/1.1 200 OK\r\nConnection: Location\r\n\r\n",
      "HTTP/1.1 200 OK\r\nConnection: Retry-After\r\n\r\n",
  };
  for (const std::string& bytes : cases) {
    const auto read = read_response(bytes);
    ASSERT_FALSE(read.ok()) << ::testing::PrintToString(bytes);
    EXPECT_EQ(read.error().kind, ErrorKind::BadInput);
    EXPECT_EQ(read.error().source, ErrorSource::Upstream);
    EXPECT_EQ(read.error().sent, Sent::Maybe) << "ARM may have done what was asked";
    EXPECT_EQ(read.error().context.find("; "), std::string::npos)
        << read.error().context << ": who reads it is not who sent it";
  }
}

TEST(Responses, MoreThanTheLimitIsTooLarge) {
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 201; ++i) many += "X: 1\r\n";
  const std::string large = "HTTP/1.1 200 OK\r\nX: " + std::string(65536, 'a') + "\r\n\r\n";
  for (const std::string& bytes : {many + "\r\n", large}) {
    const Error error = read_response(bytes).error();
    EXPECT_EQ(error.kind, ErrorKind::TooLarge);
    EXPECT_TRUE(error.context.ends_with("; whoever runs armgate can raise that option")) << error.context;
    EXPECT_EQ(error.context.find("send fewer"), std::string::npos) << error.context;
  }
}

}  // namespace
}  // namespace armgate::http::responses_test
