// The Kubernetes API of simulated clusters: nodes that come and go with their pools, cordons, evictions and budgets.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "json/tree.h"
#include "sim/kubernetes/kubernetes_api.h"
#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

using nlohmann::json;

const std::string kNodesCluster = std::string(kGroup) + "/providers/Microsoft.ContainerService/managedClusters/c1";
const std::string kPods = "/api/v1/namespaces/default/pods/";

class Kubernetes : public testing::Test {
 protected:
  Kubernetes() {
    bench.create(kNodesCluster, R"({"location":"westeurope","properties":{"agentPoolProfiles":[
        {"name":"system","mode":"System","count":2},{"name":"work","mode":"User","count":1}]}})");
    set({{"ready_ms", 1000}, {"pod_ready_ms", 500}});
  }
  arm::Response send(std::string_view method, const std::string& target, std::string_view body = {}) {
    return api.handle(make_request(method, target, body, {{"Authorization", "Bearer t"}}), bench.arm.pools(), bench.now);
  }
  json get(const std::string& target) { return body_of(send("GET", target)); }
  int set(const json& settings) {
    return api.control(make_request("POST", "/__sim/kubernetes", settings.dump()), bench.arm.pools(), bench.now).head.status;
  }
  void add_shop(size_t min_available) {
    set({{"workloads", {{{"name", "shop"}, {"pool", "system"}, {"replicas", 2}, {"min_available", min_available}}}}});
    bench.pass(1000);
  }
  // Names of nodes, and whether they are Ready.
  std::map<std::string, std::string> nodes(const std::string& query = "") {
    std::map<std::string, std::string> found;
    const json list = get("/api/v1/nodes" + query);
    for (const json& node : list["items"]) {
      found[node["metadata"]["name"]] = node["status"]["conditions"][0]["status"];
    }
    return found;
  }
  Bench bench;
  KubernetesApi api{bench.now, WallTime{}};
};

