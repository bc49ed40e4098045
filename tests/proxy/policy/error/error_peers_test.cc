// The error tables of the three providers that are written to most, replayed against the shipped one.
#include "tests/support/shipped_errors.h"

namespace armgate::policy {
namespace {

// What the three providers answer that are written to most, as their users have reported it, and as those who retry by themselves
// read it (azurerm, the Azure Service Operator, cloud-provider-azure, ARO-RP): one table each, what passes and what does not.
TEST(ErrorTable, ReplaysWhatAKSAnswers) {
  const std::string pending = " https://aka.ms/aks-pending-operation";
  expect_all(
      ErrorClass::Busy,
      {
          {"Azure/AKS #2720", 409, error("OperationNotAllowed", "Another operation (Updating) is in progress." + pending)},
          {"Azure/AKS #1913", 409, R"({"code":"OperationNotAllowed","message":"in progress create managed cluster"})"},
          {"azapi #889", 409, error("EtagMismatch", "Operation is not allowed: Etag mismatched")},
          {"kaito #2075", 409, error("OriginalEtagNotExpect")},
      });
  expect_all(ErrorClass::Superseded, {{"recorded", 409, error("NotLatestOperation", "... can usually be retried")}});
  expect_all(ErrorClass::Dependency, {{"Azure/AKS #4522", 400, error("VirtualNetworkNotInSucceededState")}});
  expect_all(ErrorClass::Propagation, {{"a new cluster's pool", 404, error("ParentResourceNotFound")},
                                       {"an identity just made", 400, error("FailedIdentityOperation", "was not found")},
                                       {"a role just given", 403, error("LinkedAuthorizationFailed")}});
  expect_all(ErrorClass::Final,
             {
                 {"stopped", 409, error("OperationNotAllowed", "managed cluster is in (Stopped) state")},
                 {"quota", 400, error("QuotaExceeded", "Preflight validation check failed")},
                 {"quota, told as a conflict", 409, error("OperationNotAllowed", "Quota exceeding approved limit")},
                 {"a property that stays", 409, error("PropertyChangeNotAllowed")},
                 {"a stale If-Match", 412, error("PreconditionFailed", "Etag mismatch")},
                 {"throttled", 429, error("TooManyRequests")},
             });
}

TEST(ErrorTable, ReplaysWhatNetworkAnswers) {
  const std::string another = "RetryableErrorDueToAnotherOperation";
  const std::string unready = "ReferencedResourceNotProvisioned";
  expect_all(
      ErrorClass::Busy,
      {
          {"azapi #503", 409, error("AnotherOperationInProgress", "Another operation on this or dependent resource")},
          {"a hub", 400, error("AnotherOperationInProgress")},
          {"bosh-azure-cpi #179", 429, error("RetryableError", "A retryable error occured.", another)},
          {"an endpoint of an account", 409, error("RetryableError", "m", "StorageAccountOperationInProgress")},
          {"dnscontrol #4363", 409, R"({"code":"Conflict","message":"Another operation is pending for requested object."})"},
          {"a private zone", 409, error("Conflict", "already has 1 operations like '/operations/type/Upsert' queued.")},
          {"ASO #4668", 409, error("Conflict", "Conflicting changes were detected when processing the request. Please")},
      });
  expect_all(ErrorClass::Dependency,
             {{"terraform #7986", 429, error("RetryableError", "m", unready)}, {"peering", 400, error(unready)}});
  expect_all(ErrorClass::Superseded, {{"azure-cli #21156", 409, error("CanceledAndSupersededDueToAnotherOperation")}});
  expect_all(ErrorClass::Propagation, {{"a subnet just made", 400, error("InvalidResourceReference")},
                                       {"azurerm PR 16315", 400, error("InvalidPrivateLinkServiceId")}});
  expect_all(ErrorClass::Final,
             {
                 {"in use", 400, error("InUseSubnetCannotBeDeleted")},
                 {"in use by an interface", 400, error("PublicIPAddressCannotBeDeleted")},
                 {"a stale If-Match", 412, error("PreconditionFailed", "m", "PreconditionFailedEtagMismatch")},
                 {"broken inside", 500, error("NetworkingInternalOperationError")},
                 {"throttled", 429, error("SubscriptionRequestsThrottled")},
             });
}

TEST(ErrorTable, ReplaysWhatARMItselfAnswers) {
  expect_all(ErrorClass::Busy, {{"a deployment runs", 409, error("DeploymentActive")},
                                {"and cannot be changed", 409, error("DeploymentActiveAndUneditable")}});
  expect_all(ErrorClass::Propagation,
             {
                 {"azurerm #18268", 404, error("ResourceGroupNotFound"), {{"x-ms-failure-cause", "gateway"}}},
                 {"a principal just made", 400, error("PrincipalNotFound")},
                 {"azurerm #5038", 403, error("AuthorizationFailed")},
             });
  expect_all(ErrorClass::Final, {
                                    {"a lock by a person", 409, error("ScopeLocked")},
                                    {"the group is being deleted", 409, error("ResourceGroupBeingDeleted")},
                                    {"azcore registers on it", 409, error("MissingSubscriptionRegistration")},
                                    {"the assignment exists", 409, error("RoleAssignmentExists")},
                                    {"another location", 409, error("InvalidResourceGroupLocation")},
                                    {"a deployment that failed", 409, error("DeploymentFailed", "m", "Conflict")},
                                    {"too long", 504, error("GatewayTimeout")},
                                    {"throttled", 429, error("ResourceRequestsThrottled")},
                                });
}

}  // namespace
}  // namespace armgate::policy
