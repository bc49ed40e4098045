// Goal: bodies differ exactly where a client could have changed something. Method: tables of pairs, and their pointers.
#include "arm/body/difference.h"

#include <gtest/gtest.h>

#include "tests/arm/body/compared.h"
#include "tests/json/hostile_json.h"

namespace armgate::arm {
namespace {

using Pointers = std::vector<std::string>;

const BodyFacts kFacts({.read_only = {"/properties/subnets/*/properties/ipConfigurations"},
                        .write_only = {"/properties/password"},
                        .arrays = {{"/properties/endpoints", ArrayKind::Keyed, {"service", "region"}},
                                   {"/properties/pathRules", ArrayKind::Ordered, {"name"}},
                                   {"/properties/zones", ArrayKind::Set, {}},
                                   {"/properties/whole", ArrayKind::Atomic, {}}},
                        .same = {{"/properties/scope", SameAs::Id},
                                 {"/properties/where/*/at", SameAs::Location},
                                 {"/properties/word", SameAs::Case}}});

TEST(Difference, BodiesThatAreTheSame) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"{}", " { } "},
      {R"({"a":1,"b":true})", R"({"b":true,"a":1.0})"},
      {R"({"a":null})", "{}"},
      {R"({"properties":{"list":[]}})", R"({"properties":{}})"},
      {R"({"properties":{"list":[],"x":1}})", R"({"properties":{"list":null,"x":1}})"},
      {R"({"tags":{}})", "{}"},
      {R"({"tags":null})", R"({"tags":{}})"},
      {R"({"properties":{"tags":{"a":null,"b":"1"}}})", R"({"properties":{"tags":{"b":"1"}}})"},
      {R"({"etag":"1","properties":{"provisioningState":"Updating"}})", R"({"properties":{"resourceGuid":"x"}})"},
      {R"({"id":"/subscriptions/S/x","name":"A","type":"M.N/T"})", R"({"id":"/SUBSCRIPTIONS/s/X","name":"a","type":"m.n/t"})"},
      {R"({"id":"/subscriptions/s/x","name":"a","type":"M.N/t","a":1})", R"({"a":1})"},
      {R"({"location":"West Europe"})", R"({"location":"westeurope"})"},
      {R"({"r":{"id":"/subscriptions/s/resourceGroups/g"}})", R"({"r":{"id":"/Subscriptions/s/resourcegroups/G"}})"},
      {R"({"s":[{"name":"a","v":1},{"name":"b","v":2}]})", R"({"s":[{"name":"B","v":2},{"name":"A","v":1}]})"},
      {R"({"s":[{"name":"a","id":"/x","type":"t","properties":{"v":1}}]})", R"({"s":[{"name":"a","properties":{"v":1}}]})"},
      {R"({"r":[{"id":"/subscriptions/s/a"},{"id":"/subscriptions/s/b"}]})",
       R"({"r":[{"id":"/subscriptions/S/B"},{"id":"/subscriptions/S/A"}]})"},
      {R"({"dataDisks":[{"lun":0,"name":"x"},{"lun":1,"name":"y"}]})",
       R"({"dataDisks":[{"lun":1.0,"name":"y"},{"lun":0,"name":"x"}]})"},
      {R"({"properties":{"endpoints":[{"service":"a","x":1},{"service":"a","region":"r"}]}})",
       R"({"properties":{"endpoints":[{"region":"R","service":"A"},{"service":"A","x":1}]}})"},
      {R"({"properties":{"zones":["1","2"]}})", R"({"properties":{"zones":["2","1","2"]}})"},
      {R"({"properties":{"scope":"/providers/A/b/"}})", R"({"properties":{"scope":"/Providers/a/B"}})"},
      {R"({"properties":{"where":[{"name":"x","at":"North Europe"}]}})",
       R"({"properties":{"where":[{"name":"x","at":"northeurope"}]}})"},
      {R"({"properties":{"word":"Tcp"}})", R"({"properties":{"word":"TCP"}})"},
      {R"({"properties":{"password":"x"}})", R"({"properties":{}})"},
      {R"({"properties":{"subnets":[{"name":"a","properties":{"ipConfigurations":[{"id":"/x"}]}}]}})",
       R"({"properties":{"subnets":[{"name":"a","properties":{}}]}})"},
      {R"({"identity":{"type":"UserAssigned","principalId":"x","userAssignedIdentities":{"/i":{"clientId":"y"}}}})",
       R"({"identity":{"type":"UserAssigned","userAssignedIdentities":{"/i":{}}}})"},
      {R"({"identity":{"userAssignedIdentities":{"/subscriptions/s/resourceGroups/g/b":{},"/subscriptions/s/resourceGroups/g/a":{}}}})",
       R"({"identity":{"userAssignedIdentities":{"/Subscriptions/S/resourcegroups/G/A":{"clientId":"y"},
           "/subscriptions/s/resourcegroups/g/b":{}}}})"},
      // Arrays without keys are one value, in which the rest counts as elsewhere.
      {R"({"l":[{"/subscriptions/s/A":1,"b":2}]})", R"({"l":[{"b":2,"/Subscriptions/S/a":1}]})"},
      {R"({"l":[{"a":1,"b":null,"etag":"1","c":[]}]})", R"({"l":[{"a":1.0,"etag":"2"}]})"},
      {R"({"l":["/subscriptions/s/A"]})", R"({"l":["/subscriptions/S/a"]})"},
      {"17", "17.0"},
  };
  for (const auto& [a, b] : cases) {
    const Difference difference = compared({a, b}, kFacts);
    EXPECT_TRUE(difference.same(0, 1) && difference.same(1, 0)) << a << "\n" << b;
    EXPECT_EQ(difference.changed(0, 1), Pointers()) << a << "\n" << b;
  }
}

