// What somebody else, or AKS itself, does to the pools while a run is under way: nothing that is well is deleted, and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/heal/rig.h"

namespace armgate::heal {
namespace {

using nlohmann::json;
using std::chrono::minutes;
using testing::Contains;
using testing::HasSubstr;

const std::string kStandInId = kClusterId + "/agentPools/" + kStandIn;
const std::string kNotNeeded =
    "pool system is Succeeded; pool " + kStandIn + " is there and not needed any more: --undo --confirm takes it away";
const std::vector<std::string> kUpToTheStandIn(kGolden.begin(), kGolden.begin() + 2);

// A write of the pool that comes to its end makes it well in the simulated ARM.
void repair(Rig& rig, const json& more = json::object()) {
  json body = json::parse(rig.ask("GET", kPoolId).body);
  body["properties"].merge_patch(more);
  rig.ask("PUT", kPoolId, body.dump());
  rig.pass(minutes(5));
  ASSERT_EQ(rig.state(kPoolId), "Succeeded");
}

// Done once, when the stand-in is there and the run has not looked at it yet.
void once_the_stand_in_is_there(Rig& rig, std::function<void()> change) {
  rig.on_pause = [&rig, change = std::move(change), done = false]() mutable {
    if (done || rig.state(kStandInId) != "Succeeded") return;
    done = true;
    change();
  };
}

void fail_puts(Rig& rig, const std::string& path, int times) {
  rig.ask(
      "POST", "/__sim/faults",
      json{{"faults", {{{"method", "PUT"}, {"path", path}, {"kind", "fail-partly-QuotaExceeded"}, {"times", times}}}}}.dump());
}

// ARM shows that pool without its ETag, from when `when` says so.
void hide_the_etag(
    Rig& rig, const std::string& pool, std::function<bool()> when = [] { return true; }) {
  rig.instead = [&rig, pool, when = std::move(when)](const Write& write) -> std::optional<Result<Reply>> {
    if (write.method != arm::Method::Get || !write.target.starts_with(pool + "?") || !when()) return std::nullopt;
    const auto shown = rig.ask("GET", write.target);
    if (shown.head.status != 200) return std::nullopt;
    json body = json::parse(shown.body);
    body["properties"].erase("eTag");
    return Reply{200, body.dump(), {}, ""};
  };
}

TEST(RunbookSafe, APoolWithoutAnEtagIsRefusedBeforeAnythingIsChanged) {
  Rig rig;
  rig.wedge();
  hide_the_etag(rig, kPoolId);
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Refused);
  EXPECT_THAT(ending.why, HasSubstr("pool system shows no ETag (properties.eTag)"));
  EXPECT_TRUE(rig.writes.empty());
}

TEST(RunbookSafe, WhatShowsNoEtagAnyMoreIsNotDeleted) {
  for (const std::string& pool : {kPoolId, kStandInId}) {
    Rig rig;
    rig.wedge();
    hide_the_etag(rig, pool, [&rig] { return rig.state(kStandInId) == "Succeeded"; });
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Stopped) << pool;
    EXPECT_THAT(ending.why, HasSubstr("shows no ETag"));
    EXPECT_THAT(rig.taken(), testing::Not(Contains("DELETE " + pool.substr(kClusterId.size()))));
    EXPECT_NE(rig.state(pool), "absent");
  }
}

TEST(RunbookSafe, AStandInThatFailedAndShowsNoEtagIsNotDeletedToBeMadeAgain) {
  Rig rig;
  rig.wedge();
  fail_puts(rig, kStandInId, 1);
  hide_the_etag(rig, kStandInId);
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("shows no ETag"));
  EXPECT_EQ(rig.taken(), kUpToTheStandIn);
}

TEST(RunbookSafe, APoolThatWasRepairedWhileTheStandInWasMadeIsNotDeleted) {
  Rig rig;
  rig.wedge();
  once_the_stand_in_is_there(rig, [&] { repair(rig); });
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_EQ(ending.why, kNotNeeded);
  EXPECT_EQ(rig.taken(), kUpToTheStandIn);
  EXPECT_EQ(rig.undo().kind, Ending::Kind::Undone);
  EXPECT_EQ(rig.state(kPoolId), "Succeeded");
}

