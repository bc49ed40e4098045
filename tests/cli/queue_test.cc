// What `armgate queue` and `armgate top` make of the status page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/view/answer.h"
#include "cli/view/status.h"
#include "cli/view/top.h"
#include "json/tree.h"
#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kHub = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/hub";

json write(uint64_t id, const std::string& state, const std::string& client, const std::string& resource, uint64_t behind = 0,
           size_t ahead = 1) {
  json one{{"id", id}, {"state", state}, {"client", client}, {"what", "PUT " + resource}, {"since_ms", 1000 * (10 - id)}};
  if (behind > 0) one.update({{"behind", behind}, {"ahead", ahead}});
  return one;
}

json status_of(json writes, size_t left_out = 0) {
  return {{"version", "0.1.0"},
          {"mode", "protect"},
          {"config", ""},
          {"rules", 3},
          {"summary", ""},
          {"started", "2026-01-01T00:00:00Z"},
          {"up_ms", 5100},
          {"draining", false},
          {"connections", 3},
          {"requests", 10},
          {"counts",
           {{"guarded", 4}, {"stale", 1}, {"refused", 0}, {"unanswered", 0}, {"recovered", 0}, {"repeated", 2}, {"waited", 3}}},
          {"writes", std::move(writes)},
          {"writes_left_out", left_out}};
}

// Two wait for the hub, one of them for the other's second key only; somebody has a resource of its own.
json usual() {
  return status_of({write(1, "runs", "terraform", kHub), write(2, "waits", "nightly", kHub, 1, 1),
                    write(3, "runs", "az", "/subscriptions/s/resourcegroups/other"),
                    write(4, "kept", "pipeline", std::string(kHub) + "/subnets/a", 2, 2)});
}

ShownStatus shown(const json& status) {
  auto read = read_status(status.dump());
  EXPECT_TRUE(read.ok()) << read.error().context;
  return read.ok() ? *read : ShownStatus{};
}

TEST(Status, TellsOfAReloadThatWasRefused) {
  json status = usual();
  EXPECT_THAT(status_text(shown(status)), Not(HasSubstr("reload"))) << "an older service says nothing of it";
  status["reload_good"] = true;
  EXPECT_THAT(status_text(shown(status)), Not(HasSubstr("reload")));
  status["reload_good"] = false;
  EXPECT_THAT(status_text(shown(status)),
              HasSubstr("the last reload (SIGHUP) was refused, so rules and mode are those of before"));
}

TEST(Status, TellsWhatArmSaidIsLeft) {
  json status = usual();
  EXPECT_THAT(status_text(shown(status)), Not(HasSubstr("ARM lets"))) << "nothing was told";
  status["budgets"] = json::array({{{"subscription", ""},
                                    {"principal", "#00000001"},
                                    {"told", json::array({{{"budget", "tenant-reads"}, {"left", 7}, {"most", 9}}})},
                                    {"come_again_ms", 0}},
                                   {{"subscription", "aa-1"},
                                    {"principal", "#00000002"},
                                    {"told", json::array({{{"budget", "subscription-reads"}, {"left", 40}, {"most", 250}},
                                                          {{"budget", "subscription-writes"}, {"left", 180}, {"most", 200}}})},
                                    {"come_again_ms", 1500}}});
  EXPECT_THAT(status_text(shown(status)),
              HasSubstr("\nARM lets #00000001 in the tenant: tenant-reads 7 of 9\n"
                        "ARM lets #00000002 in aa-1: subscription-reads 40 of 250, subscription-writes 180 of 200, "
                        "come again in 1.5 s (429)\n"));
}

std::string queue_of(const json& status, const std::string& resource = "") { return queue_text(shown(status), resource); }

TEST(Queue, ShowsWhoWaitsBehindWhomInTheOrderOfTheirTurns) {
  EXPECT_EQ(queue_of(usual()), std::string("PUT ") + kHub +
                                   " of terraform, runs since 9.0 s\n"
                                   "   1  waits         8.0 s  nightly  PUT " +
                                   kHub +
                                   "\n"
                                   "   2  kept          6.0 s  pipeline  PUT " +
                                   kHub + "/subnets/a\n");
}

