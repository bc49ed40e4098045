#include "sim/resource_type.h"

#include <array>

namespace armgate::sim {
namespace {

constexpr std::string_view kComputeConflict = "ConflictingConcurrentWriteNotAllowed";
constexpr std::string_view kNetworkConflict = "AnotherOperationInProgress";

constexpr std::array<ResourceType, 7> kTypes{{
    {.type = "microsoft.resources/resourcegroups",
     .shown = "Microsoft.Resources/resourceGroups",
     .conflict_code = "ResourceGroupBeingDeleted",
     .long_running = true},
    {.type = "microsoft.compute/virtualmachinescalesets",
     .shown = "Microsoft.Compute/virtualMachineScaleSets",
     .etags = EtagForm::Number,
     .conflict_code = kComputeConflict,
     .long_running = true},
    {.type = "microsoft.compute/virtualmachines",
     .shown = "Microsoft.Compute/virtualMachines",
     .etags = EtagForm::Number,
     .conflict_code = kComputeConflict,
     .long_running = true},
    {.type = "microsoft.network/networksecuritygroups",
     .shown = "Microsoft.Network/networkSecurityGroups",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .child_type = "securityrules",
     .child_member = "securityRules",
     .child_lock = ChildLock::Own,
     .long_running = true},
    {.type = "microsoft.network/virtualnetworks",
     .shown = "Microsoft.Network/virtualNetworks",
     .etags = EtagForm::WeakGuid,
     .conflict_code = kNetworkConflict,
     .child_type = "subnets",
     .child_member = "subnets",
     .long_running = true},
    {.type = "microsoft.storage/storageaccounts",
     .shown = "Microsoft.Storage/storageAccounts",
     .conflict_code = "StorageAccountOperationInProgress",
     .put_answer = PutAnswer::Accepted},
    {.type = "", .shown = "", .conflict_code = "Conflict"},
}};

}  // namespace

const ResourceType& resource_type(std::string_view lower_case_type) {
  for (const ResourceType& row : kTypes) {
    if (row.type == lower_case_type) return row;
  }
  return kTypes.back();
}

const ResourceType& group_type() { return kTypes.front(); }

}  // namespace armgate::sim
