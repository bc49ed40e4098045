// The shipped error table (conf/rules/errors.json), row by row, and what looks like a row and is none.
#include "proxy/policy/error_class.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "arm/arm_error.h"
#include "rules/file/rule_file.h"
#include "tests/support/shipped_errors.h"

namespace armgate::policy {
namespace {

TEST(ErrorStatus, TellsWhetherAWriteMayHaveTakenEffect) {
  for (const int status : {408, 500, 502, 503, 504}) EXPECT_TRUE(may_have_had_effect(status)) << status;
  for (const int status : {200, 400, 404, 409, 412, 429, 501, 508}) EXPECT_FALSE(may_have_had_effect(status)) << status;
}

// Every status and code of every entry that is not final, with a message that the entry asks for.
TEST(ErrorTable, EveryShippedRowMatchesWhatItNames) {
  size_t tried = 0;
  for (const auto& rule : shipped().rules()) {
    std::string message = rule.message_any.empty() ? "m" : "It says: " + rule.message_any.front() + ".";
    for (const auto& part : rule.message_all) message += " " + part;
    for (const int status : rule.statuses) {
      for (const auto& code : rule.codes) {
        EXPECT_EQ(classify(status, error(code, message)).kind, rule.kind) << rule.place.line << ": " << status << " " << code;
        if (rule.kind != ErrorClass::Propagation) {
          EXPECT_EQ(classify(status, error("Else", "m", code, message)).kind, rule.kind) << rule.place.line << ": " << code;
        }
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 40u);
}

// An entry that another one takes everything from says nothing, however right it is.
TEST(ErrorTable, EveryEntryDecidesByItselfAboutAllThatItNames) {
  for (const auto& rule : shipped().rules()) {
    std::string message = rule.message_any.empty() ? "m" : rule.message_any.front();
    for (const auto& part : rule.message_all) message += " " + part;
    arm::ResponseHead head;
    if (!rule.header_name.empty()) head.fields.add(rule.header_name, rule.header_value);
    for (const auto& code : rule.codes) {
      for (const int status : rule.statuses) {
        head.status = status;
        const auto* decides = shipped().find(head, arm::ArmError{code, message, {}, {}}, OwnPrecondition::Absent);
        ASSERT_NE(decides, nullptr) << rule.place.line;
        EXPECT_EQ(decides->place.line, rule.place.line) << status << " " << code;
      }
    }
  }
}

TEST(ErrorTable, EveryRowWithAMessageNeedsItsMessage) {
  for (const auto& rule : shipped().rules()) {
    if (rule.message_any.empty() && rule.message_all.empty()) continue;
    if (rule.kind == ErrorClass::Final) continue;
    for (const int status : rule.statuses) {
      for (const auto& code : rule.codes) {
        EXPECT_EQ(classify(status, error(code, "It is not allowed.")).kind, ErrorClass::Final)
            << rule.place.line << ": " << code;
      }
    }
  }
}

TEST(ErrorTable, KnowsWhatIsBusyInEverySpelling) {
  expect_all(
      ErrorClass::Busy,
      {
          {"Compute", 409, error("ConflictingConcurrentWriteNotAllowed")},
          {"Network", 409, error("AnotherOperationInProgress")},
          {"any case", 409, error("anotheroperationinprogress")},
          {"as a detail", 409, error("Conflict", "m", "AnotherOperationInProgress")},
          {"without an error member", 409, R"({"code":"AnotherOperationInProgress","message":"m"})"},
          {"capitals", 409, R"({"Code":"AnotherOperationInProgress","Message":"m"})"},
          {"the hub's 400", 400, error("AnotherOperationInProgress")},
          {"as a 429", 429, error("AnotherOperationInProgress")},
          {"Network's 429", 429, error("RetryableError", "A retryable error occurred.", "RetryableErrorDueToAnotherOperation")},
          {"storage", 409, error("StorageAccountOperationInProgress")},
          {"storage behind a private endpoint", 429, error("RetryableError", "m", "StorageAccountOperationInProgress")},
          {"AKS", 409,
           error("OperationNotAllowed",
                 "Operation is not allowed: Another operation (Updating) is in progress, please wait "
                 "for it to finish. See https://aka.ms/aks-pending-operation for more details.")},
          {"AKS, in its other words", 409, error("OperationNotAllowed", "there's an in progress update agent pool operation")},
          {"AKS' own race", 409, error("EtagMismatch", "Operation is not allowed: Etag mismatched")},
          {"Web", 409,
           R"({"Code":"Conflict","Message":"Cannot modify this site because another operation is in progress. Details: Id: 1",
                       "Details":[{"ErrorEntity":{"ExtendedCode":"59203","Code":"Conflict"}}]})"},
          {"ServiceBus", 409, error("Conflict", "Conflict. SubCode=40901. Another conflicting operation")},
          {"ServiceBus, as a 429", 429,
           error("MessagingGatewayTooManyRequests", "SubCode=40901. Another conflicting operation is in progress.")},
          {"the same of one entity", 429, error("429", "Another update request is in progress for the entity 'q'.")},
          {"SQL's subscription", 429, error("ConflictingSubscriptionOperation")},
          {"SQL's instance", 400, error("ManagedInstanceOperationInProgress")},
          {"API Management's service", 409, error("ServiceLocked", "The service is transitioning at this time.")},
          {"backup", 400, error("BMSUserErrorObjectLocked")},
          {"an interface", 400, error("NicReservedForAnotherVm", "reserved for another Virtual Machine for 180 seconds")},
          {"Cognitive Services", 409,
           error("RequestConflict", "Another operation is being performed on the parent resource '...'.")},
          {"Redis", 409, error("Conflict", "The resource is busy, try again later.")},
          {"Cosmos, with a 412", 412,
           error(
               "PreconditionFailed",
               "There is already another user operation in progress which requires exclusive lock on account. Please retry after sometime.")},
          {"Web's plan", 429,
           R"({"Code":"429","Message":"Cannot acquire exclusive lock to create or update this server farm."})"},
          {"deployment", 409, error("DeploymentActive")},
          {"identity", 409, error("ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity")},
      });
}

TEST(ErrorTable, TellsDependenciesFromConflicts) {
  expect_all(
      ErrorClass::Dependency,
      {
          {"Network's 429", 429, error("RetryableError", "A retryable error occurred.", "ReferencedResourceNotProvisioned")},
          {"peering", 400, error("ReferencedResourceNotProvisioned")},
          {"AKS' network", 409, error("VirtualNetworkNotInSucceededState")},
          {"an endpoint's account", 400, error("AccountProvisioningStateInvalid", "Account a in state Accepted")},
      });
  expect_all(ErrorClass::Superseded,
             {
                 {"Network", 409, error("CanceledAndSupersededDueToAnotherOperation")},
                 {"as a detail", 409, error("Canceled", "m", "CanceledAndSupersededDueToAnotherOperation")},
                 {"Compute", 409, error("OperationPreempted")},
             });
}

TEST(ErrorTable, BelievesOnlyARMThatAGroupIsMissing) {
  expect_all(ErrorClass::Propagation,
             {
                 {"made by ARM", 404, error("ResourceGroupNotFound"), {{"x-ms-failure-cause", "gateway"}}},
                 {"any case", 404, error("ResourceGroupNotFound"), {{"X-Ms-Failure-Cause", "Gateway"}}},
                 {"no cause given", 404, error("ResourceGroupNotFound")},
             });
}

// What looks like a passing conflict and is none passes through at once, because a retry cannot help or would hide it.
TEST(ErrorTable, LetsLookAlikesPass) {
  expect_all(
      ErrorClass::Final,
      {
          {"quota", 409, error("OperationNotAllowed", "exceeding approved Total Regional Cores quota")},
          {"quota, however it is worded", 409,
           error("OperationNotAllowed", "Quota increase in progress: Cores quota exceeded")},
          {"AKS, not in this state", 409, error("OperationNotAllowed", "The cluster is stopped; start it first")},
          {"ServiceBus' throttling", 429,
           error("MessagingGatewayTooManyRequests", "SubCode=50004. The request was throttled.")},
          {"SQL's interruption, which had begun", 409, error("OperationInterrupted")},
          {"Compute's throttling", 429,
           error("OperationNotAllowed", "The server rejected the request because too many requests in progress")},
          {"lock by a person", 409, error("ScopeLocked")},
          {"lock by a person, told as a conflict", 409, error("Conflict", "Please retry later", "ScopeLocked")},
          {"registration", 409, error("MissingSubscriptionRegistration")},
          {"registration", 409, error("MissingRegistrationForLocation")},
          {"registration, azcore registers on it", 409, error("SubscriptionNotRegistered")},
          {"registration under way", 409, error("InvalidSubscriptionRegistrationState")},
          {"same assignment", 409, error("RoleAssignmentExists")},
          {"plain conflict", 409, error("Conflict", "The name is taken")},
          {"capacity", 409, error("AllocationFailed", "Please retry later")},
          {"the words in the message only", 409, error("Conflict", "AnotherOperationInProgress")},
          {"the code with something behind it", 409, error("AnotherOperationInProgressNot")},
          {"the code as a server error", 500, error("AnotherOperationInProgress")},
          {"the code as a success", 200, error("AnotherOperationInProgress")},
          {"throttled", 429, error("TooManyRequests")},
          {"throttled", 429, error("SubscriptionRequestsThrottled", "in progress")},
          {"broken inside", 500, error("InternalServerError")},
          {"API Management's 412 to an update without If-Match", 412, error("PreconditionFailed", "Etag is required")},
          {"a condition that failed in Cosmos", 412, error("PreconditionFailed", "Operation cannot be performed")},
          {"a name that is taken", 409, error("Conflict", "The name is taken, retry with another")},
          {"a vault that is deleted softly", 409, error("ConflictError", "A vault with the same name exists in deleted state")},
          {"a 412", 412, error("PreconditionFailed", "m", "PreconditionFailedEtagMismatch")},
          {"a 412 without a body", 412, ""},
          {"the race as a 412", 412, error("EtagMismatch")},
          {"a provider's own group 404", 404, error("ResourceGroupNotFound"), {{"x-ms-failure-cause", "service"}}},
          {"another 404", 404, error("ResourceNotFound"), {{"x-ms-failure-cause", "gateway"}}},
          {"the group's code as a 409", 409, error("ResourceGroupNotFound")},
      });
}

TEST(ErrorTable, AnETagOfTheClientsOwnIsItsOwnBusiness) {
  EXPECT_EQ(classify(409, error("EtagMismatch"), {}, OwnPrecondition::Present).kind, ErrorClass::Final);
  EXPECT_EQ(classify(409, error("AnotherOperationInProgress"), {}, OwnPrecondition::Present).kind, ErrorClass::Busy);
}

TEST(ErrorTable, TheFirstEntryThatFitsDecides) {
  rules::FaultList faults;
  auto own = rules::read_rule_book("mine.json", R"({"errors": [
    {"class": "final", "status": [409], "codes": ["StorageAccountOperationInProgress"]},
    {"class": "busy", "status": [409], "codes": ["MineIsBusy"], "message": {"contains_all": ["first", "SECOND"]}},
    {"class": "busy", "status": [409], "codes": ["Marked"], "header": {"name": "X-Mine", "value": "yes"}}]})",
                                   faults);
  ASSERT_TRUE(faults.empty());
  own.errors.insert(own.errors.end(), shipped().rules().begin(), shipped().rules().end());
  const ErrorTable both(own.errors);
  const auto kind = [&](std::string_view body, arm::Headers fields = {}) {
    arm::ResponseHead head;
    head.status = 409;
    head.fields = std::move(fields);
    return classify_error(both, head, body, OwnPrecondition::Absent, WallTime{}).kind;
  };
  EXPECT_EQ(kind(error("StorageAccountOperationInProgress")), ErrorClass::Final);
  EXPECT_EQ(kind(error("AnotherOperationInProgress")), ErrorClass::Busy);
  EXPECT_EQ(kind(error("MineIsBusy", "second, FIRST")), ErrorClass::Busy);
  EXPECT_EQ(kind(error("MineIsBusy", "first")), ErrorClass::Final);
  EXPECT_EQ(kind(error("MineIsBusy", "first", "Detail", "second")), ErrorClass::Busy) << "the messages together";
  EXPECT_EQ(kind(error("Marked"), {{"x-mine", "YES"}}), ErrorClass::Busy);
  EXPECT_EQ(kind(error("Marked"), {{"x-mine", "no"}}), ErrorClass::Final);
  EXPECT_EQ(kind(error("Marked")), ErrorClass::Final);
}

