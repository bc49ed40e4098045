// Goal: elements are told apart by a key that holds in every array, or not at all. Method: a table of arrays.
#include "arm/body/array_keys.h"

#include <gtest/gtest.h>

#include <deque>

namespace armgate::arm {
namespace {

// "0:a 1:a 0:b": column and key of each element, or "none".
std::string told_apart(std::string_view name, const std::vector<std::string_view>& arrays,
                       const BodyFacts& facts = BodyFacts{}) {
  std::deque<JsonDocument> documents;
  std::vector<ColumnArray> columns;
  for (const auto text : arrays) {
    const auto& document = documents.emplace_back(text);
    columns.push_back({static_cast<uint32_t>(columns.size()), simdjson::dom::array(document.root())});
  }
  const auto keyed = keyed_elements(columns, name, facts.top().member("x"));
  if (!keyed) return "none";
  std::string words = keyed->is_ordered ? "ordered" : "";
  for (const KeyedElement& element : keyed->elements) {
    words += (words.empty() ? "" : " ") + std::to_string(element.column) + ":" + key_text(keyed->key, element.value);
  }
  return words;
}

TEST(ArrayKeys, ByWhatIsKnownElseByNameElseById) {
  const struct {
    std::string_view name;
    std::vector<std::string_view> arrays;
    const char* told_apart;
  } cases[] = {
      {"rules", {R"([{"name":"b"},{"name":"a"}])", R"([{"name":"A"}])"}, "0:[name=a] 1:[name=A] 0:[name=b]"},
      {"refs", {R"([{"id":"/x"}])", R"([{"id":"/X"},{"id":"/y"}])"}, "0:[id=/x] 1:[id=/X] 1:[id=/y]"},
      {"both", {R"([{"id":"/x","name":"n"}])", R"([{"id":"/y"}])"}, "0:[id=/x] 1:[id=/y]"},
      {"rules", {R"([{"NAME":"a"}])"}, "0:[name=a]"},
      {"rules", {R"([{"name":"a"},{"name":"A"}])"}, "none"},
      {"rules", {R"([{"name":"a"}])", R"([{"name":""}])"}, "none"},
      {"rules", {R"([{"name":"a"}])", R"([{"name":null}])"}, "none"},
      {"rules", {R"([{"name":["a"]}])"}, "none"},
      {"rules", {R"(["a","b"])"}, "none"},
      {"rules", {R"([{"name":"a"},1])"}, "none"},
      {"dataDisks", {R"([{"lun":1},{"lun":0}])", R"([{"lun":0.0}])"}, "0:[lun=0] 1:[lun=0] 0:[lun=1]"},
      {"dataDisks", {R"([{"name":"a"}])"}, "none"},  // its key is known: a name would not do
      {"AccessPolicies", {R"([{"tenantId":"t","objectId":"o"}])"}, "0:[tenantId=t,objectId=o]"},
      {"AccessPolicies", {R"([{"tenantId":{},"objectId":"o"}])"}, "none"},
      {"pathRules", {R"([{"name":"a"}])"}, "ordered 0:[name=a]"},
      {"flags", {R"([{"name":true},{"name":false}])"}, "0:[name=false] 0:[name=true]"},
  };
  for (const auto& c : cases) EXPECT_EQ(told_apart(c.name, c.arrays), c.told_apart) << c.name << c.arrays[0];
}

TEST(ArrayKeys, WhatTheFactsSayDecides) {
  const BodyFacts by_service({.arrays = {{"/x", ArrayKind::Keyed, {"service", "region"}}}});
  EXPECT_EQ(told_apart("x", {R"([{"service":"a","region":"r"},{"service":"a"}])"}, by_service),
            "0:[service=a] 0:[service=a,region=r]");
  EXPECT_EQ(told_apart("x", {R"([{"name":"a"}])"}, by_service), "none");
  EXPECT_EQ(told_apart("dataDisks", {R"([{"lun":0,"service":"a"}])"}, by_service), "0:[service=a]");
  const BodyFacts document({.free_form = {"/x"}});
  EXPECT_EQ(told_apart("x", {R"([{"name":"a"}])"}, document), "none") << "there its order may count";
  EXPECT_EQ(told_apart("dataDisks", {R"([{"lun":0}])"}, document), "none");
  const BodyFacts ordered({.arrays = {{"/x", ArrayKind::Ordered, {"name"}}}});
  EXPECT_EQ(told_apart("x", {R"([{"name":"a"}])"}, ordered), "ordered 0:[name=a]");
}

TEST(ArrayKeys, WhatIsSpeltDifferentlyAndCountsAsOneIsOneKey) {
  const BodyFacts by_region(
      {.arrays = {{"/x", ArrayKind::Keyed, {"locationName"}}}, .same = {{"/x/*/locationName", SameAs::Location}}});
  EXPECT_EQ(told_apart("x", {R"([{"locationName":"West US"},{"locationName":"East US"}])", R"([{"locationName":"westus"}])"},
                       by_region),
            "0:[locationName=East US] 0:[locationName=West US] 1:[locationName=westus]");
  EXPECT_EQ(told_apart("x", {R"([{"locationName":"West US"},{"locationName":"westus"}])"}, by_region), "none");
  const BodyFacts by_scope({.arrays = {{"/x", ArrayKind::Keyed, {"scope"}}}, .same = {{"/x/*/scope", SameAs::Id}}});
  EXPECT_EQ(told_apart("x", {R"([{"scope":"/Subscriptions/s/"}])", R"([{"scope":"/subscriptions/S"}])"}, by_scope),
            "0:[scope=/Subscriptions/s/] 1:[scope=/subscriptions/S]");
}

}  // namespace
}  // namespace armgate::arm
