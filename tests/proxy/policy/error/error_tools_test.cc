// What the three tools answer to that retry most by themselves, code by code, against the shipped table: the Azure Service Operator (its
// error classifier at 1d20e16), terraform-provider-azurerm (its retries by type) and ARO-RP (IsRetryableError). Where armgate does not
// wait although they do, the row's name says why.
#include "tests/support/shipped_errors.h"

namespace armgate::policy {
namespace {

TEST(ErrorTable, ReplaysWhatTheAzureServiceOperatorRetries) {
  expect_all(ErrorClass::Busy,
             {{"", 409, error("AnotherOperationInProgress")},
              {"Redis", 409, error("Conflict", "... try again later")},
              {"#1274", 409, error("ConflictingServerOperation")},
              {"#4650", 409, error("Conflict", "Another operation is pending for requested object.")},
              {"#4668", 409, error("Conflict", "Conflicting changes were detected when processing the request.")}});
  expect_all(ErrorClass::Propagation, {{"", 404, error("ResourceGroupNotFound")},
                                       {"", 404, error("ParentResourceNotFound")},
                                       {"", 400, error("PrincipalNotFound")},
                                       {"", 400, error("InvalidResourceReference")},
                                       {"", 400, error("FailedIdentityOperation")},
                                       {"a fleet's member", 400, error("DependentResourceNotFound", "... ARM caches")},
                                       {"the same", 404, error("DependentResourceNotFound")},
                                       {"", 403, error("AuthorizationFailed")},
                                       {"", 403, error("LinkedAuthorizationFailed")}});
  expect_all(ErrorClass::Final, {
                                    {"azcore registers on it", 409, error("MissingSubscriptionRegistration")},
                                    {"the same", 409, error("MissingRegistrationForLocation")},
                                    {"the same", 409, error("NoRegisteredProviderFound")},
                                    {"the same", 409, error("SubscriptionNotRegistered")},
                                    {"the same", 409, error("InvalidSubscriptionRegistrationState")},
                                    {"capacity does not come back in seconds", 409, error("AllocationFailed")},
                                    {"nor does quota", 409, error("ResourceQuotaExceeded")},
                                    {"a person has to unlock it", 409, error("ScopeLocked")},
                                    {"may never come", 404, error("ResourceNotFound")},
                                    {"the same", 404, error("NotFound")},
                                    {"not in this state, mostly for good", 409, error("Conflict", "The name is taken")},
                                });
}

TEST(ErrorTable, GivesUpWhereTheAzureServiceOperatorDoes) {
  for (const char* code : {"BadRequestFormat",
                           "BadRequest",
                           "PublicIpForGatewayIsRequired",
                           "InvalidParameter",
                           "InvalidParameterValue",
                           "InvalidResourceGroupLocation",
                           "InvalidResourceType",
                           "InvalidRequestContent",
                           "InvalidTemplate",
                           "InvalidValuesForRequestParameters",
                           "InvalidGatewaySkuProvidedForGatewayVpnType",
                           "InvalidGatewaySize",
                           "LocationRequired",
                           "MethodNotAllowed",
                           "MissingRequiredParameter",
                           "PasswordTooLong",
                           "PrivateIPAddressInReservedRange",
                           "PrivateIPAddressNotInSubnet",
                           "PropertyChangeNotAllowed",
                           "RegionIsOfferRestricted",
                           "RequestDisallowedByPolicy",
                           "ReservedResourceName",
                           "SkuNotAvailable",
                           "SubscriptionNotFound"}) {
    for (const int status : {400, 403, 404, 405, 409}) expect_all(ErrorClass::Final, {{code, status, error(code)}});
  }
}

TEST(ErrorTable, ReplaysWhatTheTerraformProviderRetries) {
  expect_all(
      ErrorClass::Busy,
      {
          {"private endpoints, #29351", 409, error("StorageAccountOperationInProgress")},
          {"the same behind Network", 429, error("RetryableError", "m", "StorageAccountOperationInProgress")},
          {"gateways, #21293", 429, error("RetryableError", "m", "RetryableErrorDueToAnotherOperation")},
          {"credentials, #19968", 409, error("ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity")},
          {"API Management, #8571", 409, error("PessimisticConcurrencyConflict", "Operation on the API is in progress")},
          {"App Configuration, #26224", 409,
           error("Conflict", "The request for the resource 'r' conflicted with an ongoing operation.")},
          {"a vault, PR 32095", 409, error("ConflictError", "The vault has changed from the point the operation began")},
          {"a plan, #600", 409,
           error("Conflict", "Cannot acquire exclusive lock to create, update or delete this server farm.")},
          {"a plan as throttling", 429, R"({"Code":"429","Message":"m","Details":[{"ErrorEntity":{"ExtendedCode":"59205"}}]})"},
          {"the same", 429, R"({"Code":"429","Message":"m","Details":[{"ErrorEntity":{"ExtendedCode":"59206"}}]})"},
          {"Cosmos, #15842", 412,
           error(
               "PreconditionFailed",
               "There is already another user operation in progress which requires exclusive lock on account a. Please retry")},
      });
  expect_all(ErrorClass::Dependency, {{"peerings", 400, error("ReferencedResourceNotProvisioned")}});
  expect_all(ErrorClass::Superseded, {{"disks, #6025", 409, error("OperationPreempted")}});
  expect_all(ErrorClass::Propagation,
             {{"assignments", 400, error("PrincipalNotFound")},
              {"endpoints, PR 16315", 400, error("InvalidPrivateLinkServiceId")},
              {"assignments again", 403, error("LinkedAuthorizationFailed")},
              {"groups, #18268", 404, error("ResourceGroupNotFound"), {{"x-ms-failure-cause", "gateway"}}}});
}

TEST(ErrorTable, ReplaysWhatARORetries) {
  expect_all(ErrorClass::Busy,
             {{"by its words", 409, error("Conflict", "Please retry later")},
              {"by its words", 409, error("ConflictingConcurrentWriteNotAllowed", "Please retry later.")},
              {"by its code", 429, error("RetryableError")},
              {"a cluster", 409, error("OperationNotAllowed", "in progress https://aka.ms/aks-pending-operation")}});
  expect_all(ErrorClass::Superseded, {{"a scale set", 409, error("OperationPreempted")}});
  expect_all(ErrorClass::Final, {
                                    {"clients obey Retry-After themselves", 429, error("TooManyRequests")},
                                    {"an identity that is not there may never be", 400, error("BadRequest", "AADSTS7000215")},
                                    {"hides any other error", 400, error("InvalidTemplateDeployment", "Authorization failed")},
                                });
}

}  // namespace
}  // namespace armgate::policy
