// A run from its guards to its end, against the simulated ARM: the writes in their order, and where it stops.
#include "cli/heal/runbook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/utc.h"
#include "tests/cli/heal/rig.h"

namespace armgate::heal {
namespace {

using nlohmann::json;
using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Runbook, MakesTheWedgedPoolAnewInTheRunbooksOrder) {
  Rig rig;
  rig.wedge();
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Finished) << ending.why;
  EXPECT_EQ(rig.taken(), kGolden);
  EXPECT_EQ(rig.taken().size(), rig.writes.size()) << "nothing was refused";
  expect_healed(rig);
  const json cluster = json::parse(rig.ask("GET", kClusterId).body);
  EXPECT_EQ(cluster["tags"]["team"], "a");
  EXPECT_EQ(cluster["tags"].value("armgate-recreated", ""), utc_text(find_runs(rig.directory.path())[0].progress.begun));
}

TEST(Runbook, EachWriteNamesWhatItExpectsToFind) {
  Rig rig;
  rig.wedge();
  rig.run();
  for (const Write& write : rig.sent) {
    EXPECT_EQ(write.if_none_match, write.method == arm::Method::Put ? "*" : "") << write.target;
    EXPECT_EQ(write.if_match.empty(), write.method != arm::Method::Delete) << write.target;
  }
}

TEST(Runbook, WithoutARunningOperationNothingIsAborted) {
  Rig rig;
  rig.wedge({{"started_s", 0}});
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_EQ(rig.taken(), std::vector<std::string>(kGolden.begin() + 1, kGolden.end()));
  expect_healed(rig);
}

TEST(Runbook, AHealthyClusterIsLeftAlone) {
  Rig rig;
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::NothingToDo);
  EXPECT_EQ(ending.why, "pool system is Succeeded");
  EXPECT_THAT(rig.writes, IsEmpty());
  EXPECT_THAT(find_runs(rig.directory.path()), IsEmpty());
}

TEST(Runbook, ACallerWhoIsSureSkipsTheDetectionAndNothingElse) {
  RunOptions options;
  options.guards.skip_detection = true;
  Rig rig;
  EXPECT_EQ(rig.run(options).kind, Ending::Kind::Finished);
  expect_healed(rig);
  Rig young;
  young.wedge({{"started_s", 600}});
  EXPECT_EQ(young.run(options).kind, Ending::Kind::NothingToDo);
  EXPECT_THAT(young.writes, IsEmpty());
}

// W8: everything else is asked as ever.
TEST(Runbook, WithoutDetectionAllThatKeepsFromHarmIsAskedAllTheSame) {
  RunOptions options;
  options.guards.skip_detection = true;
  const struct {
    const char* what;
    std::function<void(Rig&)> change;  // before it is wedged
    const char* why;
  } cases[] = {
      {"a second system pool",
       [](Rig& rig) { rig.ask("PUT", kClusterId + "/agentPools/system2", R"({"properties":{"mode":"System","count":1}})"); },
       "system is not the only system pool (system2 too)"},
      {"a pool without nodes",
       [](Rig& rig) { rig.ask("PUT", kClusterId + "/agentPools/empty", R"({"properties":{"mode":"User","count":0}})"); },
       "pool empty has no nodes"},
      {"a pool that does not say how many",
       [](Rig& rig) { rig.ask("PUT", kClusterId + "/agentPools/unsaid", R"({"properties":{"mode":"User"}})"); },
       "pool unsaid does not say how many nodes it has"},
      {"a left-over",
       [](Rig& rig) {
         rig.ask("PUT", kClusterId + "/agentPools/" + kStandIn, R"({"properties":{"mode":"System","count":1}})");
       },
       "is there already, of an earlier run"},
      {"a setting that cannot be carried over",
       [](Rig& rig) {
         json body = json::parse(rig.ask("GET", kPoolId).body);
         body["properties"]["newSetting"] = 1;
         rig.ask("PUT", kPoolId, body.dump());
       },
       "/properties/newSetting"},
      {"an unknown state",
       [](Rig& rig) {
         rig.instead = [](const Write& write) -> std::optional<Result<Reply>> {
           if (write.target.find("/agentPools?") == write.target.npos) return std::nullopt;
           return Reply{200,
                        R"({"value":[{"name":"system","properties":{"mode":"System","count":3,"provisioningState":"Weird"}}]})",
                        {},
                        {}};
         };
       },
       "the state of pool system is Weird, in which nothing may be done"},
  };
  for (const auto& c : cases) {
    Rig rig;
    c.change(rig);
    rig.pass(minutes(5));
    rig.wedge({{"started_s", 0}});
    const Ending ending = rig.run(options);
    EXPECT_THAT(ending.why, HasSubstr(c.why)) << c.what;
    EXPECT_THAT(rig.writes, IsEmpty()) << c.what;
    EXPECT_THAT(find_runs(rig.directory.path()), IsEmpty()) << c.what;
  }
}

