// The pages of the admin listener, and what `armgate status` makes of them.
#include "proxy/observability/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "base/source_tree.h"
#include "certs/secret_file.h"
#include "cli/view/ask_service.h"
#include "cli/view/status.h"
#include "json/tree.h"
#include "proxy/observability/admin_files.h"
#include "proxy/request/operation/unlock.h"
#include "proxy/seams/real_clock.h"
#include "proxy/seams/which_writes.h"
#include "proxy/state/budgets.h"
#include "proxy/state/lock/operation_leases.h"
#include "proxy/state/lock/reservations.h"
#include "proxy/state/operation/operation_results.h"

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
    arm::Request request;
    request.head.method = method;
    request.head.target = std::move(target);
    request.head.host = std::move(host);
    return admin_.answer(request, "127.0.0.1");
  }
  arm::Response unlock(std::string resource, const std::string& who = "ops", std::string host = "127.0.0.1:9478",
                       const std::string& peer = "127.0.0.1") {
    arm::Request request;
    request.head.method = arm::Method::Post;
    request.head.target = "/unlock" + std::move(resource);
    request.head.host = host.substr(0, host.rfind(':'));
    if (!who.empty()) request.head.fields.add("x-armgate-operator", who);
    return admin_.answer(request, peer);
  }
  arm::Response lease(arm::Method method, const std::string& target, std::string body = "", const std::string& who = "ops",
                      const std::string& peer = "127.0.0.1") {
    arm::Request request;
    request.head.method = method;
    request.head.target = target;
    request.head.host = "127.0.0.1";
    if (!who.empty()) request.head.fields.add("x-armgate-operator", who);
    request.body = std::move(body);
    return admin_.answer(request, peer);
  }
  arm::Response asked_alone(const std::string& target) {
    arm::Request request;
    request.head.method = arm::Method::Get;
    request.head.target = target;
    request.head.host = "127.0.0.1";
    return admin_.answer_alone(request, "127.0.0.1:1");
  }
  json status() { return json::parse(get("/status").body); }

  // A write that stands in line since `age` ago.
  QueuePosition write(const std::string& key, const std::string& client, Duration age) {
    ClaimInfo info{.client_label = client, .what = "PUT " + key, .since = clock_.now() - age, .is_turn = client == "in turn"};
    return *locks_.join(
        {rules::LockKey{key, rules::LockMode::Exclusive}, rules::LockKey{"/parent/" + key, rules::LockMode::Shared}},
        std::move(info), nullptr, 1);
  }

  RealClock clock_;
  LockTable locks_{{}, Hasher(HashKey{1, 2})};
  RunLeases leases_{{}, locks_, Hasher(HashKey{1, 2})};
  std::vector<std::string> told_;
  ServiceState state_;
  BudgetReport budgets_;
  Unlocked unlocked_;
  std::vector<std::string> asked_to_unlock_;
  OperationResults results_;
  OperationLeases op_leases_{Hasher(HashKey{1, 2})};
  Result<std::string> history_ = std::string("{}");
  std::vector<std::string> asked_for_history_;
  bool history_fails_ = false;
  Admin admin_{{clock_,
                locks_,
                results_,
                [this](const Hash128& key) { return !op_leases_.on_key(key).empty(); },
                [this] { return state_; },
                [] { return GatewayTally::Counts(); },
                [] { return "the metrics"; },
                [this] { return budgets_; },
                [this](const Hash128& key, std::string_view who) {
                  asked_to_unlock_.push_back(std::string(who) + (key == locks_.key_of("/subscriptions/s") ? " s" : " ?"));
                  return unlocked_;
                },
                [this](size_t most, const std::string& resource, WhichWrites which) {
                  asked_for_history_.push_back(std::to_string(most) + resource + (which == WhichWrites::All ? "" : " written"));
                  if (history_fails_) throw std::bad_alloc();
                  return history_;
                },
                [] { return std::string("{\"recent\": 1}\n"); },
                [] { return std::string("{\"decisions\": 1}\n"); },
                {clock_, leases_, [this] { return state_.mode; },
                 [](std::string_view name) {
                   return Hash128{7, name.back() + 0u};
                 },
                 [this](std::string_view event, const RunLeases::Lease& lease, std::string_view who) {
                   told_.push_back(std::string(event) + " " + lease.client + " " + std::string(who));
                 }}}};
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
  EXPECT_EQ(get("/unlocked", "127.0.0.1", arm::Method::Post).head.status, 404) << "no method would help";
  for (const arm::Method method : {arm::Method::Post, arm::Method::Put, arm::Method::Delete, arm::Method::Options}) {
    const arm::Response refused = get("/status", "127.0.0.1", method);
    EXPECT_EQ(refused.head.status, 405);
    EXPECT_EQ(refused.head.fields.get("Allow"), "GET, HEAD");
  }
}

