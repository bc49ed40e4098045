// Goal: what a write leads to, for every way in which it and others can meet. Method: bodies as ARM and its clients write them.
#include <gtest/gtest.h>

#include "tests/arm/body/compared.h"

namespace armgate::arm {
namespace {

struct Story {
  const char* name;
  std::string_view base, wanted, there;
  const char* leads_to;
};

void expect_verdicts(const std::vector<Story>& stories, const BodyFacts& facts = *BodyFacts::generic()) {
  for (const Story& story : stories) {
    EXPECT_EQ(words_for(compared({story.base, story.wanted, story.there}, facts).reconcile(0, 1, 2)), story.leads_to)
        << story.name;
  }
}

// ---- a scale set: an autoscaler, an image roller, tags ----

constexpr std::string_view kSetOf3 =
    R"({"name":"v","etag":"\"1\"","location":"westeurope","sku":{"name":"Standard_D2s_v5","capacity":3},"tags":{"team":"shop"},
  "properties":{"provisioningState":"Succeeded","upgradePolicy":{"mode":"Manual"},"virtualMachineProfile":{"storageProfile":{
  "imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v1"}}}}})";
constexpr std::string_view kSetOf5 =
    R"({"name":"v","etag":"\"2\"","location":"westeurope","sku":{"name":"Standard_D2s_v5","capacity":5},"tags":{"team":"shop"},
  "properties":{"provisioningState":"Updating","upgradePolicy":{"mode":"Manual"},"virtualMachineProfile":{"storageProfile":{
  "imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v1"}}}}})";
constexpr std::string_view kImage2On3 =
    R"({"location":"West Europe","sku":{"name":"Standard_D2s_v5","capacity":3},"tags":{"team":"shop"},
  "properties":{"upgradePolicy":{"mode":"Manual"},"virtualMachineProfile":{"storageProfile":{
  "imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v2"}}}}})";
constexpr std::string_view kSetOf4 =
    R"({"location":"westeurope","sku":{"name":"Standard_D2s_v5","capacity":4},"tags":{"team":"shop"},
  "properties":{"upgradePolicy":{"mode":"Manual"},"virtualMachineProfile":{"storageProfile":{
  "imageReference":{"id":"/subscriptions/S/resourcegroups/G/providers/Microsoft.Compute/images/v1"}}}}})";

TEST(Reconcile, AScaleSet) {
  expect_verdicts({
      {"nothing moved", kSetOf3, kImage2On3, kSetOf3, "send"},
      {"only the service wrote", kSetOf3, kSetOf4, R"({"id":"/subscriptions/s/x","name":"V","type":"M.C/v","etag":"9",
         "location":"westeurope","sku":{"name":"Standard_D2s_v5","capacity":3},"tags":{"team":"shop"},"properties":{
         "provisioningState":"Updating","timeCreated":"2026","upgradePolicy":{"mode":"Manual"},"virtualMachineProfile":{
         "storageProfile":{"imageReference":{"id":"/subscriptions/s/resourcegroups/g/providers/microsoft.compute/images/v1"}}}}})",
       "send"},
      {"a new image, and the autoscaler moved", kSetOf3, kImage2On3, kSetOf5, "merge /sku/capacity"},
      {"both count", kSetOf3, kSetOf4, kSetOf5, "conflict /sku/capacity"},
      {"both count to the same", kSetOf3, kSetOf5, kSetOf5, "conflict /sku/capacity"},
      {"what was read is written back, and it moved", kSetOf3, kSetOf3, kSetOf5, "conflict /sku/capacity"},
      {"what was read is written back", kSetOf3, kSetOf3, kSetOf3, "send"},
  });
  EXPECT_TRUE(compared({kSetOf3, kSetOf3, kSetOf5}).reconcile(0, 1, 2).changes_nothing);
  EXPECT_FALSE(compared({kSetOf3, kSetOf4, kSetOf5}).reconcile(0, 1, 2).changes_nothing);
}

// ---- a security group: rules of two pipelines ----

constexpr std::string_view kWeb =
    R"({"location":"westeurope","tags":{},"properties":{"provisioningState":"Succeeded","securityRules":[
  {"name":"web","id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/n/securityRules/web","etag":"W/\"1\"",
   "properties":{"priority":100,"access":"Allow","destinationPortRange":"443","sourceAddressPrefixes":[]}}]}})";
