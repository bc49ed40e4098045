#include "proxy/request/write/changed_members.h"

#include <gtest/gtest.h>

#include "arm/body/body_facts.h"
#include "proxy/policy/history.h"

namespace armgate::changed_members_test {
namespace {

AskedChange change(const char* before, std::string asked, bool for_all = true) {
  AskedChange given;
  if (before != nullptr) given.before = policy::kept_body(before);
  given.requested_body = policy::kept_body(std::move(asked));
  given.facts = arm::BodyFacts::generic();
  given.asked_for_all = for_all;
  return given;
}

constexpr const char* kBefore = R"({"sku":{"capacity":1},"tags":{"a":"1"},"properties":{"rules":[{"name":"web","port":1}]}})";

TEST(ChangedMembers, AreNamedWithoutTheirValues) {
  const auto told = changed_members(change(
      kBefore, R"({"sku":{"capacity":2},"tags":{"a":"1","b":"hidden"},"properties":{"rules":[{"name":"web","port":2}]}})"));
  EXPECT_EQ(told, "/sku/capacity\n/tags/b\n/properties/rules/[name=web]/port");
}

TEST(ChangedMembers, OfAPatchAreWhatItSets) {
  EXPECT_EQ(changed_members(change(kBefore, R"({"sku":{"capacity":2}})", false)), "/sku/capacity");
  EXPECT_EQ(changed_members(change(nullptr, R"({"sku":{"capacity":2}})", false)), "/sku/capacity");
}

TEST(ChangedMembers, AreNotWhatOnlyTheServiceWrites) {
  constexpr const char* kGroup = R"({"location":"w","tags":{"x":"0"},"properties":{"provisioningState":"Succeeded"},"e":{}})";
  EXPECT_EQ(changed_members(change(kGroup, R"({"location":"w","tags":{"x":"1"}})")), "/tags/x");
  EXPECT_EQ(changed_members(change(kGroup, R"({"location":"w","tags":{"x":"0"}})")), "(nothing)");
  EXPECT_EQ(changed_members(change(R"({"a/b":{"c~":{"etag":"1"}}})", R"({"a/b":{}})")), "(nothing)");
  EXPECT_EQ(changed_members(change(R"({"properties":{"provisioningState":"x","a":"1"}})", "{}")), "/properties/a");
  EXPECT_EQ(changed_members(change(R"({"properties":"x"})", "{}")), "/properties");
  EXPECT_EQ(changed_members(change("{}", R"({"properties":{}})")), "/properties") << "that was asked for";
}

TEST(ChangedMembers, OfACreateAreAllOfIt) {
  AskedChange made = change(nullptr, "{}");
  made.creates = true;
  EXPECT_EQ(changed_members(made), "");
}

TEST(ChangedMembers, AreNotKnownWithoutBothBodies) {
  EXPECT_FALSE(changed_members(change(nullptr, "{}")).has_value()) << "what the PUT was built from is not known";
  EXPECT_FALSE(changed_members({}).has_value());
  EXPECT_FALSE(changed_members(change(kBefore, "no JSON")).has_value());
  EXPECT_FALSE(changed_members(change(kBefore, std::string(kComparedBytesMax + 1, ' '))).has_value());
}

TEST(ChangedMembers, AreSoManyAtMost) {
  std::string asked = R"({"tags":{)";
  for (int i = 0; i < 30; ++i) asked += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"x\"";
  const auto told = changed_members(change("{}", asked + "}}", false));
  EXPECT_EQ(std::count(told->begin(), told->end(), '\n'), kChangedMembersMax);
  EXPECT_TRUE(told->ends_with("\n..."));
}

TEST(ChangedMembers, AWriteThatChangesNothingSaysSo) { EXPECT_EQ(changed_members(change(kBefore, kBefore)), "(nothing)"); }

}  // namespace
}  // namespace armgate::changed_members_test
