// Goal: nothing but well-formed field lines, one identity and one precondition pass. Method: tables of raw requests,
// each with a word that the refusal must hold.
#include "proxy/http/field_block.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/http/whole_message.h"

namespace armgate::http::field_block_test {
namespace {

using namespace std::string_literals;

struct Case {
  std::string fields;
  std::string_view word;
};

std::string refusal_of(const std::string& bytes, const Limits& limits = {}) {
  const auto read = testing::read_request(bytes, limits);
  return read.ok() ? "accepted" : read.error().context;
}

void expect_all_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const auto read = testing::read_request(testing::put(c.fields));
    ASSERT_FALSE(read.ok()) << ::testing::PrintToString(c.fields);
    EXPECT_EQ(read.error().kind, ErrorKind::BadInput);
    EXPECT_NE(read.error().context.find(c.word), std::string::npos)
        << ::testing::PrintToString(c.fields) << " was refused because: " << read.error().context;
  }
}

TEST(RefusedFields, Syntax) {
  expect_all_refused({
      {"Foo bar\r\n", "no colon"},
      {"Foo\r\n", "no colon"},
      {": bar\r\n", "does not begin with a name"},
      {":\r\n", "does not begin with a name"},
      {" : bar\r\n", "folded"},
      {"\t\r\n", "folded"},
      {" \r\n", "folded"},
      {"Foo : bar\r\n", "before its colon"},
      {"Foo\t: bar\r\n", "before its colon"},
      {"Fo o: bar\r\n", "before its colon"},
      {"Foo(x): bar\r\n", "before its colon"},
      {"Foo,Bar: bar\r\n", "before its colon"},
      {"Foo/Bar: bar\r\n", "before its colon"},
      {"Foo;: bar\r\n", "before its colon"},
      {"Foo\x80: bar\r\n", "before its colon"},
      {"Foo\x7f: bar\r\n", "before its colon"},
      {"\"Foo\": bar\r\n", "does not begin with a name"},
      {"{Foo}: bar\r\n", "does not begin with a name"},
      {"@Foo: bar\r\n", "does not begin with a name"},
      {"Foo: bar\r\n baz\r\n", "folded"},
      {"Foo: bar\r\n\tbaz\r\n", "folded"},
      {"Foo: bar\r\n \r\n", "folded"},
      {"Foo: bar\n", "line feed alone"},
      {"Foo: bar\nBar: baz\r\n", "line feed alone"},
      {"Foo: bar\n\r\n", "line feed alone"},
      {"\nFoo: bar\r\n", "line feed alone"},
      {"Foo: bar\r\r\n", "control character"},
      {"Foo: bar\rBar: baz\r\n", "control character"},
      {"Foo: \rbar\r\n", "control character"},
      {"\rFoo: bar\r\n", "does not begin with a name"},
      {"Foo\r: bar\r\n", "before its colon"},
      {"Foo:\r bar\r\n", "control character"},
      {"Foo: b\0r\r\n"s, "control character"},
      {"Foo: \0\r\n"s, "control character"},
      {"Foo: bar\0\r\n"s, "control character"},
      {"Foo: b\x01r\r\n", "control character"},
      {"Foo: b\x08r\r\n", "control character"},
      {"Foo: b\x1br\r\n", "control character"},
      {"Foo: b\x1fr\r\n", "control character"},
      {"Foo: b\x7fr\r\n", "control character"},
      {"Foo: 1234567\x7f\r\n", "control character"},
      {"Foo: 123456789\x1f 1234567\r\n", "control character"},
      {"Foo: bar\v\r\n", "control character"},
      {"Foo: bar\f\r\n", "control character"},
  });
}

TEST(RefusedFields, TwoOfWhatDecides) {
  expect_all_refused({
      {"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", "two authorization"},
      {"Authorization: Bearer a\r\nauthorization: Bearer a\r\n", "two authorization"},
      {"Authorization:\r\nAuthorization: Bearer b\r\n", "two authorization"},
      {"Proxy-Authorization: Basic a\r\nProxy-Authorization: Basic b\r\n", "two proxy-authorization"},
      {"If-Match: \"a\"\r\nIf-Match: \"b\"\r\n", "two if-match"},
      {"If-Match:\r\nif-match: *\r\n", "two if-match"},
      {"If-None-Match: \"a\"\r\nIf-None-Match: *\r\n", "two if-none-match"},
      {"If-Modified-Since: x\r\nIf-Modified-Since: y\r\n", "two if-modified-since"},
      {"If-Unmodified-Since: x\r\nIf-Unmodified-Since: y\r\n", "two if-unmodified-since"},
      {"If-Range: x\r\nIf-Range: y\r\n", "two if-range"},
      {"Range: bytes=0-1\r\nRange: bytes=1-2\r\n", "two range"},
      {"Content-Type: application/json\r\nContent-Type: text/plain\r\n", "two content-type"},
      {"Content-Range: a\r\nContent-Range: b\r\n", "two content-range"},
      {"x-ms-client-request-id: a\r\nX-MS-CLIENT-REQUEST-ID: b\r\n", "two x-ms-client-request-id"},
      {"Expect: 100-continue\r\nExpect: 100-continue\r\n", "two expect"},
      {"Expect: 200-ok\r\n", "expect header is not"},
      {"Expect:\r\n", "expect header is not"},
      {"Expect: 100-continue, x\r\n", "expect header is not"},
  });
}

