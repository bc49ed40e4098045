// What the providers do differently: where ETags stand, what excludes what, children, and the habits that mislead.
#include <gtest/gtest.h>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

constexpr std::string_view kPlace = R"({"location":"westeurope"})";

std::string path_of(std::string_view below) { return std::string(kGroup) + "/providers/" + std::string(below); }

const std::string kCluster = path_of("Microsoft.ContainerService/managedClusters/aks1");
const std::string kPool = kCluster + "/agentPools/p1";
const std::string kMachine = path_of("Microsoft.Compute/virtualMachines/vm1");
const std::string kInterface = path_of("Microsoft.Network/networkInterfaces/nic1");
const std::string kBalancer = path_of("Microsoft.Network/loadBalancers/lb1");
const std::string kEndpoint = path_of("Microsoft.Network/privateEndpoints/pe1");
const std::string kVault = path_of("Microsoft.KeyVault/vaults/kv1");
const std::string kZone = path_of("Microsoft.Network/dnsZones/example.com");
const std::string kPrivateZone = path_of("Microsoft.Network/privateDnsZones/example.com");
const std::string kDeployment = path_of("Microsoft.Resources/deployments/d1");
const std::string kIdentity = path_of("Microsoft.ManagedIdentity/userAssignedIdentities/id1");

