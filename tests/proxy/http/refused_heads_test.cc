// Goal: no request with two readings passes the head's gate. Method: tables of raw requests, each with a word that the
// refusal must hold, so that a request refused for another reason than its fault does not count.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/http/whole_message.h"

namespace armgate::http::refused_heads_test {
namespace {

using namespace std::string_literals;

struct Case {
  std::string text;
  std::string_view word;  // in the refusal's context
};

void expect_refused(const std::string& bytes, std::string_view word, ErrorKind kind = ErrorKind::BadInput) {
  const auto read = testing::read_request(bytes);
  ASSERT_FALSE(read.ok()) << ::testing::PrintToString(bytes);
  EXPECT_EQ(read.error().kind, kind) << ::testing::PrintToString(bytes) << "\n" << read.error().context;
  EXPECT_EQ(read.error().source, ErrorSource::Client);
  EXPECT_EQ(read.error().sent, Sent::No);
  EXPECT_NE(read.error().context.find(word), std::string::npos)
      << ::testing::PrintToString(bytes) << " was refused because: " << read.error().context;
}

TEST(RefusedHeads, AmbiguousFraming) {
  const std::vector<Case> fields = {
      // Both at once, in either order and spelling (CL.TE, TE.CL).
      {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "both content-length and transfer-encoding"},
      {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "both content-length and transfer-encoding"},
      {"transfer-encoding: chunked\r\ncontent-length: 0\r\n", "both content-length and transfer-encoding"},
      {"Transfer-Encoding: gzip\r\nContent-Length: 5\r\n", "both content-length and transfer-encoding"},
      {"Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n", "both content-length and transfer-encoding"},
      {"Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "both content-length and transfer-encoding"},
      {"Transfer-Encoding:\r\nContent-Length: 5\r\n", "both content-length and transfer-encoding"},
      {"Content-Length: 5\r\nTransfer-Encoding: identity\r\n", "both content-length and transfer-encoding"},
      {"Content-Length:\r\nTransfer-Encoding: chunked\r\n", "both content-length and transfer-encoding"},
      // Spellings of Transfer-Encoding.
      {"Transfer-Encoding: xchunked\r\n", "transfer-encoding"},
      {"Transfer-Encoding: chunkedx\r\n", "transfer-encoding"},
      {"Transfer-Encoding: chunke\r\n", "transfer-encoding"},
      {"Transfer-Encoding: identity\r\n", "transfer-encoding"},
      {"Transfer-Encoding: gzip\r\n", "transfer-encoding"},
      {"Transfer-Encoding: gzip, chunked\r\n", "transfer-encoding"},
      {"Transfer-Encoding: chunked, gzip\r\n", "transfer-encoding"},
      {"Transfer-Encoding: chunked, chunked\r\n", "transfer-encoding"},
      {"Transfer-Encoding: chunked,\r\n", "transfer-encoding"},
      {"Transfer-Encoding: ,chunked\r\n", "transfer-encoding"},
      {"Transfer-Encoding: , chunked\r\n", "transfer-encoding"},
      {"Transfer-Encoding: chunked;q=1\r\n", "transfer-encoding"},
      {"Transfer-Encoding: \"chunked\"\r\n", "transfer-encoding"},
      {"Transfer-Encoding: 'chunked'\r\n", "transfer-encoding"},
      {"Transfer-Encoding: chunked identity\r\n", "transfer-encoding"},
      {"Transfer-Encoding: x chunked\r\n", "transfer-encoding"},
      {"Transfer-Encoding: chun\tked\r\n", "transfer-encoding"},
      {"Transfer-Encoding: \xa0"
       "chunked\r\n",
       "transfer-encoding"},
      {"Transfer-Encoding: chunked\xff\r\n", "transfer-encoding"},
      {"Transfer-Encoding:\r\n", "transfer-encoding"},
      {"Transfer-Encoding: \r\n", "transfer-encoding"},
      {"Transfer-Encoding: chunked\v\r\n", "control character"},
      {"Transfer-Encoding: \x0b"
       "chunked\r\n",
       "control character"},
      {"Transfer-Encoding: \x0c"
       "chunked\r\n",
       "control character"},
      {"Transfer-Encoding: chunked\0\r\n"s, "control character"},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "two transfer-encoding"},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "two transfer-encoding"},
      {"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "two transfer-encoding"},
      {"Transfer-Encoding: chunked\r\nTRANSFER-ENCODING:\r\n", "two transfer-encoding"},
      {"Transfer-Encoding : chunked\r\n", "(transfer-encoding) has white space"},
      {"Transfer-Encoding\t: chunked\r\n", "(transfer-encoding) has white space"},
      {"Transfer-Encoding\v: chunked\r\n", "before its colon"},
      {"Transfer-Encoding\r\n : chunked\r\n", "no colon"},
      {"Transfer-Encoding:\r\n chunked\r\n", "folded"},
      {"Transfer-Encoding:\r\n\tchunked\r\n", "folded"},
      {" Transfer-Encoding: chunked\r\n", "folded"},
      {"Foo: bar\r\n Transfer-Encoding: chunked\r\n", "folded"},
      {"Foo: bar\rTransfer-Encoding: chunked\r\n", "control character"},
      {"Foo: bar\nTransfer-Encoding: chunked\r\n", "line feed alone"},
      {"\0Transfer-Encoding: chunked\r\n"s, "does not begin with a name"},
      {"Transfer-Encoding\0: chunked\r\n"s, "before its colon"},
      {"Transfer\0-Encoding: chunked\r\n"s, "before its colon"},
      {"\xef\xbb\xbfTransfer-Encoding: chunked\r\n", "does not begin with a name"},
      // Content-Length.
      {"Content-Length: 5\r\nContent-Length: 5\r\n", "two content-length"},
      {"Content-Length: 5\r\nContent-Length: 6\r\n", "two content-length"},
      {"Content-Length: 0\r\ncontent-length: 5\r\n", "two content-length"},
      {"Content-Length: 5, 5\r\n", "content-length"},
      {"Content-Length: 5,6\r\n", "content-length"},
      {"Content-Length: 5,\r\n", "content-length"},
      {"Content-Length: ,5\r\n", "content-length"},
      {"Content-Length:\r\n", "content-length"},
      {"Content-Length: \t \r\n", "content-length"},
      {"Content-Length: +5\r\n", "content-length"},
      {"Content-Length: -5\r\n", "content-length"},
      {"Content-Length: -0\r\n", "content-length"},
      {"Content-Length: 0x5\r\n", "content-length"},
      {"Content-Length: 5_0\r\n", "content-length"},
      {"Content-Length: 0_5\r\n", "content-length"},
      {"Content-Length: 5 0\r\n", "content-length"},
      {"Content-Length: 5\t0\r\n", "content-length"},
      {"Content-Length: 5.0\r\n", "content-length"},
      {"Content-Length: 5e0\r\n", "content-length"},
      {"Content-Length: 5;\r\n", "content-length"},
      {"Content-Length: \"5\"\r\n", "content-length"},
      {"Content-Length: five\r\n", "content-length"},
      {"Content-Length: 5a\r\n", "content-length"},
      {"Content-Length: \xd9\xa5\r\n", "content-length"},
      {"Content-Length: 18446744073709551616\r\n", "content-length"},
      {"Content-Length: 18446744073709551621\r\n", "content-length"},
      {"Content-Length: 99999999999999999999999999999999999999\r\n", "content-length"},
      {"Content-Length : 5\r\n", "(content-length) has white space"},
      {"Content-Length\t: 5\r\n", "(content-length) has white space"},
      {"Content-Length: 5\0\r\n"s, "control character"},
      {"Content-Length: 5\v\r\n", "control character"},
      {"Content-Length: \r5\r\n", "control character"},
      {"Content-Length:\r\n 5\r\n", "folded"},
      {"Content\0Length: 5\r\n"s, "before its colon"},
      {"Content Length: 5\r\n", "before its colon"},
  };
  for (const Case& c : fields) expect_refused(testing::put(c.text, "hello"), c.word);
}

TEST(RefusedHeads, OldVersionWithTransferEncoding) {
  expect_refused("PUT /a HTTP/1.0\r\nHost: management.azure.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.0");
}

TEST(RefusedHeads, LengthBeyondTheLimit) {
  expect_refused(testing::put("Content-Length: 8388609\r\n"), "limits.request_body_bytes", ErrorKind::TooLarge);
  expect_refused(testing::put("Content-Length: 18446744073709551615\r\n"), "limits.request_body_bytes", ErrorKind::TooLarge);
}

TEST(RefusedHeads, HostIsMissingDoubledOrInvalid) {
  const std::vector<Case> fields = {
      {"", "no host header"},
      {"Host:\r\n", "host header is not one name"},
      {"Host: \r\n", "host header is not one name"},
      {"Host: management.azure.com\r\nHost: management.azure.com\r\n", "two host"},
      {"Host: management.azure.com\r\nhOST: other.example\r\n", "two host"},
      {"Host: management.azure.com, other.example\r\n", "host header is not one name"},
      {"Host: management.azure.com,\r\n", "host header is not one name"},
      {"Host: ,management.azure.com\r\n", "host header is not one name"},
      {"Host: user@management.azure.com\r\n", "host header is not one name"},
      {"Host: user:pass@management.azure.com\r\n", "host header is not one name"},
      {"Host: management.azure.com@other.example\r\n", "host header is not one name"},
      {"Host: management.azure.com:\r\n", "host header is not one name"},
      {"Host: management.azure.com:0\r\n", "host header is not one name"},
      {"Host: management.azure.com:00443\r\n", "host header is not one name"},
      {"Host: management.azure.com:65536\r\n", "host header is not one name"},
      {"Host: management.azure.com:65979\r\n", "host header is not one name"},
      {"Host: management.azure.com:99999999999999999999\r\n", "host header is not one name"},
      {"Host: management.azure.com:-1\r\n", "host header is not one name"},
      {"Host: management.azure.com:+443\r\n", "host header is not one name"},
      {"Host: management.azure.com:443:443\r\n", "host header is not one name"},
      {"Host: management.azure.com:443a\r\n", "host header is not one name"},
      {"Host: management.azure.com:https\r\n", "host header is not one name"},
      {"Host: management.azure.com:4 43\r\n", "host header is not one name"},
      {"Host: :443\r\n", "host header is not one name"},
      {"Host: management.azure.com..\r\n", "host header is not one name"},
      {"Host: .management.azure.com\r\n", "host header is not one name"},
      {"Host: management..azure.com\r\n", "host header is not one name"},
      {"Host: management.azure.com/\r\n", "host header is not one name"},
      {"Host: https://management.azure.com\r\n", "host header is not one name"},
      {"Host: management.azure.com?x\r\n", "host header is not one name"},
      {"Host: management.azure.com#x\r\n", "host header is not one name"},
      {"Host: management.azure.com\\x\r\n", "host header is not one name"},
      {"Host: management%2eazure.com\r\n", "host header is not one name"},
      {"Host: management azure.com\r\n", "host header is not one name"},
      {"Host: management.azure.com\tx\r\n", "host header is not one name"},
      {"Host: m\xc3\xa4nagement.azure.com\r\n", "host header is not one name"},
      {"Host: [::1\r\n", "host header is not one name"},
      {"Host: [::1]x\r\n", "host header is not one name"},
      {"Host: [::1%25eth0]\r\n", "host header is not one name"},
      {"Host: []\r\n", "host header is not one name"},
      {"Host: ::1\r\n", "host header is not one name"},
      {"Host: management.azure.com\0\r\n"s, "control character"},
      {"Host : management.azure.com\r\n", "(host) has white space"},
      {" Host: management.azure.com\r\n", "folded"},
      {"Host:\r\n management.azure.com\r\n", "folded"},
      {"Host: other.example\r\n", "not the host management.azure.com:443"},
      {"Host: management.azure.com.evil.example\r\n", "not the host management.azure.com:443"},
      {"Host: xmanagement.azure.com\r\n", "not the host management.azure.com:443"},
      {"Host: management.azure.com:8443\r\n", "not the host management.azure.com:443"},
      {"Host: management.azure.com:80\r\n", "not the host management.azure.com:443"},
      {"Host: 127.0.0.1\r\n", "not the host management.azure.com:443"},
  };
  for (const Case& c : fields) expect_refused("GET /a HTTP/1.1\r\n" + c.text + "\r\n", c.word);
  expect_refused("GET /a HTTP/1.0\r\n\r\n", "no host header");
  Limits probed;
  probed.host_is_optional = true;
  EXPECT_EQ(parse_request_head("GET /readyz HTTP/1.0\r\n\r\n", probed)->head.host, "");
  EXPECT_FALSE(parse_request_head("GET /readyz HTTP/1.1\r\n\r\n", probed).ok()) << "RFC 9112, section 3.2";
}

TEST(RefusedHeads, RequestLine) {
  const std::vector<Case> lines = {
      {"\r\n", "empty line"},
      {"\r\nGET / HTTP/1.1\r\n", "empty line"},
      {"\nGET / HTTP/1.1\r\n", "CRLF"},
      {"GET / HTTP/1.1\n", "CRLF"},
      {"GET /\r\n", "not `METHOD target HTTP/1.1`"},
      {"GET\r\n", "not `METHOD target HTTP/1.1`"},
      {"GET  / HTTP/1.1\r\n", "target is empty"},
      {"GET /  HTTP/1.1\r\n", "exactly one space"},
      {"GET / HTTP/1.1 \r\n", "exactly one space"},
      {" GET / HTTP/1.1\r\n", "method"},
      {"GET\t/ HTTP/1.1\r\n", "not `METHOD target HTTP/1.1`"},
      {"GET /\tHTTP/1.1\r\n", "not `METHOD target HTTP/1.1`"},
      {"GET /a b HTTP/1.1\r\n", "percent-encode spaces"},
      {"GET /a HTTP/1.1 HTTP/1.1\r\n", "exactly one space"},
      {"GET /a\tb HTTP/1.1\r\n", "control character"},
      {"GET /a\rb HTTP/1.1\r\n", "control character"},
      {"GET /a\0b HTTP/1.1\r\n"s, "control character"},
      {"GET /a\x7f HTTP/1.1\r\n", "control character"},
      {"GET /a\x01 HTTP/1.1\r\n", "control character"},
      {"GET /\xc3\xa4 HTTP/1.1\r\n", "ASCII"},
      {"GET /a#b HTTP/1.1\r\n", "fragment"},
      {"GET a HTTP/1.1\r\n", "does not begin with a slash"},
      {"GET subscriptions/1 HTTP/1.1\r\n", "does not begin with a slash"},
      {"GET ?x=1 HTTP/1.1\r\n", "does not begin with a slash"},
      {"GET .. HTTP/1.1\r\n", "does not begin with a slash"},
      {"GET \\a HTTP/1.1\r\n", "does not begin with a slash"},
      {"OPTIONS * HTTP/1.1\r\n", "does not begin with a slash"},
      {"GET @other.example/ HTTP/1.1\r\n", "does not begin with a slash"},
      {"GET management.azure.com:443 HTTP/1.1\r\n", "does not begin with a slash"},
      {"GET https://other.example/a HTTP/1.1\r\n", "tunnel to each host"},
      {"GET https://management.azure.com:444/a HTTP/1.1\r\n", "tunnel to each host"},
      {"GET https://management.azure.com@other.example/a HTTP/1.1\r\n", "does not name one host"},
      {"GET https:///a HTTP/1.1\r\n", "does not name one host"},
      {"GET http://management.azure.com/a HTTP/1.1\r\n", "CONNECT tunnel"},
      {"GET http://other.example/a HTTP/1.1\r\n", "CONNECT tunnel"},
      {"GET file:///etc/passwd HTTP/1.1\r\n", "CONNECT tunnel"},
      {"GET /a HTTP/2.0\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/2\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"PRI * HTTP/2.0\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/1.2\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/0.9\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/1.10\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/1.01\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/01.1\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/1.\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/11\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/+1.1\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a http/1.1\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTPS/1.1\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/1.1\0\r\n"s, "HTTP/1.1 or HTTP/1.0"},
      {"GET /a HTTP/1.1\r\r\n", "HTTP/1.1 or HTTP/1.0"},
      {"GET /a \r\n", "HTTP/1.1 or HTTP/1.0"},
      {"G@T /a HTTP/1.1\r\n", "method"},
      {"G\xc3\x8bT /a HTTP/1.1\r\n", "method"},
      {"GE\0T /a HTTP/1.1\r\n"s, "method"},
      {"GET: /a HTTP/1.1\r\n", "method"},
      {"\"GET\" /a HTTP/1.1\r\n", "method"},
      {"\x16\x03\x01 /a HTTP/1.1\r\n", "method"},
      // CONNECT, inside the tunnel and malformed.
      {"CONNECT management.azure.com:443 HTTP/1.1\r\n", "inside a tunnel"},
      {"CONNECT other.example:443 HTTP/1.1\r\n", "inside a tunnel"},
      {"CONNECT /a HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com: HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com:0 HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com:65536 HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com:65979 HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com:0443 HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com:443/ HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com..:443 HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com.:443 HTTP/1.1\r\n", "inside a tunnel"},
      {"CONNECT user@management.azure.com:443 HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT https://management.azure.com:443 HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT management.azure.com,other.example:443 HTTP/1.1\r\n", "target of CONNECT"},
      {"CONNECT :443 HTTP/1.1\r\n", "target of CONNECT"},
  };
  for (const Case& c : lines) expect_refused(c.text + "Host: management.azure.com\r\n\r\n", c.word);
}

}  // namespace
}  // namespace armgate::http::refused_heads_test
