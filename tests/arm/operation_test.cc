// Goal: what may change a resource is told from what only reads it. Method: one line per method and path.
#include "arm/operation.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace armgate::arm {
namespace {

TEST(OperationTest, MethodAndTargetGiveTheKind) {
  const std::string resource = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v";
  const std::string collection = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines";
  const struct {
    Method method;
    std::string target;
    OperationKind kind;
  } cases[] = {
      {Method::Get, resource, OperationKind::Read},
      {Method::Head, resource, OperationKind::Read},
      {Method::Put, resource, OperationKind::Put},
      {Method::Patch, resource, OperationKind::Patch},
      {Method::Delete, resource, OperationKind::Delete},
      {Method::Post, resource, OperationKind::Other},
      {Method::Options, resource, OperationKind::Other},
      {Method::Other, resource, OperationKind::Other},
      {Method::Get, collection, OperationKind::List},
      {Method::Head, collection, OperationKind::Other},
      {Method::Put, collection, OperationKind::Other},
      {Method::Delete, collection, OperationKind::Other},
      {Method::Post, resource + "/start", OperationKind::Action},
      {Method::Post, resource + "/abortLatestOperation", OperationKind::Action},
      {Method::Post, resource + "/generateKeys", OperationKind::Action},
      {Method::Post, resource + "/listKeys", OperationKind::ReadAction},
      {Method::Post, resource + "/LISTSECRETS", OperationKind::ReadAction},
      {Method::Post, resource + "/getAccessToken", OperationKind::ReadAction},
      {Method::Post, resource + "/whatIf", OperationKind::ReadAction},
      {Method::Post, "/subscriptions/s/providers/Microsoft.Storage/checkNameAvailability", OperationKind::ReadAction},
      {Method::Post, "/subscriptions/s/resourceGroups/g/validateMoveResources", OperationKind::ReadAction},
      {Method::Post, "/subscriptions/s/resourceGroups/g/exportTemplate", OperationKind::ReadAction},
      {Method::Post, "/subscriptions/s/resourceGroups/g/moveResources", OperationKind::Action},
      {Method::Get, "/", OperationKind::Other},
      {Method::Put, "/batch", OperationKind::Other},
      {Method::Post, "/batch", OperationKind::Other},
  };
  for (const auto& c : cases) {
    const auto target = parse_target(c.target, c.method == Method::Post);
    ASSERT_TRUE(target.ok()) << c.target;
    EXPECT_EQ(operation_kind(c.method, *target), c.kind) << to_text(c.method) << " " << c.target;
  }
}

TEST(OperationTest, OnlyWhatMayChangeAResourceIsAWrite) {
  using enum OperationKind;
  for (const auto kind : {Put, Patch, Delete, Action}) EXPECT_TRUE(is_write(kind)) << to_text(kind);
  for (const auto kind : {Read, List, ReadAction, Other}) EXPECT_FALSE(is_write(kind)) << to_text(kind);
}

TEST(OperationTest, WhatIsReadByPostNamesItselfInItsAnswer) {
  const std::string id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w/config/appsettings";
  EXPECT_EQ(list_target_of(id + "?api-version=1"), id + "/list?api-version=1");
  EXPECT_EQ(list_target_of(id), id + "/list");
  EXPECT_EQ(target_of_listed(id + "/list?api-version=1"), id + "?api-version=1");
  EXPECT_EQ(target_of_listed(id + "/LIST/"), id);
  const auto target = parse_target(id + "/List?api-version=1", true);
  EXPECT_TRUE(may_list_itself(*target));
  EXPECT_FALSE(may_list_itself(*parse_target(id + "/list?api-version=1", false))) << "a collection";
  EXPECT_FALSE(may_list_itself(*parse_target(id + "/listKeys", true)));
  EXPECT_TRUE(is_body_of(R"({"id":")" + lower_text(id) + R"(","properties":{}})", target->resource));
  for (const std::string& other :
       {R"({"id":")" + id + R"(x"})", std::string("{}"), std::string("[]"), std::string(R"({"id":"x"})"), std::string()})
    EXPECT_FALSE(is_body_of(other, target->resource)) << other;
}

}  // namespace
}  // namespace armgate::arm
