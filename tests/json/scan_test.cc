// Goal: a member is found where it belongs, and the items of a page as exact slices of it, or not at all.
#include "json/scan.h"

#include <gtest/gtest.h>

#include "tests/json/hostile_json.h"

namespace armgate {
namespace {

struct Expected {
  std::string_view id;
  std::string_view body;
};

TEST(ListItemsTest, ItemsAreSlicesOfThePage) {
  const std::pair<std::string_view, std::vector<Expected>> cases[] = {
      {R"({"value":[]})", {}},
      {R"({"value":[{"id":"/a"}]})", {{"/a", R"({"id":"/a"})"}}},
      {R"({"value":[{"id":"/a","x":[1,{"id":"no"}]},{"n":{"id":"no"},"id":"/B"}],"nextLink":"https://a/?x"})",
       {{"/a", R"({"id":"/a","x":[1,{"id":"no"}]})"}, {"/B", R"({"n":{"id":"no"},"id":"/B"})"}}},
      {" {\n \"nextLink\" : null , \"value\" : [ { \"id\" : \"/a\" } \n , {\"id\":\"/b\"}\t] } ",
       {{"/a", "{ \"id\" : \"/a\" }"}, {"/b", "{\"id\":\"/b\"}"}}},
      {R"({"value":[{"id":"\u002fa","t":"}],{\"id\":\"x\""}]})", {{"/a", R"({"id":"\u002fa","t":"}],{\"id\":\"x\""})"}}},
      {"\xEF\xBB\xBF{\"value\":[{\"id\":\"/a\"}]}", {{"/a", R"({"id":"/a"})"}}},
      // What is no resource is passed over.
      {R"({"value":[1,"x",null,[{"id":"/no"}],{},{"id":7},{"id":""},{"ID":"/no"},{"id":"/a"}]})", {{"/a", R"({"id":"/a"})"}}},
      // No list.
      {R"({"value":{"id":"/a"}})", {}},
      {R"({"value":"x"})", {}},
      {R"({"Value":[{"id":"/a"}]})", {}},
      {R"({"properties":{"value":[{"id":"/a"}]}})", {}},
      {R"([{"id":"/a"}])", {}},
      // Two lists, or two ids, could be read in two ways.
      {R"({"value":[{"id":"/a"}],"value":[{"id":"/b"}]})", {}},
      {R"({"value":[{"id":"/a","id":"/b"}]})", {}},
  };
  for (const auto& [page, expected] : cases) {
    const auto items = list_items(page);
    ASSERT_EQ(items.size(), expected.size()) << page;
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(items[i].id, expected[i].id) << page;
      EXPECT_EQ(items[i].body, expected[i].body) << page;
      EXPECT_GE(items[i].body.data(), page.data());
      EXPECT_LE(items[i].body.data() + items[i].body.size(), page.data() + page.size());
    }
  }
}