// W9: at the moment of the first write the snapshot is read from the disk, from which the pool can be made anew.
TEST(Runbook, TheSnapshotIsOnTheDiskBeforeTheFirstWrite) {
  Rig rig;
  rig.wedge();
  bool asked = false;
  rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
    if (write.method == arm::Method::Get || std::exchange(asked, true)) return std::nullopt;
    const auto runs = find_runs(rig.directory.path());
    EXPECT_EQ(runs.size(), 1u);
    const auto snapshot = Journal::resume(rig.directory.path(), runs[0].id)->snapshot();
    EXPECT_TRUE(snapshot.ok()) << "before " << write.target;
    EXPECT_EQ(json::parse(snapshot->again)["properties"]["nodeLabels"]["zone"], "one");
    EXPECT_TRUE(runs[0].progress.of(Phase::Abort).intended) << "what is about to be sent is in the journal";
    return std::nullopt;
  };
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_TRUE(asked);
}

TEST(Runbook, AYoungOperationIsLeftToItsEnd) {
  for (const int64_t age : {29 * 60, 31 * 60}) {
    Rig rig;
    rig.wedge({{"started_s", age}});
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, age < 30 * 60 ? Ending::Kind::NothingToDo : Ending::Kind::Finished) << ending.why;
    EXPECT_EQ(rig.writes.empty(), age < 30 * 60);
  }
}

TEST(Runbook, AnOperationOfUnknownAgeIsNotAborted) {
  Rig rig;
  rig.wedge({{"started_s", 15 * 86'400}});
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Refused);
  EXPECT_THAT(ending.why, HasSubstr("does not say since when"));
  EXPECT_THAT(rig.writes, IsEmpty());
}

TEST(Runbook, AFewFailuresAreNoStorm) {
  Rig rig;
  rig.wedge({{"failures", 9}});
  EXPECT_EQ(rig.run().kind, Ending::Kind::NothingToDo);
  Rig old;
  old.wedge({{"every_s", 120}});
  EXPECT_EQ(old.run().kind, Ending::Kind::NothingToDo) << "7 of the 12 are in the last 15 minutes";
  EXPECT_THAT(old.writes, IsEmpty());
  RunOptions wide;
  wide.guards.window = hours(6);
  EXPECT_EQ(old.run(wide).kind, Ending::Kind::Finished);
}

TEST(Runbook, WhatMayNotBeTouchedIsRefusedByName) {
  const struct {
    const char* change;  // of the pool
    const char* why;
  } cases[] = {
      {R"({"newSetting":{"a":1}})", "/properties/newSetting: whether a create may carry it is not known"},
      {R"({"creationData":{"sourceResourceId":"/subscriptions/s1/x"}})", "/properties/creationData: it was made from"},
      {R"({"vmSize":""})", "/properties/vmSize is missing"},
      {R"({"osDiskSizeGB":0})", "/properties/osDiskSizeGB is missing"},
      {R"({"type":"AvailabilitySet"})", "/properties/type is AvailabilitySet"},
      {R"({"powerState":{"code":"Stopped"}})", "/properties/powerState/code is Stopped"},
      {R"({"mode":"User"})", "pool system has the mode User"},
  };
  for (const auto& c : cases) {
    Rig rig;
    json body = json::parse(rig.ask("GET", kPoolId).body);
    body["properties"].update(json::parse(c.change));
    rig.ask("PUT", kPoolId, body.dump());
    rig.pass(minutes(5));
    rig.wedge();
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Refused) << c.change;
    EXPECT_THAT(ending.why, HasSubstr(c.why));
    EXPECT_THAT(rig.writes, IsEmpty());
  }
}

TEST(Runbook, TwoSystemPoolsAndALeftOverAreRefused) {
  Rig two;
  two.ask("PUT", kClusterId + "/agentPools/system2", R"({"properties":{"mode":"System","count":1}})");
  two.pass(minutes(5));
  two.wedge();
  EXPECT_THAT(two.run().why, HasSubstr("system is not the only system pool (system2 too)"));
  Rig left;
  left.ask("PUT", kClusterId + "/agentPools/" + kStandIn, R"({"properties":{"mode":"System","count":1}})");
  left.pass(minutes(5));
  left.wedge();
  const Ending ending = left.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Refused);
  EXPECT_THAT(ending.why, HasSubstr("is there already"));
  EXPECT_THAT(left.writes, IsEmpty());
}

