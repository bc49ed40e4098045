// Goal: what one of several processes tells changes the others as if it had happened there. Method: two processes on a simulated log.
#include "proxy/request/cluster/share_tables.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/request/operation/unlock.h"
#include "tests/support/cluster_rig.h"

namespace armgate::world::share_tables_test {
namespace {

using std::chrono::seconds;

struct SharedTables : public ::testing::Test, protected ClusterRig {};

TEST_F(SharedTables, AnUnlockAtOneLetsGoOfWhatTheOtherHas) {
  arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", "https://management.azure.com/subscriptions/s/operations/1"}});
  EXPECT_EQ(ask(0, "one", patch(kScaleSet), R"({"sku":{"capacity":2}})").head.status, 202);
  pass(seconds(1));
  ASSERT_EQ(gates[0]->shared().op_leases.size(), 1u);
  const auto key = gates[0]->shared().op_leases.find("management.azure.com", "/subscriptions/s/operations/1", {});
  ASSERT_EQ(key.size(), 1u);
  const Unlocked unlocked = unlock(gates[1]->parts(), key[0].op_lease->keys().front(), "ops");
  EXPECT_TRUE(unlocked.others_told);
  pass(seconds(2));
  EXPECT_EQ(gates[0]->shared().op_leases.size(), 0u);
}

TEST_F(SharedTables, AnUnlockOfALeaseThatAnotherGaveSaysWhose) {
  RunLeases& leases = gates[0]->shared().run_leases;
  const std::string id = "/subscriptions/s/resourcegroups/r";
  ASSERT_TRUE(leases.take({id}, Hash128{7, 7}, "repair", "a repair", clock.now()));
  pass(seconds(2));
  const auto key = gates[1]->shared().locks.key_of(id);
  const Unlocked unlocked = unlock(gates[1]->parts(), key, "ops");
  EXPECT_TRUE(unlocked.others_told);
  EXPECT_EQ(unlocked.lease_of, "repair");
}

// A switch to observe at one must not free what others protect.
TEST_F(SharedTables, WhoDoesNotProtectLeavesADeadOnesKeysToTheOthers) {
  for (const rules::Mode mode : {rules::Mode::Observe, rules::Mode::Protect}) {
    ClusterRig rig;
    rig.gates[1]->shared().rules.replace(shipped_ruleset(), mode);
    rig.upstream.otherwise = [](const arm::Request& request) {
      const bool asks = request.head.method == arm::Method::Get;
      arm::Headers fields;
      if (!asks) fields.add("Azure-AsyncOperation", "https://management.azure.com/subscriptions/s/operations/1");
      return Step{"", asks ? 200 : 202, fields, asks ? R"({"status":"InProgress"})" : "", {}, {}, {}};
    };
    EXPECT_EQ(rig.ask(0, "one", patch(kScaleSet), R"({"sku":{"capacity":2}})").head.status, 202);
    rig.pass(seconds(1));
    rig.gates[0]->cut();
    rig.pass(rig.log.faults().membership_lease + rig.log.faults().quiet + seconds(60));
    EXPECT_EQ(rig.gates[1]->parts().cluster->counts().claims, 1u) << "its operation runs";
  }
}

TEST_F(SharedTables, ADeadOnesWriteIsLookedAfterOnceSomebodyProtectsAgain) {
  ClusterRig rig;
  std::string status = "InProgress";
  rig.gates[1]->shared().rules.replace(shipped_ruleset(), rules::Mode::Observe);
  rig.upstream.otherwise = [&status](const arm::Request& request) {
    const bool asks = request.head.method == arm::Method::Get;
    arm::Headers fields;
    if (!asks) fields.add("Azure-AsyncOperation", "https://management.azure.com/subscriptions/s/operations/1");
    return Step{"", asks ? 200 : 202, fields, asks ? R"({"status":")" + status + "\"}" : "", {}, {}, {}};
  };
  EXPECT_EQ(rig.ask(0, "one", patch(kScaleSet), R"({"sku":{"capacity":2}})").head.status, 202);
  rig.pass(seconds(1));
  rig.gates[0]->cut();
  rig.pass(rig.log.faults().membership_lease + rig.log.faults().quiet + seconds(60));
  status = "Succeeded";
  rig.pass(seconds(60));
  EXPECT_EQ(rig.gates[1]->parts().cluster->counts().claims, 1u) << "nobody protects it, so nobody looks";
  rig.gates[1]->shared().rules.replace(shipped_ruleset(), rules::Mode::Protect);
  rig.pass(seconds(15));
  rig.ask(1, "one", get(kScaleSet), "");  // which brings a token
  rig.pass(seconds(120));
  EXPECT_EQ(rig.gates[1]->parts().cluster->counts().claims, 0u);
}

TEST_F(SharedTables, WhatAJournalToldIsKnownSinceThen) {
  const WallTime since = gates[1]->shared().recorded_from.load() - seconds(60);
  EXPECT_EQ(gates[1]->shared().former, 0u);
  gates[0]->parts().cluster->post(cluster::Imported{since});
  pass(seconds(2));
  for (const auto& gate : gates) {
    EXPECT_GT(gate->shared().former, 0u);
    EXPECT_EQ(gate->shared().recorded_from.load(), since);
  }
}

}  // namespace
}  // namespace armgate::world::share_tables_test