TEST(ListItemsTest, HostilePagesHaveNone) {
  for (const std::string& page : hostile_json()) EXPECT_TRUE(list_items(page).empty()) << page.substr(0, 80);
  EXPECT_TRUE(list_items(nested_json("value", 50'000)).empty());
}

TEST(ListItemsTest, APageCutAnywhereHasNone) {
  const std::string whole = R"({"value":[{"id":"/a","p":{"q":[]}} , {"id":"/b"}],"nextLink":"x"})";
  ASSERT_EQ(list_items(whole).size(), 2u);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_TRUE(list_items(std::string_view(whole).substr(0, length)).empty()) << whole.substr(0, length);
  }
}

TEST(ListItemsTest, APageOfManyMegabytesIsRead) {
  const std::string item = R"({"id":"/subscriptions/s/resourceGroups/g","etag":"\"1\"","x":")" + repeated("y", 400) + "\"}";
  constexpr size_t kCount = 10'000;
  std::string page = "{\"value\":[" + item;
  for (size_t i = 1; i < kCount; ++i) page += "," + item;
  page += "]}";
  const auto items = list_items(page);
  ASSERT_EQ(items.size(), kCount);
  EXPECT_EQ(items.front().body, item);
  EXPECT_EQ(items.back().body, item);
}

TEST(ScanStringMemberTest, TheTopAndItsPropertiesAreToldApart) {
  using Found = std::optional<std::string>;
  const struct {
    std::string_view json;
    bool readable;
    Found own, in_properties;
  } cases[] = {
      {"{}", true, {}, {}},
      {R"({"status":"A","properties":{"status":"B"}})", true, "A", "B"},
      {R"({"PROPERTIES":{"x":{"status":"no"},"Status":"B"},"y":{"status":"no"}})", true, {}, "B"},
      {R"({"status":7,"properties":{"status":false}})", true, {}, {}},
      {R"({"status":""})", true, "", {}},
      {R"({"status":"A","STATUS":"A"})", true, "A", {}},
      {R"({"status":"A","STATUS":"B"})", false, {}, {}},
      {R"({"properties":"status"})", true, {}, {}},
      {R"([{"status":"A"}])", false, {}, {}},
      {R"({"status":"A"} {})", false, {}, {}},
  };
  for (const auto& c : cases) {
    const ScannedMember found = scan_string_member(c.json, "status");
    EXPECT_EQ(found.readable, c.readable) << c.json;
    EXPECT_EQ(found.own, c.own) << c.json;
    EXPECT_EQ(found.in_properties, c.in_properties) << c.json;
  }
}

TEST(ScanStringMembersTest, TwoInOnePassAreEachAsIfScannedForAlone) {
  for (const std::string_view json :
       {R"({"etag":"1","properties":{"provisioningState":"Updating"}})",
        R"({"etag":"1","ETAG":"2","properties":{"provisioningState":"Updating"}})",
        R"({"etag":7,"properties":{"provisioningState":"A","ProvisioningState":"B","eTag":"3"}})",
        R"({"provisioningState":"x"})", "{", "", R"({"etag":"1","properties":{"provisioningState":"Updating"})"}) {
    const auto both = scan_string_members(json, {"etag", "provisioningState"});
    for (size_t i = 0; i < both.size(); ++i) {
      const auto alone = scan_string_member(json, i == 0 ? "etag" : "provisioningState");
      EXPECT_EQ(both[i].readable, alone.readable) << json;
      EXPECT_EQ(both[i].own, alone.own) << json;
      EXPECT_EQ(both[i].in_properties, alone.in_properties) << json;
    }
  }
}

TEST(ScanStringMembersTest, OneTextAfterAnotherLeavesNothingOfTheFirst) {
  EXPECT_EQ(scan_string_member(R"({"status":"a long one that is kept by nobody"})", "status").own,
            "a long one that is kept by nobody");
  EXPECT_FALSE(scan_string_member(R"({"status":)", "status").readable);
  EXPECT_FALSE(scan_string_member("{}", "status").own);
  const std::string large = R"({"fill":")" + std::string(200'000, 'x') + R"(","status":"A"})";
  EXPECT_EQ(scan_string_member(large, "status").own, "A");
}

TEST(MayHaveMemberTest, IsFalseOnlyWithoutAnySpellingOfTheName) {
  const std::string_view names[] = {"natGateway", "etag"};
  for (const std::string_view json :
       {R"({"etag":1})", R"({"eTag":1})", R"({"ETAG":1})", R"([{"a":{"etaG":1}}])", R"({"\u0065tag":1})", R"({"e\u0074ag":1})",
        R"({"eta\u0047":1})", R"({"x":"\\\u0065"})", R"({"x":1,"nat":2,"NATgateway":3})", "{\"etag\" \n\t: 1}",
        R"({"x":"a:b","etag":1})", R"({"x":"\"","etag":1})"}) {
    EXPECT_TRUE(may_have_member(json, names)) << json;
  }
  for (const std::string_view json :
       {R"({"tag":"g","eta":"G","x":"e tag"})", R"({"x":"W/\"1\""})", R"({"x":"\\u0065"})", "etag", "", "\"", "\"ETA", ":",
        "\":", "etag\":", R"({"x":"etag"})", R"({"netag":1,"etags":2})"}) {
    EXPECT_FALSE(may_have_member(json, names)) << json;
  }
}

// Wherever it stands in the blocks that are looked at together.
TEST(MayHaveMemberTest, FindsItAtEveryPlace) {
  const std::string_view names[] = {"natGateway", "etag"};
  for (size_t before = 0; before < 40; ++before) {
    for (size_t after = 0; after < 20; ++after) {
      const std::string start = R"({")" + std::string(before, 'x') + R"(":1,)";
      const std::string end = R"(:"y)" + std::string(after, ':') + R"("})";
      EXPECT_TRUE(may_have_member(start + R"("eTag")" + end, names)) << before << " " << after;
      EXPECT_TRUE(may_have_member(start + R"("\u0065tag")" + end, names)) << before << " " << after;
      EXPECT_FALSE(may_have_member(start + R"("etags")" + end, names)) << before << " " << after;
      EXPECT_FALSE(may_have_member(start + R"("\\u0065tag")" + end, names)) << before << " " << after;
      EXPECT_TRUE(may_have_member(start + R"("\\\u0065tag")" + end, names)) << before << " " << after;
    }
  }
}

// Names that end alike, or in more ways than are looked for at once; of either case, and with blanks before the colon.
TEST(MayHaveMemberTest, FindsAnyOfManyNames) {
  const std::string_view names[] = {"etag", "flag", "principalId", "natGateway", "zones", "sku_"};
  for (size_t count = 1; count <= std::size(names); ++count) {
    const std::span<const std::string_view> wanted(names, count);
    for (size_t before = 0; before < 20; ++before) {
      for (size_t i = 0; i < std::size(names); ++i) {
        for (const char* colon : {":", " \n:"}) {
          std::string name(names[i]);
          const std::string start = R"({")" + std::string(before, 'x') + R"(":"y","z":[{")";
          const std::string end = std::string("\"") + colon + R"("an answer goes on from here"}]})";
          EXPECT_EQ(may_have_member(start + name + end, wanted), i < count) << name << " of " << count;
          name.back() = name.back() == '_' ? '_' : static_cast<char>(name.back() - 'a' + 'A');
          EXPECT_EQ(may_have_member(start + name + end, wanted), i < count) << name << " of " << count;
        }
      }
    }
  }
}

}  // namespace
}  // namespace armgate