TEST(ErrorTable, AMessageWithoutEndIsReadInPart) {
  const std::string filler(1 << 20, 'o');
  EXPECT_EQ(classify(409, error("OperationNotAllowed", filler + " in progress")).kind, ErrorClass::Final);
  EXPECT_EQ(classify(409, error("OperationNotAllowed", "in progress " + filler)).kind, ErrorClass::Busy);
}

TEST(ClassifyError, WhatCannotBeReadIsNobodysBusiness) {
  const char* bodies[] = {"",
                          " ",
                          "null",
                          "[]",
                          "\"AnotherOperationInProgress\"",
                          "AnotherOperationInProgress",
                          "{",
                          R"({"error":"AnotherOperationInProgress"})",
                          R"({"error":{"code":409}})",
                          R"({"error":{"code":"AnotherOperationInProgress")",
                          R"({"error":{}})"};
  for (const int status : {404, 409, 500}) {
    for (const auto* body : bodies) {
      const auto facts = classify(status, body);
      EXPECT_EQ(facts.kind, ErrorClass::Final) << status << " " << body;
      EXPECT_TRUE(facts.operation_url.empty()) << body;
    }
  }
}

TEST(ClassifyError, TellsTheCodeForTheLogWhateverItMeans) {
  EXPECT_EQ(classify(409, error("ScopeLocked")).code, "ScopeLocked");
  EXPECT_EQ(classify(412, error("PreconditionFailed")).code, "PreconditionFailed");
  EXPECT_EQ(classify(200, error("ScopeLocked")).code, "");
}

