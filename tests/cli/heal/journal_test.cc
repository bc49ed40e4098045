// What a run leaves on disk, and what is read of it again.
#include "cli/heal/journal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/utc.h"
#include "certs/secret_file.h"
#include "json/tree.h"
#include "tests/support/temporary_directory.h"

namespace armgate::heal {
namespace {

using testing::HasSubstr;

const WallTime kAt = *parse_utc("2026-01-01T00:00:00Z");
const Target kTarget{"/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c", "system"};

class HealJournal : public testing::Test {
 protected:
  Journal begin(const std::string& id = "run-1") { return *Journal::begin(directory.path() / "runs", id, kTarget, kAt); }
  Snapshot snapshot() const {
    return {kTarget.pool_id(), "e1", R"({"properties":{"count":3}})", R"({"properties":{"count":1}})"};
  }
  std::filesystem::path lines(const std::string& id = "run-1") const {
    return directory.path() / "runs" / id / "journal.jsonl";
  }

  const TemporaryDirectory directory;
};

TEST_F(HealJournal, ARunIsReadAgainAsItWasWritten) {
  {
    Journal journal = begin();
    ASSERT_TRUE(journal.keep(snapshot(), Phase::Guards, kAt).ok());
    ASSERT_TRUE(journal.append({Event::Kind::Intend, kAt, Phase::Abort, "POST x"}).ok());
    ASSERT_TRUE(journal.append({Event::Kind::Answer, kAt, Phase::Abort, "", "", 202}).ok());
    ASSERT_TRUE(journal.append({Event::Kind::Done, kAt, Phase::Abort}).ok());
    ASSERT_TRUE(journal.append({Event::Kind::Intend, kAt, Phase::StandIn, "PUT y"}).ok());
    ASSERT_TRUE(journal.append({Event::Kind::Intend, kAt, Phase::Delete, "DELETE z"}).ok());
    ASSERT_TRUE(journal.append({Event::Kind::Answer, kAt, Phase::Delete, "", "", 202}).ok());
  }
  const Journal journal = *Journal::resume(directory.path() / "runs", "run-1");
  const Progress& progress = journal.progress();
  EXPECT_EQ(progress.target.cluster, kTarget.cluster);
  EXPECT_EQ(progress.target.pool, "system");
  EXPECT_EQ(progress.begun, kAt);
  EXPECT_TRUE(progress.is_done(Phase::Abort));
  EXPECT_FALSE(progress.of(Phase::Abort).accepted()) << "it was done: asked again, it decides anew";
  EXPECT_TRUE(progress.of(Phase::Abort).may_have_run());
  EXPECT_TRUE(progress.of(Phase::Delete).accepted());
  EXPECT_TRUE(progress.of(Phase::StandIn).intended);
  EXPECT_FALSE(progress.of(Phase::StandIn).accepted());
  EXPECT_FALSE(progress.is_done(Phase::StandIn));
  EXPECT_TRUE(progress.is_open());
  const auto read = journal.snapshot();
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->etag, "e1");
  EXPECT_EQ(read->again, snapshot().again);
}

TEST_F(HealJournal, ALineThatWasNotWrittenToItsEndIsNotThere) {
  {
    Journal journal = begin();
    ASSERT_TRUE(journal.append({Event::Kind::Done, kAt, Phase::Abort}).ok());
  }
  std::ofstream(lines(), std::ios::app) << R"({"at":"2026-01-01T00:00:00Z","event":"done","phase":"dele)";
  {
    Journal journal = *Journal::resume(directory.path() / "runs", "run-1");
    EXPECT_TRUE(journal.progress().is_done(Phase::Abort));
    EXPECT_FALSE(journal.progress().is_done(Phase::Delete));
    ASSERT_TRUE(journal.append({Event::Kind::Done, kAt, Phase::StandIn}).ok());
  }
  EXPECT_TRUE(Journal::resume(directory.path() / "runs", "run-1")->progress().is_done(Phase::StandIn));
}

TEST_F(HealJournal, AStopForgetsAnswersAndAnEndClosesTheRun) {
  Journal journal = begin();
  ASSERT_TRUE(journal.append({Event::Kind::Intend, kAt, Phase::Delete}).ok());
  ASSERT_TRUE(journal.append({Event::Kind::Answer, kAt, Phase::Delete, "", "", 202}).ok());
  ASSERT_TRUE(journal.append({Event::Kind::Stopped, kAt, Phase::Delete, "it failed"}).ok());
  EXPECT_FALSE(journal.progress().of(Phase::Delete).accepted());
  EXPECT_TRUE(journal.progress().of(Phase::Delete).intended) << "that it was sent stays known: there is no way back";
  EXPECT_TRUE(journal.progress().is_open());
  ASSERT_TRUE(journal.append({Event::Kind::Finished, kAt, Phase::Check}).ok());
  EXPECT_FALSE(journal.progress().is_open());
}