constexpr std::string_view kWebSsh =
    R"({"location":"westeurope","properties":{"provisioningState":"Succeeded","securityRules":[
  {"name":"ssh","properties":{"priority":110,"access":"Allow","destinationPortRange":"22"}},
  {"name":"web","etag":"W/\"2\"","properties":{"priority":100,"access":"Allow","destinationPortRange":"443"}}]}})";
constexpr std::string_view kWebDb =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"Web","properties":{"priority":100,"access":"Allow",
  "destinationPortRange":"443"}},{"name":"db","properties":{"priority":120,"access":"Allow","destinationPortRange":"5432"}}]}})";
constexpr std::string_view kWebSsh2222 =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"web","properties":{"priority":100,"access":"Allow",
  "destinationPortRange":"443"}},{"name":"ssh","properties":{"priority":110,"access":"Allow","destinationPortRange":"2222"}}]}})";
constexpr std::string_view kWeb8443 =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"web","properties":{"priority":100,"access":"Allow",
  "destinationPortRange":"8443"}}]}})";
constexpr std::string_view kWebDenied =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"web","properties":{"priority":100,"access":"Deny",
  "destinationPortRange":"443"}}]}})";
constexpr std::string_view kSsh =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"ssh","properties":{"priority":110,"access":"Allow",
  "destinationPortRange":"22"}}]}})";
constexpr std::string_view kNone = R"({"location":"westeurope","properties":{"securityRules":[]}})";
constexpr std::string_view kWebSshDb =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"web","properties":{"priority":100,"access":"Allow",
  "destinationPortRange":"443"}},{"name":"ssh","properties":{"priority":110,"access":"Allow","destinationPortRange":"22"}},
  {"name":"db","properties":{"priority":120,"access":"Allow","destinationPortRange":"5432"}}]}})";

TEST(Reconcile, ElementsWithAKeyOneByOne) {
  expect_verdicts({
      {"each adds a rule of its own", kWeb, kWebDb, kWebSsh, "merge /properties/securityRules/[name=ssh]"},
      {"both add the same rule", kWeb, kWebSsh, kWebSsh, "contained /properties/securityRules/[name=ssh]"},
      {"both add it, and the write one more", kWeb, kWebSshDb, kWebSsh, "contained /properties/securityRules/[name=ssh]"},
      {"both add a rule of one name, differently", kWeb, kWebSsh2222, kWebSsh, "conflict /properties/securityRules/[name=ssh]"},
      {"one leaf of one rule each", kWeb, kWeb8443, kWebDenied, "merge /properties/securityRules/[name=web]/properties/access"},
      {"the same leaf of one rule, to the same", kWeb, kWeb8443, kWeb8443,
       "conflict /properties/securityRules/[name=web]/properties/destinationPortRange"},
      {"one removes what another changed", kWebSsh, kSsh, kWebSsh2222,
       "merge /properties/securityRules/[name=ssh]/properties/destinationPortRange"},
      {"one removes the very rule that another changed", kWeb, kNone, kWeb8443,
       "conflict /properties/securityRules/[name=web]"},
      {"one changes the very rule that another removed", kWeb, kWeb8443, kNone,
       "conflict /properties/securityRules/[name=web]"},
      {"both remove the same rule", kWebSsh, kSsh, kSsh, "contained /properties/securityRules/[name=web]"},
      {"each removes another", kWebSsh, kSsh, kWeb, "merge /properties/securityRules/[name=ssh]"},
      {"the last one goes with its array", kWeb, R"({"location":"westeurope","properties":{"x":1}})", kWebSsh,
       "merge /properties/securityRules/[name=ssh]"},
  });
}

// ---- tags, and what is none of these ----

TEST(Reconcile, MapsMemberByMember) {
  expect_verdicts({
      {"each adds its own", R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1","b":"2"}})", R"({"tags":{"a":"1","c":"3"}})",
       "merge /tags/c"},
      {"both add the same", R"({"tags":{}})", R"({"tags":{"b":"2"}})", R"({"tags":{"b":"2"}})", "contained /tags/b"},
      {"both add one name, differently", "{}", R"({"tags":{"b":"2"}})", R"({"tags":{"b":"3"}})", "conflict /tags/b"},
      {"both change one to the same", R"({"tags":{"n":"3"}})", R"({"tags":{"n":"4"}})", R"({"tags":{"n":"4"}})",
       "conflict /tags/n"},
      {"both remove the same", R"({"tags":{"a":"1","b":"2"}})", R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1"}})",
       "contained /tags/b"},
      {"all of them, by leaving them out", R"({"tags":{"a":"1"},"x":1})", R"({"x":1})", R"({"tags":{"a":"1","b":"2"},"x":1})",
       "merge /tags/b"},
      {"one removes what another changed", R"({"tags":{"a":"1"}})", R"({"tags":{}})", R"({"tags":{"a":"2"}})",
       "conflict /tags/a"},
      {"an identity each", R"({"identity":{"userAssignedIdentities":{"/a":{"clientId":"1"}}}})",
       R"({"identity":{"userAssignedIdentities":{"/a":{},"/b":{}}}})",
       R"({"identity":{"userAssignedIdentities":{"/a":{"clientId":"1"},"/c":{"clientId":"2"}}}})",
       "merge /identity/userAssignedIdentities/~1c"},
  });
}