TEST(Difference, BodiesThatDifferAndWhere) {
  const struct {
    std::string_view a, b;
    Pointers pointers;
  } cases[] = {
      {R"({"a":1})", R"({"a":2})", {"/a"}},
      {R"({"a":1})", R"({"a":"1"})", {"/a"}},
      {R"({"a":0})", R"({"a":false})", {"/a"}},
      {R"({"a":"x"})", R"({"a":"X"})", {"/a"}},
      {R"({"a":{}})", "{}", {"/a"}},
      {R"({"a":{"b":{}}})", R"({"a":{}})", {"/a/b"}},
      {R"({"a":{"x":1}})", R"({"a":1})", {"/a"}},
      {R"({"a":[1]})", R"({"a":{"x":1}})", {"/a"}},
      {R"({"a":[1,2]})", R"({"a":[2,1]})", {"/a"}},
      {R"({"a":["x"]})", R"({"a":["x","x"]})", {"/a"}},
      {R"({"a":[null]})", R"({"a":[null,null]})", {"/a"}},
      {R"({"a/b":1,"c~d":1,"":1})", R"({"a/b":2,"c~d":2,"":2})", {"/a~1b", "/c~0d", "/"}},
      {R"({"b":1,"a":1})", R"({"c":1,"a":2})", {"/a", "/b", "/c"}},
      {R"({"tags":{"a":"1","createdAt":"x"}})",
       R"({"tags":{"A":"1","createdAt":"y"}})",
       {"/tags/A", "/tags/a", "/tags/createdAt"}},
      {R"({"name":"a"})", R"({"name":"b"})", {"/name"}},
      {R"({"sku":{"name":"a"}})", R"({"sku":{"name":"A"}})", {"/sku/name"}},
      {R"({"sku":{"name":"a"}})", R"({"sku":{"tier":"b"}})", {"/sku/name", "/sku/tier"}},
      {R"({"location":"westeurope"})", R"({"location":"northeurope"})", {"/location"}},
      {R"({"s":[{"name":"a","v":1},{"name":"b","v":2}]})",
       R"({"s":[{"name":"b","v":3},{"name":"c","v":1}]})",
       {"/s/[name=a]", "/s/[name=b]/v", "/s/[name=c]"}},
      {R"({"s":[{"name":"a","v":1}]})", "{}", {"/s/[name=a]"}},
      {R"({"r":[{"id":"/subscriptions/s/a"}]})", R"({"r":[]})", {"/r/[id=~1subscriptions~1s~1a]"}},
      {R"({"s":[{"name":"a","v":1},{"name":"a","v":2}]})", R"({"s":[{"name":"a","v":2},{"name":"a","v":1}]})", {"/s"}},
      {R"({"s":[{"name":"a"},{"v":2}]})", R"({"s":[{"name":"a"},{"v":3}]})", {"/s"}},
      {R"({"s":[{"name":{"x":1}}]})", R"({"s":[{"name":{"x":2}}]})", {"/s"}},
      {R"({"dataDisks":[{"lun":0,"name":"x"}]})", R"({"dataDisks":[{"lun":0,"name":"y"}]})", {"/dataDisks/[lun=0]/name"}},
      {R"({"accessPolicies":[{"tenantId":"t","objectId":"o","p":1}]})",
       R"({"accessPolicies":[{"tenantId":"t","objectId":"o","p":2}]})",
       {"/accessPolicies/[tenantId=t,objectId=o]/p"}},
      {R"({"properties":{"pathRules":[{"name":"a"},{"name":"b"}]}})",
       R"({"properties":{"pathRules":[{"name":"b"},{"name":"a"}]}})",
       {"/properties/pathRules"}},
      {R"({"properties":{"pathRules":[{"name":"a"}]}})",
       R"({"properties":{"pathRules":[{"name":"a"},{"name":"b"}]}})",
       {"/properties/pathRules", "/properties/pathRules/[name=b]"}},
      {R"({"initContainers":[{"name":"a"},{"name":"b"}]})",
       R"({"initContainers":[{"name":"b"},{"name":"a"}]})",
       {"/initContainers"}},
      {R"({"properties":{"whole":[{"name":"a","v":1}]}})",
       R"({"properties":{"whole":[{"name":"a","v":2}]}})",
       {"/properties/whole"}},
      {R"({"properties":{"zones":["1"]}})", R"({"properties":{"zones":["1","2"]}})", {"/properties/zones"}},
      {R"({"properties":{"password":"x"}})", R"({"properties":{"password":"y"}})", {"/properties/password"}},
      {R"({"metadata":{"a":{"etag":"1"}}})", R"({"metadata":{"a":{"etag":"2"}}})", {"/metadata/a/etag"}},
      {R"({"identity":{"userAssignedIdentities":{"/i":{}}}})",
       R"({"identity":{"userAssignedIdentities":{"/i":{},"/j":{"clientId":"y"}}}})",
       {"/identity/userAssignedIdentities/~1j"}},
      {"17", "{}", {""}},
  };
  for (const auto& c : cases) {
    const Difference difference = compared({c.a, c.b}, kFacts);
    EXPECT_FALSE(difference.same(0, 1) || difference.same(1, 0)) << c.a << "\n" << c.b;
    EXPECT_EQ(difference.changed(0, 1, 99), c.pointers) << c.a << "\n" << c.b;
  }
}

