// Which runs are there, which is to be gone on with, and that none is taken for none which may have deleted a pool.
#include "cli/heal/runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/utc.h"
#include "cli/heal/cluster_lock.h"
#include "cli/heal/journal.h"
#include "tests/support/temporary_directory.h"

namespace armgate::heal {
namespace {

using testing::HasSubstr;

const WallTime kBegun = *parse_utc("2026-01-01T00:00:00Z");
const Target kFound{"/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/f", "system"};

class HealRuns : public testing::Test {
 protected:
  Journal begin(const std::string& id, const Target& target = kFound) { return *Journal::begin(runs(), id, target, kBegun); }
  // With a snapshot, and so perhaps with a DELETE.
  void begin_and_keep(const std::string& id, const Target& target = kFound) {
    Journal journal = begin(id, target);
    ASSERT_TRUE(journal
                    .keep({target.pool_id(), "e", R"({"properties":{"count":3}})", R"({"properties":{"count":3}})"},
                          Phase::Guards, kBegun)
                    .ok());
  }
  std::filesystem::path runs() const { return directory.path() / "runs"; }
  std::filesystem::path lines(const std::string& id) const { return runs() / id / "journal.jsonl"; }

  const TemporaryDirectory directory;
};

TEST_F(HealRuns, RunsAreFoundTheOldestFirst) {
  EXPECT_TRUE(find_runs(runs()).empty());
  begin("run-2");
  begin("run-1");
  std::filesystem::create_directory(runs() / "no-run");
  std::filesystem::create_directory(runs() / "damaged");
  std::ofstream(lines("damaged")) << "not json\n";
  const auto found = find_runs(runs());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].id, "run-1");
  EXPECT_FALSE(Journal::resume(runs(), "damaged").ok());
  EXPECT_FALSE(Journal::begin(runs(), "run-1", kFound, kBegun).ok()) << "a run is never begun twice";
}

TEST_F(HealRuns, TheOpenRunIsTheOneOfThisClusterAndPool) {
  begin("run-1");
  Target other = kFound;
  other.cluster += "2";
  begin("run-2", other);
  Target shouted = kFound;
  shouted.cluster[1] = 'S';
  EXPECT_EQ((*open_run(runs(), shouted, ""))->id, "run-1");
  EXPECT_EQ((*open_run(runs(), other, ""))->id, "run-2");
  other.pool = "second";
  EXPECT_FALSE(open_run(runs(), other, "")->has_value());
  ASSERT_TRUE(Journal::resume(runs(), "run-1")->append({Event::Kind::Finished, kBegun, Phase::Check}).ok());
  EXPECT_FALSE(open_run(runs(), kFound, "")->has_value());
}

// It may have deleted the pool, and holds the only snapshot of it.
TEST_F(HealRuns, ARunThatCannotBeReadIsRefusedByNameAndStays) {
  const struct {
    const char* what;
    void (*damage)(const std::filesystem::path& lines);
    const char* words;
  } cases[] = {
      {"its journal is gone", [](const std::filesystem::path& lines) { std::filesystem::remove(lines); }, "cannot be read"},
      {"a damaged first line", [](const std::filesystem::path& lines) { std::ofstream(lines) << "\x01\x02\n"; }, "line 1 of"},
      {"an empty journal", [](const std::filesystem::path& lines) { std::ofstream(lines, std::ios::trunc).flush(); },
       "has no first line"},
      {"a damaged line", [](const std::filesystem::path& lines) { std::ofstream(lines, std::ios::app) << "x\n"; }, "line 3 of"},
  };
  for (const auto& c : cases) {
    const TemporaryDirectory place;
    const std::filesystem::path runs = place.path() / "runs";
    {
      Journal journal = *Journal::begin(runs, "run-1", kFound, kBegun);
      ASSERT_TRUE(journal
                      .keep({kFound.pool_id(), "e", R"({"properties":{"count":3}})", R"({"properties":{"count":3}})"},
                            Phase::Guards, kBegun)
                      .ok());
    }
    c.damage(runs / "run-1" / "journal.jsonl");
    const auto open = open_run(runs, kFound, "");
    ASSERT_FALSE(open.ok()) << c.what;
    EXPECT_THAT(open.error().context, HasSubstr(c.words)) << c.what;
    EXPECT_THAT(open.error().context, HasSubstr((runs / "run-1").string()));
    const auto cleared = clear_unbegun(runs, "run-1");
    ASSERT_FALSE(cleared.ok()) << c.what;
    EXPECT_THAT(cleared.error().context, HasSubstr((runs / "run-1").string()));
    EXPECT_TRUE(std::filesystem::exists(runs / "run-1" / "snapshot-1.json")) << c.what;
    EXPECT_EQ(find_runs(runs).size(), 1u) << "it is listed";
    Target other = kFound;
    other.cluster += "2";
    EXPECT_TRUE(open_run(runs, other, "").ok()) << "another cluster is none of its business";
  }
}

TEST_F(HealRuns, ADamagedRunThatIsOverKeepsNobody) {
  begin_and_keep("run-1");
  std::ofstream(lines("run-1"), std::ios::app) << "x\n" << to_line({Event::Kind::Finished, kBegun, Phase::Check});
  EXPECT_FALSE(open_run(runs(), kFound, "")->has_value());
}

TEST_F(HealRuns, WhoseSnapshotSaysNothingEitherCountsForTheClusterThatWorkedOnIt) {
  begin_and_keep("run-1");
  std::ofstream(lines("run-1")) << "x\n";
  std::ofstream(runs() / "run-1" / "snapshot-1.json") << "x";
  EXPECT_TRUE(open_run(runs(), kFound, "run-0").ok());
  EXPECT_FALSE(open_run(runs(), kFound, "run-1").ok());
}

TEST_F(HealRuns, WhatWasNotBegunMakesWay) {
  EXPECT_TRUE(clear_unbegun(runs(), "run-1").ok()) << "nothing is there";
  std::filesystem::create_directories(runs() / "run-1");
  EXPECT_TRUE(clear_unbegun(runs(), "run-1").ok());
  std::filesystem::create_directories(runs() / "run-1");
  std::ofstream(lines("run-1")) << "{\"at\":\"2026";
  EXPECT_TRUE(clear_unbegun(runs(), "run-1").ok());
  EXPECT_FALSE(std::filesystem::exists(runs() / "run-1"));
  std::filesystem::create_directories(runs() / "run-1");
  std::ofstream(runs() / "run-1" / "notes.txt") << "of a person";
  EXPECT_FALSE(clear_unbegun(runs(), "run-1").ok());
  EXPECT_TRUE(std::filesystem::exists(runs() / "run-1" / "notes.txt"));
}

TEST_F(HealRuns, OneOnWhichAProcessWorksIsRunning) {
  begin("run-1");
  begin("run-2");
  auto lock = ClusterLock::take(runs(), kFound);
  ASSERT_TRUE(lock->note_run("run-2").ok());
  const auto found = find_runs(runs());
  EXPECT_FALSE(found[0].is_running);
  EXPECT_TRUE(found[1].is_running);
}

}  // namespace
}  // namespace armgate::heal
