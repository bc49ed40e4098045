// What an operator can take back from a write, and what not.
#include "proxy/request/operation/unlock.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::unlock_test {
namespace {

const std::string kScaleSetId = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v";
const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1";
const std::string kPatch = patch(kScaleSet);

TEST(Unlock, AnOperatorEndsALeaseLoudlyAndWhoWaitsGoesOn) {
  StageRig rig;
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.ask("one", kPatch, R"({"a":1})");
  auto& shared = rig.shared();
  ASSERT_EQ(shared.op_leases.size(), 1u);
  const Hash128 key = shared.locks.key_of(kScaleSetId);
  const Unlocked unlocked = unlock(rig.parts(), key, "ops");
  ASSERT_EQ(unlocked.released.size(), 1u);
  EXPECT_EQ(unlocked.released[0].what, "PATCH " + kScaleSetId);
  EXPECT_EQ(unlocked.released[0].client, "one");
  EXPECT_TRUE(shared.op_leases.empty());
  EXPECT_EQ(shared.locks.holders(key), 0u);
  EXPECT_EQ(shared.counters.leases_released, 1u);
  EXPECT_EQ(shared.counters.leases_expired, 0u);
  ASSERT_EQ(rig.loud().size(), 1u);
  EXPECT_NE(rig.loud()[0].find("lease released: PATCH"), std::string::npos) << rig.loud()[0];
  EXPECT_NE(rig.loud()[0].find("because ops asked"), std::string::npos) << rig.loud()[0];
  rig.arm("PATCH ", 200, {}, kState);
  EXPECT_EQ(rig.ask("two", kPatch, R"({"a":2})").head.status, 200);
  EXPECT_TRUE(rig.script_is_done()) << "nobody asks about the operation any more";
}

TEST(Unlock, AnOperatorEndsALeaseToo) {
  StageRig rig;
  auto& shared = rig.shared();
  ASSERT_TRUE(shared.run_leases.take({kScaleSetId}, Hash128{9, 9}, "heal", "a repair", rig.parts().clock.now()).ok());
  const auto waits = rig.start("two", kPatch, R"({"a":2})");
  rig.pass(std::chrono::seconds(60));
  EXPECT_TRUE(waits->done);
  EXPECT_EQ(waits->link->answer().head.status, 503);
  EXPECT_EQ(waits->link->answer().head.fields.get("x-armgate-reason"), "kept-for-a-run");
  EXPECT_NE(waits->link->answer().body.find("kept for a run of heal since 50 s: a repair"), std::string::npos)
      << waits->link->answer().body;
  const Unlocked unlocked = unlock(rig.parts(), shared.locks.key_of(kScaleSetId), "ops");
  ASSERT_EQ(unlocked.released.size(), 1u);
  EXPECT_EQ(unlocked.released[0].what, "lease (a repair)");
  EXPECT_FALSE(unlocked.on_its_way);
  rig.arm("PATCH ", 200, {}, kState);
  EXPECT_EQ(rig.ask("two", kPatch, R"({"a":2})").head.status, 200);
}

// The phase of the only write that has keys.
WritePhase phase_in(StageRig& rig) {
  const auto entries = rig.shared().locks.entries(10).oldest;
  EXPECT_EQ(entries.size(), 1u);
  return entries.empty() ? WritePhase::Sent : entries[0].phase;
}

TEST(WritePhases, SayWhetherArmIsAtWorkOrIsWaitedFor) {
  StageRig rig;
  rig.arm_takes(std::chrono::seconds(2), kPatch, 409, {},
                R"({"error":{"code":"AnotherOperationInProgress","message":"busy"}})");
  rig.arm_takes(std::chrono::seconds(2), kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  const auto write = rig.start("one", kPatch, R"({"a":1})");
  rig.pass(std::chrono::seconds(1));
  EXPECT_EQ(phase_in(rig), WritePhase::Sent);
  rig.pass(std::chrono::milliseconds(1'050));
  EXPECT_EQ(phase_in(rig), WritePhase::Again);
  while (!write->done) rig.pass(std::chrono::seconds(1));
  EXPECT_EQ(phase_in(rig), WritePhase::Runs);
}

TEST(WritePhases, ThatAnOperationRunsIsKnownAsOfTheLastAnswerThatSaidSo) {
  StageRig rig;
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.ask("one", kPatch, R"({"a":1})");
  const TimePoint taken = rig.now();
  rig.pass(std::chrono::seconds(40));
  const auto seen = [&rig] { return rig.shared().locks.entries(1).oldest.at(0).seen; };
  EXPECT_EQ(seen(), taken) << "nobody has asked since";
  rig.arm("GET /subscriptions/s/operations/1", 200, {}, R"({"status":"InProgress"})");
  rig.ask("one", "GET /subscriptions/s/operations/1");
  EXPECT_EQ(seen(), rig.now());
}

TEST(WritePhases, WhatMayHaveTakenEffectIsInDoubt) {
  StageRig rig;
  rig.arm(kPatch, 500, {}, R"({"error":{"code":"InternalServerError","message":"x"}})");
  rig.ask("one", kPatch, R"({"a":1})");
  EXPECT_EQ(phase_in(rig), WritePhase::Doubt);
}

TEST(Unlock, WhatNothingHoldsStaysAsItIs) {
  StageRig rig;
  const Hash128 key = rig.shared().locks.key_of(kScaleSetId);
  const Unlocked unlocked = unlock(rig.parts(), key, "ops");
  EXPECT_TRUE(unlocked.released.empty());
  EXPECT_FALSE(unlocked.on_its_way);
  EXPECT_TRUE(rig.loud().empty());
}

TEST(Unlock, AWriteOnItsWayIsNotTakenBack) {
  StageRig rig;
  auto place = rig.shared().locks.join({{kScaleSetId, rules::LockMode::Exclusive}}, {}, nullptr, 1);
  const WriteLease lease = place->into_lease();
  const Unlocked unlocked = unlock(rig.parts(), rig.shared().locks.key_of(kScaleSetId), "ops");
  EXPECT_TRUE(unlocked.released.empty());
  EXPECT_TRUE(unlocked.on_its_way);
}

TEST(Unlock, AWriteOnItsWayBesideALeaseIsToldToo) {
  StageRig rig;
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.arm_takes(std::chrono::seconds(10), kPatch, 200, {}, kState);
  rig.ask("scaler", kPatch, R"({"a":1})");
  const auto next = rig.start("scaler", kPatch, R"({"a":2})");  // passes its own that runs
  rig.pass(std::chrono::seconds(1));
  const Unlocked unlocked = unlock(rig.parts(), rig.shared().locks.key_of(kScaleSetId), "ops");
  EXPECT_EQ(unlocked.released.size(), 1u);
  EXPECT_TRUE(unlocked.on_its_way);
  rig.pass(std::chrono::seconds(10));
  EXPECT_TRUE(next->done);
}

TEST(Unlock, ADeleteThatIsGivenUpMayHaveHappened) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, {}, kState);
  rig.arm("DELETE ", 202, {{"Azure-AsyncOperation", kOperation}});
  rig.ask("one", get(kScaleSet));
  rig.ask("two", "DELETE " + std::string(kScaleSet));
  ASSERT_EQ(unlock(rig.parts(), rig.shared().locks.key_of(kScaleSetId), "ops").released.size(), 1u);
  // Somebody makes it anew; ETags may begin again with "1".
  rig.arm(put(kScaleSet), 201, {}, kState);
  EXPECT_EQ(rig.ask("three", put(kScaleSet), R"({"sku":{"capacity":5}})").head.status, 201);
  rig.arm(get(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"etag":"","sku":{"capacity":2}})").head.status, 412);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Unlock, TheTimeOfAWriteCountsFromItsSendingByAnEarlierProcess) {
  SimJournal journal;
  {
    StageRig first(journal);
    first.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
    first.ask("one", kPatch, R"({"a":1})");
  }
  StageRig rig;
  rig.pass(std::chrono::minutes(2));
  rig.take_up(journal);
  const Unlocked unlocked = unlock(rig.parts(), rig.shared().locks.key_of(kScaleSetId), "ops");
  ASSERT_EQ(unlocked.released.size(), 1u);
  EXPECT_TRUE(unlocked.released[0].inherited);
  EXPECT_GE(unlocked.released[0].held, std::chrono::seconds(115));
  EXPECT_NE(rig.loud().back().find("after 1"), std::string::npos) << rig.loud().back();
}

TEST(Unlock, AParentsKeyEndsTheLeaseOfItsChild) {
  StageRig rig;
  const std::string subnet_put = put(kSubnet);
  rig.arm(subnet_put, 201, {{"Azure-AsyncOperation", kOperation}}, R"({"properties":{"provisioningState":"Updating"}})");
  rig.ask("one", subnet_put, "{}");
  ASSERT_EQ(rig.shared().op_leases.size(), 1u);
  const auto network = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n";
  const Unlocked unlocked = unlock(rig.parts(), rig.shared().locks.key_of(network), "ops");
  ASSERT_EQ(unlocked.released.size(), 1u);
  EXPECT_EQ(unlocked.released[0].what, "PUT " + std::string(network) + "/subnets/a");
  EXPECT_EQ(rig.shared().locks.counts().keys, 0u) << "all that it held is free";
  rig.pass(std::chrono::hours(2));
  EXPECT_TRUE(rig.script_is_done()) << "nobody looks whether it has reach a final state";
}

}  // namespace
}  // namespace armgate::world::unlock_test
