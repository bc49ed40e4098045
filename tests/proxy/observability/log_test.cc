// The log: one line of JSON per request or event, with what was done and without secrets.
#include "proxy/observability/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "json/tree.h"
#include "proxy/request/exchange.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr WallTime kLogWall = WallTime(milliseconds(1767225600007));
constexpr TimePoint kStart = TimePoint(seconds(100));

// Of whole lines.
std::vector<std::string> events_in(const std::filesystem::path& file) {
  std::vector<std::string> events;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto read = nlohmann::json::parse(line, nullptr, false);
    if (!read.is_discarded()) events.push_back(read.at("event"));
  }
  return events;
}

Exchange written() {
  Exchange exchange;
  exchange.arrived.time = kStart;
  exchange.request.head.method = arm::Method::Put;
  exchange.request.head.method_token = "PUT";
  exchange.request.head.host = "management.azure.com";
  exchange.request.head.target = "/subscriptions/S/resourceGroups/G?api-version=2021-04-01&sig=SECRET";
  exchange.request.head.fields = {{"Authorization", "Bearer SECRET"}, {"x-ms-note", "SECRET"}};
  exchange.request.body = "SECRET";
  exchange.from.proxy_user = "nightly";
  auto plan = std::make_shared<KeyedPlan>();
  plan->target.resource.id = "/subscriptions/s/resourcegroups/g";
  exchange.planned.plan = std::move(plan);
  exchange.client_label = "nightly";
  exchange.status = 412;
  exchange.delivered = true;
  exchange.report.waited = milliseconds(250);
  exchange.report.attempts = 2;
  exchange.report.locks = {"/subscriptions/s/resourcegroups/g"};
  exchange.report.guard = "single";
  exchange.report.reason = "changed since it was read";
  exchange.report.upstream_code = "PreconditionFailed";
  exchange.report.upstream_message = "Etag does not match.";
  return exchange;
}

std::string line_of(const Exchange& exchange) {
  std::ostringstream out;
  Log::to_stream(out, LogLevel::Info)->request(exchange, kLogWall, kStart + milliseconds(1234));
  return out.str();
}

TEST(Log, ARequestIsOneLineThatSaysWhatWasDone) {
  EXPECT_EQ(line_of(written()),
            R"({"time":"2026-01-01T00:00:00.007Z","level":"info","event":"request","client":"nightly","method":"PUT",)"
            R"("host":"management.azure.com","path":"/subscriptions/S/resourceGroups/G",)"
            R"("resource":"/subscriptions/s/resourcegroups/g","status":412,"duration_ms":1234,"waited_ms":250,)"
            R"("attempts":2,"locks":["/subscriptions/s/resourcegroups/g"],"guard":"single",)"
            R"("reason":"changed since it was read","upstream_code":"PreconditionFailed",)"
            R"("upstream_message":"Etag does not match.","delivered":true})"
            "\n");
}

TEST(Log, TroubleWithArmIsAWarningThatSaysWhy) {
  Exchange exchange = written();
  exchange.report.upstream_error = "cannot connect to management.azure.com: Connection refused";
  const auto line = nlohmann::json::parse(line_of(exchange));
  EXPECT_EQ(line.at("level"), "warning");
  EXPECT_EQ(line.at("upstream_error"), "cannot connect to management.azure.com: Connection refused");
  std::ostringstream trouble_only;
  const auto log = Log::to_stream(trouble_only, LogLevel::Warning);
  log->request(written(), kLogWall, kStart);
  EXPECT_EQ(trouble_only.str(), "");
  log->request(exchange, kLogWall, kStart);
  EXPECT_THAT(trouble_only.str(), HasSubstr("Connection refused"));
}

TEST(Log, NoSecretIsEverWritten) { EXPECT_THAT(line_of(written()), Not(HasSubstr("SECRET"))); }

TEST(Log, WhatDidNotHappenIsLeftOut) {
  Exchange exchange = written();
  exchange.request.head.target = "/providers?api-version=1";
  exchange.planned.plan.reset();
  exchange.report = {};
  exchange.delivered = false;
  const auto line = nlohmann::json::parse(line_of(exchange));
  for (const char* absent : {"resource", "locks", "guard", "reason", "upstream_code", "upstream_message", "upstream_error"}) {
    EXPECT_FALSE(line.contains(absent)) << absent;
  }
  EXPECT_EQ(line.at("attempts"), 0);
  EXPECT_EQ(line.at("delivered"), false);
}

TEST(Log, BytesOfClientsCannotBreakOrForgeALine) {
  Exchange exchange = written();
  exchange.client_label = "a\nb\"\x1b[31m";
  exchange.request.head.target = "/\xff\xfe\xe2\x80\xa8?x";
  const std::string text = line_of(exchange);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_TRUE(std::all_of(text.begin(), text.end() - 1, [](char c) { return c >= ' ' && c <= '~'; })) << text;
  EXPECT_EQ(nlohmann::json::parse(text).at("client"), "a\nb\"\x1b[31m");
}

