// Goal: which requests are the same, and which sendings are one write. Method: pairs that differ in one thing.
#include "proxy/request/write/write.h"

#include <gtest/gtest.h>

namespace armgate::write_test {
namespace {

const Hasher kHasher{HashKey{1, 2}};

arm::Request request(std::string method, std::string host, std::string target, std::string body) {
  arm::Request request;
  request.head.method = arm::method_of(method);
  request.head.method_token = std::move(method);
  request.head.host = std::move(host);
  request.head.target = std::move(target);
  request.body = std::move(body);
  return request;
}

TEST(Write, IsTheSameRequestOnlyIfNothingOfItDiffers) {
  arm::Request one = request("PUT", "h", "/a", "{}");
  const Hash128 hash = request_hash_of(kHasher, one);
  one.head.fields.add("x-ms-client-request-id", "another");
  EXPECT_EQ(request_hash_of(kHasher, one), hash) << "who asks, and under which name, is another question";
  EXPECT_EQ(request_hash_of(kHasher, request("put", "h", "/a", "{}")), hash);
  for (const auto& other :
       {request("PATCH", "h", "/a", "{}"), request("PUT", "i", "/a", "{}"), request("PUT", "h", "/b", "{}"),
        request("PUT", "h", "/a", "{ }"), request("PUT", "h", "/a{", "}"), request("PUT", "h/", "a", "{}")}) {
    EXPECT_NE(request_hash_of(kHasher, other), hash) << other.head.method_token << other.head.host << other.head.target;
  }
}

TEST(Write, ItsKeyIsOfItsRecordAndItsName) {
  EXPECT_EQ(write_key_of(kHasher, 1, "r"), write_key_of(kHasher, 1, "r"));
  EXPECT_NE(write_key_of(kHasher, 1, "r"), write_key_of(kHasher, 2, "r"));
  EXPECT_EQ(write_key_of(kHasher, 1, "r"), write_key_of(kHasher, 1, "")) << "a named request comes again under another id";
  EXPECT_NE(write_key_of(kHasher, 0, "r"), write_key_of(kHasher, 0, "")) << "nothing else tells what is not recorded apart";
}

TEST(Write, TheETagOfAnAnswerStandsInItsHeadOrElseInItsBody) {
  arm::ResponseHead head;
  Outcome outcome;
  EXPECT_EQ(etag_of(outcome, head), "");
  outcome.body_etag = "\"body\"";
  EXPECT_EQ(etag_of(outcome, head), "\"body\"");
  head.fields.add("ETag", "\"head\"");
  EXPECT_EQ(etag_of(outcome, head), "\"head\"");
}

TEST(Write, NothingWasSentOfWhatComesAgainOrWhoseClientLeft) {
  using Kind = Outcome::Kind;
  for (const Kind kind : {Kind::TryLater, Kind::Left}) EXPECT_TRUE(had_no_effect(kind));
  for (const Kind kind : {Kind::Refused, Kind::Accepted, Kind::Answered, Kind::InDoubt}) EXPECT_FALSE(had_no_effect(kind));
}

}  // namespace
}  // namespace armgate::write_test
