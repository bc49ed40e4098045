// What is drawn from files in the form of Azure/bicep-types-az.
#include "rules/facts/bicep_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/bicep_sample.h"

namespace armgate::rules {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void add(BicepTypes& types, const std::string& json) {
  FaultList faults;
  types.add("types.json", json, faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
}

TEST(BicepTypes, DirectionsSecretsAndMapsOfOneVersion) {
  BicepTypes types;
  add(types, widget_types("2024-01-01", 2));
  const auto all = types.types();
  ASSERT_EQ(all.size(), 1u) << "what cannot be written has no facts";
  EXPECT_EQ(all[0].name, "Microsoft.Example/widgets");
  EXPECT_EQ(all[0].first_version, "2024-01-01");
  EXPECT_EQ(all[0].last_version, "2024-01-01");
  // Neither what holds for every type (etag, provisioningState), nor below a reference or round in a circle; of a variant's member
  // only if all variants agree.
  EXPECT_THAT(all[0].body.read_only, ElementsAre("/properties/a~1b~0c", "/properties/endpoint", "/properties/kind/seen",
                                                 "/properties/part", "/properties/parts/*/state"));
  EXPECT_THAT(all[0].body.write_only,
              ElementsAre("/properties/kind/onlyA", "/properties/parts/*/code", "/properties/password"));
  EXPECT_THAT(all[0].body.maps, ElementsAre("/properties/labels")) << "tags are known to be one";
  EXPECT_TRUE(all[0].body.arrays.empty());
  EXPECT_TRUE(types.has("microsoft.example/Widgets@2024-01-01"));
  EXPECT_TRUE(types.has("Microsoft.Example/readings@2024-01-01"));
  EXPECT_FALSE(types.has("Microsoft.Example/widgets@2023-01-01"));
  EXPECT_EQ(types.count(), 2u);
}

TEST(BicepTypes, WhatIsKnownForEveryTypeIsSaidWhereNamesAreTheClientsOwn) {
  BicepTypes types;
  add(types, R"([{"$type": "ResourceType", "name": "A.B/c@2020-01-01", "body": {"$ref": "#/1"}, "writableScopes": 8},
    {"$type": "ObjectType", "properties": {"properties": {"type": {"$ref": "#/2"}, "flags": 0}, "etag": {"type": {"$ref": "#/3"}, "flags": 2}}},
    {"$type": "ObjectType", "properties": {"provisioningState": {"type": {"$ref": "#/3"}, "flags": 2}},
     "additionalProperties": {"$ref": "#/3"}},
    {"$type": "StringType"}])");
  EXPECT_THAT(types.types().at(0).body.maps, ElementsAre("/properties"));
  EXPECT_THAT(types.types().at(0).body.read_only, ElementsAre("/properties/provisioningState"));
}

TEST(BicepTypes, WhatAloneShowsAChangedSecretIsNoFactToBeOverlooked) {
  BicepTypes types;
  add(types, R"([{"$type": "ResourceType", "name": "A.B/c@2020-01-01", "body": {"$ref": "#/1"}, "writableScopes": 8},
    {"$type": "ObjectType", "properties": {"properties": {"type": {"$ref": "#/2"}, "flags": 0}}},
    {"$type": "ObjectType", "properties": {"certificateThumbprint": {"type": {"$ref": "#/3"}, "flags": 2},
      "publicCertData": {"type": {"$ref": "#/3"}, "flags": 2}, "state": {"type": {"$ref": "#/3"}, "flags": 2}}},
    {"$type": "StringType"}])");
  EXPECT_THAT(types.types().at(0).body.read_only, ElementsAre("/properties/state"));
}

TEST(BicepTypes, TheNewestStableVersionCountsAndAChangedDirectionIsLeftOut) {
  BicepTypes types;
  const std::string extra = R"(, "older": {"type": {"$ref": "#/0"}, "flags": 2})";
  for (const bool newest_first : {false, true}) {
    SCOPED_TRACE(newest_first);
    BicepTypes of;
    const std::string old = widget_types("2020-01-01", 0, extra), now = widget_types("2024-01-01", 2);
    add(of, newest_first ? now : old);
    add(of, widget_types("2025-01-01-preview", 0, R"(, "coming": {"type": {"$ref": "#/0"}, "flags": 2})"));
    add(of, newest_first ? old : now);
    const auto all = of.types();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].first_version, "2020-01-01");
    EXPECT_EQ(all[0].last_version, "2024-01-01");
    EXPECT_THAT(all[0].body.read_only, Contains("/properties/endpoint"));
    for (const char* pointer : {"/properties/part", "/properties/older", "/properties/coming"}) {
      EXPECT_THAT(all[0].body.read_only, Not(Contains(pointer))) << pointer;
    }
  }
}

// The file could not be read otherwise: it would contradict itself.
TEST(BicepTypes, AMemberThatIsSpeltInTwoWaysIsReadOnlyOnlyIfBothAre) {
  BicepTypes types;
  add(types, R"([{"$type": "ResourceType", "name": "A.B/c@2020-01-01", "body": {"$ref": "#/1"}, "writableScopes": 8},
    {"$type": "ObjectType", "properties": {"Some": {"type": {"$ref": "#/2"}, "flags": 0}, "some": {"type": {"$ref": "#/3"}, "flags": 2},
      "seen": {"type": {"$ref": "#/3"}, "flags": 2}}},
    {"$type": "ObjectType", "properties": {}, "additionalProperties": {"$ref": "#/3"}},
    {"$type": "StringType"}])");
  EXPECT_THAT(types.types().at(0).body.maps, ElementsAre("/Some"));
  EXPECT_THAT(types.types().at(0).body.read_only, ElementsAre("/seen"));
}

TEST(BicepTypes, PreviewsCountWhereNothingElseIs) {
  BicepTypes types;
  add(types, widget_types("2024-01-01-preview", 2));
  EXPECT_THAT(types.types().at(0).body.read_only, Contains("/properties/part"));
  EXPECT_EQ(types.types().at(0).last_version, "2024-01-01-preview");
}

TEST(BicepTypes, WhatCannotBeReadIsToldAndHarmsNothing) {
  const struct {
    std::string json, message;
  } cases[] = {
      {"{}", "no JSON array"},
      {"[", "no JSON array"},
      {R"([{"1": {"kind": 1}}])", "older form"},
      {R"([{"$type": "ResourceType", "name": "Microsoft.Example/widgets"}])", "in a form that this program does not know"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    BicepTypes types;
    FaultList faults;
    types.add("x/types.json", c.json, faults);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].file, "x/types.json");
    EXPECT_THAT(faults[0].message, HasSubstr(c.message));
    EXPECT_TRUE(types.types().empty());
  }
}

TEST(BicepTypes, ReferencesThatLeadNowhereAndTypesThatHoldThemselvesEnd) {
  BicepTypes types;
  add(types, R"([{"$type": "ResourceType", "name": "A.B/c@2020-01-01", "body": {"$ref": "#/1"}, "writableScopes": 8},
    {"$type": "ObjectType", "properties": {"a": {"type": {"$ref": "#/99"}, "flags": 0}, "b": {"type": {"$ref": "x"}},
      "self": {"type": {"$ref": "#/2"}, "flags": 0}, "none": {}}},
    {"$type": "ArrayType", "itemType": {"$ref": "#/2"}}])");
  EXPECT_EQ(types.types().size(), 1u);
}

}  // namespace
}  // namespace armgate::rules
