// From a pool as it was read to what makes it anew, and what is missing then.
#include "cli/heal/facts/pool_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/heal/facts/cluster.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

json pool() {
  return json::parse(R"({"id":"/x","name":"system","type":"t","properties":{
    "count":3,"minCount":2,"maxCount":5,"enableAutoScaling":true,"mode":"System","vmSize":"Standard_D2s_v5","osDiskSizeGB":128,
    "vnetSubnetID":"/subscriptions/s/net","orchestratorVersion":"1.29.0","currentOrchestratorVersion":"1.29.0",
    "nodeImageVersion":"i","provisioningState":"Failed","powerState":{"code":"Running"},"creationData":null,"eTag":"e",
    "tags":{"owner":"ops","aks-managed-a":"1","AKS-managed-b":"2","delegate-ip-allocation-for-nics-without-subnet":"true"},
    "nodeLabels":{"a":"1"},"nodeTaints":["t1","t2"],"availabilityZones":["1"]}})");
}

PoolBodies bodies_of(const json& read, int64_t count = 0) {
  auto bodies = pool_bodies(read.dump(), "1.30.4", {"/pool/id", "run-1", count});
  EXPECT_TRUE(bodies.ok()) << (bodies.ok() ? "" : bodies.error().context);
  return *bodies;
}

TEST(PoolBodies, TheServicesMembersGoAndEverythingElseStays) {
  const PoolBodies bodies = bodies_of(pool());
  const json again = json::parse(bodies.again);
  json expected = pool();
  for (const char* name : {"id", "name", "type"}) expected.erase(name);
  for (const char* name :
       {"currentOrchestratorVersion", "nodeImageVersion", "provisioningState", "powerState", "creationData", "eTag"})
    expected["properties"].erase(name);
  expected["properties"]["tags"].erase("aks-managed-a");
  expected["properties"]["orchestratorVersion"] = "1.30.4";
  EXPECT_EQ(again, expected);
  EXPECT_THAT(bodies.left_out,
              UnorderedElementsAre("/id", "/name", "/type", "/properties/currentOrchestratorVersion",
                                   "/properties/nodeImageVersion", "/properties/provisioningState", "/properties/powerState",
                                   "/properties/creationData", "/properties/eTag", "/properties/tags/aks-managed-a"));
}

TEST(PoolBodies, TheStandInIsMarkedAndDoesNotScale) {
  const json stand_in = json::parse(bodies_of(pool()).stand_in)["properties"];
  EXPECT_EQ(stand_in["mode"], "System");
  EXPECT_EQ(stand_in["count"], 3);
  for (const char* name : {"minCount", "maxCount", "enableAutoScaling"}) EXPECT_FALSE(stand_in.contains(name)) << name;
  EXPECT_EQ(stand_in["tags"]["armgate-purpose"], "temp-recreate-system-pool");
  EXPECT_EQ(stand_in["tags"]["armgate-source"], "/pool/id");
  EXPECT_EQ(stand_in["tags"]["armgate-run"], "run-1");
  EXPECT_EQ(stand_in["tags"]["owner"], "ops");
  EXPECT_EQ(stand_in["nodeTaints"], json({"t1", "t2"}));
}

TEST(PoolBodies, TheStandInHasAsManyNodesAsThePoolUnlessSaid) {
  EXPECT_EQ(bodies_of(pool()).stand_in_count, 3);
  EXPECT_EQ(bodies_of(pool(), 1).stand_in_count, 1);
  json scaled = pool();
  scaled["properties"]["count"] = 0;
  EXPECT_EQ(bodies_of(scaled).stand_in_count, 2);
  scaled["properties"].erase("minCount");
  EXPECT_EQ(bodies_of(scaled).stand_in_count, 1);
  scaled["properties"]["tags"] = nullptr;
  EXPECT_EQ(json::parse(bodies_of(scaled).stand_in)["properties"]["tags"].size(), 3u);
}

TEST(PoolBodies, EveryFaultIsNamed) {
  json read = pool();
  read["properties"].erase("vmSize");
  read["properties"]["osDiskSizeGB"] = 0;
  read["properties"]["brandNew"] = true;
  const auto bodies = pool_bodies(read.dump(), "", {});
  ASSERT_FALSE(bodies.ok());
  for (const char* part : {"/properties/vmSize is missing", "/properties/osDiskSizeGB is missing or not above 0",
                           "currentKubernetesVersion", "/properties/brandNew: whether a create may carry it"})
    EXPECT_THAT(bodies.error().context, HasSubstr(part));
  read["properties"]["brandNew"] = nullptr;
  EXPECT_THAT(pool_bodies(read.dump(), "1", {}).error().context, testing::Not(HasSubstr("brandNew")));
  for (const char* bad : {"", "[]", "{}", R"({"properties":[]})"}) EXPECT_FALSE(pool_bodies(bad, "1", {}).ok()) << bad;
}