TEST_F(AdminTest, HistoryIsWhatMemoryHas) {
  EXPECT_EQ(get("/history").body, "{}\n");
  EXPECT_EQ(get("/history/subscriptions/S?last=3").head.status, 200);
  get("/history/subscriptions/S?last=3&only=written");
  EXPECT_EQ(get("/history?only=x").head.status, 400);
  EXPECT_EQ(asked_for_history_, (std::vector<std::string>{"20", "3/subscriptions/s", "3/subscriptions/s written"}));
  EXPECT_EQ(asked_alone("/history").head.status, 200);
  EXPECT_EQ(get("/history/x").head.status, 400);
  for (const char* last : {"many", "5x", "5%20", "-1", "1e2"})
    EXPECT_EQ(get(std::string("/history?last=") + last).head.status, 400) << last;
  EXPECT_EQ(get("/history?last=1000").head.status, 200);
  EXPECT_EQ(get("/history?last=5000").head.status, 400);
  EXPECT_EQ(get("/history?last=5000").body,
            "last is no number up to 1000; more of a journal is read by: armgate history --last N\n");
  EXPECT_EQ(get("/history", "armgate.example").head.status, 403) << "it names resources";
  history_ = gateway_error(ErrorKind::BadInput, "the journal cannot be read");
  EXPECT_EQ(get("/history").head.status, 503);
  EXPECT_EQ(get("/history").body, "the journal cannot be read\n");
  history_fails_ = true;
  EXPECT_EQ(asked_alone("/history").head.status, 503) << "whatever goes wrong, the process goes on";
  EXPECT_THAT(asked_alone("/history").body, HasSubstr("this cannot be told now: "));
}

TEST_F(AdminTest, HowOperationsEndedAndWhatIsSickOfItIsTold) {
  const Hash128 key = locks_.key_of("/subscriptions/s");
  const OperationResult failed{arm::Progress::Failed, {"Bad", "Worse"}};
  const OperationResult good{arm::Progress::Succeeded, {}};
  const auto note = [&](const OperationResult& result) {
    results_.note({key, "/subscriptions/s", "a/b", "PUT", "one", {}, result}, {clock_.now(), clock_.wall()});
  };
  note(good);
  EXPECT_THAT(sick_text(*read_status(get("/status").body)), HasSubstr("no resource is sick"));
  for (int i = 0; i < 10; ++i) note(failed);
  const json told = status();
  EXPECT_EQ(told["results"]["succeeded"], 1);
  EXPECT_EQ(told["results"]["failed"], 10);
  EXPECT_EQ(told["failures"].size(), 10u);
  const ShownStatus shown = *read_status(get("/status").body);
  EXPECT_THAT(status_text(shown), HasSubstr("of the writes that ARM took 1 ended well, 10 failed, 0 were canceled\n"));
  EXPECT_THAT(status_text(shown), HasSubstr("Failed Bad (Worse)  one  PUT /subscriptions/s\n"));
  EXPECT_THAT(sick_text(shown), HasSubstr(": /subscriptions/s: 10 operations have failed with Bad (Worse)\n"));
  EXPECT_EQ(json::parse(sick_json(shown))[0]["resource"], "/subscriptions/s");
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
  unlocked_.others_told = true;
  EXPECT_THAT(told(unlock("/subscriptions/s")), HasSubstr("another replica has it, and was told"));
  unlocked_.lease_of = "repair";
  EXPECT_THAT(told(unlock("/subscriptions/s")), HasSubstr("the lease of repair was given by another replica"));
}