TEST(ClassifyError, TellsTheLogWhatArmSaidOfAConflictButNoSecret) {
  const auto said = [](int status, const std::string& body) { return classify(status, body).message; };
  EXPECT_EQ(said(409, error("AnotherOperationInProgress", "It runs: https://m.azure.com/op?t=SECRET. Wait.")),
            "It runs: https://m.azure.com/op Wait.");
  EXPECT_EQ(said(412, error("PreconditionFailed", "Etag does not match.")), "Etag does not match.");
  EXPECT_EQ(
      said(429, error("RetryableError", "A retryable error occurred.", "ReferencedResourceNotProvisioned", "Cannot proceed.")),
      "A retryable error occurred. Cannot proceed.");
  EXPECT_EQ(said(409, error("AnotherOperationInProgress", std::string(5000, 'x'))).size(), 300u);
  EXPECT_EQ(said(400, error("InvalidParameter", "The password 'SECRET' is too short.")), "");
  EXPECT_EQ(said(409, error("ScopeLocked", "It is locked.")), "");
  EXPECT_EQ(said(200, error("AnotherOperationInProgress", "It runs.")), "");
}

TEST(ClassifyError, TellsWhenToComeBackFromTheHeaderElseTheMessage) {
  const auto body = error("AnotherOperationInProgress", "The request can be retried in 11 seconds");
  EXPECT_EQ(classify(409, body).come_back, std::chrono::seconds(11));
  EXPECT_EQ(classify(409, body, {{"Retry-After", "3"}}).come_back, std::chrono::seconds(3));
  EXPECT_EQ(classify(409, body, {{"Retry-After", "soon"}}).come_back, std::chrono::seconds(11));
  EXPECT_EQ(classify(409, error("AnotherOperationInProgress")).come_back, std::nullopt);
  EXPECT_EQ(classify(412, error("PreconditionFailed"), {{"Retry-After", "3"}}).come_back, std::nullopt);
  const auto detailed = error("RetryableError", "A retryable error occurred.", "RetryableErrorDueToAnotherOperation",
                              "Operation PutRouteTable is updating it. The call can be retried in 11 seconds.");
  EXPECT_EQ(classify(429, detailed).come_back, std::chrono::seconds(11));
}

