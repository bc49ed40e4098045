#include "sim/resource_type.h"

#include <array>

namespace armgate::sim {
namespace {

constexpr std::string_view kComputeConflict = "ConflictingConcurrentWriteNotAllowed";
constexpr std::string_view kNetworkConflict = "AnotherOperationInProgress";
constexpr std::string_view kComputeEtags =
    "2024-03-01";  // the oldest models that are sure to have them (conf/rules/compute.json)
constexpr std::string_view kStorageConflict = "StorageAccountOperationInProgress";

constexpr std::array<ChildKind, 2> kOfNetworks{{
    {.type = "subnets", .shown = "subnets", .member = "subnets", .linked = "ipConfigurations"},
    {.type = "virtualnetworkpeerings", .shown = "virtualNetworkPeerings", .member = "virtualNetworkPeerings"},
}};
constexpr std::array<ChildKind, 1> kOfSecurityGroups{{
    {.type = "securityrules", .shown = "securityRules", .member = "securityRules", .lock = ChildLock::Own},
}};
constexpr std::array<ChildKind, 1> kOfRouteTables{{
    {.type = "routes", .shown = "routes", .member = "routes"},
}};
constexpr std::array<ChildKind, 1> kOfClusters{{
    {.type = "agentpools", .shown = "agentPools", .member = "agentPoolProfiles", .form = ChildKind::Form::Flat},
}};

constexpr std::array<std::string_view, 2> kOfInterfaces{
    "/properties/ipConfigurations/*/properties/subnet/id",
    "/properties/networkSecurityGroup/id",
};
constexpr std::array<std::string_view, 1> kOfEndpoints{"/properties/subnet/id"};

constexpr std::array<std::string_view, 1> kEndpointTargets{
    "/properties/privateLinkServiceConnections/*/properties/privateLinkServiceId",
};

// Exact types before the patterns that would fit them too.
constexpr std::array<ResourceType, 38> kTypes{{
    {.type = "microsoft.resources/resourcegroups",
     .shown = "Microsoft.Resources/resourceGroups",
     .conflict_code = "ResourceGroupBeingDeleted",
     .urls = OperationUrls::Group,
     .long_running = true},
    {.type = "microsoft.compute/virtualmachinescalesets",
     .shown = "Microsoft.Compute/virtualMachineScaleSets",
     .etags = EtagForm::Number,
     .etags_since = kComputeEtags,
     .conflict_code = kComputeConflict,
     .long_running = true},
    {.type = "microsoft.compute/virtualmachines",
     .shown = "Microsoft.Compute/virtualMachines",
     .etags = EtagForm::Number,
     .etags_since = kComputeEtags,
     .conflict_code = kComputeConflict,
     .update_shown = UpdateShown::Silently,
     .long_running = true},
    {.type = "microsoft.compute/virtualmachinescalesets/virtualmachines",
     .etags = EtagForm::Number,
     .etags_since = kComputeEtags,
     .conflict_code = kComputeConflict,
     .long_running = true,
     .moves_parent = true},
    // Several extensions of one machine are written side by side.
    {.type = "microsoft.compute/virtualmachines/extensions", .conflict_code = kComputeConflict, .long_running = true},
    {.type = "microsoft.compute/virtualmachinescalesets/extensions", .conflict_code = kComputeConflict, .long_running = true},
    {.type = "microsoft.compute/disks",
     .shown = "Microsoft.Compute/disks",
     .conflict_code = kComputeConflict,
     .put_answer = PutAnswer::Accepted,
     .urls = OperationUrls::Disk,
     .long_running = true},
    {.type = "microsoft.network/networksecuritygroups",
     .shown = "Microsoft.Network/networkSecurityGroups",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .children = kOfSecurityGroups,
     .urls = OperationUrls::Network,
     .linked = "subnets",
     .long_running = true},
    {.type = "microsoft.network/virtualnetworks",
     .shown = "Microsoft.Network/virtualNetworks",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .children = kOfNetworks,
     .urls = OperationUrls::Network,
     .long_running = true},
    {.type = "microsoft.network/routetables",
     .shown = "Microsoft.Network/routeTables",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .children = kOfRouteTables,
     .urls = OperationUrls::Network,
     .linked = "subnets",
     .long_running = true},
    {.type = "microsoft.network/networkinterfaces",
     .shown = "Microsoft.Network/networkInterfaces",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .delete_answer = DeleteAnswer::Ok,
     .urls = OperationUrls::Network,
     .references = kOfInterfaces,
     .long_running = true},
    {.type = "microsoft.network/loadbalancers",
     .shown = "Microsoft.Network/loadBalancers",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .update_shown = UpdateShown::Succeeded,
     .urls = OperationUrls::Network,
     .long_running = true},
    {.type = "microsoft.network/privateendpoints",
     .shown = "Microsoft.Network/privateEndpoints",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .urls = OperationUrls::Network,
     .references = kOfEndpoints,
     .occupies = kEndpointTargets,
     .long_running = true},
    {.type = "microsoft.network/dnszones", .shown = "Microsoft.Network/dnsZones", .etags = EtagForm::BareGuid},
    {.type = "microsoft.network/dnszones/*", .etags = EtagForm::BareGuid},
    {.type = "microsoft.network/privatednszones",
     .shown = "Microsoft.Network/privateDnsZones",
     .etags = EtagForm::BareGuid,
     .put_answer = PutAnswer::Accepted,
     .urls = OperationUrls::PrivateDns,
     .long_running = true},
    {.type = "microsoft.network/privatednszones/virtualnetworklinks",
     .etags = EtagForm::QuotedGuid,
     .put_answer = PutAnswer::Accepted,
     .urls = OperationUrls::PrivateDns,
     .long_running = true},
    {.type = "microsoft.network/privatednszones/*", .etags = EtagForm::BareGuid},
    {.type = "microsoft.network/*",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .urls = OperationUrls::Network,
     .long_running = true},
    {.type = "microsoft.containerservice/managedclusters",
     .shown = "Microsoft.ContainerService/managedClusters",
     .etags = EtagForm::EnvelopeGuid,
     .etags_since = "2024-10-01",
     .conflict_code = "OperationNotAllowed",
     .children = kOfClusters,
     .urls = OperationUrls::Cluster,
     .long_running = true},
    {.type = "microsoft.storage/storageaccounts",
     .shown = "Microsoft.Storage/storageAccounts",
     .conflict_code = kStorageConflict,
     .put_answer = PutAnswer::Accepted,
     .urls = OperationUrls::Location,
     .linked = "privateEndpointConnections"},
    {.type = "microsoft.keyvault/vaults",
     .shown = "Microsoft.KeyVault/vaults",
     .urls = OperationUrls::None,
     .running_state = "RegisteringDns"},
    {.type = "microsoft.managedidentity/userassignedidentities",
     .shown = "Microsoft.ManagedIdentity/userAssignedIdentities",
     .put_answer = PutAnswer::RelativeLocation},
    {.type = "microsoft.managedidentity/userassignedidentities/federatedidentitycredentials",
     .conflict_code = "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity",
     .lock = ChildLock::Shared},
    {.type = "microsoft.resources/deployments",
     .shown = "Microsoft.Resources/deployments",
     .conflict_code = "DeploymentActive",
     .urls = OperationUrls::Deployment,
     .running_state = "Running",
     .long_running = true,
     .placed = false},
    {.type = "microsoft.web/sites", .shown = "Microsoft.Web/sites"},
    // Both answer 200 to the PUT that makes one: the specifications know no 201 (web, 2023-12-01; monitor, 2021-05-01-preview).
    {.type = "microsoft.web/sites/config", .created_status = 200, .listed = true},
    {.type = "microsoft.insights/diagnosticsettings",
     .shown = "Microsoft.Insights/diagnosticSettings",
     .placed = false,
     .created_status = 200,
     .embellished = true},
    {.type = "microsoft.example/widgets", .shown = "Microsoft.Example/widgets", .long_running = true, .embellished = true},
    {.type = "microsoft.example/shelves",
     .shown = "Microsoft.Example/shelves",
     .etags = EtagForm::Number,
     .long_running = true,
     .embellished = true,
     .finished = true},
    {.type = "microsoft.example/safes",
     .shown = "Microsoft.Example/safes",
     .etags = EtagForm::Number,
     .long_running = true,
     .hidden = "secret"},
    {.type = "microsoft.authorization/roleassignments", .shown = "Microsoft.Authorization/roleAssignments", .placed = false},
    // What is about a scope, and stands nowhere itself.
    {.type = "microsoft.authorization/*", .placed = false, .embellished = true},
    {.type = "microsoft.consumption/*", .placed = false, .embellished = true},
    {.type = "microsoft.costmanagement/*", .placed = false, .embellished = true},
    {.type = "microsoft.managedservices/*", .placed = false, .embellished = true},
    {.type = "microsoft.policyinsights/*", .placed = false, .embellished = true},
    {.type = "microsoft.resources/links", .placed = false, .embellished = true},
}};
constexpr ResourceType kAnyOther{.type = "", .embellished = true};

bool fits(std::string_view pattern, std::string_view type) {
  if (pattern == type) return true;
  if (!pattern.ends_with("/*")) return false;
  pattern.remove_suffix(1);
  return type.starts_with(pattern) && type.find('/', pattern.size()) == type.npos;
}

}  // namespace

const ResourceType& resource_type(std::string_view lower_case_type) {
  for (const ResourceType& row : kTypes) {
    if (fits(row.type, lower_case_type)) return row;
  }
  return kAnyOther;
}

const ResourceType& group_type() { return kTypes.front(); }

const ChildKind* inline_child(const ResourceType& traits, std::string_view lower_case_child_type) {
  for (const ChildKind& kind : traits.children) {
    if (kind.type == lower_case_child_type) return &kind;
  }
  return nullptr;
}

}  // namespace armgate::sim