// W7: whatever read fails, nothing is written.
TEST(Runbook, AReadThatFailsBeforeTheFirstWriteEndsIt) {
  Rig counting;
  counting.wedge();
  ASSERT_TRUE(counting.look().ok());
  const size_t reads = counting.sent.size();
  ASSERT_GE(reads, 6u);
  const Result<Reply> answers[] = {Reply{500, "{}", {}, {}},
                                   Reply{403, R"({"error":{"code":"Forbidden","message":"no"}})", {}, {}},
                                   Reply{200, "<html>", {}, {}}, Reply{200, R"({"value":[{}]})", {}, {}},
                                   upstream_error(ErrorKind::Reset, Sent::Maybe, "broken")};
  for (size_t bad = 0; bad < reads; ++bad) {
    for (const auto& answer : answers) {
      Rig rig;
      rig.wedge();
      rig.instead = [&](const Write&) { return rig.sent.size() == bad + 1 ? std::optional(answer) : std::nullopt; };
      const Ending ending = rig.run();
      EXPECT_EQ(ending.kind, Ending::Kind::Refused) << bad << ": " << ending.why;
      EXPECT_THAT(rig.writes, IsEmpty());
    }
  }
}

TEST(Runbook, ARoleThatDoesNotHoldYetIsWaitedFor) {
  Rig rig;
  rig.wedge();
  int refusals = 0;
  rig.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
    if (write.target.find("Microsoft.Insights") == write.target.npos || ++refusals > 4) return std::nullopt;
    return Reply{403, R"({"error":{"code":"AuthorizationFailed","message":"no role"}})", {}, {}};
  };
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  Rig never;
  never.wedge();
  never.instead = [&](const Write& write) -> std::optional<Result<Reply>> {
    if (write.target.find("Microsoft.Insights") == write.target.npos) return std::nullopt;
    return Reply{403, R"({"error":{"code":"AuthorizationFailed","message":"no role"}})", {}, {}};
  };
  EXPECT_THAT(never.run().why, HasSubstr("AuthorizationFailed"));
}

TEST(Runbook, AClusterThatHelpsItselfAfterTheAbortKeepsItsPools) {
  Rig rig;
  rig.wedge();
  bool recovered = false;
  rig.on_pause = [&] {
    if (recovered || rig.state(kClusterId) != "Canceled") return;
    recovered = true;
    json body = json::parse(rig.ask("GET", kPoolId).body);
    rig.ask("PUT", kPoolId, body.dump());
    rig.pass(minutes(5));
  };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Recovered) << ending.why;
  EXPECT_THAT(rig.taken(), ElementsAre("POST /abort", "PATCH /providers/Microsoft.Resources/tags/default"));
  EXPECT_EQ(rig.state(kClusterId), "Succeeded") << "the tag takes it from Canceled";
}

TEST(Runbook, ARefusedStandInStopsItByNameAndTheRunCanGoOn) {
  Rig rig;
  rig.wedge();
  rig.ask("POST", "/__sim/faults", R"({"faults":[{"method":"PUT","path":"agentPools/tmp","kind":"error-quota"}]})");
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("quota"));
  EXPECT_THAT(rig.taken(), ElementsAre("POST /abort"));
  EXPECT_NE(rig.state(kPoolId), "absent");
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  expect_healed(rig);
}