TEST(RefusedFields, ConnectionMayNotHideWhatDecides) {
  expect_all_refused({
      {"Connection: If-Match\r\nIf-Match: \"a\"\r\n", "names If-Match"},
      {"Connection: if-match\r\n", "names if-match"},
      {"Connection: close, If-None-Match\r\n", "names If-None-Match"},
      {"Connection: close\r\nConnection: Authorization\r\n", "names Authorization"},
      {"Connection: Host\r\n", "names Host"},
      {"Connection: Content-Length\r\n", "names Content-Length"},
      {"Connection: Transfer-Encoding\r\n", "names Transfer-Encoding"},
      {"Connection: Content-Type\r\n", "names Content-Type"},
      {"Connection: Content-Encoding\r\n", "names Content-Encoding"},
      {"Connection: Content-MD5\r\n", "names Content-MD5"},
      {"Connection: Cookie\r\n", "names Cookie"},
      {"Connection: Expect\r\n", "names Expect"},
      {"Connection: Range\r\n", "names Range"},
      {"Connection: User-Agent\r\n", "names User-Agent"},
      {"Connection: Accept-Language\r\n", "names Accept-Language"},
      {"Connection: If-Something-New\r\n", "names If-Something-New"},
      {"Connection: x-ms-client-request-id\r\n", "names x-ms-client-request-id"},
      {"Connection: x-ms-anything\r\n", "names x-ms-anything"},
      {"Connection: X-Armgate-Guard\r\n", "names X-Armgate-Guard"},
      {"Connection: x y\r\n", "something that is no header"},
      {"Connection: \"close\"\r\n", "something that is no header"},
      {"Connection: a;b\r\n", "something that is no header"},
  });
}

TEST(RefusedFields, NeverRepeatASecret) {
  EXPECT_EQ(refusal_of(testing::put("Authorization: Bearer s3cret\x01\r\n")).find("s3cret"), std::string::npos);
  EXPECT_EQ(refusal_of(testing::put("Authorization: Bearer\r\n s3cret\r\n")).find("s3cret"), std::string::npos);
  EXPECT_EQ(refusal_of(testing::put("Authorization: Bearer\r\ns3cret=: x\r\n")).find("s3cret"), std::string::npos);
  EXPECT_EQ(refusal_of(testing::put("s3cret\r\n")).find("s3cret"), std::string::npos);
  EXPECT_EQ(refusal_of("GET /a?sig=s3cret\x01 HTTP/1.1\r\n\r\n").find("s3cret"), std::string::npos);
}

TEST(RefusedFields, MoreThanTheLimitIsTooLarge) {
  Limits limits;
  limits.fields_max = 3;
  limits.target_bytes_max = 40;
  limits.head_bytes_max = 300;
  EXPECT_EQ(refusal_of(testing::put("A: 1\r\nB: 2\r\n"), limits), "accepted");
  EXPECT_NE(refusal_of(testing::put("A: 1\r\nB: 2\r\nC: 3\r\n"), limits).find("limits.fields"), std::string::npos);
  const auto get = [](size_t target_bytes) {
    return "GET /" + std::string(target_bytes - 1, 'a') + " HTTP/1.1\r\nHost: management.azure.com\r\n\r\n";
  };
  EXPECT_EQ(refusal_of(get(40), limits), "accepted");
  EXPECT_NE(refusal_of(get(41), limits).find("limits.target_bytes"), std::string::npos);
  const std::string long_field = "A: " + std::string(limits.head_bytes_max, 'a') + "\r\n";
  EXPECT_NE(refusal_of(testing::put(long_field), limits).find("limits.head_bytes"), std::string::npos);
  for (const std::string& bytes : {testing::put("A: 1\r\nB: 2\r\nC: 3\r\n"), get(41), testing::put(long_field)}) {
    EXPECT_EQ(testing::read_request(bytes, limits).error().kind, ErrorKind::TooLarge);
  }
}

TEST(RefusedFields, TheDefaultLimitsHold) {
  std::string many;
  for (int i = 0; i < 199; ++i) many += "X: 1\r\n";
  EXPECT_EQ(refusal_of(testing::put(many)), "accepted");
  EXPECT_NE(refusal_of(testing::put(many + "X: 1\r\n")).find("limits.fields"), std::string::npos);
  EXPECT_NE(refusal_of(testing::put("X: " + std::string(65536, 'a') + "\r\n")).find("limits.head_bytes"), std::string::npos);
}

}  // namespace
}  // namespace armgate::http::field_block_test