TEST(Reconcile, OrdinaryMembersAndArraysWithoutKeys) {
  expect_verdicts({
      {"a removal is a change", R"({"p":{"a":1,"b":1}})", R"({"p":{"a":1}})", R"({"p":{"a":2,"b":1}})", "merge /p/a"},
      {"both removed it", R"({"p":{"a":1,"b":1}})", R"({"p":{"a":1}})", R"({"p":{"a":1}})", "conflict /p/b"},
      {"removed here, changed there", R"({"p":{"a":1,"b":1}})", R"({"p":{"a":1}})", R"({"p":{"a":1,"b":2}})", "conflict /p/b"},
      {"what others added stays", R"({"p":{"a":1}})", R"({"p":{"a":2}})", R"({"p":{"a":1,"b":1}})", "merge /p/b"},
      {"both add the same leaf", R"({"p":{}})", R"({"p":{"b":1}})", R"({"p":{"b":1}})", "conflict /p/b"},
      {"an object each", R"({"p":{"x":1}})", R"({"p":{"x":1,"a":{"v":1}}})", R"({"p":{"x":1,"b":{"v":1}}})", "merge /p/b/v"},
      {"a list is one value", R"({"l":["a"],"x":1})", R"({"l":["a","b"],"x":1})", R"({"l":["a","c"],"x":1})", "conflict /l"},
      {"another place beside a list", R"({"l":["a"],"x":1})", R"({"l":["a","b"],"x":1})", R"({"l":["a"],"x":2})", "merge /x"},
      {"the list was cleared and left out", R"({"l":["a"],"x":1})", R"({"l":[],"x":1})", R"({"x":1})", "conflict /l"},
      {"null is leaving out", R"({"a":1,"b":null})", R"({"a":2})", R"({"a":1})", "send"},
  });
}

TEST(Reconcile, OrderThatCounts) {
  const BodyFacts facts({.arrays = {{"/rules", ArrayKind::Ordered, {"name"}}}});
  constexpr std::string_view kAB = R"({"rules":[{"name":"a","v":1},{"name":"b","v":1}]})";
  expect_verdicts(
      {
          {"one turns them round, one changes a leaf", kAB, R"({"rules":[{"name":"b","v":1},{"name":"a","v":1}]})",
           R"({"rules":[{"name":"a","v":2},{"name":"b","v":1}]})", "merge /rules/[name=a]/v"},
          {"both add: in which order?", kAB, R"({"rules":[{"name":"a","v":1},{"name":"c"},{"name":"b","v":1}]})",
           R"({"rules":[{"name":"a","v":1},{"name":"b","v":1},{"name":"d"}]})", "conflict /rules"},
      },
      facts);
}

TEST(Reconcile, NeighboursThatOnlyMoveBackReferencesAreNoChange) {
  const BodyFacts facts({.read_only = {"/properties/subnets", "/properties/subnets/*/properties/ipConfigurations"}});
  expect_verdicts(
      {{"a subnet was attached", R"({"tags":{},"properties":{"securityRules":[]}})", R"({"tags":{"a":"1"},"properties":{}})",
        R"({"properties":{"securityRules":[],"subnets":[{"id":"/subscriptions/s/x"}]}})", "send"}},
      facts);
}

// ---- what is not known ----

std::string partial(std::string_view base, std::string_view wanted, std::string_view there,
                    const BodyFacts& facts = *BodyFacts::generic()) {
  const ComparedBody bodies[] = {{base, BodyKind::Partial}, {wanted}, {there}};
  return words_for(Difference(bodies, facts).reconcile(0, 1, 2));
}