TEST(Runbook, ADeleteThatFailsOrHangsStopsItWithBothPools) {
  for (const char* how : {"fails", "hangs"}) {
    Rig rig;
    rig.wedge({{"on_delete", how}});
    const Ending ending = rig.run();
    EXPECT_EQ(ending.kind, Ending::Kind::Stopped) << how;
    EXPECT_THAT(ending.why,
                HasSubstr(std::string(how) == "fails" ? "the delete of pool system failed" : "ARM's operation goes on"));
    EXPECT_NE(rig.state(kPoolId), "absent");
    EXPECT_EQ(rig.state(kClusterId + "/agentPools/" + kStandIn), "Succeeded");
    EXPECT_EQ(std::count(kGolden.begin(), kGolden.begin() + 3, rig.taken().back()), 1);
  }
}

TEST(Runbook, AnExpiredTokenStopsItAndIsNamed) {
  Rig rig;
  rig.wedge();
  rig.instead = [&](const Write&) -> std::optional<Result<Reply>> {
    if (rig.taken().size() < 2) return std::nullopt;
    return Reply{401, R"({"error":{"code":"ExpiredAuthenticationToken","message":"expired"}})", {}, {}};
  };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("ExpiredAuthenticationToken"));
  rig.instead = nullptr;
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  EXPECT_EQ(rig.taken(), kGolden);
}

TEST(Runbook, APoolThatSomebodyChangedIsNotDeleted) {
  Rig rig;
  rig.wedge();
  bool changed = false;
  rig.on_pause = [&] {
    if (changed || rig.state(kClusterId + "/agentPools/" + kStandIn) != "Succeeded") return;
    changed = true;
    json body = json::parse(rig.ask("GET", kPoolId).body);
    body["properties"]["nodeLabels"]["zone"] = "two";
    rig.ask("PUT", kPoolId, body.dump());
    rig.pass(minutes(5));
  };
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("pool system is Succeeded")) << "the write has made it well";
  EXPECT_EQ(rig.taken().size(), 2u);
}

TEST(Runbook, NothingIsWrittenBeforeTheLeaseIsHeldButTheAbort) {
  Rig rig;
  rig.wedge();
  rig.lease_held = false;
  const Ending ending = rig.run();
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("a write that began earlier still runs"));
  EXPECT_THAT(rig.taken(), ElementsAre("POST /abort"));
}

TEST(Runbook, ThePoolIsNotDeletedWithoutTheTimeToMakeItAnew) {
  Rig rig;
  rig.wedge();
  RunOptions options;
  options.overall = minutes(24);
  const Ending ending = rig.run(options);
  EXPECT_EQ(ending.kind, Ending::Kind::Stopped);
  EXPECT_THAT(ending.why, HasSubstr("20 are kept to make the pool anew"));
  EXPECT_EQ(rig.taken().size(), 2u);
}

TEST(Runbook, AnInterruptionEndsItAtTheStepsEndAndUndoTakesTheStandInAway) {
  Rig rig;
  rig.wedge();
  rig.on_pause = [&] {
    if (rig.taken().size() == 2) rig.interrupted = Interrupted::AtTheStepsEnd;
  };
  EXPECT_EQ(rig.run().kind, Ending::Kind::Interrupted);
  EXPECT_EQ(rig.state(kClusterId + "/agentPools/" + kStandIn), "Succeeded") << "the step came to its end";
  rig.interrupted = Interrupted::No;
  const Ending undone = rig.undo();
  EXPECT_EQ(undone.kind, Ending::Kind::Undone) << undone.why;
  EXPECT_EQ(rig.ask("GET", kClusterId + "/agentPools/" + kStandIn).head.status, 404);
  EXPECT_NE(rig.state(kPoolId), "absent");
  EXPECT_FALSE(find_runs(rig.directory.path())[0].progress.is_open());
}

TEST(Runbook, WhatWasDeletedCannotBeUndone) {
  Rig rig;
  rig.wedge();
  rig.on_pause = [&] {
    if (rig.taken().size() == 3) rig.interrupted = Interrupted::Now;
  };
  EXPECT_EQ(rig.run().kind, Ending::Kind::Interrupted);
  rig.on_pause = nullptr;
  rig.interrupted = Interrupted::No;
  EXPECT_THAT(rig.undo().why, HasSubstr("cannot be undone"));
  EXPECT_EQ(rig.run().kind, Ending::Kind::Finished);
  expect_healed(rig);
}

}  // namespace
}  // namespace armgate::heal