TEST(Queue, IsLimitedToAResourceAndWhatIsBelowIt) {
  EXPECT_THAT(queue_of(usual(), std::string(kHub) + "/subnets/a"), HasSubstr("nightly")) << "it stands in the way";
  EXPECT_THAT(queue_of(usual(), "/subscriptions/s/resourcegroups/g"), HasSubstr("terraform"));
  EXPECT_EQ(queue_of(usual(), "/subscriptions/s/resourcegroups/other"),
            "nobody waits at /subscriptions/s/resourcegroups/other\n");
  EXPECT_EQ(queue_of(usual(), "/subscriptions/s/resourcegroups/gg"), "nobody waits at /subscriptions/s/resourcegroups/gg\n");
  EXPECT_EQ(queue_of(status_of(json::array())), "nobody waits\n");
}

TEST(Queue, SaysWhatWasNotLookedAt) {
  EXPECT_THAT(queue_of(status_of(json::array(), 7)), HasSubstr("not looked at: 7 newer writes; "));
  // Whom it waits for is not among those that are shown.
  EXPECT_EQ(queue_of(status_of({write(8, "waits", "a", kHub, 2), write(9, "waits", "b", kHub, 8, 2)}, 1)),
            std::string("PUT ") + kHub + " of a, waits since 2.0 s\n   1  waits         1.0 s  b  PUT " + kHub +
                "\nnot looked at: 1 newer writes; in all 0 run, 2 wait, 0 are reserved\n");
}

TEST(Queue, DoesNotSayThatNobodyWaitsWhereItCannotKnow) {
  json status = status_of({write(1, "runs", "az", "/subscriptions/s/resourcegroups/other")}, 250);
  status["totals"] = {{"runs", 200}, {"waits", 50}, {"kept", 1}};
  EXPECT_EQ(queue_of(status, kHub),
            std::string("whether anybody waits at ") + kHub +
                " is not known\nnot looked at: 250 newer writes; in all 200 run, 50 wait, 1 are reserved\n");
  EXPECT_THAT(queue_of(status), StartsWith("whether anybody waits is not known\n"));
  EXPECT_THAT(top_screen(shown(status), nullptr, std::nullopt),
              HasSubstr("\n200 run, 50 wait, 1 reserved; not shown: 250 newer writes\n"));
}

TEST(Queue, AWayThatLeadsBackEnds) {
  const json looks = status_of({write(1, "waits", "a", kHub, 2), write(2, "waits", "b", kHub, 1)});
  EXPECT_THAT(queue_of(looks), StartsWith(std::string("PUT ") + kHub + " of a, waits")) << "the older one";
}

TEST(Queue, NamesCannotSteerTheTerminal) {
  const json status = status_of({write(1, "runs", "a\x1b[2J", kHub), write(2, "waits", "b\nruns", kHub, 1)});
  EXPECT_THAT(queue_of(status), HasSubstr("of a?[2J"));
  EXPECT_THAT(queue_of(status), HasSubstr("b?runs"));
  EXPECT_THAT(queue_of(status_of({write(1, "runs", "x\u202enimda", kHub), write(2, "waits", "b", kHub, 1)})),
              HasSubstr(" of x?nimda, runs"));
  EXPECT_EQ(queue_of(status_of(json::array()), "/subscriptions/\u009b2J\u202e"), "nobody waits at /subscriptions/?2J?\n");
}

TEST(Queue, ALongNameIsCutWhereThereAreColumnsAndWholeInJson) {
  const std::string name(300, 'n');
  json status = status_of({write(1, "runs", name, kHub), write(2, "waits", name, kHub, 1)});
  const std::string shown_name = std::string(64, 'n') + "\u2026";
  EXPECT_THAT(queue_of(status), HasSubstr(" of " + shown_name + ", runs"));
  EXPECT_THAT(queue_of(status), HasSubstr("  " + shown_name + "  PUT"));
  EXPECT_THAT(status_text(shown(status)), HasSubstr("  " + shown_name + "  PUT"));
  EXPECT_THAT(top_screen(shown(status), nullptr, std::nullopt), HasSubstr("  " + shown_name + "  PUT"));
  EXPECT_EQ(json::parse(queue_json(shown(status), "")).at("queues")[0].at("first").at("client"), name);
  status["writes"][0]["inherited"] = true;
  EXPECT_THAT(queue_of(status), HasSubstr(shown_name + " (before the restart), runs"));
}

TEST(Queue, ShowsWhoWaitsForArmItself) {
  json status = status_of({write(1, "runs", "a", kHub), write(2, "runs", "b", "/subscriptions/s/resourcegroups/other")});
  status["writes"][0]["phase"] = "again";
  status["writes"][1]["phase"] = "runs";
  EXPECT_EQ(queue_of(status), std::string("PUT ") + kHub + " of a, waits for ARM since 9.0 s\n");
}