TEST(Difference, PointersAreBounded) {
  const Difference difference = compared({R"({"a":1,"b":1,"c":1})", R"({"a":2,"b":2,"c":2})"});
  EXPECT_EQ(difference.changed(0, 1, 2), (Pointers{"/a", "/b"}));
  EXPECT_EQ(difference.changed(0, 1, 0), Pointers());
  EXPECT_EQ(difference.reconcile(0, 0, 1, 1).pointers, Pointers{"/a"});
}

TEST(Difference, WhatCannotBeReadLosesNothing) {
  std::vector<std::string> texts = {R"({"a":1,"a":1})", R"({"x":[{"b":1,"\u0062":1}]})", R"({"a":18446744073709551616})",
                                    nested_json("a", Difference::kNestingMax + 1)};
  for (const std::string& text : hostile_json()) {
    if (text != "null" && text != "[]" && text != "17" && text != "\"text\"") texts.push_back(text);
  }
  for (const std::string& text : texts) {
    const Difference difference = compared({text, "{}", text, R"({"a":1})"});
    SCOPED_TRACE(text.substr(0, 80));
    EXPECT_FALSE(difference.readable(0));
    EXPECT_TRUE(difference.readable(1));
    EXPECT_FALSE(difference.same(0, 1) || difference.same(0, 2) || difference.same(0, 0));
    EXPECT_EQ(words_for(difference.reconcile(0, 1, 1)), "conflict (all)");
    EXPECT_EQ(words_for(difference.reconcile(1, 0, 1)), "conflict (all)");
    EXPECT_EQ(words_for(difference.reconcile(1, 1, 0)), "conflict (all)");
    EXPECT_FALSE(difference.looks_stale(0, std::vector<size_t>{1}, 3));
    EXPECT_FALSE(difference.looks_stale(3, std::vector<size_t>{0}, 1));
    EXPECT_FALSE(difference.satisfied(0, 1) || difference.satisfied(1, 0));
    EXPECT_EQ(difference.changed(0, 1), Pointers{""});
    EXPECT_EQ(difference.changed(1, 3), Pointers{"/a"});  // the others are compared all the same
  }
}