TEST(RunbookSafe, AfterA412ThePoolIsAskedAboutAgainAndTheRunCanBeUndone) {
  Rig rig;
  rig.wedge();
  bool repaired = false;
  rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
    if (write.method == arm::Method::Delete && !std::exchange(repaired, true)) repair(rig);
    return std::nullopt;
  };
  const Ending ending = rig.run();
  EXPECT_EQ(rig.writes.back(), (std::pair<std::string, int>("DELETE /agentPools/system", 412)));
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_EQ(ending.why, kNotNeeded);
  EXPECT_EQ(rig.taken(), kUpToTheStandIn);
  const Ending undone = rig.undo();
  EXPECT_EQ(undone.kind, Ending::Kind::Undone) << undone.why;
  EXPECT_EQ(rig.state(kPoolId), "Succeeded");
}

TEST(RunbookSafe, WhatMayNotBeTouchedAnyMoreIsNotDeleted) {
  Rig rig;
  rig.wedge();
  once_the_stand_in_is_there(rig, [&] {
    rig.ask("PUT", kClusterId + "/agentPools/system2", R"({"properties":{"mode":"System","count":1}})");
    rig.pass(minutes(5));
  });
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("system is not the only system pool (system2 too)"));
  EXPECT_THAT(ending.why, HasSubstr("the pool was not deleted"));
  EXPECT_EQ(rig.taken(), kUpToTheStandIn);
}

TEST(RunbookSafe, WithoutTheLeaseThePoolIsNotDeleted) {
  Rig rig;
  rig.wedge();
  rig.drain = [&](const std::string&) -> Result<std::string> {
    rig.lease_held = rig.was_told("stopped");  // at the first try armgate was started anew meanwhile, for instance
    return std::string();
  };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("a write that began earlier still runs"));
  EXPECT_EQ(rig.taken(), kUpToTheStandIn);
  rig.lease_held = true;
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  expect_healed(rig);
}

// The write that it waits for may be the one that repairs the pool.
TEST(RunbookSafe, WhoTakesARunUpLooksOnlyWhenItHasTheLease) {
  Rig rig;
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  rig.lease_held = false;
  int pauses = 0;
  rig.on_pause = [&] {
    if (++pauses != 2) return;  // the first is for the abort to settle
    repair(rig);
    rig.lease_held = true;
  };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_EQ(ending.why, kNotNeeded);
  EXPECT_EQ(rig.taken(), kUpToTheStandIn);
}

TEST(RunbookSafe, APoolThatIsWellIsNotDrainedEither) {
  Rig rig;
  rig.wedge();
  int drained = 0;
  rig.drain = [&](const std::string&) -> Result<std::string> {
    ++drained;
    return std::string();
  };
  once_the_stand_in_is_there(rig, [&] { repair(rig); });
  EXPECT_EQ(rig.run().why, kNotNeeded);
  EXPECT_EQ(drained, 0);
}

TEST(RunbookSafe, APoolThatIsWellAfterTheDrainIsNotDeletedAndItsNodesAreNamed) {
  Rig rig;
  rig.wedge();
  rig.drain = [&](const std::string&) -> Result<std::string> {
    repair(rig);
    return std::string();
  };
  EXPECT_EQ(rig.run().why, kNotNeeded + "; its nodes are cordoned: kubectl uncordon --selector agentpool=system");
  EXPECT_EQ(rig.taken(), kUpToTheStandIn);
}