TEST(Log, EventsNameWhatTheyAreAbout) {
  std::ostringstream out;
  Log::to_stream(out, LogLevel::Debug)->event(LogLevel::Warning, kLogWall, "hold-expired", {{"key", "/s"}, {"age", "6h"}});
  EXPECT_EQ(out.str(), R"({"time":"2026-01-01T00:00:00.007Z","level":"warning","event":"hold-expired","key":"/s","age":"6h"})"
                       "\n");
}

TEST(Log, OnlyWhatIsImportantEnoughIsWritten) {
  struct Case {
    LogLevel least;
    int events;
    int requests;
  };
  for (const Case& c :
       {Case{LogLevel::Debug, 4, 1}, Case{LogLevel::Info, 3, 1}, Case{LogLevel::Warning, 2, 0}, Case{LogLevel::Error, 1, 0}}) {
    std::ostringstream out;
    const auto log = Log::to_stream(out, c.least);
    for (const LogLevel level : {LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error}) {
      log->event(level, kLogWall, "x");
    }
    log->request(written(), kLogWall, kStart);
    const std::string text = out.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), c.events + c.requests);
    EXPECT_EQ(text.find("\"request\"") != text.npos, c.requests == 1);
  }
}

TEST(Log, AFileIsAddedToAndWholeWhenTheLogIsGone) {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "a.log").string();
  for (const char* name : {"first", "second"}) {
    auto log = Log::open(file, LogLevel::Info);
    ASSERT_TRUE(log.ok());
    (*log)->event(LogLevel::Info, kLogWall, name);
  }
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("\"first\""));
  EXPECT_THAT(text.str(), HasSubstr("\"second\""));
}

TEST(Log, AFileThatCannotBeOpenedIsAnErrorThatNamesIt) {
  const TemporaryDirectory directory;
  const auto blocked = directory.write("file", "") / "a.log";  // its directory is a file
  const auto log = Log::open(blocked.string(), LogLevel::Info);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(log.error().context, HasSubstr(blocked.string()));
}

TEST(Log, APipeThatNobodyReadsIsNotWaitedFor) {
  const TemporaryDirectory directory;
  const std::string pipe = (directory.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto log = Log::open(pipe, LogLevel::Info);
  ASSERT_FALSE(log.ok());
  EXPECT_THAT(log.error().context, HasSubstr("is a pipe that nobody reads"));
}

TEST(Log, ReopenedItGoesOnUnderItsNameAndLosesNothing) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "a.log";
  const auto moved = directory.path() / "a.log.1";
  {
    auto log = Log::open(file.string(), LogLevel::Info);
    ASSERT_TRUE(log);
    (*log)->event(LogLevel::Info, kLogWall, "before");
    std::filesystem::rename(file, moved);
    (*log)->reopen();
    (*log)->event(LogLevel::Info, kLogWall, "after");
  }
  EXPECT_THAT(events_in(moved), ElementsAre("before"));
  EXPECT_THAT(events_in(file), ElementsAre("log-reopened", "after"));
}

TEST(Log, SaysHowManyLinesAreLostOnceItCanBeWrittenAgain) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "a.log";
  std::filesystem::create_symlink("/dev/full", file);
  {
    auto log = Log::open(file.string(), LogLevel::Error);
    ASSERT_TRUE(log);
    (*log)->event(LogLevel::Error, kLogWall, "lost");
    (*log)->event(LogLevel::Error, kLogWall, "lost too");
    std::filesystem::remove(file);
    (*log)->reopen();
    (*log)->event(LogLevel::Error, kLogWall, "first");
    for (int tries = 0; events_in(file).size() < 2 && tries < 5'000; ++tries) ::usleep(1'000);
    (*log)->event(LogLevel::Error, kLogWall, "second");
  }
  EXPECT_THAT(events_in(file), ElementsAre("first", "log-lines-lost", "second"));
  std::ifstream in(file);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(in), {}), HasSubstr("\"lines\":2}"));
}

TEST(Log, ThatCannotBeReopenedStaysWhereItWas) {
  const TemporaryDirectory directory;
  directory.write("logs/a.log", "");
  const auto moved = directory.path() / "moved";
  {
    auto log = Log::open((directory.path() / "logs/a.log").string(), LogLevel::Info);
    ASSERT_TRUE(log);
    std::filesystem::rename(directory.path() / "logs", moved);
    testing::internal::CaptureStderr();
    (*log)->reopen();
    (*log)->event(LogLevel::Info, kLogWall, "still here");
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("logs/a.log cannot be opened: No such file"), HasSubstr("; lines still go to the old file\n")));
  EXPECT_THAT(events_in(moved / "a.log"), ElementsAre("log-not-reopened", "still here"));
  std::ifstream in(moved / "a.log");
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(in), {}), HasSubstr("logs/a.log cannot be opened: No such file"));
}

}  // namespace
}  // namespace armgate
