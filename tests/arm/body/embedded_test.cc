#include "arm/body/embedded.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate::embedded_test {
namespace {

using arm::Embedded;
using arm::ResourceId;

const ResourceId kChild =
    *arm::parse_resource_id("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/a");

TEST(Embedded, WhatAParentsBodySaysOfAChild) {
  struct Case {
    const char* body;
    bool lists;
    const char* element;
  };
  const Case cases[] = {
      {R"({"properties":{"subnets":[]}})", true, ""},
      {R"({"x": 1, "properties": {"y": {"subnets": 1}, "Subnets" : [ {"name":"b"}, {"name":"A", "p": 1.0} ]}})", true,
       R"({"name":"A", "p": 1.0})"},
      {R"({"properties":{"subnets":[{"name":"a","id":"/subscriptions/s/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/n/subnets/A"}]}})",
       true,
       R"({"name":"a","id":"/subscriptions/s/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/n/subnets/A"})"},
      {R"({"properties":{"subnets":[{"name":"a","id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/other/subnets/a"}]}})",
       true, ""},
      {"\xEF\xBB\xBF{\"properties\":{\"subnets\":[{\"name\":\"a\"}]}}", true, R"({"name":"a"})"},
      {R"({"properties":{"subnets":[null,1,"a",["a"],{}]}})", true, ""},
      {R"({"properties":{"subnets":null}})", false, ""},
      {R"({"properties":{"subnets":{"name":"a"}}})", false, ""},
      {R"({"properties":{"addressSpace":{}}})", false, ""},
      {R"({"properties":[{"subnets":[{"name":"a"}]}]})", false, ""},
      {R"({"subnets":[{"name":"a"}]})", false, ""},
      {R"({"properties":{"subnets":[{"name":"a"}]})", false, ""},
      {R"([])", false, ""},
      {"", false, ""},
  };
  for (const Case& each : cases) {
    const std::string body = each.body;
    const Embedded found = arm::find_embedded(body, kChild);
    EXPECT_EQ(found.lists, each.lists) << each.body;
    EXPECT_EQ(found.element, each.element) << each.body;
  }
}

TEST(Embedded, TagsStandInWhatTheyTag) {
  const ResourceId tags = *arm::parse_resource_id(
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/providers/Microsoft.Resources/tags/default");
  EXPECT_EQ(arm::find_embedded(R"({"x":1,"tags" : {"a": "1"}})", tags).element, R"({"properties":{"tags":{"a": "1"}}})");
  EXPECT_EQ(arm::find_embedded(R"({"x":1})", tags).element, R"({"properties":{"tags":{}}})");
  EXPECT_EQ(arm::find_embedded("[]", tags).element, "");
}

}  // namespace
}  // namespace armgate::embedded_test