TEST(Difference, LimitsAreUnreadableToo) {
  std::string large = R"({"a":[0)";
  for (size_t i = 0; i < Difference::kNodesMax - 3; ++i) large += ",0";
  const std::string deep = nested_json("a", Difference::kNestingMax - 1);
  EXPECT_EQ(compared({deep, nested_json("a", Difference::kNestingMax - 2)}).changed(0, 1).size(), 1u);
  EXPECT_TRUE(compared({large + "]}", "{}"}).readable(0));
  EXPECT_FALSE(compared({large + ",0]}", "{}"}).readable(0));
  const std::vector<std::string_view> most(Difference::kBodiesMax, "{}");
  EXPECT_TRUE(compared(most).same(0, 31));
  std::vector<std::string_view> too_many = most;
  too_many.push_back("{}");
  EXPECT_FALSE(compared(too_many).readable(0));
  EXPECT_EQ(words_for(compared(too_many).reconcile(0, 1, 2)), "conflict (all)");
  EXPECT_FALSE(compared({}).readable(0));
  EXPECT_FALSE(compared({"{}"}).same(0, 1));
}

TEST(Difference, WhatASentBodyLeavesOutIsUnknown) {
  constexpr std::string_view kSent = R"({"properties":{"a":1,"rules":[{"name":"x","p":1}]},"tags":{"t":"1"}})";
  constexpr std::string_view kShown =
      R"({"location":"x","properties":{"a":1,"b":2,"rules":[{"name":"x","p":1,"q":2}]},"tags":{"t":"1"}})";
  constexpr std::string_view kMore =
      R"({"properties":{"a":1,"rules":[{"name":"x","p":1},{"name":"y"}]},"tags":{"t":"1","u":"2"}})";
  const ComparedBody bodies[] = {{kSent, BodyKind::Partial}, {kShown}, {kMore}, {kSent}, {"{}", BodyKind::Partial}};
  const Difference difference(bodies, *BodyFacts::generic());
  EXPECT_TRUE(difference.same(0, 1));
  EXPECT_TRUE(difference.same(0, 3));
  EXPECT_TRUE(difference.same(4, 2));
  EXPECT_EQ(difference.changed(3, 1), (Pointers{"/location", "/properties/b", "/properties/rules/[name=x]/q"}));
  // In maps and arrays that are there, lacking is lacking.
  EXPECT_EQ(difference.changed(0, 2), (Pointers{"/properties/rules/[name=y]", "/tags/u"}));
}

// Who takes out one member after the other is not stale by what was not there yet when the client looked first. What others brought proves
// nothing: two may add the same, beside what is each one's own.
TEST(Difference, WhoHasTakenOverWhatCameLaterIsNotStaleByWhatItLacks) {
  const std::vector<std::string> texts{R"({"tags":{}})",
                                       R"({"tags":{"a":"1"}})",
                                       R"({"tags":{"a":"1","b":"1"}})",
                                       R"({"tags":{"b":"1","c":"1"}})",
                                       R"({"tags":{"c":"1"}})",
                                       R"({"tags":{"d":"1"}})",
                                       R"({"tags":{"c":"1"},"size":"1"})",
                                       R"({"tags":{"b":"1","c":"1"},"size":"2"})"};
  std::vector<std::string_view> views(texts.begin(), texts.end());
  const Difference difference = compared(views);
  const auto stale = [&](size_t wanted, std::vector<size_t> olds, size_t newest, std::vector<OwnWrite> own = {}) {
    if (own.empty()) own.push_back({newest, newest});
    return difference.looks_stale(wanted, olds, newest, own);
  };
  EXPECT_FALSE(stale(3, {0}, 2)) << "it lacks \"a\" as the first did, and has \"b\", which that had not";
  EXPECT_FALSE(stale(5, {1}, 4)) << "it lacks \"c\" as that did, and has lost \"a\" as the newest has";
  EXPECT_TRUE(difference.looks_stale(3, std::vector<size_t>{0}, 2)) << "both may have added \"b\"";
  EXPECT_TRUE(stale(3, {0}, 2, {{1, 2}})) << "its client sent \"a\" alone: \"b\" is another's";
  EXPECT_FALSE(stale(3, {1, 0}, 2, {{1, 1}, {2, 2}})) << "both are its client's";
  EXPECT_TRUE(stale(3, {1, 0}, 2, {{1, 1}})) << "\"b\" is another's";
  EXPECT_TRUE(stale(5, {0}, 4)) << "\"d\" may have been added to nothing";
  EXPECT_TRUE(stale(1, {0, 1}, 2)) << "as it was before the second came";
  EXPECT_TRUE(stale(6, {0, 6}, 7)) << "a value that is back is one, whatever it has taken over";
}