TEST(ClassifyError, FindsTheRunningOperationsUrlInTheMessage) {
  struct Case {
    const char* message;
    const char* expected;
  };
  const Case cases[] = {
      {"use uri: https://m.azure.com/s/op?api-version=1&t=a%2Fb.", "https://m.azure.com/s/op?api-version=1&t=a%2Fb"},
      {"use uri: 'https://m.azure.com/op', please", "https://m.azure.com/op"},
      {"see https://m.azure.com/a https://m.azure.com/b", "https://m.azure.com/a"},
      {"see http://m.azure.com/op", ""},
      {"see https://", ""},
      {"see https://user@m.azure.com/op", ""},
      {"nothing", ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(classify(409, error("AnotherOperationInProgress", c.message)).operation_url, c.expected) << c.message;
  }
}

TEST(ClassifyError, FindsTheResourcesThatADependencyNames) {
  const std::string address = "/subscriptions/S/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/A";
  const std::string balancer = "/subscriptions/S/resourceGroups/g/providers/Microsoft.Network/loadBalancers/b";
  const auto facts =
      classify(429, error("RetryableError", "See https://m.azure.com/subscriptions/x.", "ReferencedResourceNotProvisioned",
                          "Cannot proceed with operation because resource " + address + " used by resource '" + balancer +
                              "' is not in Succeeded state: " + address + "."));
  ASSERT_EQ(facts.named.size(), 2u);
  EXPECT_EQ(facts.named[0].id, "/subscriptions/s/resourcegroups/g/providers/microsoft.network/publicipaddresses/a");
  EXPECT_EQ(facts.named[1].type, "microsoft.network/loadbalancers");
  EXPECT_TRUE(classify(409, error("AnotherOperationInProgress", address)).named.empty()) << "only where it is asked for";
  std::string many;
  for (int i = 0; i < 100; ++i) many += address + std::to_string(i) + " ";
  EXPECT_EQ(classify(400, error("ReferencedResourceNotProvisioned", many)).named.size(), 4u);
}

}  // namespace
}  // namespace armgate::policy