TEST(MissingOf, WhatTheServiceAddedDoesNotCount) {
  const std::string again = bodies_of(pool()).again;
  json there = pool();
  there["properties"]["count"] = 5;
  there["properties"]["orchestratorVersion"] = "1.30.4";
  there["properties"]["added"] = {{"by", "aks"}};
  there["properties"]["nodeLabels"]["kubernetes.azure.com/mode"] = "system";
  there["properties"]["vnetSubnetID"] = "/SUBSCRIPTIONS/s/NET";
  there["properties"]["nodeTaints"] = {"t2", "t1", "t3"};
  EXPECT_THAT(missing_of(again, there.dump()), IsEmpty());
}

TEST(MissingOf, LabelsTaintsAndTagsThatAreGoneAreNamed) {
  const std::string again = bodies_of(pool()).again;
  json there = pool();
  there["properties"]["nodeLabels"] = {{"a", "2"}};
  there["properties"]["nodeTaints"] = {"t1"};
  there["properties"]["tags"].erase("owner");
  EXPECT_THAT(missing_of(again, there.dump()),
              UnorderedElementsAre("/properties/nodeLabels/a is \"2\"; it was \"1\"", "/properties/nodeTaints lacks \"t2\"",
                                   "/properties/tags/owner is missing; it was \"ops\""));
  EXPECT_THAT(missing_of(again, "no json"), ElementsAre("the pool cannot be read"));
}

TEST(MissingOf, EmptyIsAsGoodAsAbsent) {
  json read = pool();
  read["properties"]["tags"] = {{"aks-managed-a", "1"}};
  const std::string again = bodies_of(read).again;
  read["properties"].erase("tags");
  read["properties"]["nodeTaints"].push_back("t3");
  read["properties"]["upgradeSettings"] = json::object();
  EXPECT_THAT(missing_of(again, read.dump()), IsEmpty());
  EXPECT_THAT(added_to(again, read.dump()), ElementsAre("/properties/nodeTaints has gained \"t3\""));
}

TEST(AddedTo, WhatItsOwnerMaySetIsNamed) {
  const std::string again = bodies_of(pool()).again;
  EXPECT_THAT(added_to(again, pool().dump()), IsEmpty()) << "neither what only the service writes, nor the version";
  json there = pool();
  there["properties"]["count"] = 5;
  there["properties"]["nodeLabels"]["b"] = "2";
  there["properties"]["nodeLabels"]["a"] = "changed";
  there["properties"]["nodeTaints"] = {"t3", "t2"};
  there["properties"]["tags"]["cost"] = "7";
  there["properties"]["tags"]["aks-managed-new"] = "1";
  there["properties"]["vnetSubnetID"] = "/SUBSCRIPTIONS/s/NET";
  there["properties"]["upgradeSettings"] = {{"maxSurge", "10%"}};
  EXPECT_THAT(added_to(again, there.dump()),
              UnorderedElementsAre("/properties/count is 5; it was 3", "/properties/nodeLabels/b is new: \"2\"",
                                   "/properties/nodeTaints has gained \"t3\"", "/properties/tags/cost is new: \"7\"",
                                   "/properties/upgradeSettings is new: {\"maxSurge\":\"10%\"}"));
  EXPECT_THAT(added_to(again, "no json"), ElementsAre("the pool cannot be read"));
}

TEST(Targets, AreClustersAndPoolNamesOnly) {
  const std::string id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c";
  EXPECT_TRUE(target_of(id, "system").ok());
  EXPECT_EQ(target_of(id + "/", "system")->pool_id(), id + "/agentPools/system");
  for (const char* bad :
       {"", "/subscriptions/s", "c", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/c"})
    EXPECT_FALSE(target_of(bad, "system").ok()) << bad;
  for (const char* bad : {"", "System", "1a", "with-dash", "thirteenchars"}) EXPECT_FALSE(target_of(id, bad).ok()) << bad;
  const std::string stand_in = target_of(id, "system")->stand_in();
  EXPECT_TRUE(target_of(id, stand_in).ok()) << stand_in;
  EXPECT_NE(stand_in, target_of(id, "system2")->stand_in());
}

TEST(Reading, WhatIsNoClusterOrPoolIsAnError) {
  for (const char* bad : {"", "[]", "{}", R"({"properties":1})", "<html>"}) {
    EXPECT_FALSE(read_cluster(bad).ok()) << bad;
    EXPECT_FALSE(read_pool(bad).ok()) << bad;
    EXPECT_FALSE(read_pool_page(bad).ok()) << bad;
  }
  EXPECT_FALSE(read_pool_page(R"({"value":[{"name":"a"}]})").ok());
  EXPECT_FALSE(read_pool(R"({"properties":{}})").ok()) << "without a name";
  const auto page =
      read_pool_page(R"({"value":[{"name":"a","properties":{"count":2}},{"name":"b","properties":{}}],"nextLink":"n"})");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->pools[0].count, 2);
  EXPECT_FALSE(page->pools[1].count.has_value());
  EXPECT_EQ(page->next, "n");
}

}  // namespace
}  // namespace armgate::heal