TEST(Reconcile, ABaseThatLeavesThingsOut) {
  constexpr std::string_view kListItem = R"({"p":{"a":1}})";
  EXPECT_EQ(partial(kListItem, R"({"p":{"a":2}})", R"({"p":{"a":1}})"), "send");
  EXPECT_EQ(partial(kListItem, R"({"p":{"a":2}})", R"({"p":{"a":1,"b":1}})"), "send unseen");
  EXPECT_EQ(partial(kListItem, R"({"p":{"a":2}})", R"({"p":{"a":3,"b":1}})"), "conflict /p/a unseen");
  EXPECT_EQ(partial(kListItem, R"({"p":{"a":2,"b":1}})", R"({"p":{"a":1,"b":1}})"), "send");
  EXPECT_EQ(partial(kListItem, R"({"p":{"a":1,"b":2}})", R"({"p":{"a":1}})"), "send");
  // Nobody showed it, so nobody may write over it.
  EXPECT_EQ(partial(kListItem, R"({"p":{"a":1,"b":2}})", R"({"p":{"a":1,"b":1}})"), "conflict /p/b");
  EXPECT_EQ(partial(kListItem, R"({"p":{"a":1,"b":null}})", R"({"p":{"a":1,"b":1}})"), "conflict /p/b");
  EXPECT_EQ(partial("{}", R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1","z":"1"}})"), "conflict /tags/z");
  EXPECT_EQ(partial("{}", R"({"x":1})", R"({"x":1,"tags":{"z":"1"}})"), "send unseen");
  // A map or an array that is there is there as a whole.
  EXPECT_EQ(partial(R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1","b":"2"}})", R"({"tags":{"a":"1","c":"3"}})"),
            "merge /tags/c");
}

TEST(Reconcile, SecretsThatAreNeverShown) {
  const BodyFacts facts({.write_only = {"/p/password"}});
  expect_verdicts(
      {
          {"set anew", R"({"p":{"a":1}})", R"({"p":{"a":1,"password":"x"}})", R"({"p":{"a":1}})", "send"},
          {"set anew with a change", R"({"p":{"a":1}})", R"({"p":{"a":2,"password":"x"}})", R"({"p":{"a":1,"b":1}})",
           "merge /p/b"},
          {"nothing else changed", R"({"p":{"a":1}})", R"({"p":{"a":1,"password":"x"}})", R"({"p":{"a":2}})", "conflict /p/a"},
          {"left out", R"({"p":{"a":1,"password":"x"}})", R"({"p":{"a":1}})", R"({"p":{"a":1}})", "send"},
      },
      facts);
  EXPECT_EQ(partial(R"({"p":{"a":1,"password":"x"}})", R"({"p":{"a":1,"password":"y"}})", R"({"p":{"a":1,"b":1}})", facts),
            "send unseen");
}

// A VNet from 2023-09-01 on: without "subnets" a PUT keeps them, with an empty list it removes them.
TEST(Reconcile, WhatAPutKeepsThatLeavesItOut) {
  const BodyFacts facts({.kept = {"/p/subnets"}});
  constexpr std::string_view kA = R"({"p":{"subnets":[{"name":"a"}]}})";
  constexpr std::string_view kAB = R"({"p":{"subnets":[{"name":"a"},{"name":"b"}]}})";
  expect_verdicts(
      {
          {"left out, and one was added", kA, R"({"p":{},"tags":{"t":"1"}})", kAB, "send"},
          {"left out, nothing else asked for", kA, R"({"p":{}})", kAB, "send"},
          {"left out, and something else moved", kA, R"({"p":{},"tags":{"t":"1"}})",
           R"({"p":{"x":1,"subnets":[{"name":"b"}]}})", "merge /p/x"},
          {"removed by an empty list", kAB, R"({"p":{"subnets":[]}})", R"({"p":{"subnets":[{"name":"a"},{"name":"c"}]}})",
           "merge /p/subnets/[name=b] /p/subnets/[name=c]"},
          {"removed by null while one changed", kA, R"({"p":{"subnets":null}})", R"({"p":{"subnets":[{"name":"a","v":1}]}})",
           "conflict /p/subnets/[name=a]"},
          {"the base left it out and the write does not", R"({"p":{}})", R"({"p":{"subnets":[{"name":"b"}]}})", kA,
           "conflict /p/subnets/[name=a]"},
      },
      facts);
  EXPECT_EQ(words_for(compared({kA, R"({"p":{}})", kAB}).reconcile(0, 1, 2)), "merge /p/subnets/[name=b]");  // without the fact
  const Difference difference = compared({R"({"p":{}})", R"({"p":{"subnets":[]}})", kA, kAB}, facts);
  EXPECT_TRUE(difference.satisfied(0, 2));
  EXPECT_FALSE(difference.satisfied(1, 2));
  EXPECT_FALSE(difference.looks_stale(0, std::vector<size_t>{3}, 2));
  EXPECT_TRUE(difference.looks_stale(1, std::vector<size_t>{1}, 2));
}