TEST(Queue, SaysAsOfWhenAnOperationRuns) {
  json status = status_of({write(1, "runs", "a", kHub), write(2, "waits", "b", kHub, 1)});
  status["writes"][0]["phase"] = "runs";
  status["writes"][0]["seen_ms"] = 4200;
  EXPECT_THAT(queue_of(status), StartsWith(std::string("PUT ") + kHub + " of a, runs since 9.0 s, as of 4.2 s ago\n"));
  EXPECT_THAT(status_text(shown(status)), HasSubstr(std::string("  a  PUT ") + kHub + ", as of 4.2 s ago\nwaits"));
  EXPECT_EQ(json::parse(queue_json(shown(status), "")).at("queues")[0].at("first").at("seen_ms"), 4200);
  EXPECT_THAT(top_screen(shown(status), nullptr, TerminalSize{24, 60}),
              HasSubstr("  a  PUT ...networks/hub, as of 4.2 s ago\n"));
}

TEST(Queue, SaysThatNobodyHasHeardOfAnOperationSinceTheRestart) {
  json status = status_of({write(1, "runs", "a", kHub), write(2, "waits", "b", kHub, 1)});
  status["writes"][0]["phase"] = "runs";
  status["writes"][0]["unseen"] = true;
  EXPECT_THAT(queue_of(status), HasSubstr("runs since 9.0 s, no answer about it since the restart\n"));
  EXPECT_EQ(json::parse(queue_json(shown(status), "")).at("queues")[0].at("first").at("unseen"), true);
}

TEST(Queue, TellsWhatAnEarlierProcessSent) {
  json status = status_of({write(1, "runs", "a", kHub), write(2, "waits", "b", kHub, 1)});
  status["writes"][0]["inherited"] = true;
  EXPECT_THAT(queue_of(status), HasSubstr("of a (before the restart), runs since"));
}

TEST(Queue, IsJsonForPrograms) {
  const json queues = json::parse(queue_json(shown(usual()), "")).at("queues");
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0].at("first").at("client"), "terraform");
  EXPECT_EQ(queues[0].at("waiting").size(), 2u);
  EXPECT_EQ(queues[0].at("waiting")[1].at("state"), "kept");
}

TEST(Queue, WhatIsNoStatusIsSaidToBeNone) {
  for (const char* page : {"", "{}", "[]", R"({"writes": [{"id": "x"}], "writes_left_out": 0})"}) {
    EXPECT_FALSE(read_status(page).ok()) << page;
  }
}

std::string screen_of(const json& now, const json& before = nullptr, std::optional<TerminalSize> terminal = std::nullopt) {
  if (before.is_null()) return top_screen(shown(now), nullptr, terminal);
  const ShownStatus earlier = shown(before);
  return top_screen(shown(now), &earlier, terminal);
}

TEST(Top, ShowsNumbersThenQueuesTheLongestFirst) {
  EXPECT_EQ(screen_of(usual()),
            std::string("armgate 0.1.0, mode protect, up 5.1 s, 3 connections\n"
                        "requests 10, guarded 4, stale 1, refused 0, sent again 2, recovered 0, unanswered 0\n"
                        "2 run, 1 wait, 1 reserved\n"
                        "\n"
                        "runs          9.0 s  terraform  PUT ") +
                kHub +
                "\n"
                "  waits         8.0 s  nightly  PUT " +
                kHub +
                "\n"
                "  kept          6.0 s  pipeline  PUT " +
                kHub +
                "/subnets/a\n"
                "runs          7.0 s  az  PUT /subscriptions/s/resourcegroups/other\n");
}

TEST(Top, RatesAreThoseSinceTheLookBefore) {
  json before = usual();
  before["up_ms"] = 3100;
  before["requests"] = 3;
  EXPECT_THAT(screen_of(usual(), before), HasSubstr("requests 10 (3.5/s), "));
  before["started"] = "2025-01-01T00:00:00Z";
  EXPECT_THAT(screen_of(usual(), before), HasSubstr("requests 10, ")) << "another life";
  EXPECT_THAT(screen_of(usual(), usual()), HasSubstr("requests 10, ")) << "the same moment";
}