TEST_F(AdminTest, WhatIsUnlockedAfterARestartCountsFromItsSending) {
  unlocked_.released.push_back({"PUT /subscriptions/s", "one", std::chrono::seconds(75), true});
  unlocked_.released.push_back({"PUT /subscriptions/s", "two", std::chrono::seconds(2)});
  EXPECT_EQ(unlocked_text(read_unlock(unlock("/subscriptions/s").body).value()),
            "released after 1 min 15 s: PUT /subscriptions/s, of one (before the restart)\n"
            "released after 2.0 s: PUT /subscriptions/s, of two\n");
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

constexpr const char* kLeaseAsked = R"({"client": "heal-1", "purpose": "repair", "resources": ["/subscriptions/S"]})";

TEST_F(AdminTest, OnlyThisMachinesOperatorsMayTakeALease) {
  EXPECT_EQ(lease(arm::Method::Post, "/leases", kLeaseAsked, "").head.status, 400);
  EXPECT_EQ(lease(arm::Method::Post, "/leases", kLeaseAsked, "ops", "10.0.0.7").head.status, 403);
  EXPECT_EQ(lease(arm::Method::Get, "/healthz", "x").head.status, 413);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(lease(arm::Method::Post, "/leases", kLeaseAsked).head.status, 201);
  EXPECT_EQ(told_, (std::vector<std::string>{"lease-taken heal-1 ops"}));
}

TEST_F(AdminTest, TheLivePageRunsNothingFromElsewhere) {
  const std::map<std::string, std::string> types = {
      {".html", "text/html; charset=utf-8"}, {".css", "text/css; charset=utf-8"}, {".mjs", "text/javascript; charset=utf-8"}};
  size_t parts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("proxy/observability/page"))) {
    const std::string name = entry.path().filename().string();
    const std::string path = name == "index.html" ? "/" : "/" + name;
    const arm::Response part = get(path);
    ++parts;
    EXPECT_EQ(part.head.status, 200) << path;
    EXPECT_EQ(part.head.fields.get("content-type"), types.at(entry.path().extension()));
    EXPECT_THAT(std::string(part.head.fields.get("content-security-policy")),
                AllOf(HasSubstr("default-src 'none'"), HasSubstr("frame-ancestors 'none'"), Not(HasSubstr("unsafe"))));
    EXPECT_EQ(part.head.fields.get("x-content-type-options"), "nosniff");
    EXPECT_EQ(get(path, "evil.example").head.status, 403);
    EXPECT_EQ(get(path, "127.0.0.1", arm::Method::Post).head.status, 405);
    EXPECT_THAT(part.body, AllOf(Not(HasSubstr("://")), Not(HasSubstr("innerHTML")), Not(HasSubstr("style="))));
    EXPECT_EQ(part.body, certs::read_file(entry.path()).value()) << "what is served is what stands in the tree";
  }
  EXPECT_EQ(admin_files().size(), parts);
  EXPECT_THAT(get("/").body, HasSubstr("<script type=\"module\" src=\"/live.mjs\">"));
}

