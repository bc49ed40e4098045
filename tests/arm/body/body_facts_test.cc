// Goal: a fact holds at the places that its pointer names and nowhere else. Method: a walk down to each place.
#include "arm/body/body_facts.h"

#include <gtest/gtest.h>

#include "json/select.h"

namespace armgate::arm {
namespace {

const BodyFacts kGeneric;

// "/a/*/b": down by members, "*" into an array.
BodyPlace place_at(const BodyFacts& facts, std::string_view pointer) {
  BodyPlace place = facts.top();
  for (const auto& token : pointer_tokens(pointer)) place = token == "*" ? place.element() : place.member(token);
  return place;
}

TEST(BodyFacts, WhatTheServiceWritesIsKnownByName) {
  for (const auto* name : {"etag", "provisioningState", "resourceGuid", "systemData", "eTag", "ETAG"}) {
    EXPECT_TRUE(kGeneric.top().member(name).read_only()) << name;
    EXPECT_TRUE(place_at(kGeneric, "/properties/subnets/*/properties").member(name).read_only()) << name;
  }
  for (const auto* name : {"timeCreated", "createdAt", "lastModifiedAt", "createdTime", "changedTime", "lastModifiedTime",
                           "creationTime", "timeModified", "CreatedAt"}) {
    EXPECT_TRUE(kGeneric.top().member(name).read_only()) << name;
    EXPECT_TRUE(place_at(kGeneric, "/properties").member(name).read_only()) << name;
    EXPECT_TRUE(place_at(kGeneric, "/properties/status").member(name).read_only()) << name;
    EXPECT_FALSE(place_at(kGeneric, "/properties/document/properties").member(name).read_only())
        << name << ": so deep mostly a document of the client's own";
  }
  for (const auto* name : {"", "e", "etags", "tag", "created", "instanceView", "provisioningStates", "name", "id", "type"}) {
    EXPECT_FALSE(kGeneric.top().member(name).read_only()) << name;
  }
}

TEST(BodyFacts, InMapsEveryNameIsTheClientsOwn) {
  for (const auto* map : {"/tags", "/Tags", "/properties/nodeLabels", "/properties/*/metadata"}) {
    const BodyPlace place = place_at(kGeneric, map);
    EXPECT_TRUE(place.is_map()) << map;
    EXPECT_FALSE(place.member("createdAt").read_only()) << map;
    EXPECT_FALSE(place.member("x").member("etag").read_only()) << map;
  }
  EXPECT_FALSE(place_at(kGeneric, "/properties").is_map());
}

TEST(BodyFacts, InADocumentEveryNameIsTheClientsOwnAtAnyDepth) {
  const BodyFacts facts({.free_form = {"/properties/definition", "/properties/parameters/*/value"}});
  for (const auto* pointer : {"/properties/definition", "/properties/definition/a/b/*/c", "/properties/parameters/p/value/x",
                              "/properties/definition/tags", "/properties/definition/a/metadata/b"}) {
    const BodyPlace place = place_at(facts, pointer);
    EXPECT_TRUE(place.is_map() && place.is_free_form() && place.is_in_document()) << pointer;
    EXPECT_FALSE(place.is_in_labels()) << pointer << ": merge \"maps\" leaves it alone";
    for (const auto* name : {"etag", "createdAt", "provisioningState"}) EXPECT_FALSE(place.member(name).read_only()) << pointer;
  }
  EXPECT_FALSE(place_at(facts, "/properties").is_map());
  EXPECT_FALSE(place_at(facts, "/properties/parameters/p").is_free_form());
  EXPECT_TRUE(place_at(facts, "/tags").is_in_labels());
}

TEST(BodyFacts, AManagedIdentityBringsItsPrincipals) {
  EXPECT_TRUE(place_at(kGeneric, "/identity/principalId").read_only());
  EXPECT_TRUE(place_at(kGeneric, "/identity/tenantId").read_only());
  EXPECT_FALSE(place_at(kGeneric, "/properties/tenantId").read_only());
  const BodyPlace identities = place_at(kGeneric, "/identity/userAssignedIdentities");
  EXPECT_TRUE(identities.is_map());
  EXPECT_FALSE(identities.is_free_form());
  EXPECT_TRUE(identities.member("/subscriptions/s/i").member("clientId").read_only());
  EXPECT_FALSE(identities.member("etag").read_only());
}

TEST(BodyFacts, APointerNamesItsPlaceAlone) {
  const BodyFacts facts({.read_only = {"/properties/subnets/*/properties/ipConfigurations", "/properties/addons/*/identity",
                                       "/properties/addons/own", "/a~1b/c~0d", "no pointer", ""},
                         .write_only = {"/properties/secret"},
                         .kept = {"/properties/subnets"},
                         .arrays = {{"/properties/rules", ArrayKind::Ordered, {"name"}}},
                         .same = {{"/properties/scope", SameAs::Id}}});
  const struct {
    const char* pointer;
    bool read_only;
  } cases[] = {
      {"/properties/subnets/*/properties/ipConfigurations", true},
      {"/PROPERTIES/Subnets/*/properties/ipconfigurations", true},
      {"/properties/ipConfigurations", false},
      {"/properties/subnets/*/ipConfigurations", false},
      {"/properties/subnets/*/properties", false},
      {"/properties/addons/monitor/identity", true},
      {"/properties/addons/own", true},
      {"/properties/addons/own/identity", false},  // the name decides before "*"
      {"/a~1b/c~0d", true},
      {"/properties/secret", false},
  };
  for (const auto& c : cases) EXPECT_EQ(place_at(facts, c.pointer).read_only(), c.read_only) << c.pointer;
  EXPECT_TRUE(place_at(facts, "/properties/secret").write_only());
  EXPECT_TRUE(place_at(facts, "/properties/secret/below/it").write_only());
  EXPECT_FALSE(place_at(facts, "/properties").write_only());
  EXPECT_TRUE(place_at(facts, "/properties/Subnets").kept());
  EXPECT_FALSE(place_at(facts, "/properties/subnets/*").kept());
  EXPECT_FALSE(place_at(facts, "/properties").kept());
  ASSERT_NE(place_at(facts, "/properties/rules").array(), nullptr);
  EXPECT_EQ(place_at(facts, "/properties/rules").array()->kind, ArrayKind::Ordered);
  EXPECT_EQ(place_at(facts, "/properties/rules/*").array(), nullptr);
  EXPECT_EQ(place_at(facts, "/properties/scope").same(), SameAs::Id);
  EXPECT_EQ(place_at(facts, "/location").same(), SameAs::Location);
  EXPECT_EQ(place_at(facts, "/properties/location").same(), std::nullopt);
}

}  // namespace
}  // namespace armgate::arm
