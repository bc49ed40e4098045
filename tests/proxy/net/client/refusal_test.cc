// Goal: what cannot be served is answered with the status that says why, in ARM's shape, and as the end of the connection. Method: a
// table of faults.
#include "proxy/net/client/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "json/tree.h"

namespace armgate::net {
namespace {

using testing::HasSubstr;

constexpr http::Limits kLimits{.head_bytes_max = 200, .fields_max = 3, .target_bytes_max = 50};

Error fault(ErrorKind kind) { return Error{kind, ErrorSource::Client, Sent::No, "what is wrong with it"}; }

TEST(Refusal, OfAHeadSaysWhatWasTooMuchOrTooLate) {
  const std::string fields = "Host: a\r\nB: b\r\nC: c\r\nD: d\r\n\r\n";
  const struct {
    ErrorKind kind;
    std::string head;
    int status;
  } rows[] = {
      {ErrorKind::TimedOut, "GET / HT", 408},
      {ErrorKind::TooLarge, "GET /" + std::string(60, 'x') + " HTTP/1.1\r\n", 414},
      {ErrorKind::TooLarge, "GET / HTTP/1.1\r\nB: " + std::string(200, 'x'), 431},
      {ErrorKind::TooLarge, "GET / HTTP/1.1\r\n" + fields, 431},
      {ErrorKind::TooLarge, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413},
      {ErrorKind::BadInput, "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {ErrorKind::BadInput, "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {ErrorKind::BadInput, "GET / HTTP/1.0\r\nHost : a\r\n\r\n", 400},
      {ErrorKind::BadInput, "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {ErrorKind::BadInput, "GET / HTTP/x.y\r\n\r\n", 400},
      {ErrorKind::BadInput, "", 400},
  };
  for (const auto& row : rows) EXPECT_EQ(refuse_head(fault(row.kind), row.head, kLimits).status, row.status) << row.head;
}

TEST(Refusal, OfContentSaysWhatWasTooMuchOrTooLate) {
  EXPECT_EQ(refuse_body(fault(ErrorKind::TimedOut)).status, 408);
  EXPECT_EQ(refuse_body(fault(ErrorKind::TooLarge)).status, 413);
  EXPECT_EQ(refuse_body(fault(ErrorKind::BadInput)).status, 400);
  EXPECT_EQ(refuse_body(fault(ErrorKind::TooLarge)).message, "what is wrong with it");
  const Refusal full = refuse_body(gateway_error(ErrorKind::Busy, "no room"));
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.code, "ArmgateTooManyBodies");
  EXPECT_THAT(to_bytes(full), HasSubstr("\r\nRetry-After: 1\r\n"));
}

TEST(Refusal, IsAnAnswerInArmsShapeThatEndsTheConnection) {
  const std::string bytes = to_bytes({405, "ArmgateMethodNotAllowed", "say CONNECT \"first\""});
  EXPECT_THAT(bytes, testing::StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"));
  EXPECT_THAT(bytes, HasSubstr("\r\nAllow: CONNECT\r\n"));
  EXPECT_THAT(bytes, HasSubstr("\r\nConnection: close\r\n"));
  const std::string body = bytes.substr(bytes.find("\r\n\r\n") + 4);
  EXPECT_THAT(bytes, HasSubstr("\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"));
  const auto json = nlohmann::json::parse(body, nullptr, false);
  EXPECT_EQ(json["error"]["code"], "ArmgateMethodNotAllowed");
  EXPECT_EQ(json["error"]["message"], "say CONNECT \"first\"");
}

TEST(Refusal, OnlyWhereWaitingHelpsAsksToComeAgain) {
  EXPECT_EQ(to_response({503, "ArmgateBusy", ""}).head.fields.get("Retry-After"), "1");
  for (const int status : {400, 403, 408, 413, 502})
    EXPECT_EQ(to_response({status, "x", ""}).head.fields.get("Retry-After"), "");
}

}  // namespace
}  // namespace armgate::net