std::string interface_in(const std::string& subnet) {
  return R"({"location":"we","properties":{"ipConfigurations":[{"name":"a","properties":{"subnet":{"id":")" + subnet +
         R"("}}}]}})";
}
std::string endpoint_to(const std::string& subnet, const std::string& target) {
  return R"({"location":"we","properties":{"subnet":{"id":")" + subnet +
         R"("},"privateLinkServiceConnections":[{"name":"c","properties":{"privateLinkServiceId":")" + target + R"("}}]}})";
}
std::string subnet_of(Bench& bench) {
  bench.create(kNetwork);
  bench.ask("PUT", kNetwork + "/subnets/a", R"({"properties":{}})");
  bench.pass(60'000);
  return kNetwork + "/subnets/a";
}

// Machines of scale sets.

TEST(SimTypes, EndOfAMachinesOperationMovesTheEtagOfItsSet) {
  Bench bench;
  bench.create(kScaleSet);
  bench.pass(60'000);
  const nlohmann::json before = body_of(bench.ask("GET", kScaleSet));
  EXPECT_EQ(bench.ask("PUT", kScaleSet + "/virtualMachines/0", R"({"location":"we"})").head.status, 201);
  EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["etag"], before["etag"]);
  bench.pass(60'000);
  nlohmann::json after = body_of(bench.ask("GET", kScaleSet));
  EXPECT_NE(after["etag"], before["etag"]);
  after["etag"] = before["etag"];
  EXPECT_EQ(after, before);
}

// What is about a scope.

TEST(SimTypes, WhatIsAboutAScopeNeedsNoLocation) {
  for (const char* type :
       {"Microsoft.Authorization/locks", "Microsoft.Authorization/policyAssignments", "Microsoft.Insights/diagnosticSettings",
        "Microsoft.Consumption/budgets", "Microsoft.Resources/links"}) {
    Bench bench;
    bench.create(kVault);
    const std::string below = "/providers/" + std::string(type) + "/a";
    for (const std::string& scope : {std::string(kGroup), kVault, std::string("/subscriptions/s1")})
      EXPECT_LT(bench.ask("PUT", scope + below, R"({"properties":{}})").head.status, 300) << scope << below;
  }
}

TEST(SimTypes, AScopeMayHaveItsSlashesEncoded) {
  Bench bench;
  bench.create(kVault);
  const std::string lock = "/providers/Microsoft.Authorization/locks/l";
  EXPECT_EQ(bench.ask("PUT", "/%2Fsubscriptions%2Fs1%2FresourceGroups%2Fg1" + lock, R"({"properties":{}})").head.status, 201);
  EXPECT_EQ(bench.ask("GET", std::string(kGroup) + lock).head.status, 200);
}

TEST(SimTypes, SomeCreatesAreAnswered200) {
  Bench bench;
  const std::string site = path_of("Microsoft.Web/sites/w1");
  bench.create(site);
  for (const std::string& made : {site + "/config/appsettings", site + "/providers/Microsoft.Insights/diagnosticSettings/d"}) {
    EXPECT_EQ(bench.ask("PUT", made, R"({"properties":{"a":"1"}})").head.status, 200) << made;
    EXPECT_EQ(bench.ask("PUT", made, R"({"properties":{"a":"2"}})").head.status, 200) << made;
  }
  EXPECT_EQ(
      bench.ask("PUT", std::string(kGroup) + "/providers/Microsoft.Authorization/locks/l", R"({"properties":{}})").head.status,
      201);
}

// Clusters and their pools.

TEST(SimTypes, PoolIsOneObjectWithItsProfileAndHasAnEtagOfItsOwn) {
  Bench bench;
  bench.create(kCluster, R"({"location":"we","properties":{"agentPoolProfiles":[{"name":"p1","count":1}]}})");
  const nlohmann::json cluster = body_of(bench.ask("GET", kCluster));
  const arm::Response read = bench.ask("GET", kPool);
  const nlohmann::json pool = body_of(read);
  EXPECT_EQ(pool["id"], kPool);
  EXPECT_EQ(pool["type"], "Microsoft.ContainerService/managedClusters/agentPools");
  EXPECT_EQ(pool["properties"]["count"], 1);
  EXPECT_EQ(pool["properties"]["provisioningState"], "Succeeded");
  EXPECT_FALSE(read.head.fields.has("ETag"));
  EXPECT_FALSE(pool.contains("etag"));
  EXPECT_EQ(cluster["properties"]["agentPoolProfiles"][0]["eTag"], pool["properties"]["eTag"]);
  EXPECT_NE(cluster["eTag"], pool["properties"]["eTag"]);
  EXPECT_EQ(cluster["eTag"].get<std::string>().size(), 36u);

  EXPECT_EQ(bench.ask("PUT", kPool, R"({"properties":{"count":3,"type":"VirtualMachineScaleSets"}})").head.status, 200);
  bench.pass(60'000);
  const nlohmann::json after = body_of(bench.ask("GET", kCluster));
  EXPECT_EQ(after["eTag"], cluster["eTag"]) << "a pool moves its own only";
  EXPECT_EQ(after["properties"]["agentPoolProfiles"][0]["count"], 3);
  EXPECT_EQ(after["properties"]["agentPoolProfiles"][0]["type"], "VirtualMachineScaleSets");
  EXPECT_NE(after["properties"]["agentPoolProfiles"][0]["eTag"], pool["properties"]["eTag"]);

  bench.ask("PUT", kCluster, after.dump());
  bench.pass(60'000);
  const nlohmann::json whole = body_of(bench.ask("GET", kCluster));
  EXPECT_NE(whole["eTag"], after["eTag"]);
  EXPECT_NE(whole["properties"]["agentPoolProfiles"][0]["eTag"], after["properties"]["agentPoolProfiles"][0]["eTag"])
      << "a cluster moves those of its pools too";
}

TEST(SimTypes, PoolsConditionsAreAboutThePool) {
  Bench bench;
  bench.create(kCluster, R"({"location":"we","properties":{"agentPoolProfiles":[{"name":"p1","count":1}]}})");
  const std::string etag = body_of(bench.ask("GET", kPool))["properties"]["eTag"];
  const std::string of_cluster = body_of(bench.ask("GET", kCluster))["eTag"];
  EXPECT_EQ(bench.ask("PUT", kPool, R"({"properties":{"count":2}})", {{"If-Match", of_cluster}}).head.status, 412);
  EXPECT_EQ(bench.ask("PUT", kPool, R"({"properties":{"count":2}})", {{"If-None-Match", "*"}}).head.status, 412);
  const arm::Response missing = bench.ask("PUT", kCluster + "/agentPools/p2", "{}", {{"If-Match", etag}});
  EXPECT_EQ(missing.head.status, 412);
  EXPECT_NE(missing.body.find("please do not provide ETag"), std::string::npos);
  EXPECT_EQ(bench.ask("PUT", kPool, R"({"properties":{"count":2}})", {{"If-Match", etag}}).head.status, 200);
  // Older api-versions neither show nor honour them.
  bench.pass(60'000);
  EXPECT_EQ(bench.ask("PUT", kPool + "?api-version=2023-01-01", "{}", {{"If-Match", etag}}).head.status, 200);
  bench.pass(60'000);
  EXPECT_FALSE(body_of(bench.ask("GET", kPool + "?api-version=2023-01-01"))["properties"].contains("eTag"));
}

TEST(SimTypes, ClusterTakesOneChangeAtATimeAndAbortEndsIt) {
  Bench bench;
  bench.create(kCluster, R"({"location":"we","properties":{"agentPoolProfiles":[{"name":"p1","count":1}]}})");
  const arm::Response put = bench.ask("PUT", kPool, R"({"properties":{"count":5}})");
  const std::string url(put.head.fields.get("Azure-AsyncOperation"));
  EXPECT_NE(url.find("api-version=2017-08-31"), std::string::npos);
  const arm::Response refused = bench.ask("PUT", kCluster + "/agentPools/p2", "{}");
  EXPECT_EQ(refused.head.status, 409);
  EXPECT_EQ(code_of(refused), "OperationNotAllowed");
  EXPECT_NE(refused.body.find("in progress"), std::string::npos);
  EXPECT_EQ(bench.ask("POST", kCluster + "/listClusterUserCredential").head.status, 200);
  EXPECT_EQ(bench.ask("POST", kPool + "/abort").head.status, 202);
  EXPECT_EQ(body_of(bench.follow(url))["status"], "Canceled");
  EXPECT_EQ(body_of(bench.ask("GET", kPool))["properties"]["count"], 1);
  EXPECT_EQ(bench.ask("PUT", kCluster + "/agentPools/p2", "{}").head.status, 201);
}

TEST(SimTypes, OldApiVersionsOfComputeKnowNoEtags) {
  Bench bench;
  bench.create(kScaleSet);
  const std::string old = kScaleSet + "?api-version=2022-08-01";
  const arm::Response read = bench.ask("GET", old);
  EXPECT_FALSE(read.head.fields.has("ETag"));
  EXPECT_FALSE(body_of(read).contains("etag"));
  const arm::Response put =
      bench.ask("PUT", old, R"({"location":"we"})", {{"If-Match", R"("99")"}, {"x-sim-operation-ms", "0"}});
  EXPECT_EQ(put.head.status, 200);
  EXPECT_FALSE(put.head.fields.has("ETag"));
  // The ETag that newer ones show has moved all the same.
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.fields.get("ETag"), R"("3")");
}

// DNS.

TEST(SimTypes, DnsFamiliesHaveFormsOfTheirOwnAndHonourConditions) {
  Bench bench;
  bench.create(kZone);
  const std::string record = kZone + "/A/www";
  const arm::Response put = bench.ask("PUT", record, R"({"properties":{"TTL":60}})", {{"If-None-Match", "*"}});
  EXPECT_EQ(put.head.status, 201);
  EXPECT_EQ(put.head.fields.get("ETag"), body_of(put)["etag"].get<std::string>());
  EXPECT_EQ(put.head.fields.get("ETag").size(), 36u) << "no quotes";
  EXPECT_EQ(bench.ask("PUT", record, "{}", {{"If-None-Match", "*"}}).head.status, 412);
  EXPECT_EQ(bench.ask("DELETE", record, "", {{"If-Match", "stale"}}).head.status, 412);
  EXPECT_EQ(bench.ask("DELETE", record, "", {{"If-Match", std::string(put.head.fields.get("ETag"))}}).head.status, 200);
  EXPECT_EQ(bench.ask("GET", record).head.status, 404);
}

TEST(SimTypes, PrivateZonesAnswerWithoutABodyAndTellTheEtagLater) {
  Bench bench;
  bench.ask("PUT", kGroup, kPlace);
  const arm::Response put = bench.ask("PUT", kPrivateZone, R"({"location":"global"})");
  EXPECT_EQ(put.head.status, 202);
  EXPECT_TRUE(put.body.empty());
  const std::string url(put.head.fields.get("Azure-AsyncOperation"));
  EXPECT_NE(url.find("/resourceGroups/g1/providers/Microsoft.Network/privateDnsOperationStatuses/"), std::string::npos);
  EXPECT_EQ(body_of(bench.follow(url))["status"], "InProgress");
  bench.pass(5000);
  EXPECT_EQ(body_of(bench.follow(put.head.fields.get("Location")))["name"], "example.com");
  const std::string link = kPrivateZone + "/virtualNetworkLinks/l1";
  EXPECT_EQ(bench.ask("PUT", link, R"({"location":"global"})").head.status, 202);
  bench.pass(5000);
  EXPECT_EQ(bench.ask("GET", link).head.fields.get("ETag").front(), '"');
  EXPECT_EQ(body_of(bench.ask("GET", kPrivateZone + "/virtualNetworkLinks"))["value"].size(), 1u);
}

// Children, what they are about, and what they refer to.

TEST(SimTypes, ResourcesBelowOthersAreEntitiesOfTheirOwn) {
  Bench bench;
  bench.create(kMachine);
  const std::string extension = kMachine + "/extensions/e1";
  EXPECT_EQ(code_of(bench.ask("PUT", kMachine + "x/extensions/e1", "{}")), "ParentResourceNotFound");
  EXPECT_EQ(bench.ask("PUT", extension, "{}").head.status, 201);
  EXPECT_EQ(bench.ask("PUT", kMachine + "/extensions/e2", "{}").head.status, 201) << "side by side";
  EXPECT_EQ(code_of(bench.ask("PUT", extension, "{}")), "ConflictingConcurrentWriteNotAllowed");
  bench.pass(5000);
  EXPECT_EQ(body_of(bench.ask("GET", kMachine + "/extensions"))["value"].size(), 2u);
  EXPECT_EQ(body_of(bench.ask("GET", std::string(kGroup) + "/resources"))["value"].size(), 1u);
  bench.ask("DELETE", kMachine);
  bench.pass(5000);
  EXPECT_EQ(bench.ask("GET", extension).head.status, 404);
}

TEST(SimTypes, ServicesNeedNotBeMade) {
  Bench bench;
  bench.create(kStorage);
  EXPECT_EQ(bench.ask("PUT", kStorage + "/blobServices/default/containers/c", "{}").head.status, 201);
  EXPECT_EQ(bench.ask("PUT", kStorage + "x/blobServices/default/containers/c", "{}").head.status, 404);
}

TEST(SimTypes, RoleAssignmentsAreAboutWhateverTheyNameInFrontOfThem) {
  Bench bench;
  bench.create(kStorage);
  const std::string below = "/providers/Microsoft.Authorization/roleAssignments/r1";
  for (const std::string& scope : {kStorage, std::string(kGroup), std::string("/subscriptions/s1")}) {
    const arm::Response put = bench.ask("PUT", scope + below, R"({"properties":{"principalId":"p"}})");
    EXPECT_EQ(put.head.status, 201) << scope;
    EXPECT_EQ(body_of(put)["id"], scope + below);
    EXPECT_EQ(body_of(bench.ask("GET", scope + below))["type"], "Microsoft.Authorization/roleAssignments");
  }
  EXPECT_EQ(bench.ask("PUT", kStorage + "x" + below, "{}").head.status, 404);
}

TEST(SimTypes, NetworkTakesReferencesOnlyToWhatStandsStill) {
  Bench bench;
  const std::string subnet = subnet_of(bench);
  EXPECT_EQ(code_of(bench.ask("PUT", kInterface, interface_in(subnet + "x"))), "InvalidResourceReference");
  bench.ask("PUT", kNetwork + "/subnets/b", "{}");
  const arm::Response busy = bench.ask("PUT", kInterface, interface_in(subnet));
  EXPECT_EQ(busy.head.status, 429);
  EXPECT_EQ(body_of(busy)["error"]["details"][0]["code"], "ReferencedResourceNotProvisioned");
  EXPECT_TRUE(busy.head.fields.has("Retry-After"));
  bench.pass(5000);
  EXPECT_EQ(bench.ask("PUT", kInterface, interface_in(subnet)).head.status, 201);
  EXPECT_EQ(bench.ask("PUT", kInterface + "2", interface_in(subnet)).head.status, 201) << "side by side";
}

TEST(SimTypes, EndpointOccupiesWhatItLeadsTo) {
  Bench bench;
  const std::string subnet = subnet_of(bench);
  bench.create(kStorage);
  EXPECT_EQ(bench.ask("PUT", kEndpoint, endpoint_to(subnet, kStorage)).head.status, 201);
  const arm::Response second = bench.ask("PUT", kEndpoint + "2", endpoint_to(subnet, kStorage));
  EXPECT_EQ(second.head.status, 429);
  EXPECT_EQ(body_of(second)["error"]["details"][0]["code"], "StorageAccountOperationInProgress");
  EXPECT_EQ(code_of(bench.ask("PUT", kStorage, kPlace)), "StorageAccountOperationInProgress");
  const auto keys = body_of(bench.ask("POST", kStorage + "/listKeys"))["keys"];
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0]["value"], "c2ltdWxhdGVk") << "in Base64: Terraform's azurerm backend refuses others";
  bench.pass(5000);
  EXPECT_EQ(bench.ask("PUT", kEndpoint + "2", endpoint_to(subnet, kStorage)).head.status, 201);
}

TEST(SimTypes, NetworksChildrenOfSeveralKindsDoNotMeet) {
  Bench bench;
  bench.create(kNetwork);
  for (const char* child : {"/subnets/x", "/virtualNetworkPeerings/x"}) {
    EXPECT_EQ(bench.ask("PUT", kNetwork + child, R"({"properties":{"a":1}})").head.status, 201) << child;
    bench.pass(5000);
  }
  bench.ask("DELETE", kNetwork + "/subnets/x");
  bench.pass(5000);
  EXPECT_EQ(bench.ask("GET", kNetwork + "/subnets/x").head.status, 404);
  EXPECT_EQ(bench.ask("GET", kNetwork + "/virtualNetworkPeerings/x").head.status, 200);
}

// Habits that mislead.

TEST(SimTypes, AnswersOfSomeTypesMislead) {
  Bench bench;
  const std::string subnet = subnet_of(bench);
  bench.create(kInterface, interface_in(subnet));
  const arm::Response gone = bench.ask("DELETE", kInterface);
  EXPECT_EQ(gone.head.status, 200) << "although it runs";
  EXPECT_TRUE(gone.head.fields.has("Azure-AsyncOperation"));
  EXPECT_EQ(body_of(bench.ask("GET", kInterface))["properties"]["provisioningState"], "Deleting");

  const arm::Response balancer = bench.ask("PUT", kBalancer, kPlace);
  EXPECT_EQ(body_of(balancer)["properties"]["provisioningState"], "Succeeded") << "although it runs";
  EXPECT_EQ(body_of(bench.follow(balancer.head.fields.get("Azure-AsyncOperation")))["status"], "InProgress");

  bench.create(kMachine);
  const arm::Response machine = bench.ask("PUT", kMachine, kPlace);
  EXPECT_EQ(body_of(machine)["properties"]["provisioningState"], "Updating");
  EXPECT_FALSE(machine.head.fields.has("Azure-AsyncOperation")) << "no header at all";

  const arm::Response vault = bench.ask("PUT", kVault, kPlace, {{"x-sim-operation-ms", "1000"}});
  EXPECT_EQ(body_of(vault)["properties"]["provisioningState"], "RegisteringDns");
  EXPECT_FALSE(vault.head.fields.has("Location"));

  const arm::Response identity = bench.ask("PUT", kIdentity, kPlace);
  EXPECT_EQ(identity.head.fields.get("Location"), kIdentity) << "relative, and no operation";
}

TEST(SimTypes, DeploymentsHaveNoPlaceAndTheirOperationsAreBelowThem) {
  Bench bench;
  bench.ask("PUT", kGroup, kPlace);
  const arm::Response put = bench.ask("PUT", kDeployment, R"({"properties":{"mode":"Incremental"}})");
  EXPECT_EQ(put.head.status, 201);
  const std::string url(put.head.fields.get("Azure-AsyncOperation"));
  EXPECT_NE(url.find(kDeployment + "/operationStatuses/"), std::string::npos);
  EXPECT_EQ(code_of(bench.ask("PUT", kDeployment, R"({"properties":{}})")), "DeploymentActive");
  bench.pass(5000);
  EXPECT_EQ(body_of(bench.follow(url))["status"], "Succeeded");
}

TEST(SimTypes, EndsOfOperationsCanBeSpeltOddlyAndForgotten) {
  SimOptions options;
  options.success_word = "Completed";
  options.cancel_word = "Cancelled";
  options.location_failure = FailureShown::Ok;
  options.operation_record = std::chrono::seconds(10);
  Bench bench(options);
  bench.create(kScaleSet);
  const std::string good(bench.ask("PUT", kScaleSet, kPlace).head.fields.get("Azure-AsyncOperation"));
  bench.pass(5000);
  EXPECT_EQ(body_of(bench.follow(good))["status"], "Completed");
  bench.pass(10'000);
  EXPECT_EQ(bench.follow(good).head.status, 404);

  const arm::Response gone = bench.ask("DELETE", kScaleSet, "", {{"x-sim-operation-result", "Canceled"}});
  bench.pass(5000);
  EXPECT_EQ(body_of(bench.follow(gone.head.fields.get("Azure-AsyncOperation")))["status"], "Cancelled");
  const arm::Response location = bench.follow(gone.head.fields.get("Location"));
  EXPECT_EQ(location.head.status, 200);
  EXPECT_EQ(body_of(location)["status"], "Cancelled");
}

TEST(SimTypes, MoveTakesResourcesToAnotherGroupAndExcludesAllWritesMeanwhile) {
  Bench bench;
  bench.create(kMachine);
  bench.ask("PUT", kMachine + "/extensions/e1", "{}");
  bench.create(kMachine + "-2");
  bench.ask("PUT", "/subscriptions/s1/resourceGroups/g2", kPlace);
  const std::string order =
      R"({"resources":[")" + kMachine + R"("],"targetResourceGroup":"/subscriptions/s1/resourceGroups/g2"})";
  EXPECT_EQ(bench.ask("POST", std::string(kGroup) + "/moveResources", order).head.status, 202);
  EXPECT_EQ(bench.ask("PUT", kMachine + "-2", kPlace).head.status, 409);
  bench.pass(5000);
  const std::string moved = "/subscriptions/s1/resourceGroups/g2/providers/Microsoft.Compute/virtualMachines/vm1";
  EXPECT_EQ(body_of(bench.ask("GET", moved))["id"], moved);
  EXPECT_EQ(bench.ask("GET", moved + "/extensions/e1").head.status, 200);
  EXPECT_EQ(bench.ask("GET", kMachine).head.status, 404);
  EXPECT_EQ(bench.ask("GET", kMachine + "-2").head.status, 200);
  EXPECT_EQ(code_of(bench.ask("POST", std::string(kGroup) + "/moveResources", order)), "ResourceMoveFailed");
}

}  // namespace
}  // namespace armgate::sim