TEST_F(HealJournal, ARefusedDeleteHasNotRunAndAnyOtherMayHave) {
  const auto may_have_run = [](const std::vector<int>& answers) {  // 0: none came
    Progress progress;
    for (const int status : answers) {
      apply({Event::Kind::Intend, kAt, Phase::Delete}, progress);
      if (status != 0) apply({Event::Kind::Answer, kAt, Phase::Delete, "", "", status}, progress);
    }
    apply({Event::Kind::Stopped, kAt, Phase::Delete}, progress);
    return progress.of(Phase::Delete).may_have_run();
  };
  EXPECT_FALSE(may_have_run({}));
  for (const int refused : {403, 404, 409, 412, 429}) EXPECT_FALSE(may_have_run({refused})) << refused;
  for (const int unknown : {0, 202, 204, 408, 500, 503}) {
    EXPECT_TRUE(may_have_run({unknown})) << unknown;
    EXPECT_TRUE(may_have_run({unknown, 412})) << unknown;
    EXPECT_TRUE(may_have_run({412, unknown})) << unknown;
  }
}

TEST_F(HealJournal, TheApiVersionIsTheRunsOwn) {
  Target target = kTarget;
  target.api_version = "2026-01-01";
  ASSERT_TRUE(Journal::begin(directory.path() / "runs", "run-1", target, kAt).ok());
  EXPECT_EQ(Journal::resume(directory.path() / "runs", "run-1")->progress().target.api_version, "2026-01-01");
  begin("run-2");
  std::string text = *certs::read_file(lines("run-2"));
  const std::string member = ",\"api_version\":\"2025-10-01\"";
  ASSERT_NE(text.find(member), text.npos);
  text.erase(text.find(member), member.size());
  std::ofstream(lines("run-2")) << text;
  EXPECT_EQ(Journal::resume(directory.path() / "runs", "run-2")->progress().target.api_version, Target().api_version)
      << "of a run of before that was written down";
}

TEST_F(HealJournal, ASnapshotOfAnotherClusterIsRefused) {
  Journal journal = begin();
  Snapshot other = snapshot();
  other.pool_id =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/other/agentPools/system";
  ASSERT_TRUE(journal.keep(other, Phase::Guards, kAt).ok());
  const auto read = journal.snapshot();
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().context, HasSubstr("the snapshot is of " + other.pool_id));
  std::ofstream(journal.snapshot_path()) << "{}";
  EXPECT_THAT(journal.snapshot().error().context, HasSubstr("damaged"));
}

TEST_F(HealJournal, ASnapshotFromWhichNoPoolCanBeMadeIsRefusedByName) {
  Journal journal = begin();
  ASSERT_TRUE(journal.keep(snapshot(), Phase::Guards, kAt).ok());
  for (const char* name : {"again", "stand_in"}) {
    for (const char* body : {"{}", R"({"properties":{}})", R"({"properties":[]})"}) {
      nlohmann::json text = nlohmann::json::parse(to_text(snapshot()));
      text[name] = nlohmann::json::parse(body);
      std::ofstream(journal.snapshot_path()) << text;
      const auto read = journal.snapshot();
      ASSERT_FALSE(read.ok()) << name << body;
      EXPECT_THAT(read.error().context, HasSubstr(fmt::format("\"{}\" has no properties", name)));
    }
  }
}

// What stands behind it was done: cutting it off would have the pool deleted twice, or its delete forgotten.
TEST_F(HealJournal, ADamagedLineInTheMiddleIsRefusedByNameAndNothingIsCutOff) {
  for (const char* bad :
       {"damaged", "{\"event\":\"done\"}", "", "{\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"begin\",\"phase\":\"guards\"}"}) {
    const std::string id = fmt::format("run-{}", std::string_view(bad).size());
    {
      Journal journal = begin(id);
      ASSERT_TRUE(journal.keep(snapshot(), Phase::Guards, kAt).ok());
      ASSERT_TRUE(journal.append({Event::Kind::Done, kAt, Phase::Abort}).ok());
    }
    std::ofstream(lines(id), std::ios::app) << bad << "\n" << to_line({Event::Kind::Intend, kAt, Phase::Delete, "DELETE x"});
    const std::string before = *certs::read_file(lines(id));
    const auto resumed = Journal::resume(directory.path() / "runs", id);
    ASSERT_FALSE(resumed.ok()) << bad;
    EXPECT_THAT(resumed.error().context, HasSubstr("line 4 of " + lines(id).string() + " is damaged (\""));
    EXPECT_THAT(resumed.error().context, HasSubstr("look at the cluster's pools"));
    EXPECT_EQ(*certs::read_file(lines(id)), before);
    EXPECT_TRUE(read_journal(directory.path() / "runs" / id).progress.may_be_deleted()) << "what can be read counts";
  }
}

TEST_F(HealJournal, HowTheRunGetsAtKubernetesIsKept) {
  const NodeAccess access{"/root/kube config", true, std::chrono::milliseconds(90'500)};
  {
    Journal journal = begin();
    EXPECT_EQ(journal.progress().access, NodeAccess());
    Event event{Event::Kind::Access, kAt};
    event.access = access;
    ASSERT_TRUE(journal.append(event).ok());
    ASSERT_TRUE(journal.append({Event::Kind::Stopped, kAt, Phase::StandIn, "x"}).ok());
  }
  EXPECT_EQ(Journal::resume(directory.path() / "runs", "run-1")->progress().access, access);
}

}  // namespace
}  // namespace armgate::heal
