// Goal: elements are told apart by what is declared, known, or common to all of them, and by nothing else.
#include "arm/array_keys.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace armgate::arm {
namespace {

// "0:0=web 1:0=web": column, index and key of each element; "-" if they cannot be told apart.
std::string keyed(std::string_view name, const std::vector<const char*>& arrays, const ArrayFact* declared = nullptr) {
  std::vector<std::unique_ptr<JsonDocument>> documents;
  std::vector<ColumnArray> columns;
  for (const char* json : arrays) {
    documents.push_back(std::make_unique<JsonDocument>(json));
    EXPECT_TRUE(documents.back()->usable()) << json;
    columns.push_back({static_cast<uint32_t>(columns.size()), simdjson::dom::array(documents.back()->root())});
  }
  const auto found = keyed_elements(columns, name, declared);
  if (!found) return "-";
  std::string text;
  for (const KeyedElement& element : found->elements) {
    text += (text.empty() ? "" : " ") + std::to_string(element.column) + ":" + std::to_string(element.index) +
            key_text(found->key, element.value);
  }
  return text;
}

TEST(ArrayKeys, NameComesBeforeId) {
  EXPECT_EQ(keyed("rules", {R"([{"name":"b","id":"1"},{"name":"a","id":"1"}])", R"([{"Name":"A"}])"}),
            "0:1[name=a] 1:0[name=A] 0:0[name=b]");
  EXPECT_EQ(keyed("rules", {R"([{"id":"1"},{"id":"2","name":"a"}])"}), "0:0[id=1] 0:1[id=2]");
}

TEST(ArrayKeys, WhatHasNoKeyOrTheSameTwiceCannotBeToldApart) {
  EXPECT_EQ(keyed("rules", {R"([{"name":"a"},{"x":1}])"}), "-");
  EXPECT_EQ(keyed("rules", {R"([{"name":"a"},{"name":"A"}])"}), "-");
  EXPECT_EQ(keyed("rules", {R"(["a","b"])"}), "-");
  EXPECT_EQ(keyed("rules", {R"([{"name":{"deep":1}}])"}), "-");
  EXPECT_EQ(keyed("rules", {"[]", R"([{"name":"a"}])"}), "1:0[name=a]");
}

TEST(ArrayKeys, KnownArraysHaveTheirOwn) {
  EXPECT_EQ(keyed("dataDisks", {R"([{"lun":1,"name":"x"},{"lun":0,"name":"x"}])"}), "0:1[lun=0] 0:0[lun=1]");
  EXPECT_EQ(keyed("accessPolicies", {R"([{"tenantId":"t","objectId":"o"},{"tenantId":"t","objectId":"p"}])"}),
            "0:0[tenantId=t,objectId=o] 0:1[tenantId=t,objectId=p]");
  EXPECT_EQ(keyed("dataDisks", {R"([{"name":"x"}])"}), "-") << "and no other";
}

TEST(ArrayKeys, WhatIsDeclaredDecides) {
  const ArrayFact by_tag{"/p", ArrayKind::Keyed, {"tag"}};
  EXPECT_EQ(keyed("dataDisks", {R"([{"lun":1,"tag":"a"},{"lun":1,"tag":"b"}])"}, &by_tag), "0:0[tag=a] 0:1[tag=b]");
  EXPECT_EQ(keyed("rules", {R"([{"name":"a"}])"}, &by_tag), "-");
}

}  // namespace
}  // namespace armgate::arm