TEST(RunbookSafe, WhatSomebodyChangedSinceTheSnapshotIsInTheNewPool) {
  Rig rig;
  rig.wedge();
  once_the_stand_in_is_there(rig, [&] {
    repair(rig,
           R"({"count":4,"nodeLabels":{"zone":"two","added":"1"},"tags":{"cost":"7"},"nodeTaints":["a=b:NoSchedule"]})"_json);
    rig.wedge({{"started_s", 0}, {"failures", 0}});
  });
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_EQ(rig.taken(), kGolden);
  for (const char* change : {"/properties/nodeLabels/zone is \"two\"; it was \"one\"",
                             "/properties/nodeLabels/added is new: \"1\"", "/properties/tags/cost is new",
                             "/properties/count is 4; it was 3", "/properties/nodeTaints has gained \"a=b:NoSchedule\"",
                             "/properties/nodeTaints lacks \"CriticalAddonsOnly=true:NoSchedule\""})
    EXPECT_TRUE(rig.was_told(change)) << change;
  const json pool = json::parse(rig.ask("GET", kPoolId).body)["properties"];
  EXPECT_EQ(pool["count"], 4);
  EXPECT_EQ(pool["nodeLabels"], json({{"zone", "two"}, {"added", "1"}}));
  EXPECT_EQ(pool["nodeTaints"], json({"a=b:NoSchedule"}));
  EXPECT_EQ(pool["tags"], json({{"owner", "ops"}, {"cost", "7"}}));
}

TEST(RunbookSafe, AChangeThatCannotBeCarriedOverStopsItByName) {
  Rig rig;
  rig.wedge();
  once_the_stand_in_is_there(rig, [&] {
    repair(rig, {{"newSetting", {{"a", 1}}}});
    rig.wedge({{"started_s", 0}, {"failures", 0}});
  });
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("/properties/newSetting: whether a create may carry it is not known"));
  EXPECT_THAT(ending.why, HasSubstr("the pool was not deleted"));
  EXPECT_EQ(rig.taken(), kUpToTheStandIn);
}

TEST(RunbookSafe, WhatTheNewPoolHasBesideTheSnapshotIsTold) {
  Rig rig;
  rig.wedge();
  rig.on_pause = [&] {
    if (rig.taken().size() != 4 || rig.state(kPoolId) != "Succeeded") return;
    rig.on_pause = nullptr;
    repair(rig, {{"nodeLabels", {{"late", "1"}}}});
  };
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_TRUE(rig.was_told("beside them: /properties/nodeLabels/late is new: \"1\""));
}

TEST(RunbookSafe, AStandInThatIsLeftFailedIsDeletedAndMadeAgain) {
  Rig rig;
  rig.wedge();
  fail_puts(rig, "agentPools/tmp", 1);
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Finished) << ending.why;
  std::vector<std::string> expected = kGolden;
  expected.insert(expected.begin() + 2, {"DELETE /agentPools/" + kStandIn, "PUT /agentPools/" + kStandIn});
  EXPECT_EQ(rig.taken(), expected);
  EXPECT_TRUE(rig.was_told("discard send pool " + kStandIn + " is Failed: delete it, to make it again (QuotaExceeded: "));
  for (const Write& write : rig.sent) EXPECT_EQ(write.if_match.empty(), write.method != arm::Method::Delete) << write.target;
  expect_healed(rig);
}

TEST(RunbookSafe, AStandInThatFailsAgainAndAgainStopsItWithTheWaysOn) {
  Rig rig;
  rig.wedge();
  fail_puts(rig, "agentPools/tmp", 3);
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("pool " + kStandIn + " is Failed after 3 tries; get what it lacks, then the same command"));
  EXPECT_THAT(ending.why, HasSubstr("QuotaExceeded"));
  EXPECT_EQ(rig.state(kStandInId), "Failed");
  EXPECT_THAT(rig.taken(), testing::Not(Contains(kGolden[2]))) << "the pool was not touched";
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished) << "the same command makes it again";
  expect_healed(rig);

  Rig back;
  back.wedge();
  fail_puts(back, "agentPools/tmp", 3);
  ASSERT_EQ(back.run().kind, Ending::Kind::Stopped);
  EXPECT_EQ(back.undo().kind, Ending::Kind::Undone);
  EXPECT_EQ(back.state(kStandInId), "absent");
}

TEST(RunbookSafe, AFailedStandInOfAnotherRunIsLeftAlone) {
  Rig rig;
  rig.wedge();
  fail_puts(rig, "agentPools/tmp", 3);
  ASSERT_EQ(rig.run().kind, Ending::Kind::Stopped);
  const size_t before = rig.taken().size();
  json body = json::parse(rig.ask("GET", kStandInId).body);
  body["properties"]["tags"]["armgate-run"] = "another";
  fail_puts(rig, "agentPools/tmp", 1);
  rig.ask("PUT", kStandInId, body.dump());
  rig.pass(minutes(5));
  EXPECT_THAT(rig.run().why, HasSubstr("is Failed, and not of this run (armgate-run=another)"));
  EXPECT_EQ(rig.taken().size(), before);
}