// A write's own answer without a body leaves what was sent: it says nothing of what the next write adds.
TEST(Difference, WhatANewestThatIsPartialDoesNotSayMayBeAChange) {
  const std::vector<ComparedBody> bodies{{R"({"properties":{"a":"1","b":"1"}})", BodyKind::Whole},
                                         {R"({"properties":{"a":"1"}})", BodyKind::Partial},
                                         {R"({"properties":{}})", BodyKind::Whole}};
  const Difference difference(bodies, *BodyFacts::generic());
  EXPECT_FALSE(difference.looks_stale(0, std::vector<size_t>{2}, 1));
}

// What another asked for, whose write may have made the state in the place of this one.
TEST(Difference, ShowsAChangeThatOnlyOneAskedFor) {
  constexpr std::string_view kBase = R"({"c":1,"tags":{"a":"1"},"rules":[{"name":"x","v":1}],"properties":{"password":"p"}})";
  const struct {
    std::string_view wanted, other, state;
    BodyKind kind;  // of the other
    bool shows;
  } cases[] = {
      {R"({"c":2})", R"({"c":3})", R"({"c":2})", BodyKind::Whole, true},
      {R"({"c":2})", R"({"c":2})", R"({"c":2})", BodyKind::Whole, false},
      {R"({"c":2})", R"({"c":3})", R"({"c":3})", BodyKind::Whole, false},  // what the other made
      {R"({"c":1})", R"({"c":3})", R"({"c":1})", BodyKind::Whole, false},  // nobody changed it
      {R"({"c":2})", "{}", R"({"c":2})", BodyKind::Whole, false},          // the service may have filled it in
      {R"({"c":2})", R"({"c":1.0})", R"({"c":2})", BodyKind::Partial, true},
      // In a map and in an array that is there, lacking is asking for nothing of the kind, but in a PATCH.
      {R"({"tags":{"a":"1","b":"2"}})", R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1","b":"2"}})", BodyKind::Whole, true},
      {R"({"tags":{"a":"1","b":"2"}})", R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1","b":"2"}})", BodyKind::Partial, false},
      {R"({"tags":{"a":"1","b":"2"}})", R"({"c":1})", R"({"tags":{"a":"1","b":"2"}})", BodyKind::Whole, false},
      {R"({"tags":{}})", R"({"tags":{"a":"1"}})", "{}", BodyKind::Whole, true},
      {R"({"rules":[]})", R"({"rules":[{"name":"x","v":1}]})", R"({"rules":[]})", BodyKind::Whole, true},
      {R"({"rules":[{"name":"y","v":1}]})", R"({"rules":[{"name":"y","v":2}]})", R"({"rules":[{"name":"y","v":1}]})",
       BodyKind::Whole, false},  // both took x away; of an element that both add nothing is told
      {R"({"rules":[{"name":"x","v":1},{"name":"y","v":1}]})", R"({"rules":[{"name":"x","v":1},{"name":"y","v":2}]})",
       R"({"rules":[{"name":"x","v":1},{"name":"y","v":1}]})", BodyKind::Whole, false},
      {R"({"rules":[{"name":"x","v":2}]})", R"({"rules":[{"name":"x","v":3}]})", R"({"rules":[{"name":"x","v":2}]})",
       BodyKind::Whole, true},
      {R"({"properties":{"password":"q"}})", R"({"properties":{"password":"r"}})", "{}", BodyKind::Whole,
       false},  // never shown
      {"{", R"({"c":3})", R"({"c":2})", BodyKind::Whole, false},
      {R"({"c":2})", "", R"({"c":2})", BodyKind::Absent, false},
  };
  for (const auto& c : cases) {
    const ComparedBody bodies[] = {{c.wanted}, {c.other, c.kind}, {kBase}, {c.state}};
    EXPECT_EQ(Difference(bodies, kFacts).shows_change_of(0, 1, 2, 3), c.shows) << c.wanted << c.other << c.state;
  }
}

}  // namespace
}  // namespace armgate::arm
