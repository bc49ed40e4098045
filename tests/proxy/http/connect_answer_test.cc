// Goal: whether a tunnel stands is never mistaken, and what a proxy says of itself is short and harmless. Method: examples.
#include "proxy/http/connect_answer.h"

#include <gmock/gmock.h>

namespace armgate::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ConnectAnswer, IsOpenWithEvery2xxAndNothingElse) {
  for (const char* line : {"HTTP/1.1 200 Connection established", "HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 204 "}) {
    const auto answer = parse_connect_answer(std::string(line) + "\r\nContent-Length: 12\r\n\r\n");
    ASSERT_TRUE(answer) << line;
    EXPECT_TRUE(answer->is_open()) << line;
  }
  for (const char* line : {"HTTP/1.1 100 Continue", "HTTP/1.1 302 Found", "HTTP/1.1 407 No", "HTTP/1.1 503 No"}) {
    const auto answer = parse_connect_answer(std::string(line) + "\r\n\r\n");
    ASSERT_TRUE(answer) << line;
    EXPECT_FALSE(answer->is_open()) << line;
  }
}

TEST(ConnectAnswer, IsNothingElseAndNothingHalf) {
  for (const char* head : {"", "\r\n\r\n", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/2 200 OK\r\n\r\n",
                           "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n", "HTTP/1.1  200\r\n\r\n",
                           "<html>\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n"}) {
    EXPECT_FALSE(parse_connect_answer(head)) << head;
  }
}

TEST(ConnectAnswer, SaysWhyWhereTheProxyDoes) {
  const auto answer = parse_connect_answer(
      "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Negotiate\r\nno field\r\n"
      "proxy-authenticate:NTLM TlRMTVNTUAAC\r\nX-Squid-Error: ERR_CACHE_ACCESS_DENIED 0\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 407);
  EXPECT_EQ(answer->reason, "Proxy Authentication Required");
  EXPECT_THAT(answer->schemes, ElementsAre("Negotiate", "NTLM"));
  EXPECT_EQ(answer->proxy_error, "ERR_CACHE_ACCESS_DENIED");
}

TEST(ConnectAnswer, WhatItSaysCannotSteerATerminal) {
  const auto answer =
      parse_connect_answer("HTTP/1.1 403 \x1b[31m" + std::string(500, 'x') + "\r\nX-Squid-Error: \x1b]0;x\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_LE(answer->reason.size(), 300u);
  EXPECT_THAT(answer->reason + answer->proxy_error, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace armgate::http