TEST(Top, FitsTheTerminal) {
  const std::string screen = screen_of(usual(), nullptr, TerminalSize{7, 40});
  EXPECT_EQ(std::count(screen.begin(), screen.end(), '\n'), 6) << "one line is left for the cursor";
  EXPECT_THAT(screen, HasSubstr("and 3 more\n"));
  std::istringstream lines(screen);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 40u) << line;
  EXPECT_THAT(screen_of(usual(), nullptr, TerminalSize{24, 60}), HasSubstr("  nightly  PUT ...k/virtualnetworks/hub\n"))
      << "the end tells resources apart";
  EXPECT_THAT(screen_of(usual(), nullptr, TerminalSize{1, 1}), Not(HasSubstr("terraform")));
  const json umlaut = status_of({write(1, "runs",
                                       "stra\xc3\x9f"
                                       "e",
                                       kHub)});
  EXPECT_THAT(screen_of(umlaut, nullptr, TerminalSize{24, 26}), HasSubstr("  stra\n")) << "no half character";
}

TEST_F(Cli, QueueAndTopNameWhatTheyNeed) {
  EXPECT_EQ(run({"queue"}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("listen.admin"));
  EXPECT_EQ(run({"queue", "not-an-id"}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("\"not-an-id\" is no resource id"));
  EXPECT_EQ(run({"top"}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("listen.admin"));
  EXPECT_EQ(run({"top", "--interval", "0"}), kExitUsage);
  EXPECT_TRUE(pauses.empty());
}

TEST_F(Cli, HistoryOfWhatIsNoResourceIsRefused) {
  const auto file = directory.write("a.json", R"({"journal": {"file": "gone.db"}})").string();
  EXPECT_EQ(run({"history", "foo", "--config", file}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("\"foo\" is no resource id (/subscriptions/...)"));
  EXPECT_EQ(run({"history", "https://management.azure.com", "--config", file}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("\"https://management.azure.com\" is no resource id"));
}

TEST_F(Cli, AResourceIsTakenOutOfWhatItWasCopiedWith) {
  const auto file = directory.write("a.json", R"({"journal": {"file": "gone.db"}})").string();
  for (const char* text : {"/subscriptions/s/resourceGroups/g", "/subscriptions/s/resourceGroups/g//",
                           "/subscriptions/s/resourceGroups/g?api-version=2024-03-01",
                           "https://management.azure.com/subscriptions/s/resourceGroups/g?api-version=2024-03-01",
                           "https://management.azure.com:443/subscriptions/s/resourceGroups/g/"}) {
    for (const char* command : {"history", "blame"}) {
      run({command, text, "--config", file});
      EXPECT_THAT(err.str(), HasSubstr("gone.db")) << command << " " << text << ": it is asked for";
    }
    for (const char* command : {"queue", "unlock"}) {
      run({command, text, "--config", file});
      EXPECT_THAT(err.str(), HasSubstr("listen.admin")) << command << " " << text;
    }
  }
}

TEST(TopLine, IsTheStatusOrWhyThereIsNoneOnOneLine) {
  EXPECT_EQ(top_line(std::string("{\n  \"mode\": \"off\"\n}\n")), "{\"mode\":\"off\"}\n");
  EXPECT_EQ(top_line(gateway_error(ErrorKind::Unreachable, "no \"answer\"")), "{\"error\":\"no \\\"answer\\\"\"}\n");
}

TEST_F(Cli, WhoAsksByAnotherConfigurationThanTheServicesIsToldWhichWasRead) {
  const std::vector<std::vector<std::string>> commands{
      {"status"}, {"queue"}, {"top"}, {"unlock", "/subscriptions/s/resourceGroups/g"}, {"history"}};
  for (const auto& words : commands) {
    EXPECT_EQ(run(words), kExitBadInput);
    EXPECT_THAT(err.str(), HasSubstr("is not set in the built-in defaults,")) << words.front();
    EXPECT_THAT(err.str(), HasSubstr("name the service's own with --config FILE")) << words.front();
  }
  const auto installed = directory.write("etc/armgate.json", "{}").string();
  for (const auto& words : commands) {
    EXPECT_EQ(run(words), kExitBadInput);
    EXPECT_THAT(err.str(), HasSubstr("is not set in " + installed + ",")) << words.front();
  }
}

using LooksAtTheService = Cli;

// Nobody answers at port 1, which is found out only by asking.
TEST_F(LooksAtTheService, ThoughTheFileHasAFaultElsewhere) {
  const std::vector<std::vector<std::string>> commands = {
      {"status"}, {"queue"}, {"sick"}, {"top"}, {"unlock", "/subscriptions/s"}, {"history"}, {"blame", "/subscriptions/s"}};
  const auto file = directory.write("a.json", "{\"listen\": {\"admin\": \"127.0.0.1:1\"},\n\"mode\": \"protekt\"}");
  for (auto words : commands) {
    words.insert(words.end(), {"--config", file.string()});
    EXPECT_EQ(run(words), kExitRuntime) << words[0];
    EXPECT_THAT(err.str(), StartsWith(file.string() + ":2: /mode: warning: \"protekt\" is not a valid value"));
    EXPECT_THAT(err.str(), HasSubstr("armgate: 1 fault found: a start or a reload refuses this file; what runs is looked at"));
    EXPECT_THAT(err.str(), HasSubstr("no answer from 127.0.0.1:1"));
  }
  directory.write("a.json", "{\"listen\": {\"admin\": \"127.0.0.1:1\"},\n\"mode\": \"protect\",}");
  for (auto words : commands) {
    words.insert(words.end(), {"--config", file.string()});
    const bool reads_records = words[0] == "history" || words[0] == "blame";
    EXPECT_EQ(run(words), reads_records ? kExitBadInput : kExitRuntime) << words[0] << ": there may be a journal behind it";
    EXPECT_THAT(err.str(), HasSubstr(reads_records ? "nothing was changed" : "no answer from 127.0.0.1:1"));
  }
}

TEST_F(LooksAtTheService, NotIfTheFaultIsWhereItIsToBeAsked) {
  for (const char* const text : {R"({"listen": {"admin": "nowhere"}})", R"({"listen": 7})", "{,}", "[]",
                                 R"({"listen": {"proxy": "127.0.0.1:2", "admin": "127.0.0.1:2"}})",
                                 R"({"listen": {"admin": "127.0.0.1:1"}, "listen": {}})"}) {
    const auto file = directory.write("a.json", text);
    EXPECT_EQ(run({"status", "--config", file.string()}), kExitBadInput) << text;
    EXPECT_THAT(err.str(), HasSubstr("nothing was changed")) << text;
    EXPECT_EQ(out.str(), "");
  }
  const auto file = directory.write("a.json", R"({"listen": {"admin": "127.0.0.1:1"}, "journal": {"file": 7}})");
  EXPECT_EQ(run({"status", "--config", file.string()}), kExitRuntime);
  EXPECT_EQ(run({"history", "--config", file.string()}), kExitBadInput);
}

TEST_F(LooksAtTheService, AndAProgramIsToldWhatIsWrongWithTheFile) {
  const auto file = directory.write("a.json", "{\"mode\": \"protekt\",\n\"listen\": 7}");
  for (std::vector<std::string> words : std::vector<std::vector<std::string>>{{"status"},
                                                                              {"queue"},
                                                                              {"sick"},
                                                                              {"history"},
                                                                              {"blame", "/subscriptions/s"},
                                                                              {"unlock", "/subscriptions/s"},
                                                                              {"top"},
                                                                              {"doctor"},
                                                                              {"ca", "show"},
                                                                              {"types"},
                                                                              {"explain", "PUT", "/subscriptions/s"},
                                                                              {"cluster", "status"}}) {
    words.insert(words.end(), {"--config", file.string(), "--output", "json"});
    EXPECT_EQ(run(words), kExitBadInput) << words[0];
    ASSERT_TRUE(json::accept(out.str())) << words[0];
    EXPECT_THAT(json::parse(out.str()).at("error").get<std::string>(),
                AllOf(StartsWith(file.string() + ":1: /mode: "), HasSubstr("\n" + file.string() + ":2: /listen: ")));
  }
  directory.write("a.json", "{}");
  EXPECT_EQ(run({"cluster", "status", "--config", file.string(), "--output", "json"}), kExitBadInput);
  EXPECT_THAT(json::parse(out.str()).at("error").get<std::string>(), HasSubstr("names no cluster"));
  EXPECT_EQ(run({"explain", "PUT", "/", "--body", "gone.json", "--config", file.string(), "--output", "json"}), kExitBadInput);
  EXPECT_THAT(json::parse(out.str()).at("error").get<std::string>(), HasSubstr("gone.json"));
}

}  // namespace
}  // namespace armgate
