// Conflicts beyond plain busy ones: a resource that is referred to is being worked on, or a later write took this one's place.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::conflicts_test {
namespace {

const std::string kState = R"({"etag":"W/\"1\"","properties":{"addressPrefix":"10.0.0.0/24","provisioningState":"Succeeded"}})";
const std::string kMoved = R"({"etag":"W/\"2\"","properties":{"addressPrefix":"10.1.0.0/24","provisioningState":"Succeeded"}})";
const std::string kWanted = R"({"properties":{"addressPrefix":"10.0.1.0/24"}})";
const std::string kRoutes =
    "/subscriptions/s/resourcegroups/g/providers/microsoft.network/routetables/r?api-version=2023-09-01";

std::string refused(std::string_view code, std::string_view message = "m", std::string_view detail = "") {
  return fmt::format(R"({{"error":{{"code":"{}","message":"{}","details":[{{"code":"{}","message":"{}"}}]}}}})", code, "m",
                     detail, message);
}

std::string depends_on(std::string_view id) {
  return refused("RetryableError",
                 fmt::format("Cannot proceed with operation because resource {} used by resource "
                             "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/"
                             "subnets/a is not in Succeeded state.",
                             id),
                 "ReferencedResourceNotProvisioned");
}

std::string in_state(std::string_view state) { return fmt::format(R"({{"properties":{{"provisioningState":"{}"}}}})", state); }

std::string delete_of(std::string_view target) { return "DELETE " + std::string(target); }

class Conflicts : public testing::Test {
 protected:
  void reads() {
    rig.arm(get(kSubnet), 200, {}, kState);
    rig.ask("one", get(kSubnet));
  }
  std::string reason_of(const arm::Response& answer) { return std::string(answer.head.fields.get("x-armgate-reason")); }
  StageRig rig;
};

