#include "sim/error_catalogue.h"

namespace armgate::sim {
namespace {

constexpr auto kNothing = RefusalMeans::Nothing;

constexpr Refusal kRefusals[] = {
    {.name = "busy-compute",
     .body = R"({"error":{"code":"ConflictingConcurrentWriteNotAllowed","message":"The operation was interrupted by a )"
             R"(conflicting concurrent write on the same entity. Please retry later."}})"},
    {.name = "busy-network",
     .body = R"({"error":{"code":"AnotherOperationInProgress","message":"Another operation on this or dependent resource )"
             R"(is in progress."}})"},
    {.name = "busy-network-throttled",
     .status = 429,
     .body = R"({"error":{"code":"RetryableError","message":"A retryable error occurred.","details":[{"code":)"
             R"("RetryableErrorDueToAnotherOperation","message":"Operation PutRouteTableOperation (a) is updating resource. )"
             R"(The call can be retried in 1 seconds."}]}})"},
    {.name = "busy-hub",
     .status = 400,
     .body = R"({"error":{"code":"AnotherOperationInProgress","message":"Another operation is in progress on the hub."}})"},
    {.name = "busy-storage",
     .body = R"({"error":{"code":"StorageAccountOperationInProgress","message":"An operation is currently performing on )"
             R"(this storage account that requires exclusive access."}})"},
    {.name = "busy-storage-throttled",
     .status = 429,
     .body = R"({"error":{"code":"RetryableError","message":"A retryable error occurred.","details":[{"code":)"
             R"("StorageAccountOperationInProgress","message":"Call to the account failed."}]}})",
     .retry_after = "1"},
    {.name = "busy-cluster",
     .body = R"({"code":"OperationNotAllowed","message":"Operation is not allowed: Another operation (Updating) is in )"
             R"(progress, please wait for it to finish before starting a new operation. See )"
             R"(https://aka.ms/aks-pending-operation for more details","subcode":"PutAgentPool"})"},
    {.name = "busy-cluster-etag",
     .body = R"({"error":{"code":"EtagMismatch","message":"Etag mismatched. Another operation is in progress."}})"},
    {.name = "busy-concurrent-request",
     .body = R"({"error":{"code":"Conflict","message":"The request failed due to conflict with a concurrent request. To )"
             R"(resolve it, please refer to https://aka.ms/activitylog to get more details."}})"},
    {.name = "busy-credentials",
     .body = R"({"error":{"code":"ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity","message":"Too )"
             R"(many Federated Identity Credentials are written concurrently."}})"},
    {.name = "busy-deployment",
     .body = R"({"error":{"code":"DeploymentActive","message":"Unable to edit or replace deployment 'd': previous )"
             R"(deployment is still active."}})"},
    {.name = "busy-container-app",
     .body = R"({"error":{"code":"ContainerAppOperationInProgress","message":"Cannot modify a container app because )"
             R"(there is a provisioning operation in progress."}})"},
    {.name = "busy-sql",
     .body = R"({"error":{"code":"ConflictingServerOperation","message":"An operation is currently in progress for the )"
             R"(server."}})"},
    {.name = "busy-sql-number",
     .body = R"({"error":{"code":"40802","message":"A service objective assignment is already in progress."}})"},
    {.name = "busy-postgres", .body = R"({"error":{"code":"ServerIsBusy","message":"The server is busy."}})"},
    {.name = "busy-web",
     .body = R"({"Code":"Conflict","Message":"Cannot modify this site because another operation is in progress. Details: )"
             R"(Id: 1.","Target":null,"Details":[{"Message":"Cannot modify this site."},{"Code":"Conflict"},{"ErrorEntity":)"
             R"({"ExtendedCode":"59203","Code":"Conflict"}}],"Innererror":null})"},
    {.name = "busy-plan",
     .body = R"({"Code":"Conflict","Message":"Cannot modify this web hosting plan because another operation is in progress. )"
             R"(Details: Id: 1.","Target":null,"Details":[{"Message":"Cannot modify this web hosting plan."},{"Code":)"
             R"("Conflict"},{"ErrorEntity":{"ExtendedCode":"59205","Code":"Conflict"}}],"Innererror":null})"},
    {.name = "busy-plan-throttled",
     .status = 429,
     .body = R"({"Code":"429","Message":"Cannot acquire exclusive lock to create or update this server farm. Retry the )"
             R"(request later.","Target":null})"},
    {.name = "busy-site-throttled",
     .status = 429,
     .body = R"({"Code":"429","Message":"Cannot create, update or delete this site now.","Target":null,"Details":[{"Code":)"
             R"("429"},{"ErrorEntity":{"ExtendedCode":"59206","Code":"429"}}]})"},
    {.name = "busy-zone",
     .body = R"({"code":"Conflict","message":"Operation group '\/operations\/groups\/id\/|zones|example.com|A|www' already )"
             R"(has 1 operations like '\/operations\/type\/DeleteAliasRecordSet\/id\/1' queued."})"},
    {.name = "busy-resolver",
     .body = R"({"error":{"code":"Conflict","message":"Another operation is pending on the specified resource."}})"},
    {.name = "busy-traffic",
     .body = R"({"error":{"code":"Conflict","message":"Conflicting changes were detected when processing the request. )"
             R"(Please retry your request."}})"},
    {.name = "busy-api",
     .body = R"({"error":{"code":"PessimisticConcurrencyConflict","message":"Operation on the API is in progress",)"
             R"("details":null}})"},
    {.name = "busy-store",
     .body = R"({"error":{"code":"Conflict","message":"The request for the resource 's' conflicted with an ongoing )"
             R"(operation."}})"},
    {.name = "busy-vault",
     .body = R"({"error":{"code":"ConflictError","message":"A conflict occurred that prevented the operation from )"
             R"(completing. The operation failed because the Key Vault 'v' changed from the point the operation began."}})"},
    {.name = "busy-cognitive",
     .body = R"({"error":{"code":"RequestConflict","message":"Another operation is being performed on the parent )"
             R"(resource."}})"},
    {.name = "busy-bus",
     .body = R"({"error":{"message":"SubCode=40901. Another conflicting operation is in progress.","code":)"
             R"("MessagingGatewayConflict"}})"},
    {.name = "busy-redis", .body = R"({"error":{"code":"Conflict","message":"The resource is busy, try again later."}})"},
    {.name = "dependency-peering",
     .status = 400,
     .body = R"({"error":{"code":"ReferencedResourceNotProvisioned","message":"Cannot proceed with operation since )"
             R"(resource is not in Succeeded state."}})"},
    {.name = "dependency-throttled",
     .status = 429,
     .body = R"({"error":{"code":"RetryableError","message":"A retryable error occurred.","details":[{"code":)"
             R"("ReferencedResourceNotProvisioned","message":"Cannot proceed with operation because a resource is not in )"
             R"(Succeeded state."}]}})"},
    {.name = "dependency-network",
     .status = 400,
     .body = R"({"error":{"code":"VirtualNetworkNotInSucceededState","message":"The virtual network is in Updating )"
             R"(state."}})"},
    {.name = "superseded",
     .body = R"({"error":{"code":"CanceledAndSupersededDueToAnotherOperation","message":"Operation was canceled and )"
             R"(superseded by another one."}})"},
    {.name = "throttled",
     .means = kNothing,
     .status = 429,
     .body = R"({"error":{"code":"TooManyRequests","message":"The request is being throttled."}})",
     .retry_after = "1"},
    {.name = "throttled-compute",
     .means = kNothing,
     .status = 429,
     .body = R"({"error":{"code":"OperationNotAllowed","message":"The server rejected the request because too many )"
             R"(requests have been received for this subscription.","details":[{"code":"TooManyRequests","target":)"
             R"("HighCostGet3Min","message":"{}"}]}})",
     .retry_after = "1"},
    {.name = "quota",
     .means = kNothing,
     .body = R"({"error":{"code":"OperationNotAllowed","message":"Operation could not be completed as it results in )"
             R"(exceeding approved Total Regional Cores quota."}})"},
    {.name = "locked",
     .means = kNothing,
     .body = R"({"error":{"code":"ScopeLocked","message":"The scope cannot perform write operation because following )"
             R"(scope(s) are locked."}})"},
    {.name = "unregistered",
     .means = kNothing,
     .body = R"({"error":{"code":"MissingSubscriptionRegistration","message":"The subscription is not registered to use )"
             R"(namespace 'Microsoft.Compute'."}})"},
    {.name = "wrong-state",
     .means = kNothing,
     .body = R"({"error":{"code":"Conflict","message":"The resource is not in a state that allows this."}})"},
    // Cosmos: no condition failed, another operation runs. In its other words as well.
    {.name = "exclusive-lock-of-a-user",
     .status = 412,
     .body = R"({"code":"PreconditionFailed","message":"There is another user operation in progress which requires an )"
             R"(exclusive lock on [a]. Please retry after sometime."})"},
    {.name = "exclusive-lock",
     .status = 412,
     .body = R"({"code":"PreconditionFailed","message":"There is already an operation in progress which requires )"
             R"(exclusive lock on this service. Please retry the operation after sometime."})"},
    // Of a group that nobody saw made.
    {.name = "no-group",
     .means = kNothing,
     .status = 404,
     .body = R"({"error":{"code":"ResourceGroupNotFound","message":"Resource group 'g' could not be found."}})"},
    {.name = "no-body", .means = kNothing, .body = ""},
    {.name = "null", .means = kNothing, .body = "null"},
    {.name = "page", .means = kNothing, .body = "<html><body>409 Conflict</body></html>"},
};

}  // namespace

std::span<const Refusal> all_refusals() { return kRefusals; }

const Refusal* find_refusal(std::string_view name) {
  for (const Refusal& refusal : kRefusals) {
    if (refusal.name == name) return &refusal;
  }
  return nullptr;
}

arm::Response refusal_answer(const Refusal& refusal) {
  arm::Response answer;
  answer.head.status = refusal.status;
  const bool page = refusal.body.starts_with("<");
  if (!refusal.body.empty()) answer.head.fields.add("Content-Type", page ? "text/html" : "application/json");
  if (!refusal.retry_after.empty()) answer.head.fields.add("Retry-After", refusal.retry_after);
  answer.body = refusal.body;
  return answer;
}

}  // namespace armgate::sim
