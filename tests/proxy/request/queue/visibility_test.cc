// What was created a moment ago and is not known everywhere is waited for, and nothing else (docs/design.md, "Propagation").
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::visibility_test {
namespace {

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kWanted = R"({"sku":{"capacity":5}})";
const std::string kNoGroup = R"({"error":{"code":"ResourceGroupNotFound","message":"Resource group 'g' could not be found."}})";
const std::string kProvider = "/subscriptions/s/resourceGroups/g/providers/";

std::string error(std::string_view code, std::string_view message = "No.") {
  return R"({"error":{"code":")" + std::string(code) + R"(","message":")" + std::string(message) + R"("}})";
}

TEST(GroupVisibility, AGroupThatWasJustCreatedIsWaitedFor) {
  StageRig rig;
  rig.arm(put(kGroup), 201, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.arm(put(kScaleSet), 404, {{"x-ms-failure-cause", "gateway"}}, kNoGroup);
  rig.arm(put(kScaleSet), 404, {{"x-ms-failure-cause", "gateway"}}, kNoGroup);
  rig.arm(put(kScaleSet), 201, etag("\"1\""), kState);
  rig.ask("one", put(kGroup), R"({"location":"westeurope"})");
  const auto answer = rig.ask("two", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 201);
  EXPECT_EQ(answer.head.fields.get("x-armgate-waited-ms"), "1500") << "the first pauses are short";
  EXPECT_EQ(answer.head.fields.get("x-armgate-attempts"), "3");
}

TEST(GroupVisibility, WithoutEvidenceARealTypoIsFast) {
  StageRig rig;
  rig.arm(put(kScaleSet), 404, {{"x-ms-failure-cause", "gateway"}}, kNoGroup);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).body, kNoGroup);
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(GroupVisibility, ADeletedGroupIsNoEvidence) {
  StageRig rig;
  rig.arm(put(kGroup), 201, {}, "{}");
  rig.arm("DELETE ", 202, {});
  rig.arm(put(kScaleSet), 404, {{"x-ms-failure-cause", "gateway"}}, kNoGroup);
  rig.ask("one", put(kGroup), R"({"location":"westeurope"})");
  rig.ask("one", "DELETE " + std::string(kGroup));
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 404);
}

TEST(GroupVisibility, BeyondTheClientsQueueTimeoutItIsAskedToComeAgainAndTheTriesGoOn) {
  StageRig rig;
  rig.arm(put(kGroup), 201, {}, "{}");
  rig.ask("one", put(kGroup), R"({"location":"westeurope"})");
  for (int i = 0; i < 13; ++i) rig.arm(put(kScaleSet), 404, {}, kNoGroup);  // after 0, 0.5, 1.5, 3.5, 7.5 ... 47.5 seconds
  const auto busy = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(busy.head.status, 503);
  EXPECT_TRUE(busy.head.fields.has("Retry-After"));
  for (int i = 0; i < 2; ++i) rig.arm(put(kScaleSet), 404, {}, kNoGroup);
  const auto last = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(last.head.status, 404) << "as long as twelve tries 5 s apart take, then ARM's last answer";
  EXPECT_EQ(last.body, kNoGroup);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(ParentVisibility, AParentThatWasJustCreatedIsWaitedFor) {
  const std::string network = kProvider + "Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  StageRig rig;
  rig.arm(put(network), 201, etag("W/\"1\""), kState);
  rig.arm(put(kSubnet), 404, {}, error("ParentResourceNotFound"));
  rig.arm(put(kSubnet), 201, {}, kState);
  rig.ask("one", put(network), R"({"location":"westeurope"})");
  const auto answer = rig.ask("two", put(kSubnet), "{}");
  EXPECT_EQ(answer.head.status, 201);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "waited-for-the-parent-to-appear");
  EXPECT_EQ(answer.head.fields.get("x-armgate-waited-ms"), "500");
}

TEST(ParentVisibility, WhatNobodyMakesIsThereWithItsParent) {
  const std::string account = kProvider + "Microsoft.Storage/storageAccounts/a";
  const std::string container = account + "/blobServices/default/containers/c?api-version=2023-01-01";
  StageRig rig;
  rig.arm(put(account + "?api-version=2023-01-01"), 201, {}, kState);
  rig.arm(put(container), 404, {}, error("ParentResourceNotFound"));
  rig.arm(put(container), 201, {}, kState);
  rig.ask("one", put(account + "?api-version=2023-01-01"), R"({"location":"westeurope"})");
  EXPECT_EQ(rig.ask("two", put(container), "{}").head.status, 201);
}

TEST(ParentVisibility, OneThatNobodyCreatedIsAMistake) {
  StageRig rig;
  rig.arm(put(kSubnet), 404, {}, error("ParentResourceNotFound"));
  EXPECT_EQ(rig.ask("two", put(kSubnet), "{}").head.status, 404);
  EXPECT_EQ(rig.seen().size(), 1u);
}

// That the group came into being a moment ago says nothing about a network that nobody has made; and whoever makes it must not wait.
TEST(ParentVisibility, WhatStandsAboveTheParentIsNoEvidence) {
  StageRig rig;
  rig.arm(put(kGroup), 201, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.arm(put(kSubnet), 404, {}, error("ParentResourceNotFound"));
  rig.ask("one", put(kGroup), R"({"location":"westeurope"})");
  const auto answer = rig.ask("two", put(kSubnet), "{}");
  EXPECT_EQ(answer.head.status, 404);
  EXPECT_EQ(answer.body, error("ParentResourceNotFound"));
  EXPECT_EQ(rig.seen().size(), 2u);
}

TEST(ReferenceVisibility, WhatTheMessageNamesIsWaitedForIfItWasJustCreated) {
  const std::string gateway = kProvider + "Microsoft.Network/natGateways/x";
  const std::string refusal =
      error("InvalidResourceReference", "Resource " + gateway + " referenced by resource was not found.");
  for (const bool created : {true, false}) {
    StageRig rig;
    if (created) {
      rig.arm(put(gateway), 201, etag("W/\"1\""), kState);
      rig.ask("one", put(gateway + "?api-version=2023-09-01"), "{}");
    }
    rig.arm(put(kSubnet), 400, {}, refusal);
    if (created) rig.arm(put(kSubnet), 201, {}, kState);
    EXPECT_EQ(rig.ask("two", put(kSubnet), "{}").head.status, created ? 201 : 400);
    EXPECT_TRUE(rig.script_is_done());
  }
}

const std::string kIdentity = kProvider + "Microsoft.ManagedIdentity/userAssignedIdentities/i?api-version=2023-01-31";
const std::string kAssignment =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-000000000001"
    "?api-version=2022-04-01";
const std::string kRole = R"({"properties":{"roleDefinitionId":"x","principalId":"11111111-AAAA-1111-1111-111111111111"}})";

TEST(PrincipalVisibility, APrincipalThatCameWithAnIdentityIsWaitedFor) {
  StageRig rig;
  rig.arm(put(kIdentity), 201, {}, R"({"properties":{"principalId":"11111111-aaaa-1111-1111-111111111111"}})");
  rig.arm(put(kAssignment), 400, {}, error("PrincipalNotFound"));
  rig.arm(put(kAssignment), 201, {}, kRole);
  rig.ask("one", put(kIdentity), R"({"location":"westeurope"})");
  const auto answer = rig.ask("one", put(kAssignment), kRole);
  EXPECT_EQ(answer.head.status, 201);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "waited-for-the-principal-to-appear");
}

TEST(PrincipalVisibility, AnotherIsAMistake) {
  StageRig rig;
  rig.arm(put(kIdentity), 201, {}, R"({"properties":{"principalId":"22222222-aaaa-1111-1111-111111111111"}})");
  rig.arm(put(kAssignment), 400, {}, error("PrincipalNotFound"));
  rig.ask("one", put(kIdentity), R"({"location":"westeurope"})");
  EXPECT_EQ(rig.ask("one", put(kAssignment), kRole).head.status, 400);
}

// A token whose object id is 11111111-aaaa-1111-1111-111111111111, unsigned: {"alg":"none"}.{"tid":"t","oid":"..."}.
const std::string kToken =
    "Bearer eyJhbGciOiJub25lIn0.eyJ0aWQiOiJ0Iiwib2lkIjoiMTExMTExMTEtYWFhYS0xMTExLTExMTEtMTExMTExMTExMTExIn0.x";

TEST(RoleVisibility, ARoleThatWasJustGivenIsWaitedForByWhomItWasGivenTo) {
  StageRig rig;
  rig.arm(put(kAssignment), 201, {}, kRole);
  rig.ask("owner", put(kAssignment), kRole);
  rig.arm("PATCH ", 403, {}, error("AuthorizationFailed"));
  rig.arm("PATCH ", 200, {}, kState);
  const auto answer = rig.ask("app", patch(kScaleSet), "{}", {{"Authorization", kToken}});
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "waited-for-the-role-to-hold");
}

TEST(RoleVisibility, OthersAndOtherScopesAreForbiddenAtOnce) {
  StageRig rig;
  rig.arm(put(kAssignment), 201, {}, kRole);
  rig.ask("owner", put(kAssignment), kRole);
  rig.arm("PATCH ", 403, {}, error("AuthorizationFailed"));
  EXPECT_EQ(rig.ask("other", patch(kScaleSet), "{}").head.status, 403);
  rig.arm("PATCH ", 403, {}, error("AuthorizationFailed"));
  const std::string elsewhere =
      "PATCH /subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version=2024-07-01";
  EXPECT_EQ(rig.ask("app", elsewhere, "{}", {{"Authorization", kToken}}).head.status, 403);
  EXPECT_TRUE(rig.script_is_done());
}

}  // namespace
}  // namespace armgate::world::visibility_test
