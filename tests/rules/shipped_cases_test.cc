// The cases of the shipped facts: which types have one, and that a case finds out a fact that is missing and one that is wrong.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "arm/resource_id.h"
#include "base/source_tree.h"
#include "base/text.h"
#include "json/tree.h"
#include "rules/file/rule_file.h"

namespace armgate::rules::shipped_cases_test {
namespace {

using nlohmann::json;

const std::vector<std::string> kFiles{
    "analytics",     "apimanagement", "compute",      "containers",  "data",      "dns",  "messaging", "network",
    "network-cloud", "network-edge",  "network-rest", "network-wan", "resources", "rest", "storage",   "web"};

json shipped_file(const std::string& name) {
  std::ifstream in(source_path("conf/rules/facts-" + name + ".json"));
  return json::parse(std::string(std::istreambuf_iterator<char>(in), {}), nullptr, true, true);
}

std::string type_of(const std::string& request) {
  return arm::parse_target(request.substr(request.find(' ') + 1), false)->resource.type;
}

// Those that the most tools write to: what runs programs, keeps data, connects them, and says who may do what.
const char* const kMostUsed[] = {
    "Microsoft.App/containerApps",
    "Microsoft.App/managedEnvironments",
    "Microsoft.ApiManagement/service",
    "Microsoft.ApiManagement/service/apis",
    "Microsoft.Authorization/roleAssignments",
    "Microsoft.Cache/redis",
    "Microsoft.CognitiveServices/accounts",
    "Microsoft.Compute/disks",
    "Microsoft.Compute/virtualMachines",
    "Microsoft.Compute/virtualMachineScaleSets",
    "Microsoft.ContainerRegistry/registries",
    "Microsoft.ContainerService/managedClusters",
    "Microsoft.ContainerService/managedClusters/agentPools",
    "Microsoft.DocumentDB/databaseAccounts",
    "Microsoft.EventHub/namespaces",
    "Microsoft.Insights/components",
    "Microsoft.KeyVault/vaults",
    "Microsoft.ManagedIdentity/userAssignedIdentities",
    "Microsoft.Network/applicationGateways",
    "Microsoft.Network/loadBalancers",
    "Microsoft.Network/natGateways",
    "Microsoft.Network/networkInterfaces",
    "Microsoft.Network/networkSecurityGroups",
    "Microsoft.Network/networkSecurityGroups/securityRules",
    "Microsoft.Network/privateDnsZones",
    "Microsoft.Network/privateEndpoints",
    "Microsoft.Network/publicIPAddresses",
    "Microsoft.Network/routeTables",
    "Microsoft.Network/virtualNetworks",
    "Microsoft.Network/virtualNetworks/subnets",
    "Microsoft.OperationalInsights/workspaces",
    "Microsoft.Resources/deployments",
    "Microsoft.Resources/resourceGroups",
    "Microsoft.ServiceBus/namespaces",
    "Microsoft.Sql/servers",
    "Microsoft.Sql/servers/databases",
    "Microsoft.Storage/storageAccounts",
    "Microsoft.Web/serverfarms",
    "Microsoft.Web/sites",
};

TEST(ShippedCases, MoreThanAHundredTypesHaveOneAndTheMostUsedAreAmongThem) {
  std::set<std::string> types;
  for (const std::string& name : kFiles) {
    const json file = shipped_file(name);
    for (const json& one : file.at("cases")) {
      if (one.contains("shown") && !one.at("changed").empty()) types.insert(type_of(one.at("request")));
    }
  }
  EXPECT_GE(types.size(), 150u);
  for (const char* type : kMostUsed) EXPECT_TRUE(types.contains(lower_text(type))) << type;
}

FaultList faults_of(const json& file) {
  FaultList faults;
  read_rule_book("f.json", file.dump(), faults);
  return faults;
}

TEST(ShippedCases, AFactThatIsMissingAndOneThatHidesWhatClientsWriteAreFoundOut) {
  size_t broken = 0;
  for (const std::string& name : kFiles) {
    const json file = shipped_file(name);
    ASSERT_TRUE(faults_of(file).empty()) << name;
    json none = file;  // nothing is known
    for (json& entry : none.at("facts")) entry.erase("body");
    broken += faults_of(none).size();
    for (json& entry : none.at("facts")) entry["body"] = {{"read_only", {"/properties", "/sku", "/tags"}}};
    EXPECT_GE(faults_of(none).size(), file.at("cases").size()) << name;
  }
  EXPECT_GE(broken, 130u) << "most cases show a fact, not only a member that clients write";
}

}  // namespace
}  // namespace armgate::rules::shipped_cases_test