TEST(Reconcile, WhatTheServiceFilledInIsNobodysChange) {
  constexpr std::string_view kSent = R"({"p":{"a":1}})";
  constexpr std::string_view kAnswer = R"({"p":{"a":1,"filled":"x"}})";
  const auto filled = [&](std::string_view base, std::string_view wanted, std::string_view there) {
    return words_for(compared({base, wanted, there, kSent, kAnswer}, *BodyFacts::generic(), {{3, 4}}).reconcile(0, 1, 2));
  };
  EXPECT_EQ(filled(kSent, R"({"p":{"a":2}})", kAnswer), "send");
  EXPECT_EQ(filled(kAnswer, R"({"p":{"a":2}})", kAnswer), "send");
  // Left out it is not removed: there is one change by the write alone, which may be none.
  EXPECT_EQ(filled(kAnswer, R"({"p":{"a":1}})", R"({"p":{"a":3,"filled":"x"}})"), "conflict /p/a");
  EXPECT_EQ(filled(kAnswer, R"({"p":{"a":1},"tags":{"t":"1"}})", R"({"p":{"a":1,"filled":"x"},"tags":{"t":"1"}})"),
            "contained /tags/t");
  EXPECT_EQ(filled(kAnswer, R"({"p":{"a":1},"tags":{"t":"1"}})", R"({"p":{"a":1,"filled":"x"},"tags":{"u":"1"}})"),
            "merge /tags/u");
  // What somebody has made of it since is theirs.
  EXPECT_EQ(filled(kSent, R"({"p":{"a":2}})", R"({"p":{"a":1,"filled":"y"}})"), "merge /p/filled");
  EXPECT_EQ(filled(kAnswer, R"({"p":{"a":2}})", R"({"p":{"a":1,"filled":"y"}})"), "merge /p/filled");
  // null and a value of its own are the write's.
  EXPECT_EQ(filled(kAnswer, R"({"p":{"a":1,"filled":null}})", R"({"p":{"a":1,"filled":"y"}})"), "conflict /p/filled");
  EXPECT_EQ(filled(kAnswer, R"({"p":{"a":1,"filled":"z"}})", R"({"p":{"a":1,"filled":"y"}})"), "conflict /p/filled");
  // Without a write of its own nothing is known to be filled in.
  EXPECT_EQ(words_for(compared({kSent, R"({"p":{"a":2}})", kAnswer}).reconcile(0, 1, 2)), "merge /p/filled");
  // Members of maps are never filled in: they are somebody's.
  EXPECT_EQ(words_for(compared({"{}", R"({"x":1})", R"({"tags":{"t":"1"}})", "{}", R"({"tags":{"t":"1"}})"},
                               *BodyFacts::generic(), {{3, 4}})
                          .reconcile(0, 1, 2)),
            "merge /tags/t");
}

TEST(Reconcile, AResourceThatIsNotThere) {
  const ComparedBody bodies[] = {{"", BodyKind::Absent}, {R"({"a":1})"}, {R"({"a":2})"}, {"", BodyKind::Absent}};
  const Difference difference(bodies, *BodyFacts::generic());
  EXPECT_EQ(words_for(difference.reconcile(0, 1, 3)), "send");
  EXPECT_EQ(words_for(difference.reconcile(0, 1, 2)), "conflict (all)");
  EXPECT_EQ(words_for(difference.reconcile(2, 1, 0)), "conflict (all)");
  EXPECT_EQ(words_for(difference.reconcile(2, 0, 2)), "conflict (all)");
  EXPECT_TRUE(difference.same(0, 3));
  EXPECT_FALSE(difference.same(0, 1));
  EXPECT_EQ(difference.changed(0, 1), std::vector<std::string>{""});
  EXPECT_TRUE(difference.changed(0, 3).empty());
  EXPECT_FALSE(difference.satisfied(1, 0) || difference.satisfied(0, 1));
  EXPECT_TRUE(difference.looks_stale(1, std::vector<size_t>{2}, 0));
  EXPECT_FALSE(difference.looks_stale(1, std::vector<size_t>{0}, 2));
}

}  // namespace
}  // namespace armgate::arm
