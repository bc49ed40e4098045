// The pages of the admin listener, and what `armgate status` makes of them.
#include "proxy/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "proxy/cli_status.h"
#include "proxy/gateway_options.h"
#include "proxy/gateway_status.h"
#include "proxy/seams/real_clock.h"
#include "proxy/state/tickets.h"

namespace armgate {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class AdminTest : public testing::Test {
 protected:
  arm::Response get(std::string target, std::string host = "127.0.0.1", arm::Method method = arm::Method::Get) {
    arm::RequestHead head;
    head.method = method;
    head.target = std::move(target);
    head.host = std::move(host);
    return admin_.answer(head, "127.0.0.1");
  }
  arm::Response unlock(std::string resource, const std::string& who = "ops", std::string host = "127.0.0.1:9478",
                       const std::string& peer = "127.0.0.1") {
    arm::RequestHead head;
    head.method = arm::Method::Post;
    head.target = "/unlock" + std::move(resource);
    head.host = host.substr(0, host.rfind(':'));
    if (!who.empty()) head.fields.add("x-armgate-operator", who);
    return admin_.answer(head, peer);
  }
  json status() { return json::parse(get("/status").body); }

  // A write that stands in line since `age` ago.
  LockPlace write(const std::string& key, const std::string& client, Duration age) {
    ClaimInfo info;
    info.client_label = client;
    info.what = "PUT " + key;
    info.since = clock_.now() - age;
    return *locks_.join(
        {rules::LockKey{key, rules::LockMode::Exclusive}, rules::LockKey{"/parent/" + key, rules::LockMode::Shared}},
        std::move(info), nullptr, 1);
  }

