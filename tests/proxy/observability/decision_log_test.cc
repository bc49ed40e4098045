#include "proxy/observability/decision_log.h"
#include "json/tree.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

using nlohmann::json;

constexpr WallTime kWall = WallTime(std::chrono::seconds(1767225600));
constexpr TimePoint kNow = TimePoint(std::chrono::hours(2));

Exchange write_of(const std::string& client, const std::string& path) {
  Exchange exchange;
  exchange.request.head.method_token = "PUT";
  exchange.request.head.target = path + "?api-version=1&secret=x";
  exchange.client_label = client;
  exchange.status = 200;
  exchange.arrived.time = kNow - std::chrono::milliseconds(1500);
  exchange.report.attempts = 1;
  exchange.report.guard = "newest";
  exchange.report.altered = true;
  return exchange;
}

class DecisionLogTest : public testing::Test {
 protected:
  json told() { return json::parse(log.json(kWall, kNow)); }
  DecisionLog log;
};

TEST_F(DecisionLogTest, AWriteIsToldWithItsReasonInWordsAndWhatToDo) {
  Exchange exchange = write_of("me", "/subscriptions/s");
  exchange.status = 412;
  exchange.report.waited = std::chrono::milliseconds(300);
  exchange.report.reason = "stale";
  exchange.report.locks = {"/subscriptions/s"};
  exchange.report.upstream_code = "PreconditionFailed";
  log.note(exchange, kWall, kNow);
  const json all = told();
  const json& one = all.at("decisions").at(0);
  EXPECT_EQ(one.at("client"), "me");
  EXPECT_EQ(one.at("resource"), "/subscriptions/s") << "without its query, which may be signed";
  EXPECT_EQ(one.at("outcome"), "stale");
  EXPECT_EQ(one.at("words"), "refused: somebody else has changed the resource since it was read");
  EXPECT_EQ(one.at("advice"), "read the resource again, apply the change to what it is now, and send that");
  EXPECT_EQ(one.at("duration_ms"), 1500);
  EXPECT_EQ(one.at("waited_ms"), 300);
  EXPECT_EQ(one.at("upstream_code"), "PreconditionFailed");
  EXPECT_EQ(one.at("notable"), true);
  EXPECT_EQ(all.at("now_ms"), one.at("at_ms"));
  EXPECT_FALSE(one.contains("upstream_error"));
}

TEST_F(DecisionLogTest, WhatHasNoReasonIsSaidByHowItWent) {
  const auto words = [this](const auto& change) {
    Exchange exchange = write_of("me", "/x");
    change(exchange);
    log.note(exchange, kWall, kNow);
    return told().at("decisions").at(0).at("words").get<std::string>();
  };
  EXPECT_EQ(words([](Exchange&) {}), "sent at once, held to the state that it was built from");
  EXPECT_EQ(words([](Exchange& e) { e.report.guard = "create"; }), "sent at once as a create");
  EXPECT_EQ(words([](Exchange& e) { e.report.guard = "unconditional"; }),
            "sent at once, without a precondition: its client has read nothing");
  EXPECT_EQ(words([](Exchange& e) { e.report.guard = "newest, unverified"; }), "sent at once; what is there could not be read");
  EXPECT_EQ(words([](Exchange& e) { e.report.attempts = 2; }), "sent more than once");
  EXPECT_EQ(words([](Exchange& e) {
              e.report.merged.count = 1;
              e.report.merged.pointers = {"/tags/a"};
            }),
            "others had changed something else; both changes were sent together");
  EXPECT_EQ(words([](Exchange& e) { e.report.reason = "a-new-reason"; }), "a-new-reason") << "better than nothing";
}

TEST_F(DecisionLogTest, WhatIsOnlyPassedOnIsNoDecision) {
  Exchange read = write_of("me", "/x");
  read.request.head.method_token = "GET";
  read.report.guard.clear();
  read.report.altered = false;
  log.note(read, kWall, kNow);
  EXPECT_TRUE(told().at("decisions").empty());
}

TEST_F(DecisionLogTest, PlainWritesDoNotPushOutTheOnesThatMatter) {
  Exchange refused = write_of("me", "/old");
  refused.status = 412;
  refused.report.reason = "conflict";
  log.note(refused, kWall, kNow);
  for (size_t i = 0; i < 3 * DecisionLog::kKept; ++i) log.note(write_of("busy", "/" + std::to_string(i)), kWall, kNow);
  const json decisions = told().at("decisions");
  ASSERT_EQ(decisions.size(), DecisionLog::kKept + 1);
  EXPECT_EQ(decisions.front().at("resource"), "/299") << "the newest first";
  EXPECT_EQ(decisions.back().at("resource"), "/old");
}

TEST_F(DecisionLogTest, TroublesAreCountedByClientAndResource) {
  for (int i = 0; i < 3; ++i) {
    Exchange refused = write_of("one", "/a");
    refused.status = 412;
    refused.report.reason = "stale";
    log.note(refused, kWall, kNow);
  }
  Exchange conflict = write_of("two", "/a");
  conflict.status = 409;
  conflict.report.attempts = 2;
  log.note(conflict, kWall, kNow - std::chrono::seconds(4));
  log.note(write_of("three", "/b"), kWall, kNow);
  const json all = told();
  EXPECT_EQ(all.at("clients").size(), 2u) << "the third has none";
  EXPECT_EQ(all.at("clients")[0].at("name"), "one");
  EXPECT_EQ(all.at("clients")[0].at("refused"), 3);
  EXPECT_EQ(all.at("clients")[1].at("conflicts"), 1);
  EXPECT_EQ(all.at("clients")[1].at("repeated"), 1);
  EXPECT_EQ(all.at("clients")[1].at("last_age_ms"), 4000);
  ASSERT_EQ(all.at("resources").size(), 1u);
  EXPECT_EQ(all.at("resources")[0].at("troubles"), 5);
}

TEST_F(DecisionLogTest, TextsOfAnyLengthAndBytesAreKeptShortAndReadable) {
  Exchange exchange = write_of("caf\xc3\xa9 \xff", "/" + std::string(10'000, 'x'));
  log.note(exchange, kWall, kNow);
  const json decision = told().at("decisions").at(0);
  EXPECT_EQ(decision.at("resource").get<std::string>().size(), 2000u);
}

}  // namespace
}  // namespace armgate
