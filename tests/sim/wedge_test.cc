// A cluster whose system pool cannot get its network: what its reads, its activity log, abort and deletes show.
#include <gtest/gtest.h>

#include <string>

#include "json/tree.h"
#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

using nlohmann::json;

const std::string kWedgedCluster = std::string(kGroup) + "/providers/Microsoft.ContainerService/managedClusters/c1";
const std::string kWedgedPool = kWedgedCluster + "/agentPools/system";

class Wedge : public testing::Test {
 protected:
  Wedge() {
    bench.create(kWedgedCluster, R"({"location":"westeurope","properties":{"nodeResourceGroup":"MC_g1","agentPoolProfiles":[
        {"name":"system","mode":"System","count":3},{"name":"work","mode":"User","count":2}]}})");
  }
  int wedge(json more = json::object()) {
    json body{{"cluster", kWedgedCluster}, {"pool", "system"}, {"now", 1'767'225'600}};  // 2026-01-01
    body.update(more);
    return bench.ask("POST", "/__sim/wedges", body.dump()).head.status;
  }
  std::string state(const std::string& path) {
    return body_of(bench.ask("GET", path))["properties"].value("provisioningState", "");
  }
  arm::Response log(const std::string& group, const std::string& from = "2025-12-31T23:45:00Z") {
    return bench.ask(
        "GET",
        "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=2015-04-01&$filter="
        "eventTimestamp%20ge%20'" +
            from + "'%20and%20eventTimestamp%20le%20'2026-01-01T00:00:00Z'%20and%20resourceGroupName%20eq%20'" + group + "'");
  }
  Bench bench{[] {
    SimOptions options;
    options.page_items = 10;
    return options;
  }()};
};

TEST_F(Wedge, ItIsUpdatingUntilItIsAborted) {
  ASSERT_EQ(wedge(), 204);
  bench.pass(10 * 3'600'000);
  EXPECT_EQ(state(kWedgedCluster), "Updating");
  EXPECT_EQ(state(kWedgedPool), "Updating");
  EXPECT_EQ(code_of(bench.ask("DELETE", kWedgedPool)), "OperationNotAllowed");
  EXPECT_EQ(bench.ask("POST", kWedgedCluster + "/abort").head.status, 202);
  EXPECT_EQ(state(kWedgedCluster), "Canceling");
  bench.pass(60'000);
  EXPECT_EQ(state(kWedgedCluster), "Canceled");
  EXPECT_EQ(state(kWedgedPool), "Failed");
  EXPECT_EQ(state(kWedgedCluster + "/agentPools/work"), "Succeeded");
  EXPECT_EQ(bench
                .ask("PATCH", kWedgedCluster + "/providers/Microsoft.Resources/tags/default",
                     R"({"operation":"Merge","properties":{"tags":{"a":"1"}}})")
                .head.status,
            200);
  EXPECT_EQ(state(kWedgedCluster), "Succeeded");
}

TEST_F(Wedge, APoolMadeAnewIsWell) {
  wedge({{"started_s", 0}});
  EXPECT_EQ(state(kWedgedCluster), "Succeeded");
  EXPECT_EQ(state(kWedgedPool), "Failed");
  bench.ask("DELETE", kWedgedPool);
  bench.pass(60'000);
  EXPECT_EQ(bench.ask("GET", kWedgedPool).head.status, 404);
  EXPECT_EQ(bench.ask("PUT", kWedgedPool, R"({"properties":{"mode":"System","count":3}})").head.status, 201);
  bench.pass(60'000);
  EXPECT_EQ(state(kWedgedPool), "Succeeded");
}

// As AKS leaves a pool whose nodes do not come up; the same PUT again brings it to its end.
TEST_F(Wedge, APoolThatIsMadeMayBeLeftFailed) {
  const std::string added = kWedgedCluster + "/agentPools/added";
  const std::string body = R"({"properties":{"mode":"System","count":3}})";
  bench.ask("POST", "/__sim/faults",
            R"({"faults":[{"method":"PUT","path":"agentPools/added","kind":"fail-partly-QuotaExceeded"}]})");
  const arm::Response put = bench.ask("PUT", added, body);
  EXPECT_EQ(put.head.status, 201);
  EXPECT_EQ(state(added), "Creating");
  bench.pass(60'000);
  EXPECT_EQ(state(added), "Failed");
  EXPECT_EQ(body_of(bench.follow(put.head.fields.get("Azure-AsyncOperation")))["error"]["code"], "QuotaExceeded");
  EXPECT_EQ(state(kWedgedPool), "Succeeded");
  EXPECT_EQ(state(kWedgedCluster), "Succeeded");
  bench.ask("PUT", added, body);
  bench.pass(60'000);
  EXPECT_EQ(state(added), "Succeeded");
}

TEST_F(Wedge, ADeleteMayHangOrFail) {
  wedge({{"started_s", 0}, {"on_delete", "fails"}});
  EXPECT_EQ(bench.ask("DELETE", kWedgedPool).head.status, 202);
  EXPECT_EQ(state(kWedgedPool), "Deleting");
  bench.pass(60'000);
  EXPECT_EQ(state(kWedgedPool), "Failed");
  wedge({{"started_s", 0}, {"on_delete", "hangs"}});
  bench.ask("DELETE", kWedgedPool);
  bench.pass(60'000);
  EXPECT_EQ(state(kWedgedPool), "Deleting");
}

TEST_F(Wedge, TheActivityLogTellsInPages) {
  wedge();
  const json first = body_of(log("mc_g1"));
  ASSERT_EQ(first["value"].size(), 10u);
  const json& event = first["value"][0];
  EXPECT_EQ(event["status"]["value"], "Failed");
  EXPECT_EQ(event["operationName"]["value"], "Microsoft.Compute/virtualMachineScaleSets/write");
  EXPECT_NE(event["resourceId"].get<std::string>().find("/virtualMachineScaleSets/aks-system-"), std::string::npos);
  EXPECT_EQ(json::parse(event["properties"]["statusMessage"].get<std::string>())["error"]["code"],
            "NetworkingInternalOperationError");
  EXPECT_EQ(body_of(bench.follow(first["nextLink"].get<std::string>()))["value"].size(), 2u);
  EXPECT_EQ(body_of(log("mc_g1", "2025-12-31T23:57:30Z"))["value"].size(), 2u) << "the window counts";
  const json started = body_of(log("g1", "2025-12-31T23:00:00Z"));
  ASSERT_EQ(started["value"].size(), 1u);
  EXPECT_EQ(started["value"][0]["status"]["value"], "Started");
  EXPECT_EQ(started["value"][0]["eventTimestamp"], "2025-12-31T23:15:00Z");
}

TEST_F(Wedge, WhatIsNoWedgeIsRefused) {
  EXPECT_EQ(wedge({{"pool", "nobody"}}), 400);
  EXPECT_EQ(wedge({{"cluster", kScaleSet}}), 400);
  EXPECT_EQ(wedge({{"on_delete", "explodes"}}), 400);
  EXPECT_EQ(bench.ask("POST", "/__sim/wedges", "[]").head.status, 400);
  EXPECT_EQ(
      bench.ask("GET", "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=2015-04-01")
          .head.status,
      400);
}

}  // namespace
}  // namespace armgate::sim