TEST_F(Kubernetes, NodesComeWithTheirPoolBecomeReadyAndGoWithIt) {
  EXPECT_EQ(nodes(), (std::map<std::string, std::string>{{"aks-system-12345678-vmss000000", "False"},
                                                         {"aks-system-12345678-vmss000001", "False"},
                                                         {"aks-work-12345678-vmss000000", "False"}}));
  bench.pass(1000);
  EXPECT_EQ(nodes("?labelSelector=agentpool%3Dwork&limit=500"),
            (std::map<std::string, std::string>{{"aks-work-12345678-vmss000000", "True"}}));
  bench.ask("PUT", kNodesCluster + "/agentPools/more", R"({"properties":{"mode":"System","count":1}})");
  EXPECT_EQ(nodes("?labelSelector=agentpool%3Dmore").size(), 1u) << "while it is being made";
  bench.pass(60'000);
  bench.ask("DELETE", kNodesCluster + "/agentPools/more");
  EXPECT_EQ(nodes("?labelSelector=agentpool%3Dmore").size(), 1u) << "while it is being deleted";
  bench.pass(60'000);
  EXPECT_EQ(nodes().size(), 3u);
}

TEST_F(Kubernetes, NodesOfAWedgedPoolAreNotReadyAndSomeNeverAre) {
  bench.ask("POST", "/__sim/wedges", json{{"cluster", kNodesCluster}, {"pool", "system"}, {"now", 1'767'225'600}}.dump());
  bench.pass(10'000);
  EXPECT_EQ(nodes()["aks-system-12345678-vmss000000"], "False");
  EXPECT_EQ(nodes()["aks-work-12345678-vmss000000"], "True");
  set({{"never_ready", "work"}});
  EXPECT_EQ(nodes()["aks-work-12345678-vmss000000"], "False");
}

TEST_F(Kubernetes, ANodeIsCordonedAndUncordoned) {
  const std::string node = "/api/v1/nodes/aks-system-12345678-vmss000000";
  EXPECT_EQ(send("PATCH", node, R"({"spec":{"unschedulable":true}})").head.status, 200);
  EXPECT_EQ(get(node)["spec"]["unschedulable"], true);
  add_shop(0);
  const json pods = get("/api/v1/namespaces/default/pods");
  ASSERT_EQ(pods["items"].size(), 2u);
  for (const json& pod : pods["items"]) {
    EXPECT_EQ(pod["spec"]["nodeName"], "aks-system-12345678-vmss000001");
  }
  EXPECT_EQ(send("PATCH", node, R"({"spec":{"unschedulable":null}})").head.status, 200);
  EXPECT_FALSE(get(node)["spec"].contains("unschedulable"));
  EXPECT_EQ(send("PATCH", node, R"({"spec":{"taints":[]}})").head.status, 400);
  EXPECT_EQ(send("PATCH", "/api/v1/nodes/nobody", R"({"spec":{"unschedulable":true}})").head.status, 404);
}

TEST_F(Kubernetes, AnEvictionWaitsForItsBudget) {
  add_shop(1);
  EXPECT_EQ(get("/apis/policy/v1/poddisruptionbudgets")["items"][0]["status"]["disruptionsAllowed"], 1);
  EXPECT_EQ(send("POST", kPods + "shop-1/eviction").head.status, 201);
  EXPECT_EQ(send("GET", kPods + "shop-1").head.status, 404);
  const arm::Response refused = send("POST", kPods + "shop-2/eviction");
  EXPECT_EQ(refused.head.status, 429);
  EXPECT_EQ(body_of(refused)["reason"], "TooManyRequests");
  EXPECT_EQ(body_of(refused)["details"]["causes"][0]["message"],
            "The disruption budget shop needs 1 healthy pods and has 1 currently");
  bench.pass(500);
  EXPECT_EQ(send("POST", kPods + "shop-2/eviction").head.status, 201) << "the first one's successor is ready";
  EXPECT_EQ(send("POST", kPods + "shop-2/eviction").head.status, 404);
}

TEST_F(Kubernetes, PodsAreListedByNodeWithTheDaemonSetsOwn) {
  add_shop(0);
  const json items = get("/api/v1/pods?fieldSelector=spec.nodeName%3Daks-system-12345678-vmss000000")["items"];
  std::set<std::string> names;
  for (const json& pod : items) names.insert(pod["metadata"]["name"]);
  EXPECT_EQ(names, (std::set<std::string>{"shop-1", "kube-proxy-aks-system-12345678-vmss000000"}));
  EXPECT_EQ(send("GET", "/api/v1/pods?fieldSelector=status.phase%3DRunning").head.status, 400) << "rather than all of them";
  EXPECT_EQ(send("GET", "/api/v1/nodes?labelSelector=agentpool%21%3Dx").head.status, 400);
}

TEST_F(Kubernetes, PodsOfANodeThatGoesComeAgainElsewhere) {
  add_shop(0);
  bench.ask("DELETE", kNodesCluster + "/agentPools/system");
  bench.pass(60'000);
  const json pods = get("/api/v1/namespaces/default/pods");
  ASSERT_EQ(pods["items"].size(), 2u);
  for (const json& pod : pods["items"]) {
    EXPECT_EQ(pod["spec"]["nodeName"], "aks-work-12345678-vmss000000");
  }
  send("PATCH", "/api/v1/nodes/aks-work-12345678-vmss000000", R"({"spec":{"unschedulable":true}})");
  EXPECT_EQ(send("POST", kPods + "shop-3/eviction").head.status, 201);
  EXPECT_EQ(get(kPods + "shop-5")["status"]["phase"], "Pending") << "there is no node for it";
}

TEST_F(Kubernetes, WhatItDoesNotKnowItSays) {
  EXPECT_EQ(send("GET", "/apis/batch/v1").head.status, 404);
  EXPECT_EQ(send("DELETE", "/api/v1/nodes/aks-work-12345678-vmss000000").head.status, 405);
  EXPECT_EQ(api.handle(make_request("GET", "/api/v1/nodes"), bench.arm.pools(), bench.now).head.status, 401);
  for (const json& odd :
       {json::array(), json{{"redy_ms", 1}}, json{{"ready_ms", "1"}}, json{{"workloads", {json::object()}}}}) {
    EXPECT_EQ(set(odd), 400) << odd;
  }
}

}  // namespace
}  // namespace armgate::sim