TEST(RunbookSafe, ANewPoolThatIsLeftFailedIsPutAgain) {
  Rig rig;
  rig.wedge();
  fail_puts(rig, "agentPools/system", 2);
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Finished) << ending.why;
  std::vector<std::string> expected = kGolden;
  expected.insert(expected.begin() + 4, 2, kGolden[3]);
  EXPECT_EQ(rig.taken(), expected);
  std::vector<Write> puts;
  for (const Write& write : rig.sent) {
    if (write.method == arm::Method::Put && write.target.starts_with(kPoolId)) puts.push_back(write);
  }
  ASSERT_EQ(puts.size(), 3u);
  EXPECT_EQ(puts[0].if_none_match, "*");
  EXPECT_NE(puts[1].if_match, "");
  EXPECT_NE(puts[2].if_match, puts[1].if_match) << "each names what was read";
  EXPECT_EQ(puts[2].body, puts[0].body);
  expect_healed(rig);
}

TEST(RunbookSafe, ANewPoolThatFailsAgainAndAgainStopsItWithTheStandInThere) {
  Rig rig;
  rig.wedge();
  fail_puts(rig, "agentPools/system", 3);
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why,
              HasSubstr("pool system was made anew and is Failed after 3 tries; " + kStandIn + " stands in, and must stay"));
  EXPECT_THAT(ending.why, HasSubstr("QuotaExceeded"));
  EXPECT_EQ(rig.state(kStandInId), "Succeeded");
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished) << "the same command sends its PUT again";
  expect_healed(rig);
}

// Killed at each request while both pools fail once: it goes on from what it finds. Each read at one moment, each write at all.
class RunbookFailedPools : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Quarters, RunbookFailedPools, testing::Range<size_t>(0, 4));

TEST_P(RunbookFailedPools, KilledAtAnyRequestItGoesOnAndDoesNothingTwice) {
  RunOptions options;
  options.poll = minutes(2);
  const auto begin = [](Rig& rig) {
    rig.wedge();
    fail_puts(rig, "agentPools/tmp", 1);
    fail_puts(rig, "agentPools/system", 1);
  };
  Rig whole;
  begin(whole);
  ASSERT_EQ(whole.run(options).kind, Ending::Kind::Finished);
  ASSERT_EQ(whole.taken().size(), kGolden.size() + 3);
  for (size_t number = GetParam(); number < whole.sent.size(); number += 4) {
    constexpr Moment kMoments[] = {Moment::BeforeSending, Moment::AfterSending, Moment::AfterTheAnswer};
    for (const Moment moment : kMoments) {
      if (whole.sent[number].method == arm::Method::Get && moment != kMoments[number / 4 % 3]) continue;
      Rig rig;
      begin(rig);
      rig.kill_at = {number, moment};
      EXPECT_THROW(rig.run(options), Killed) << number;
      rig.kill_at.reset();
      const Ending ending = rig.run(options);
      ASSERT_EQ(ending.kind, Ending::Kind::Finished) << number << ": " << ending.why;
      EXPECT_EQ(rig.taken(), whole.taken()) << "killed at request " << number;
      expect_healed(rig);
    }
  }
}

TEST(RunbookSafe, TheApiVersionCountsForTheWholeRun) {
  Rig rig;
  rig.api_version = "2026-01-01";
  rig.wedge();
  ASSERT_EQ(rig.run_until_interrupted_after(2).kind, Ending::Kind::Interrupted);
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  for (const Write& write : rig.sent) {
    const bool is_of_the_cluster = write.target.starts_with(kClusterId) && write.target.find("/tags/") == write.target.npos;
    if (!is_of_the_cluster) continue;
    EXPECT_THAT(write.target, testing::EndsWith("?api-version=2026-01-01"));
  }
}

}  // namespace
}  // namespace armgate::heal
