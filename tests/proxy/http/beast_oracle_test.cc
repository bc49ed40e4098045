// Goal: whatever passes the gate has the reading that an independent parser gives it, before and after compose. Method:
// seeded mutations of valid messages; each one that armgate accepts is read by Boost.Beast too and compared part by
// part. (The other direction does not hold: Beast accepts messages that armgate must refuse.)
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/rng.h"
#include "proxy/http/compose.h"
#include "proxy/http/syntax.h"
#include "tests/proxy/http/whole_message.h"

namespace armgate::http {
namespace {

namespace beast = boost::beast::http;

using FieldList = std::vector<std::pair<std::string, std::string>>;

struct OracleReading {
  std::string start;  // method and target, or status and reason
  FieldList fields;   // of the head only
  std::string body;
  size_t consumed = 0;
};

// Beast keeps fields of one name together, so that the order of different names is not compared here (but by the round
// trips of compose_test.cc).
FieldList sorted(FieldList fields) {
  for (auto& [name, value] : fields) name = lower_text(name);
  std::stable_sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return fields;
}

template <bool is_request>
std::string start_of(const beast::header<is_request, beast::fields>& head) {
  if constexpr (is_request) {
    return std::string(head.method_string()) + " " + std::string(head.target());
  } else {
    return std::to_string(head.result_int()) + " " + std::string(head.reason());
  }
}

template <bool is_request>
std::optional<OracleReading> read_by_beast(std::string_view bytes, bool without_content = false) {
  beast::parser<is_request, beast::string_body> parser;
  parser.header_limit(1 << 20);
  parser.body_limit(boost::none);
  parser.skip(without_content);
  OracleReading reading;
  const auto feed = [&] {
    boost::system::error_code error;
    while (!parser.is_done()) {
      const size_t taken =
          parser.put(boost::asio::buffer(bytes.data() + reading.consumed, bytes.size() - reading.consumed), error);
      reading.consumed += taken;
      if (error || taken == 0 || (!parser.eager() && parser.is_header_done())) break;
    }
    return !error || error == beast::error::need_more;
  };
  if (!feed() || !parser.is_header_done()) return std::nullopt;
  reading.start = start_of<is_request>(parser.get());
  for (const auto& field : parser.get()) reading.fields.emplace_back(field.name_string(), field.value());
  parser.eager(true);
  if (!feed()) return std::nullopt;
  boost::system::error_code error;
  if (!parser.is_done()) parser.put_eof(error);
  if (error || !parser.is_done()) return std::nullopt;
  reading.body = parser.get().body();
  return reading;
}

// What armgate must have left of the fields.
FieldList onward(const FieldList& fields) {
  std::vector<std::string> dropped = {"connection",
                                      "keep-alive",
                                      "proxy-connection",
                                      "proxy-authorization",
                                      "proxy-authenticate",
                                      "te",
                                      "trailer",
                                      "transfer-encoding",
                                      "upgrade",
                                      "content-length",
                                      "http2-settings",
                                      "proxy-authentication-info",
                                      "host",
                                      "expect"};
  for (const auto& [name, value] : fields) {
    if (!equal_ignoring_case(name, "connection")) continue;
    for_each_element(value, [&](std::string_view element) {
      dropped.push_back(lower_text(element));
      return true;
    });
  }
  FieldList kept;
  for (const auto& field : fields) {
    if (std::find(dropped.begin(), dropped.end(), lower_text(field.first)) == dropped.end()) kept.push_back(field);
  }
  return sorted(std::move(kept));
}

FieldList as_list(const arm::Headers& fields) {
  FieldList list;
  for (const arm::Field& field : fields) {
    if (!equal_ignoring_case(field.name, "content-length")) list.emplace_back(field.name, field.value);
  }
  return sorted(std::move(list));
}

const std::array<std::string, 9> kRequests = {
    "GET /a?b=c HTTP/1.1\r\nHost: management.azure.com\r\nAccept: */*\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: management.azure.com:443\r\nContent-Length: 5\r\nIf-Match: \"a\"\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: management.azure.com\r\nContent-Length: 0\r\nAuthorization: Bearer x\r\n\r\n",
    "PATCH /a HTTP/1.1\r\nHost: management.azure.com\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\ntransfer-encoding: chunked\r\nhost: MANAGEMENT.azure.com\r\n\r\n3;a=b;c=\"d "
    "e\"\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n",
    "DELETE /a HTTP/1.1\r\nHost: management.azure.com\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nX-Yours: 2\r\n\r\n",
    "GET /%20/ HTTP/1.0\r\nHost: management.azure.com\r\nConnection: keep-alive\r\nX-Empty:\r\nX-Inner: a \t b\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: management.azure.com\r\nExpect: 100-continue\r\nTE: trailers\r\nContent-Length: "
    "2\r\n\r\n{}GET / HTTP/1.1",
    "HEAD /a HTTP/1.1\r\nHost: management.azure.com\r\nX-A: 1\r\nx-a: 2\r\nX-B: \xe4\r\n\r\n",
};

const std::array<std::string, 7> kResponses = {
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello",
    "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\nLocation: https://a/b?c=d\r\n\r\n5\r\nhello\r\n0\r\nX: "
    "y\r\n\r\n",
    "HTTP/1.1 204 No Content\r\nx-ms-request-id: a\r\n\r\n",
    "HTTP/1.1 409 Conflict\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nRetry-After: 1\r\n\r\n{}",
    "HTTP/1.0 503 \r\nContent-Length: 2\r\nKeep-Alive: a\r\n\r\n{}",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nX-A: 1\r\nx-a:  2 \r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
};

// What parsers are known to disagree about.
const std::array<std::string_view, 40> kNasty = {"\r\n",
                                                 "\n",
                                                 "\r",
                                                 " ",
                                                 "\t",
                                                 std::string_view("\0", 1),
                                                 "\x0b",
                                                 "\x7f",
                                                 "\xff",
                                                 ":",
                                                 ",",
                                                 ";",
                                                 "=",
                                                 "\"",
                                                 "\\",
                                                 "0",
                                                 "1",
                                                 "a",
                                                 "5",
                                                 "0x",
                                                 "+",
                                                 "-",
                                                 "_",
                                                 "chunked",
                                                 "identity",
                                                 "Transfer-Encoding: chunked\r\n",
                                                 "Content-Length: 5\r\n",
                                                 "Content-Length: 0\r\n",
                                                 "Host: management.azure.com\r\n",
                                                 "Connection: close\r\n",
                                                 "Connection: x\r\n",
                                                 "X: y\r\n",
                                                 "\r\n\r\n",
                                                 "\r\n ",
                                                 "0\r\n\r\n",
                                                 "HTTP/1.1",
                                                 "GET / HTTP/1.1\r\n",
                                                 "/",
                                                 "#",
                                                 "@"};

template <size_t n>
std::string mutated(const std::array<std::string, n>& corpus, Rng& rng) {
  std::string bytes = corpus[rng.below(n)];
  for (uint64_t changes = 1 + rng.below(3); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = rng.below(bytes.size());
    const std::string_view nasty = kNasty[rng.below(kNasty.size())];
    switch (rng.below(7)) {
      case 0: bytes[at] = static_cast<char>(rng.below(256)); break;
      case 1: bytes.insert(at, nasty); break;
      case 2: bytes.erase(at, 1 + rng.below(4)); break;
      case 3: bytes.replace(at, 1, nasty); break;
      case 4: {  // a line again, somewhere at a line's begin
        const size_t begin = bytes.rfind('\n', at) + 1;
        const std::string line = bytes.substr(begin, bytes.find('\n', at) - begin + 1);
        bytes.insert(bytes.find('\n', rng.below(bytes.size())) + 1, line);
        break;
      }
      case 5: bytes.insert(bytes.find('\n', at) + 1, nasty); break;
      case 6: bytes[at] = bytes[at] == lower(bytes[at]) ? static_cast<char>(bytes[at] ^ 0x20) : lower(bytes[at]); break;
    }
  }
  return bytes;
}

// Beast takes framing fields in a trailer for the head's, and refuses or obeys them; armgate drops them.
bool has_framing_trailer(std::string_view bytes, size_t head_size) {
  const std::string_view rest = bytes.substr(head_size);
  return contains_ignoring_case(rest, "transfer-encoding") || contains_ignoring_case(rest, "content-length") ||
         contains_ignoring_case(rest, "connection");
}

void expect_same_request(const std::string& bytes, const testing::Whole<ParsedRequestHead>& ours) {
  const std::optional<OracleReading> theirs = read_by_beast<true>(bytes);
  const std::string shown = ::testing::PrintToString(bytes);
  ASSERT_TRUE(theirs.has_value()) << shown;
  const arm::RequestHead& head = ours.parsed.head;
  EXPECT_EQ(head.method_token + " " + head.target, theirs->start) << shown;
  EXPECT_EQ(as_list(head.fields), onward(theirs->fields)) << shown;
  EXPECT_EQ(ours.body, theirs->body) << shown;
  EXPECT_EQ(ours.consumed, theirs->consumed) << shown;

  std::string composed;
  ASSERT_TRUE(compose_request(composed, head, {BodyLength::Kind::Known, ours.body.size()}, "1.1 armgate").ok()) << shown;
  composed += ours.body;
  const std::optional<OracleReading> sent = read_by_beast<true>(composed + "GET");
  ASSERT_TRUE(sent.has_value()) << shown;
  EXPECT_EQ(sent->start, theirs->start) << shown;
  EXPECT_EQ(sent->body, theirs->body) << shown;
  EXPECT_EQ(sent->consumed, composed.size()) << shown;
  FieldList with_via = onward(theirs->fields);
  with_via.emplace_back("via", "1.1 armgate");
  EXPECT_EQ(onward(sent->fields), sorted(with_via)) << shown;
}

TEST(BeastOracle, ReadsEveryAcceptedRequestTheSame) {
  Rng rng(20240607);
  int accepted = 0;
  for (int round = 0; round < 40000 && !::testing::Test::HasFailure(); ++round) {
    const std::string bytes = mutated(kRequests, rng);
    const auto ours = testing::read_request(bytes);
    if (!ours.ok() || has_framing_trailer(bytes, *find_head_end(bytes, 0))) continue;
    ++accepted;
    expect_same_request(bytes, *ours);
  }
  EXPECT_GT(accepted, 5000) << "too few mutations pass to say anything";
  for (const std::string& bytes : kRequests) {
    const auto ours = testing::read_request(bytes);
    ASSERT_TRUE(ours.ok()) << bytes << ours.error().context;
    expect_same_request(bytes, *ours);
  }
}

TEST(BeastOracle, ReadsEveryAcceptedResponseTheSame) {
  Rng rng(20240608);
  int accepted = 0;
  for (int round = 0; round < 30000 && !::testing::Test::HasFailure(); ++round) {
    const std::string bytes = mutated(kResponses, rng);
    const bool head_only = rng.chance(0.1);
    const auto ours = testing::read_response(bytes, head_only ? arm::Method::Head : arm::Method::Get);
    if (!ours.ok() || has_framing_trailer(bytes, *find_head_end(bytes, 0))) continue;
    ++accepted;
    const std::optional<OracleReading> theirs = read_by_beast<false>(bytes, head_only);
    const std::string shown = ::testing::PrintToString(bytes);
    ASSERT_TRUE(theirs.has_value()) << shown;
    const arm::ResponseHead& head = ours->parsed.head;
    // For an empty reason Beast tells the registered one.
    const std::string reason =
        head.reason.empty() ? std::string(beast::obsolete_reason(beast::int_to_status(head.status))) : head.reason;
    EXPECT_EQ(std::to_string(head.status) + " " + reason, theirs->start) << shown;
    EXPECT_EQ(as_list(head.fields), onward(theirs->fields)) << shown;
    EXPECT_EQ(ours->body, theirs->body) << shown;
    EXPECT_EQ(ours->consumed, theirs->consumed) << shown;
  }
  EXPECT_GT(accepted, 4000) << "too few mutations pass to say anything";
}

}  // namespace
}  // namespace armgate::http
