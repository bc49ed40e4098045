// Goal: what is written has one reading, keeps the fields' bytes and order, and nothing put in can break it apart.
#include "proxy/http/compose.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/http/whole_message.h"

namespace armgate::http {
namespace {

using arm::Method;
using namespace std::string_literals;

constexpr BodyLength kNone{};
constexpr BodyLength kUnknown{BodyLength::Kind::Unknown, 0};

BodyLength known(uint64_t bytes) { return {BodyLength::Kind::Known, bytes}; }

arm::RequestHead request(std::string_view method, arm::Headers fields = {}) {
  return {arm::method_of(method), std::string(method), "/a?b=c", "management.azure.com", std::move(fields)};
}

std::string written(const arm::RequestHead& head, BodyLength length, std::string_view via = "") {
  std::string out;
  const Result<void> composed = compose_request(out, head, length, via);
  return composed.ok() ? out : "refused: " + composed.error().context;
}

TEST(ComposeRequest, KeepsFieldsAndMakesFramingAnew) {
  const arm::RequestHead head = request("PUT", {{"x-A", "1"},
                                                {"Host", "evil.example"},
                                                {"Connection", "close"},
                                                {"If-Match", "\"e\""},
                                                {"Transfer-Encoding", "chunked"},
                                                {"Via", "1.1 a"},
                                                {"KEEP-alive", "5"},
                                                {"X-a", ""}});
  EXPECT_EQ(written(head, known(5), "1.1 armgate"),
            "PUT /a?b=c HTTP/1.1\r\nHost: management.azure.com\r\nx-A: 1\r\nIf-Match: \"e\"\r\nVia: 1.1 a\r\nX-a: \r\n"
            "Content-Length: 5\r\nVia: 1.1 armgate\r\n\r\n");
}

TEST(ComposeRequest, LengthFollowsMethodAndWhatWasSent) {
  const std::string none;
  const std::string zero = "Content-Length: 0\r\n";
  struct Case {
    std::string_view method;
    arm::Headers fields;
    BodyLength length;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"GET", {}, kNone, none},
      {"DELETE", {}, kNone, none},
      {"HEAD", {}, kNone, none},
      {"PUT", {}, kNone, zero},
      {"POST", {}, kNone, zero},
      {"PATCH", {}, kNone, zero},
      {"DELETE", {{"Content-Length", "0"}}, kNone, zero},
      {"GET", {{"content-length", "0"}}, kNone, "content-length: 0\r\n"},
      {"GET", {{"Content-Length", "0"}}, known(0), zero},
      {"DELETE", {}, known(0), zero},
      {"DELETE", {}, known(18446744073709551615u), "Content-Length: 18446744073709551615\r\n"},
      {"PUT", {{"Content-Length", "0"}, {"content-length", "7"}}, known(5), "Content-Length: 5\r\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(written(request(c.method, c.fields), c.length),
              std::string(c.method) + " /a?b=c HTTP/1.1\r\nHost: management.azure.com\r\n" + c.expected + "\r\n");
  }
  EXPECT_EQ(body_length(arm::Request{{}, "abc"}).bytes, 3u);
  EXPECT_EQ(body_length(arm::Request{}).kind, BodyLength::Kind::None);
}

TEST(ComposeRequest, RefusesWhatWouldBreakTheMessageApart) {
  const auto with = [](auto change) {
    arm::RequestHead head = request("PUT");
    change(head);
    return head;
  };
  const std::vector<arm::RequestHead> cases = {
      with([](arm::RequestHead& head) { head.fields.add("If-Match", "\"e\"\r\nX: 1"); }),
      with([](arm::RequestHead& head) { head.fields.add("If-Match", "\"e\"\nX: 1"); }),
      with([](arm::RequestHead& head) { head.fields.add("If-Match", "\0"s); }),
      with([](arm::RequestHead& head) { head.fields.add("If Match", "x"); }),
      with([](arm::RequestHead& head) { head.fields.add("", "x"); }),
      with([](arm::RequestHead& head) { head.target = "/a b"; }),
      with([](arm::RequestHead& head) { head.target = "/a\r\n"; }),
      with([](arm::RequestHead& head) { head.target = ""; }),
      with([](arm::RequestHead& head) { head.host = "a\r\nX: 1"; }),
      with([](arm::RequestHead& head) { head.host = ""; }),
      with([](arm::RequestHead& head) { head.method_token = "PUT /"; }),
  };
  for (const arm::RequestHead& head : cases) {
    std::string out = "before";
    const Result<void> composed = compose_request(out, head, kNone, "");
    ASSERT_FALSE(composed.ok());
    EXPECT_EQ(composed.error().source, ErrorSource::Gateway);
    EXPECT_EQ(out, "before");
  }
}

TEST(ComposeRequest, RoundTripChangesNothing) {
  const std::string bytes =
      "DELETE /subscriptions/1/x?sig=a%2Fb&$x='y' HTTP/1.1\r\nHost: management.azure.com\r\nuser-agent: "
      "az/2\r\nContent-Length: 0\r\n"
      "X-Twice: a\r\nx-twice: b\r\nX-Empty: \r\nAccept: */*\r\n\r\n";
  std::string once = written(parse_request_head(bytes, Limits{})->head, kNone);
  EXPECT_EQ(once, bytes);
  EXPECT_EQ(written(parse_request_head(once, Limits{})->head, kNone), bytes);
}

// A line that is not written as compose writes it must not be copied as it is.
TEST(ComposeRequest, OddLinesComeOutAsTheirNameAndValue) {
  const std::string start = "GET /x HTTP/1.1\r\nHost: management.azure.com\r\n";
  const std::string odd = "A:1\r\nB: \t2\r\nC: 3  \r\nD:\r\nE: \r\nF: 6\r\nG: 7\t\r\nH: 8\r\n\r\n";
  auto parsed = parse_request_head(start + odd, Limits{});
  ASSERT_TRUE(parsed.ok());
  arm::RequestHead& head = parsed->head;
  EXPECT_EQ(written(head, kNone), start + "A: 1\r\nB: 2\r\nC: 3\r\nD: \r\nE: \r\nF: 6\r\nG: 7\r\nH: 8\r\n\r\n");
  head.fields.set("F", "a longer value");
  head.fields.set("H", "");
  head.fields.remove("A");
  head.fields.add("I", "9");
  const arm::RequestHead copy = head;
  const std::string changed = "B: 2\r\nC: 3\r\nD: \r\nE: \r\nF: a longer value\r\nG: 7\r\nH: \r\nI: 9\r\n\r\n";
  EXPECT_EQ(written(head, kNone), start + changed);
  EXPECT_EQ(written(copy, kNone), start + changed);
}

struct Answer {
  std::string text;
  ComposedResponse composed;
};

Answer answer(const arm::ResponseHead& head, BodyLength length, Connection connection, int minor_version) {
  Answer result;
  const auto composed = compose_response(result.text, head, length, connection, minor_version);
  EXPECT_TRUE(composed.ok());
  result.composed = *composed;
  return result;
}

TEST(ComposeResponse, FramingFollowsLengthAndVersion) {
  using Content = ComposedResponse::Content;
  struct Case {
    BodyLength length;
    Connection connection;
    int minor_version;
    std::string fields;
    Content content;
    Connection then;
  };
  const std::vector<Case> cases = {
      {known(2), Connection::Keep, 1, "Content-Length: 2\r\n", Content::Plain, Connection::Keep},
      {known(0), Connection::Close, 1, "Content-Length: 0\r\nConnection: close\r\n", Content::Plain, Connection::Close},
      {known(2), Connection::Keep, 0, "Content-Length: 2\r\nConnection: keep-alive\r\n", Content::Plain, Connection::Keep},
      {known(2), Connection::Close, 0, "Content-Length: 2\r\nConnection: close\r\n", Content::Plain, Connection::Close},
      {kUnknown, Connection::Keep, 1, "Transfer-Encoding: chunked\r\n", Content::Chunked, Connection::Keep},
      {kUnknown, Connection::Close, 1, "Transfer-Encoding: chunked\r\nConnection: close\r\n", Content::Chunked,
       Connection::Close},
      {kUnknown, Connection::Keep, 0, "Connection: close\r\n", Content::Plain, Connection::Close},
      {kNone, Connection::Keep, 1, "", Content::None, Connection::Keep},
      {kNone, Connection::Close, 1, "Connection: close\r\n", Content::None, Connection::Close},
  };
  for (const Case& c : cases) {
    const Answer made = answer({200, "OK", {{"ETag", "\"a\""}, {"Connection", "x"}, {"transfer-encoding", "gzip"}}}, c.length,
                               c.connection, c.minor_version);
    EXPECT_EQ(made.text, "HTTP/1.1 200 OK\r\nETag: \"a\"\r\n" + c.fields + "\r\n");
    EXPECT_EQ(made.composed.content, c.content);
    EXPECT_EQ(made.composed.connection, c.then);
  }
}

TEST(ComposeResponse, OnlyAnAnnouncedLengthIsCopied) {
  const arm::ResponseHead head{200, "", {{"content-length", "5"}}};
  EXPECT_EQ(answer(head, kNone, Connection::Keep, 1).text, "HTTP/1.1 200 \r\ncontent-length: 5\r\n\r\n");
  EXPECT_EQ(answer(head, known(2), Connection::Keep, 1).text, "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(answer(head, kUnknown, Connection::Keep, 1).text, "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(ComposeResponse, RefusesWhatWouldBreakTheMessageApart) {
  const std::vector<arm::ResponseHead> heads = {
      {200, "OK\r\nX: 1", {}}, {200, "OK", {{"X", "a\r\nb"}}}, {200, "OK", {{"X Y", "a"}}}, {200, "OK", {{"X", "a\0"s}}}};
  for (const arm::ResponseHead& head : heads) {
    std::string out;
    EXPECT_FALSE(compose_response(out, head, kNone, Connection::Keep, 1).ok());
    EXPECT_EQ(out, "");
  }
}

}  // namespace
}  // namespace armgate::http