TEST_F(AdminTest, WhatThePageAsksForIsGivenUnderTheSameConditions) {
  EXPECT_EQ(get("/recent").body, "{\"recent\": 1}\n");
  EXPECT_EQ(get("/decisions").body, "{\"decisions\": 1}\n");
  for (const char* path : {"/recent", "/decisions"}) {
    EXPECT_EQ(get(path).head.fields.get("content-type"), "application/json");
    EXPECT_EQ(get(path, "armgate.monitoring.svc").head.status, 403) << "it names resources";
    EXPECT_EQ(get(path, "127.0.0.1", arm::Method::Post).head.status, 405);
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
  QueuePosition runs = write("a", "one", std::chrono::seconds(9));
  const WriteLease lease = runs.into_lease();
  const QueuePosition waits = write("a", "two", std::chrono::seconds(5));
  Reservations reservations{{}};
  boost::asio::io_context io;
  const auto reservation =
      reservations.keep({}, {{}, clock_.now(), clock_.now()}, write("a", "three", std::chrono::seconds(7)), io.get_executor());
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
  const auto back = reservation->take_position();
  EXPECT_EQ(status().at("writes")[1].at("state"), "waits");
}

TEST_F(AdminTest, TheStatusSaysAsOfWhenAnOperationRuns) {
  WriteLease lease = write("a", "one", std::chrono::seconds(9)).into_lease();
  EXPECT_FALSE(status().at("writes")[0].contains("seen_ms")) << "that it is being sent is so now";
  lease.note_seen(clock_.now() - std::chrono::seconds(4));
  EXPECT_GE(status().at("writes")[0].at("seen_ms").get<int64_t>(), 4000);
}

TEST_F(AdminTest, TheStatusSaysThatNobodyHasHeardOfWhatWasTakenUp) {
  ClaimInfo info;
  info.inherited = true;
  auto former = locks_.join({rules::LockKey{"a", rules::LockMode::Exclusive}}, std::move(info), nullptr, 1);
  WriteLease lease = former->into_lease();
  EXPECT_FALSE(status().at("writes")[0].contains("unseen")) << "it is in doubt";
  lease.set_phase(WritePhase::Runs);
  EXPECT_EQ(status().at("writes")[0].value("unseen", false), true);
  lease.note_seen(clock_.now());
  EXPECT_FALSE(status().at("writes")[0].contains("unseen"));
}

TEST_F(AdminTest, TheStatusSaysWhoStandsInTheWay) {
  const WriteLease runs = write("a", "one", std::chrono::seconds(9)).into_lease();
  const QueuePosition second = write("a", "two", std::chrono::seconds(5));
  const QueuePosition third = write("a", "three", std::chrono::seconds(4));
  const WriteLease turn = write("b", "in turn", std::chrono::seconds(3)).into_lease();
  const json writes = status().at("writes");
  EXPECT_FALSE(writes[0].contains("ahead"));
  EXPECT_EQ(writes[1].at("ahead"), 1);
  EXPECT_EQ(writes[2].at("ahead"), 2);
  EXPECT_EQ(writes[0].at("phase"), "sent");
  EXPECT_EQ(writes[3].at("phase"), "kept") << "nothing of a turn is sent";
  EXPECT_FALSE(writes[1].contains("phase"));
  EXPECT_EQ(writes[2].at("behind"), writes[0].at("id"));
  EXPECT_EQ(status().at("counts").at("guarded"), 0);
}

TEST_F(AdminTest, OfManyWritesTheOldestAreShownAndTheOthersCounted) {
  std::vector<QueuePosition> places;
  for (size_t i = 0; i < Admin::kWritesShownMax + 3; ++i)
    places.push_back(write(std::to_string(i), "c", std::chrono::seconds(i)));
  const json page = status();
  EXPECT_EQ(page.at("writes").size(), Admin::kWritesShownMax);
  EXPECT_EQ(page.at("writes_left_out"), 3);
  EXPECT_EQ(page.at("totals"), (json{{"runs", Admin::kWritesShownMax + 3}, {"waits", 0}, {"kept", 0}}));
  EXPECT_EQ(page.at("writes").front().at("what"), "PUT " + std::to_string(Admin::kWritesShownMax + 2));
  EXPECT_EQ(page.at("writes").back().at("what"), "PUT 3");
}

TEST_F(AdminTest, AJournalThatCannotBeWrittenIsSaid) {
  EXPECT_THAT(status_text(*read_status(get("/status").body)), Not(HasSubstr("journal")));
  state_.journal_writable = false;
  EXPECT_THAT(status_text(*read_status(get("/status").body)), HasSubstr("the journal cannot be written, so no write is sent"));
}

TEST_F(AdminTest, AClusterInTroubleIsSaid) {
  EXPECT_FALSE(status().contains("cluster"));
  state_.cluster = ClusterView{};
  state_.cluster->alive = 2;
  state_.cluster->membership_lease_left = std::chrono::milliseconds(7300);
  EXPECT_THAT(status_text(*read_status(get("/status").body)), HasSubstr("one of 2 replicas that live, lease good for 7.3 s\n"));
  EXPECT_EQ(status().at("cluster").at("ready"), true);
  state_.apart = true;
  state_.cluster->engine_up = false;
  state_.cluster->warnings = {"no standby"};
  const std::string text = status_text(*read_status(get("/status").body));
  for (const char* part : {"the cluster's engine does not answer", "it is not ready", "warning: no standby\n"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST_F(AdminTest, TheStatusForPeopleSaysTheSame) {
  state_.rules = 12;
  state_.up = std::chrono::hours(30) + std::chrono::minutes(5);
  QueuePosition runs = write("a", "one", std::chrono::milliseconds(2300));
  const auto page = read_status(get("/status").body);
  ASSERT_TRUE(page.ok());
  const std::string text = status_text(*page);
  EXPECT_THAT(text, HasSubstr("mode protect, 12 rules, configuration from the built-in defaults\nup 30 h 5 min, 0 connections\n"
                              "0 requests to ARM, all passed on as they were\n"));
  EXPECT_THAT(text, MatchesRegex("(.|\n)*\nsent   +2\\.[3-9] s  one  PUT a\n"));
}

}  // namespace
}  // namespace armgate