  RealClock clock_;
  LockTable locks_{{}, Hasher(HashKey{1, 2})};
  ServiceState state_;
  Unlocked unlocked_;
  std::vector<std::string> asked_to_unlock_;
  Admin admin_{{clock_, locks_, [this] { return state_; }, [] { return GatewayTally::Counts(); }, [] { return "the metrics"; },
                [this](const Hash128& key, std::string_view who) {
                  asked_to_unlock_.push_back(std::string(who) + (key == locks_.key_of("/subscriptions/s") ? " s" : " ?"));
                  return unlocked_;
                }}};
};

TEST_F(AdminTest, ItIsReadyUntilItDrainsAndAliveThroughout) {
  EXPECT_EQ(get("/healthz").head.status, 200);
  EXPECT_EQ(get("/readyz").head.status, 200);
  state_.draining = true;
  EXPECT_EQ(get("/healthz").head.status, 200);
  EXPECT_EQ(get("/readyz").head.status, 503);
  EXPECT_EQ(get("/readyz?verbose").body, "draining\n");
}

TEST_F(AdminTest, MetricsSayTheirFormat) {
  const arm::Response page = get("/metrics", "armgate.monitoring.svc");
  EXPECT_EQ(page.head.status, 200);
  EXPECT_EQ(page.head.fields.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(page.body, "the metrics");
}

TEST_F(AdminTest, OtherPathsAndMethodsAreRefused) {
  EXPECT_EQ(get("/index.html").head.status, 404);
  EXPECT_EQ(get("/healthz/").head.status, 404);
  EXPECT_EQ(get("/unlocked").head.status, 404);
  for (const arm::Method method : {arm::Method::Post, arm::Method::Put, arm::Method::Delete, arm::Method::Options}) {
    const arm::Response refused = get("/status", "127.0.0.1", method);
    EXPECT_EQ(refused.head.status, 405);
    EXPECT_EQ(refused.head.fields.get("Allow"), "GET, HEAD");
  }
}

TEST_F(AdminTest, WhatIsUnlockedIsToldAndWhoAskedIsPassedOn) {
  unlocked_.released.push_back({"PUT /subscriptions/s", "one", std::chrono::seconds(75)});
  const arm::Response answer = unlock("/subscriptions/S");
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(asked_to_unlock_, std::vector<std::string>{"ops s"});
  const auto told = [](const arm::Response& page) { return unlocked_text(read_unlock(page.body).value()); };
  EXPECT_EQ(told(answer), "released after 1 min 15 s: PUT /subscriptions/s, of one\n");
  unlocked_.on_its_way = true;
  EXPECT_THAT(told(unlock("/subscriptions/s")), HasSubstr("another write is on its way"));
}

TEST_F(AdminTest, WhatCannotBeUnlockedIsSaidWhy) {
  const arm::Response nothing = unlock("/subscriptions/s");
  EXPECT_EQ(nothing.head.status, 404);
  EXPECT_EQ(nothing.body, "no operation holds /subscriptions/s\n");
  unlocked_.on_its_way = true;
  EXPECT_EQ(unlock("/subscriptions/s").head.status, 409);
  asked_to_unlock_.clear();
  for (const char* resource : {"", "/", "/x", "/subscriptions/s/../t", "/subscriptions/%zz"})
    EXPECT_EQ(unlock(resource).head.status, 400) << resource;
  EXPECT_TRUE(asked_to_unlock_.empty());
}

TEST_F(AdminTest, OnlyThisMachinesOperatorsMayUnlock) {
  EXPECT_EQ(unlock("/subscriptions/s", "").head.status, 400) << "a form of some page cannot name an operator";
  EXPECT_EQ(unlock("/subscriptions/s", "a b").head.status, 400);
  for (const char* peer : {"10.0.0.7", "::ffff:10.0.0.7", "2001:db8::1", "", "localhost"}) {
    EXPECT_EQ(unlock("/subscriptions/s", "ops", "127.0.0.1:9478", peer).head.status, 403) << peer;
  }
  EXPECT_EQ(unlock("/subscriptions/s", "ops", "evil.example:9478").head.status, 403);
  EXPECT_EQ(get("/unlock/subscriptions/s").head.status, 405);
  EXPECT_TRUE(asked_to_unlock_.empty());
  for (const char* peer : {"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_EQ(unlock("/subscriptions/s", "ops", "localhost:9478", peer).head.status, 404) << peer;
  }
  EXPECT_EQ(asked_to_unlock_.size(), 4u);
}

TEST_F(AdminTest, TheLivePageRunsNothingFromElsewhere) {
  for (const auto& [path, type] :
       std::vector<std::pair<std::string, std::string>>{{"/", "text/html; charset=utf-8"},
                                                        {"/live.js", "text/javascript; charset=utf-8"},
                                                        {"/live.css", "text/css; charset=utf-8"}}) {
    const arm::Response part = get(path);
    EXPECT_EQ(part.head.status, 200) << path;
    EXPECT_EQ(part.head.fields.get("content-type"), type);
    EXPECT_THAT(std::string(part.head.fields.get("content-security-policy")),
                AllOf(HasSubstr("default-src 'none'"), HasSubstr("frame-ancestors 'none'"), Not(HasSubstr("unsafe"))));
    EXPECT_EQ(part.head.fields.get("x-content-type-options"), "nosniff");
    EXPECT_EQ(get(path, "evil.example").head.status, 403);
    EXPECT_EQ(get(path, "127.0.0.1", arm::Method::Post).head.status, 405);
    EXPECT_THAT(part.body, AllOf(Not(HasSubstr("://")), Not(HasSubstr("innerHTML")), Not(HasSubstr("style="))));
  }
}

TEST_F(AdminTest, TheStatusIsGivenOnlyUnderWhatNoPageElsewhereCanBeCalled) {
  for (const char* host : {"127.0.0.1", "10.1.2.3", "[::1]", "localhost"})
    EXPECT_EQ(get("/status", host).head.status, 200) << host;
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "1", "[::1", ""}) {
    EXPECT_EQ(get("/status", host).head.status, 403) << host;
  }
}

TEST_F(AdminTest, TheStatusHasEveryWriteOnceOldestFirst) {
  LockPlace runs = write("a", "one", std::chrono::seconds(9));
  const WriteLease lease = runs.take();
  const LockPlace waits = write("a", "two", std::chrono::seconds(5));
  Tickets tickets{{}};
  boost::asio::io_context io;
  const auto ticket = tickets.keep({}, {}, write("a", "three", std::chrono::seconds(7)), io.get_executor(), clock_.now());
  const json writes = status().at("writes");
  ASSERT_EQ(writes.size(), 3u);
  const auto told = [&](size_t i) {
    return writes[i]["state"].get<std::string>() + " " + writes[i]["client"].get<std::string>() + " " +
           writes[i]["what"].get<std::string>();
  };
  EXPECT_EQ(told(0), "runs one PUT a");
  EXPECT_EQ(told(1), "kept three PUT a") << "from the moment when its client left";
  EXPECT_EQ(told(2), "waits two PUT a");
  EXPECT_GE(writes[0]["since_ms"].get<int64_t>(), 9000);
  const auto back = ticket->take();
  EXPECT_EQ(status().at("writes")[1].at("state"), "waits");
}

TEST_F(AdminTest, TheStatusSaysWhoStandsInTheWay) {
  const WriteLease runs = write("a", "one", std::chrono::seconds(9)).take();
  const LockPlace second = write("a", "two", std::chrono::seconds(5));
  const LockPlace third = write("a", "three", std::chrono::seconds(4));
  const json writes = status().at("writes");
  EXPECT_FALSE(writes[0].contains("ahead"));
  EXPECT_EQ(writes[1].at("ahead"), 1);
  EXPECT_EQ(writes[2].at("ahead"), 2);
  EXPECT_EQ(writes[0].at("phase"), "sent");
  EXPECT_FALSE(writes[1].contains("phase"));
  EXPECT_EQ(writes[2].at("behind"), writes[0].at("id"));
  EXPECT_EQ(status().at("counts").at("guarded"), 0);
}

TEST_F(AdminTest, OfManyWritesTheOldestAreShownAndTheOthersCounted) {
  std::vector<LockPlace> places;
  for (size_t i = 0; i < Admin::kWritesShownMax + 3; ++i)
    places.push_back(write(std::to_string(i), "c", std::chrono::seconds(i)));
  const json page = status();
  EXPECT_EQ(page.at("writes").size(), Admin::kWritesShownMax);
  EXPECT_EQ(page.at("writes_left_out"), 3);
  EXPECT_EQ(page.at("writes").front().at("what"), "PUT " + std::to_string(Admin::kWritesShownMax + 2));
  EXPECT_EQ(page.at("writes").back().at("what"), "PUT 3");
}

TEST_F(AdminTest, AJournalThatCannotBeWrittenIsSaid) {
  EXPECT_THAT(status_text(*read_status(get("/status").body)), Not(HasSubstr("journal")));
  state_.journal_writable = false;
  EXPECT_THAT(status_text(*read_status(get("/status").body)), HasSubstr("the journal cannot be written, so no write is sent"));
}

TEST_F(AdminTest, TheStatusForPeopleSaysTheSame) {
  state_.rules = 12;
  state_.up = std::chrono::hours(30) + std::chrono::minutes(5);
  LockPlace runs = write("a", "one", std::chrono::milliseconds(2300));
  const auto page = read_status(get("/status").body);
  ASSERT_TRUE(page.ok());
  const std::string text = status_text(*page);
  EXPECT_THAT(text, HasSubstr("mode protect, 12 rules, configuration from the built-in defaults\nup 30 h 5 min, 0 connections\n"
                              "0 requests to ARM, all passed on as they were\n"));
  EXPECT_THAT(text, MatchesRegex("(.|\n)*\nsent   +2\\.[3-9] s  one  PUT a\n"));
}

TEST(StatusText, WhatIsNoStatusIsSaidToBeNone) {
  for (const char* page : {"", "<html>", "{}", "[]", R"({"version": 1})"}) {
    const auto status = read_status(page);
    ASSERT_FALSE(status.ok()) << page;
    EXPECT_THAT(status.error().context, HasSubstr("no status that can be read"));
    EXPECT_FALSE(read_unlock(page).ok()) << page;
  }
}

TEST(AdminDoor, CannotBeSatOnWhateverTheLimitsOfTheOthers) {
  Config config;
  EXPECT_FALSE(admin_door(config).has_value());
  config.listen.admin = "127.0.0.1:9478";
  config.limits.connections = 100'000;
  config.limits.idle_max = config.limits.head_max = config.limits.body_max = std::chrono::hours(1);
  const auto door = admin_door(config);
  ASSERT_TRUE(door.has_value());
  EXPECT_EQ(door->port, 9478);
  EXPECT_EQ(door->connections_max, 64u);
  EXPECT_EQ(door->session.limits.request_body_bytes_max, 0u);
  for (const Duration most :
       {door->session.idle_max, door->session.head_max, door->session.body_max, door->session.write_max}) {
    EXPECT_EQ(most, std::chrono::seconds(5));
  }
}

TEST(FetchStatus, NamesTheOptionIfThereIsNoSuchListener) {
  const auto status = fetch_status(Config{});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(status.error().context, HasSubstr("listen.admin"));
  Config anywhere;
  anywhere.listen.admin = "127.0.0.1:0";
  EXPECT_EQ(fetch_status(anywhere).error().kind, ErrorKind::BadInput);
}

}  // namespace
}  // namespace armgate
