// Goal: what real clients send passes, and its head says what it must. Method: raw requests read whole.
#include "proxy/http/head_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/http/whole_message.h"

namespace armgate::http {
namespace {

using testing::put;
using testing::read_request;

std::string fields_of(const arm::Headers& fields) {
  std::string text;
  for (const arm::Field& field : fields) text.append(field.name).append(": ").append(field.value).append("\n");
  return text;
}

ParsedRequestHead parsed(std::string_view bytes) {
  Result<ParsedRequestHead> request = parse_request_head(bytes, Limits{});
  EXPECT_TRUE(request.ok()) << ::testing::PrintToString(std::string(bytes)) << (request.ok() ? "" : request.error().context);
  return request.ok() ? *request : ParsedRequestHead{};
}

TEST(AcceptedRequests, KeepTheBytesAndTheOrderOfTheirFields) {
  const auto read = read_request(
      "PUT /subscriptions/0/x?api-version=2023-01-01&$filter=a%20eq%20'b'|\"c\" HTTP/1.1\r\n"
      "Host: Management.Azure.COM:443\r\n"
      "x-ms-Client-Request-Id:abc\r\n"
      "IF-match: \t \"e\"  \r\n"
      "Content-Length: 2\r\n"
      "X-Twice: 1\r\n"
      "x-twice: 2\r\n"
      "X-Empty:\r\n"
      "X-Inner: a  b\tc\r\n"
      "X-Latin: caf\xe9\r\n"
      "authorization: Bearer t\r\n\r\n{}GET");
  ASSERT_TRUE(read.ok()) << read.error().context;
  const ParsedRequestHead& request = read->parsed;
  EXPECT_EQ(request.head.method, arm::Method::Put);
  EXPECT_EQ(request.head.target, "/subscriptions/0/x?api-version=2023-01-01&$filter=a%20eq%20'b'|\"c\"");
  EXPECT_EQ(request.head.host, "management.azure.com");
  EXPECT_EQ(request.authority, "Management.Azure.COM:443");
  EXPECT_EQ(request.port, 443);
  EXPECT_EQ(fields_of(request.head.fields),
            "x-ms-Client-Request-Id: abc\nIF-match: \"e\"\nX-Twice: 1\nx-twice: 2\nX-Empty: \nX-Inner: a  b\tc\n"
            "X-Latin: caf\xe9\nauthorization: Bearer t\n");
  EXPECT_EQ(request.framing, (Framing{Framing::Kind::Length, 2}));
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(read->body, "{}");
}

TEST(AcceptedRequests, LoseTheFieldsOfTheirConnection) {
  const auto read = read_request(
      put("Connection: Keep-Alive, X-Mine ,,upgrade, HTTP2-Settings, TE\r\nKeep-Alive: 5\r\nX-Mine: 1\r\nX-Other: "
          "2\r\nTE: trailers\r\n"
          "Trailer: If-Match\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\nProxy-Connection: "
          "keep-alive\r\nProxy-Authenticate: x\r\n"
          "Proxy-Authorization: Basic c2VjcmV0\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nx-mine: 3\r\n",
          "0\r\n\r\n"));
  ASSERT_TRUE(read.ok()) << read.error().context;
  EXPECT_EQ(fields_of(read->parsed.head.fields), "X-Other: 2\n");
  EXPECT_TRUE(read->parsed.expects_continue);
  EXPECT_EQ(read->parsed.proxy_authorization, "") << "inside the tunnel it is for nobody";
}

TEST(AcceptedRequests, TrailersNeverBecomeFields) {
  const std::string bytes =
      put("Transfer-Encoding: chunked\r\nX: 1\r\n",
          "2\r\n{}\r\n0\r\nIf-Match: \"smuggled\"\r\nAuthorization: Bearer other\r\nHost: other.example\r\n\r\n");
  const auto read = read_request(bytes);
  ASSERT_TRUE(read.ok()) << read.error().context;
  EXPECT_EQ(fields_of(read->parsed.head.fields), "X: 1\n");
  EXPECT_EQ(read->parsed.head.host, testing::kHost);
  EXPECT_EQ(read->body, "{}");
  EXPECT_EQ(read->consumed, bytes.size());
}

TEST(AcceptedRequests, Framing) {
  struct Case {
    std::string fields;
    Framing framing;
  };
  const std::vector<Case> cases = {
      {"", {Framing::Kind::None}},
      {"Content-Length: 0\r\n", {Framing::Kind::Length, 0}},
      {"content-LENGTH:007\r\n", {Framing::Kind::Length, 7}},
      {"Content-Length: 8388608\r\n", {Framing::Kind::Length, 8388608}},
      {"Transfer-Encoding: chunked\r\n", {Framing::Kind::Chunked}},
      {"transfer-encoding:\tChunked \r\n", {Framing::Kind::Chunked}},
  };
  for (const Case& c : cases) EXPECT_EQ(parsed(put(c.fields)).framing, c.framing) << c.fields;
  EXPECT_EQ(body_length(Framing{}).kind, BodyLength::Kind::None);
  EXPECT_EQ(body_length(Framing{Framing::Kind::Length, 0}).kind, BodyLength::Kind::Known);
  EXPECT_EQ(body_length(Framing{Framing::Kind::Chunked}).kind, BodyLength::Kind::Unknown);
  EXPECT_EQ(body_length(Framing{Framing::Kind::UntilClose}).kind, BodyLength::Kind::Unknown);
}

TEST(AcceptedRequests, AZeroLengthIsRemembered) {
  const ParsedRequestHead request = parsed("DELETE /a HTTP/1.1\r\nHost: a\r\nA: 1\r\ncontent-length: 0\r\nB: 2\r\n\r\n");
  EXPECT_EQ(fields_of(request.head.fields), "A: 1\ncontent-length: 0\nB: 2\n");
}

TEST(AcceptedRequests, KeepAliveFollowsVersionAndConnection) {
  struct Case {
    std::string version;
    std::string fields;
    bool keep_alive;
  };
  const std::vector<Case> cases = {
      {"1.1", "", true},
      {"1.1", "Connection: close\r\n", false},
      {"1.1", "Connection: CLOSE , x\r\n", false},
      {"1.1", "Connection: keep-alive\r\nConnection: close\r\n", false},
      {"1.1", "Connection:\r\n", true},
      {"1.0", "", false},
      {"1.0", "Connection: Keep-Alive\r\n", true},
      {"1.0", "Connection: keep-alive, close\r\n", false},
      {"1.0", "Proxy-Connection: keep-alive\r\n", false},
  };
  for (const Case& c : cases) {
    const ParsedRequestHead request = parsed("GET /a HTTP/" + c.version + "\r\nHost: a\r\n" + c.fields + "\r\n");
    EXPECT_EQ(request.keep_alive, c.keep_alive) << c.version << c.fields;
    EXPECT_EQ(request.minor_version, c.version.back() - '0');
  }
}

TEST(AcceptedRequests, ContinueIsExpectedOnlyWhereItHelps) {
  EXPECT_TRUE(parsed(put("Content-Length: 1\r\nExpect: 100-Continue\r\n")).expects_continue);
  EXPECT_FALSE(parsed(put("Content-Length: 1\r\n")).expects_continue);
  EXPECT_FALSE(parsed(put("Content-Length: 0\r\nExpect: 100-continue\r\n")).expects_continue);
  EXPECT_FALSE(parsed(put("Expect: 100-continue\r\n")).expects_continue);
  EXPECT_FALSE(parsed("PUT /a HTTP/1.0\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n").expects_continue);
}

TEST(AcceptedRequests, ConnectGoesByItsTarget) {
  struct Case {
    std::string_view bytes;
    std::string_view host;
    uint16_t port;
    std::string_view secret;
  };
  const std::vector<Case> cases = {
      {"CONNECT Management.azure.com:443 HTTP/1.1\r\nHost: management.azure.com:443\r\n\r\n", "management.azure.com", 443, ""},
      // Python's http.client before 3.12.
      {"CONNECT management.azure.com:443 HTTP/1.0\r\n\r\n", "management.azure.com", 443, ""},
      {"CONNECT management.azure.com:443 HTTP/1.0\r\nProxy-Authorization: Basic dTo=\r\n\r\n", "management.azure.com", 443,
       "Basic dTo="},
      // Old Node tunnels name the proxy in Host.
      {"CONNECT management.azure.com:443 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", "management.azure.com", 443, ""},
      {"CONNECT management.azure.com.:443 HTTP/1.1\r\nHost: management.azure.com.:443\r\n\r\n", "management.azure.com", 443,
       ""},
      {"CONNECT my_service:1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "my_service", 1, ""},
      {"CONNECT [2001:DB8::1]:65535 HTTP/1.1\r\nHost: [::1]\r\n\r\n", "[2001:db8::1]", 65535, ""},
  };
  for (const Case& c : cases) {
    const ParsedRequestHead request = parsed(c.bytes);
    EXPECT_EQ(request.head.method, arm::Method::Connect);
    EXPECT_EQ(request.head.host, c.host);
    EXPECT_EQ(request.port, c.port);
    EXPECT_EQ(request.proxy_authorization, c.secret);
    EXPECT_EQ(request.head.target, request.authority);
    EXPECT_FALSE(request.head.fields.has("Proxy-Authorization"));
  }
  const std::vector<std::string_view> refused = {
      "CONNECT a:443 HTTP/1.1\r\n\r\n",
      "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
      "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
      "CONNECT a:443 HTTP/1.0\r\nHost: a@b\r\n\r\n",
  };
  for (const std::string_view bytes : refused) EXPECT_FALSE(parse_request_head(bytes, Limits{}).ok()) << bytes;
  const auto with_user = parse_request_head("CONNECT u:secret@a:443 HTTP/1.1\r\nHost: a\r\n\r\n", Limits{});
  ASSERT_FALSE(with_user.ok());
  EXPECT_NE(with_user.error().context.find("the target of CONNECT, `***@a:443`, is not host:port"), std::string::npos);
}

Result<void> checked(std::string_view host_field, std::string_view host, uint16_t port, LedBy led_by = LedBy::Tunnel) {
  return check_authority(parsed("GET /a HTTP/1.1\r\nHost: " + std::string(host_field) + "\r\n\r\n"), host, port, led_by);
}

TEST(AcceptedRequests, HostIsComparedWithTheTunnel) {
  EXPECT_TRUE(checked("a.example", "a.example", 443).ok());
  EXPECT_TRUE(checked("A.EXAMPLE:443", "a.example", 443).ok());
  EXPECT_TRUE(checked("a.example.", "a.example", 443).ok());
  EXPECT_TRUE(checked("a.example:8443", "a.example", 8443).ok());
  EXPECT_FALSE(checked("a.example", "a.example", 8443).ok());
  EXPECT_FALSE(checked("a.example:443", "a.example", 8443).ok());
  EXPECT_FALSE(checked("b.example", "a.example", 443).ok());
}

TEST(AcceptedRequests, HostOnADirectConnectionMayHaveTheListenersPort) {
  for (const char* host : {"a.example", "a.example:443", "a.example:28443"}) {
    EXPECT_TRUE(checked(host, "a.example", 28443, LedBy::Listener).ok()) << host;
  }
  for (const char* host : {"a.example:8443", "b.example", "b.example:28443"}) {
    const auto refused = checked(host, "a.example", 28443, LedBy::Listener);
    ASSERT_FALSE(refused.ok()) << host;
    EXPECT_EQ(refused.error().context,
              "the request's host is not a.example (without a port, or with 443 or 28443), for which TLS was opened; open a "
              "connection for each host");
  }
  const auto connect =
      check_authority(parsed("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n"), "a.example", 28443, LedBy::Listener);
  ASSERT_FALSE(connect.ok());
  EXPECT_EQ(connect.error().context.find("tunnel"), std::string::npos) << connect.error().context;
}

// RFC 9112 §3.2.2: the URL's host replaces Host's.
TEST(AcceptedRequests, AWholeUrlAsTargetStandsForItsHostAndPath) {
  struct Case {
    std::string url;
    std::string target;
    std::optional<uint16_t> port = std::nullopt;
  };
  const std::vector<Case> cases = {
      {"https://A.example/a/b?c=https://d", "/a/b?c=https://d"},
      {"HTTPS://a.example.:443//a", "//a", 443},
      {"https://a.example", "/"},
      {"https://a.example?x=1/2", "/?x=1/2"},
      {"https://a.example:8443/", "/", 8443},
  };
  for (const Case& c : cases) {
    const auto request = parsed("GET " + c.url + " HTTP/1.1\r\nHost: other.example:1\r\n\r\n");
    EXPECT_EQ(request.head.host, "a.example") << c.url;
    EXPECT_EQ(request.port, c.port) << c.url;
    EXPECT_EQ(request.head.target, c.target);
    EXPECT_FALSE(check_authority(request, "other.example", 1, LedBy::Tunnel).ok());
  }
}

TEST(EmptyLines, BeforeARequestAreNoPartOfIt) {
  EXPECT_EQ(empty_lines_before("GET"), 0u);
  EXPECT_EQ(empty_lines_before("\r\nGET"), 2u);
  EXPECT_EQ(empty_lines_before("\r\n\r\n\r"), 4u);
  EXPECT_EQ(empty_lines_before("\n\r\n"), 0u);
}

TEST(FindHeadEnd, FindsTheEmptyLineFromAnyStart) {
  const std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n\r\nbody\r\n\r\n";
  const size_t end = bytes.find("\r\n\r\n") + 4;
  for (size_t seen = 0; seen < end; ++seen) {
    EXPECT_EQ(find_head_end(std::string_view(bytes).substr(0, seen), 0), std::nullopt);
    EXPECT_EQ(find_head_end(bytes, seen), end) << seen;
  }
}

TEST(FindHeadEnd, EndsAtALineThatNoHeadMayHold) {
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\nHost", 0), 15u);
  EXPECT_EQ(find_head_end("\nGET", 0), 1u);
  EXPECT_EQ(find_head_end("\r\nGET", 0), 2u);
  EXPECT_EQ(find_head_end("", 0), std::nullopt);
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\r\n\r", 0), std::nullopt);
}

TEST(ParseRequestHead, WhatIsNotOneWholeHeadIsRefused) {
  const std::string head = "GET /a HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n";
  ASSERT_TRUE(parse_request_head(head, Limits{}).ok());
  for (size_t size = 0; size < head.size(); ++size) {
    EXPECT_FALSE(parse_request_head(std::string_view(head).substr(0, size), Limits{}).ok()) << size;
  }
  EXPECT_FALSE(parse_request_head(head + "x", Limits{}).ok());
}

}  // namespace
}  // namespace armgate::http