TEST_F(Conflicts, WhatARefusalRefersToIsAskedUntilItIsReady) {
  reads();
  rig.arm(put(kSubnet), 429, {}, depends_on("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/routeTables/r"));
  rig.arm(get(kRoutes), 200, {}, in_state("Updating"));
  rig.arm(get(kRoutes), 200, {}, in_state("Succeeded"));
  rig.arm(get(kSubnet), 200, {}, kState);
  rig.arm(put(kSubnet), 200, {}, kState);
  const auto answer = rig.ask("one", put(kSubnet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(reason_of(answer), "arm-was-busy");
  EXPECT_EQ(rig.sent_field(5, "If-Match"), "W/\"1\"") << "the base's guard, not a newer one";
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(Conflicts, WhatHasFailedIsNotWaitedFor) {
  reads();
  const auto body = depends_on("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/routeTables/r");
  rig.arm(put(kSubnet), 429, {}, body);
  rig.arm(get(kRoutes), 200, {}, in_state("Failed"));
  const auto answer = rig.ask("one", put(kSubnet), kWanted);
  EXPECT_EQ(answer.head.status, 429);
  EXPECT_EQ(answer.body, body);
  EXPECT_EQ(reason_of(answer), "dependency-failed");
}

// Its own id and resources whose api-versions armgate cannot know are no reason to look anywhere: time has to do.
TEST_F(Conflicts, ADependencyThatCannotBeAskedIsBackedOffFrom) {
  for (const char* id : {"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/m",
                         "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/a"}) {
    reads();
    rig.arm(put(kSubnet), 400, {{"Retry-After", "2"}}, depends_on(id));
    rig.arm(get(kSubnet), 200, {}, kState);
    rig.arm(put(kSubnet), 200, {}, kState);
    EXPECT_EQ(rig.ask("one", put(kSubnet), kWanted).head.status, 200) << id;
    EXPECT_TRUE(rig.script_is_done());
  }
}

TEST_F(Conflicts, AChangeMeanwhileMakesTheWriteStaleAsAfterAnyConflict) {
  reads();
  rig.arm(put(kSubnet), 429, {},
          refused("RetryableError", "The call can be retried in 3 seconds.", "RetryableErrorDueToAnotherOperation"));
  rig.arm(get(kSubnet), 200, {}, kMoved);
  const auto answer = rig.ask("one", put(kSubnet), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(reason_of(answer), "changed-while-busy");
}

TEST_F(Conflicts, WhatWasSupersededGoesOnceMoreIfNothingHasChanged) {
  const auto body = refused("Canceled", "m", "CanceledAndSupersededDueToAnotherOperation");
  reads();
  rig.arm(put(kSubnet), 409, {}, body);
  rig.arm(get(kSubnet), 200, {}, kState);
  rig.arm(put(kSubnet), 409, {}, body);
  const auto answer = rig.ask("one", put(kSubnet), kWanted);
  EXPECT_EQ(answer.head.status, 409) << "once, not again and again: two writers would take turns";
  EXPECT_EQ(answer.body, body);
  EXPECT_EQ(reason_of(answer), "superseded");
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "W/\"1\"");
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(Conflicts, WhatWasSupersededByAChangeIsStale) {
  reads();
  rig.arm(put(kSubnet), 409, {}, refused("Canceled", "m", "CanceledAndSupersededDueToAnotherOperation"));
  rig.arm(get(kSubnet), 200, {}, kMoved);
  EXPECT_EQ(rig.ask("one", put(kSubnet), kWanted).head.status, 412);
}

TEST_F(Conflicts, WithoutAGuardASupersededWriteIsOver) {
  const auto body = refused("Canceled", "m", "CanceledAndSupersededDueToAnotherOperation");
  rig.arm(put(kSubnet), 409, {}, body);
  EXPECT_EQ(rig.ask("one", put(kSubnet), kWanted).body, body) << "blind";
  rig.arm(put(kSubnet), 409, {}, body);
  EXPECT_EQ(rig.ask("two", put(kSubnet), kWanted, {{"If-Match", "W/\"1\""}}).body, body) << "its own precondition";
  rig.arm(delete_of(kSubnet), 409, {}, body);
  EXPECT_EQ(rig.ask("one", delete_of(kSubnet)).body, body) << "a delete";
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(Conflicts, AMismatchOfTheClientsOwnETagIsItsOwnBusiness) {
  const auto body = refused("EtagMismatch");
  rig.arm(put(kSubnet), 409, {}, body);
  EXPECT_EQ(rig.ask("one", put(kSubnet), kWanted, {{"If-Match", "W/\"1\""}}).body, body);
  reads();
  rig.arm(put(kSubnet), 409, {}, body);
  rig.arm(get(kSubnet), 200, {}, kState);
  rig.arm(put(kSubnet), 200, {}, kState);
  EXPECT_EQ(rig.ask("one", put(kSubnet), kWanted).head.status, 200) << "a race inside the service";
}

TEST_F(Conflicts, AMismatchOfTheClientsOwnETagOnADeleteOrAPatchIsToo) {
  const auto body = refused("EtagMismatch");
  for (const std::string& request : {delete_of(kSubnet), patch(kSubnet)}) {
    rig.arm(request, 409, {}, body);
    const auto answer =
        rig.ask("one", request, request.starts_with("PATCH") ? R"({"tags":{"a":"b"}})" : "", {{"If-Match", "W/\"1\""}});
    EXPECT_EQ(answer.body, body) << request;
    EXPECT_EQ(answer.head.status, 409) << request;
  }
}

TEST_F(Conflicts, WithoutTheTableNothingIsSentAgain) {
  rig.shared().rules.replace(std::make_shared<const rules::Ruleset>(std::vector<rules::Rule>{
                                 *rig.shared().rules.make_plan(arm::Method::Put, kSubnet)->plan->rule}),
                             rules::Mode::Protect);
  const auto body = refused("AnotherOperationInProgress");
  rig.arm(delete_of(kSubnet), 409, {}, body);
  EXPECT_EQ(rig.ask("one", delete_of(kSubnet)).body, body);
}

}  // namespace
}  // namespace armgate::world::conflicts_test
