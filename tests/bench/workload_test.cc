// Goal: requests are whole and carry what the options say; a read-modify-write changes one tag. Method: their text.
#include "bench/load/workload.h"
#include "json/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace armgate::load {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

LoadOptions options() {
  LoadOptions made;
  made.path = "/things/{n}?api-version=1";
  made.put_path = "/things/{n}?put";
  made.body = R"({"v":"{v}"})";
  made.tokens = {"Bearer t"};
  made.headers = {"X-One: 1"};
  return made;
}

TEST(Workload, AGetNamesItsResourceAndHost) {
  const auto given = options();
  Workload workload(given, "host:8443", 1);
  const auto& text = workload.get_request({Kind::Get, 7});
  EXPECT_THAT(text, StartsWith("GET /things/7?api-version=1 HTTP/1.1\r\nHost: host:8443\r\n"));
  EXPECT_THAT(text, HasSubstr("Authorization: Bearer t\r\n"));
  EXPECT_THAT(text, EndsWith("X-One: 1\r\n\r\n"));
}

TEST(Workload, NoTwoPutsHaveTheSameBody) {
  const auto given = options();
  Workload workload(given, "host", 1);
  const std::string first = workload.put_request({Kind::Put, 2});
  const std::string second = workload.put_request({Kind::Put, 2});
  EXPECT_THAT(first, StartsWith("PUT /things/2?put HTTP/1.1\r\n"));
  EXPECT_THAT(first, HasSubstr("Content-Length: 18\r\n\r\n{\"v\":\"0000000001\"}"));
  EXPECT_NE(first, second);
}

TEST(Workload, AReadModifyWriteChangesOneTagAndNothingElse) {
  const auto given = options();
  Workload workload(given, "host", 1);
  const auto* text = workload.update_request({Kind::Update, 1}, R"({"id":"x","tags":{"a":"b","load":"0"},"n":1})");
  ASSERT_NE(text, nullptr);
  auto body = nlohmann::json::parse(text->substr(text->find("\r\n\r\n")));
  EXPECT_EQ(body["tags"]["load"], "0000000001");
  body["tags"]["load"] = "0";
  EXPECT_EQ(body, nlohmann::json::parse(R"({"id":"x","tags":{"a":"b","load":"0"},"n":1})"));
  EXPECT_EQ(workload.update_request({Kind::Update, 1}, "<html>"), nullptr);
  EXPECT_EQ(workload.update_request({Kind::Update, 1}, "[1]"), nullptr);
}

TEST(Workload, KindsComeUpByTheirWeights) {
  auto given = options();
  given.mix = {2, 1, 1};
  Workload workload(given, "host", 1);
  std::map<Kind, int> counts;
  for (int i = 0; i < 40'000; ++i) ++counts[workload.next(0).kind];
  EXPECT_NEAR(counts[Kind::Get], 20'000, 500);
  EXPECT_NEAR(counts[Kind::Put], 10'000, 500);
  EXPECT_NEAR(counts[Kind::Update], 10'000, 500);
}

TEST(Workload, ConnectionsTakeTurnsAmongTheClients) {
  auto given = options();
  given.tokens = {"Bearer a", "Bearer b"};
  Workload workload(given, "host", 1);
  EXPECT_THAT(workload.get_request(workload.next(4)), HasSubstr("Authorization: Bearer a\r\n"));
  EXPECT_THAT(workload.get_request(workload.next(7)), HasSubstr("Authorization: Bearer b\r\n"));
}

TEST(Workload, OwnResourcesAreTheConnections) {
  auto given = options();
  given.pick = Pick::OwnOfConnection;
  Workload workload(given, "host", 1);
  for (size_t connection : {0u, 5u, 900u}) EXPECT_EQ(workload.next(connection).resource, connection);
}

}  // namespace
}  // namespace armgate::load
