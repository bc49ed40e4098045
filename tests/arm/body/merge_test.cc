// Goal: what a merge leads to, place by place. Method: one line for each way in which two writes can meet; docs/merging.md has the
// pictures.
#include "arm/body/merge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/arm/body/merged.h"
#include "tests/json/hostile_json.h"

namespace armgate::arm {
namespace {

TEST(Merge, Maps) {
  expect_stories({
      {"each its own", R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1","b":"2"}})", R"({"tags":{"c":"3","a":"1"}})",
       R"({"tags":{"c":"3","a":"1","b":"2"}})"},
      {"there were none", "{}", R"({"tags":{"b":"2"}})", R"({"x":1})", R"({"x":1,"tags":{"b":"2"}})"},
      {"there were null", "{}", R"({"tags":{"b":"2"}})", R"({"tags":null,"x":1})", R"({"tags":{"b":"2"},"x":1})"},
      {"all removed", R"({"tags":{"a":"1"}})", R"({"tags":{}})", R"({"tags":{"a":"1"},"x":1})", R"({"tags":{},"x":1})"},
      {"each removes another", R"({"tags":{"a":"1","b":"2","c":"3"}})", R"({"tags":{"a":"1","c":"3"}})",
       R"({"tags":{"b":"2","c":"3"}})", R"({"tags":{"c":"3"}})"},
      {"both add the same", R"({"tags":{},"x":1})", R"({"tags":{"b":"2"},"x":2})", R"({"tags":{"b":"2"},"x":1})",
       R"({"tags":{"b":"2"},"x":2})"},
      {"both add the same and nothing else", R"({"tags":{}})", R"({"tags":{"count":"1"}})", R"({"tags":{"count":"1","o":"1"}})",
       "412, not merged: all-there"},
      {"both remove the same and nothing else", R"({"tags":{"b":"2"}})", R"({"tags":{}})", R"({"tags":{"o":"1"}})",
       R"({"tags":{"o":"1"}})"},
      {"both add one name, differently", R"({"tags":{}})", R"({"tags":{"b":"2"}})", R"({"tags":{"b":"3"}})", "412 at /tags/b"},
      {"both set one value", R"({"tags":{"n":"3"}})", R"({"tags":{"n":"4"}})", R"({"tags":{"n":"4"}})", "412 at /tags/n"},
      {"names that differ in case", R"({"tags":{}})", R"({"tags":{"Team":"1"}})", R"({"tags":{"team":"1"}})",
       "412, not merged: same-name"},
      {"left out as a whole", R"({"tags":{"a":"1"},"x":1})", R"({"x":1})", R"({"tags":{"a":"1"},"x":2})",
       "412, not merged: left-out"},
      {"names of the client's own", R"({"tags":{}})", R"({"tags":{"etag":"1","createdAt":"2"}})", R"({"tags":{"x":"1"}})",
       R"({"tags":{"x":"1","etag":"1","createdAt":"2"}})"},
      {"identities", R"({"identity":{"userAssignedIdentities":{"/a":{"clientId":"1"}}}})",
       R"({"identity":{"userAssignedIdentities":{"/a":{},"/b":{}}}})",
       R"({"identity":{"userAssignedIdentities":{"/a":{"clientId":"1"},"/c":{"clientId":"2"}}}})",
       R"({"identity":{"userAssignedIdentities":{"/a":{"clientId":"1"},"/c":{"clientId":"2"},"/b":{}}}})"},
  });
}

// Names of environment variables count with case where they are used: another spelling may be another variable.
TEST(Merge, AKeyThatIsSpelledOtherwiseIsNotMerged) {
  const auto with = [](std::string_view name, std::string_view tags) {
    return fmt::format(R"({{"env":[{{"name":"{}","value":"1"}}],"tags":{{{}}}}})", name, tags);
  };
  constexpr std::string_view kRefused = "412, not merged: spelling";
  const std::string foo = with("foo", ""), upper = with("FOO", ""), tagged = with("foo", R"("t":"1")"), none = R"({"tags":{}})";
  const std::string both = with("FOO", R"("t":"1")"), other = with("Foo", "");
  expect_stories({
      {"renamed beside a tag", foo, upper, tagged, kRefused},
      {"both renamed", foo, upper, other, kRefused},
      {"both added", none, both, foo, kRefused},
      {"spelled as the write knows it", upper, both, tagged, "412, not merged: all-there"},
      {"spelled otherwise by others", foo, tagged, upper, both},
  });
}

// Providers answer with another spelling of an id than they were sent, that of whoever wrote last.
TEST(Merge, NamesThatAreIdsCountWithoutCase) {
  const auto with = [](std::string_view identities, std::string_view rest = "") {
    return fmt::format(R"({{"identity":{{"userAssignedIdentities":{{{}}}}}{}}})", identities, rest);
  };
  constexpr std::string_view kA = R"("/subscriptions/s/resourceGroups/g/a":{})",
                             kOtherA = R"("/Subscriptions/s/resourcegroups/G/a":{})";
  constexpr std::string_view kB = R"("/subscriptions/s/resourceGroups/g/b":{})";
  const auto both = [](std::string_view a, std::string_view b) { return fmt::format("{},{}", a, b); };
  const std::string none = with(""), a = with(kA), other_a = with(kOtherA), a_and_b = with(both(kA, kB));
  const std::string other_a_and_b = with(both(kOtherA, kB)), none_and_tag = with("", R"(,"tags":{"o":"1"})"),
                    none_and_n = with("", R"(,"n":1)");
  const std::string a_and_n = with(kA, R"(,"n":1)"), respelled_and_2 = with(kOtherA, R"(,"n":2)");
  const std::string none_tag_and_n = with("", R"(,"n":1,"tags":{"o":"1"})"), a_and_b_and_n = with(both(kA, kB), R"(,"n":1)");
  const std::string b_and_n = with(kB, R"(,"n":1)"), other_and_tag = with(kOtherA, R"(,"tags":{"o":"1"})"),
                    a_tag_and_b = with(both(kOtherA, kB), R"(,"tags":{"o":"1"})");
  expect_stories({
      {"removed, what is there is spelled otherwise", a, none, other_and_tag, none_and_tag},
      {"removed by others, the write spells it otherwise", a_and_n, respelled_and_2, none_tag_and_n,
       with("", R"(,"n":2,"tags":{"o":"1"})")},
      {"another one added", a, a_and_b, other_and_tag, a_tag_and_b},
      {"another one removed", a_and_b_and_n, a_and_n, with(both(kOtherA, kB), R"(,"n":1,"tags":{"o":"1"})"),
       with(kOtherA, R"(,"n":1,"tags":{"o":"1"})")},
      {"added by both in two spellings", with("", R"(,"n":1)"), respelled_and_2, a_and_n, with(kA, R"(,"n":2)")},
      {"twice in one body", a, with(both(kA, kOtherA)), other_and_tag, "412, not merged: unreadable"},
  });
}

TEST(Merge, ObjectsThatOneSideTakesAway) {
  constexpr std::string_view kBoth = R"({"x":1,"p":{"on":true,"grace":"30"}})";
  expect_stories({
      {"and the other puts something into", kBoth, R"({"x":1})", R"({"x":1,"p":{"on":true,"grace":"30","act":"r"}})",
       "412 at /p/act"},
      {"by null", kBoth, R"({"x":1,"p":null})", R"({"x":1,"p":{"on":true,"grace":"30","act":"r"}})", "412 at /p/act"},
      {"the other way round", kBoth, R"({"x":1,"p":{"on":true,"grace":"30","act":"r"}})", R"({"x":1})", "412 at /p/act"},
      {"beside a change elsewhere", kBoth, R"({"x":1})", R"({"x":2,"p":{"on":true,"grace":"30"}})", R"({"x":2})"},
      {"of which one member stays", kBoth, R"({"x":1,"p":{"on":true}})", R"({"x":1,"p":{"on":true,"grace":"30","act":"r"}})",
       R"({"x":1,"p":{"on":true,"act":"r"}})"},
      {"with a name and properties", R"({"x":1,"p":{"name":"n","id":"/i","properties":{"v":1}}})", R"({"x":1})",
       R"({"x":2,"p":{"name":"n","id":"/i","properties":{"v":1}}})", R"({"x":2})"},
      {"in an element", R"({"x":1,"s":[{"name":"e","ip":{"name":"n","properties":{"v":1}}}]})", R"({"x":1,"s":[{"name":"e"}]})",
       R"({"x":1,"s":[{"name":"e","ip":{"name":"n","properties":{"v":1,"w":2}}}]})", "412 at /s/[name=e]/ip/properties/w"},
      {"in an element, beside a change elsewhere", R"({"x":1,"s":[{"name":"e","ip":{"name":"n","properties":{"v":1}}}]})",
       R"({"x":1,"s":[{"name":"e"}]})", R"({"x":2,"s":[{"name":"e","ip":{"name":"n","properties":{"v":1}}}]})",
       R"({"x":2,"s":[{"name":"e"}]})"},
      {"a map", R"({"x":1,"tags":{"a":"1"}})", R"({"x":1,"tags":{}})", R"({"x":1,"tags":{"a":"1","b":"2"}})",
       R"({"x":1,"tags":{"b":"2"}})"},
  });
}

TEST(Merge, ElementsWithAKey) {
  constexpr std::string_view kA = R"({"r":[{"name":"a","v":1}]})";
  constexpr std::string_view kAB = R"({"r":[{"name":"a","v":1},{"name":"b","v":1}]})";
  expect_stories({
      {"new ones in the write's order, after what is there", kA, R"({"r":[{"name":"z"},{"name":"a","v":1},{"name":"c"}]})", kAB,
       R"({"r":[{"name":"a","v":1},{"name":"b","v":1},{"name":"z"},{"name":"c"}]})"},
      {"there were none", R"({"x":1})", kA, R"({"x":2})", "412 at /x"},
      {"there were none, and the write keeps x", R"({"x":1})", R"({"x":1,"r":[{"name":"a","v":1}]})", R"({"x":2})",
       R"({"x":2,"r":[{"name":"a","v":1}]})"},
      {"one leaf each", kAB, R"({"r":[{"name":"a","v":2},{"name":"b","v":1}]})",
       R"({"r":[{"name":"B","v":1,"w":1},{"v":1,"name":"a"}]})", R"({"r":[{"name":"B","v":1,"w":1},{"v":2,"name":"a"}]})"},
      {"removed beside a change", kAB, R"({"r":[{"name":"b","v":1}]})", R"({"r":[{"name":"a","v":1},{"name":"b","v":2}]})",
       R"({"r":[{"name":"b","v":2}]})"},
      {"removed by both", kAB, R"({"r":[{"name":"b","v":1}],"x":1})", R"({"r":[{"name":"b","v":1}]})",
       R"({"r":[{"name":"b","v":1}],"x":1})"},
      {"removed here, changed there", kAB, R"({"r":[{"name":"b","v":1}]})", R"({"r":[{"name":"a","v":2},{"name":"b","v":1}]})",
       "412 at /r/[name=a]"},
      {"changed here, removed there", kAB, R"({"r":[{"name":"a","v":2},{"name":"b","v":1}]})", R"({"r":[{"name":"b","v":1}]})",
       "412 at /r/[name=a]"},
      {"the same added, but for what the service writes", kA, R"({"x":1,"r":[{"name":"a","v":1},{"name":"b","v":1}]})",
       R"({"r":[{"name":"a","v":1},{"name":"b","v":1.0,"etag":"1"}]})",
       R"({"r":[{"name":"a","v":1},{"name":"b","v":1.0,"etag":"1"}],"x":1})"},
      {"a copied element with an old ETag", kA,
       R"({"r":[{"name":"a","v":1},{"name":"c","etag":"0","properties":{"w":2,"provisioningState":"X"}}]})", kAB,
       R"({"r":[{"name":"a","v":1},{"name":"b","v":1},{"name":"c","properties":{"w":2}}]})"},
      {"no key of their own: one value", R"({"r":[{"name":"a"}],"x":1})", R"({"r":[{"name":"a"},{"name":"a"}],"x":1})",
       R"({"r":[{"name":"a"}],"x":2})", R"({"r":[{"name":"a"},{"name":"a"}],"x":2})"},
      {"the same, and both changed it", R"({"r":[{"name":"a"}]})", R"({"r":[{"name":"a"},{"name":"a"}]})",
       R"({"r":[{"name":"a"},{"name":"b"}]})", "412 at /r"},
      {"lists within elements", R"({"r":[{"name":"a","s":[{"id":"1"}]}]})",
       R"({"r":[{"name":"a","s":[{"id":"1"},{"id":"2"}]}]})",
       R"({"r":[{"name":"a","s":[{"id":"3"},{"id":"1"}]},{"name":"b"}]})",
       R"({"r":[{"name":"a","s":[{"id":"3"},{"id":"1"},{"id":"2"}]},{"name":"b"}]})"},
      {"a list left out as a whole", kA, R"({"x":1})", R"({"r":[{"name":"a","v":1}],"y":1})", "412, not merged: left-out"},
      {"a composite key", R"({"accessPolicies":[{"tenantId":"t","objectId":"o","p":"get"}]})",
       R"({"accessPolicies":[{"tenantId":"t","objectId":"o","p":"get"},{"tenantId":"t","objectId":"q","p":"set"}]})",
       R"({"accessPolicies":[{"tenantId":"t","objectId":"O","p":"all"}]})",
       R"({"accessPolicies":[{"tenantId":"t","objectId":"O","p":"all"},{"tenantId":"t","objectId":"q","p":"set"}]})"},
  });
}

TEST(Merge, Scopes) {
  constexpr std::string_view kBase = R"({"tags":{},"a":1,"r":[{"name":"x","v":1}],"l":[1]})";
  const struct {
    std::string_view wanted;
    bool refused_by_maps, refused_by_leaves;
  } cases[] = {
      {R"({"tags":{"t":"1"},"a":1,"r":[{"name":"x","v":1}],"l":[1]})", false, false},
      {R"({"tags":{},"a":2,"r":[{"name":"x","v":1}],"l":[1]})", true, false},
      {R"({"tags":{},"a":1,"r":[{"name":"x","v":2}],"l":[1]})", true, true},
      {R"({"tags":{},"a":1,"r":[{"name":"x","v":1},{"name":"y"}],"l":[1]})", true, true},
      {R"({"tags":{},"a":1,"r":[{"name":"x","v":1}],"l":[1,2]})", true, true},
  };
  constexpr std::string_view kThere = R"({"tags":{},"a":1,"r":[{"name":"x","v":1},{"name":"o"}],"l":[1],"b":1})";
  for (const auto& c : cases) {
    const auto obstacle = [&](MergeScope scope) {
      return merge({{{{kBase}}}, {c.wanted}, {kThere}}, *BodyFacts::generic(), scope).obstacle;
    };
    EXPECT_EQ(obstacle(MergeScope::All), MergeObstacle::None) << c.wanted;
    EXPECT_EQ(obstacle(MergeScope::Leaves) == MergeObstacle::Scope, c.refused_by_leaves) << c.wanted;
    EXPECT_EQ(obstacle(MergeScope::Maps) == MergeObstacle::Scope, c.refused_by_maps) << c.wanted;
  }
}

TEST(Merge, ABaseThatSaysNotAll) {
  const auto from = [](std::string_view base, std::string_view wanted, std::string_view there) {
    return words_for(merge({{{{base, BodyKind::Partial}}}, {wanted}, {there}}, *BodyFacts::generic(), MergeScope::All));
  };
  EXPECT_EQ(from(R"({"a":1})", R"({"a":2})", R"({"a":1,"b":1})"), R"({"a":2,"b":1})");
  EXPECT_EQ(from(R"({"a":1})", R"({"a":2,"b":2})", R"({"a":1,"b":1})"), "412 at /b");
  EXPECT_EQ(from(R"({"a":1})", R"({"a":2,"b":2})", R"({"a":1})"), R"({"a":2,"b":2})");
  // It was sent and is not shown: a secret that nobody knows of, or somebody removed it.
  EXPECT_EQ(from(R"({"a":1,"key":"x"})", R"({"a":2,"key":"x"})", R"({"a":1})"), "412, not merged: secret");
  EXPECT_EQ(from(R"({"a":1,"tags":{"t":"1"}})", R"({"a":2,"tags":{"t":"1"}})", R"({"a":1,"tags":{}})"), R"({"a":2,"tags":{}})");
  constexpr ComparedBody kBody{R"({"a":1})"}, kPart{R"({"a":1})", BodyKind::Partial}, kNone{"", BodyKind::Absent};
  for (const MergeBodies& bodies :
       {MergeBodies{{{kBody}}, kPart, kBody}, MergeBodies{{{kBody}}, kBody, kPart}, MergeBodies{{{kNone}}, kBody, kBody},
        MergeBodies{{{kBody}}, kBody, kNone}, MergeBodies{{{kBody}}, kNone, kBody}}) {
    EXPECT_EQ(merge(bodies, *BodyFacts::generic(), MergeScope::All).obstacle, MergeObstacle::Incomplete);
  }
}

TEST(Merge, WhatTheServiceFilledIn) {
  static constexpr std::string_view kSent = R"({"p":{"a":1}})", kAnswer = R"({"p":{"a":1,"tier":"Basic"}})";
  const auto filled = [&](std::string_view wanted, std::string_view there) {
    return words_for(merge({{{{kAnswer}, kSent}}, {wanted}, {there}}, *BodyFacts::generic(), MergeScope::All));
  };
  // Left out again by the one who never had it: not removed.
  EXPECT_EQ(filled(R"({"p":{"a":2}})", R"({"p":{"a":1,"tier":"Basic","b":1}})"), R"({"p":{"a":2,"tier":"Basic","b":1}})");
  EXPECT_EQ(filled(R"({"p":{"a":2}})", R"({"p":{"a":1,"tier":"High"}})"), R"({"p":{"a":2,"tier":"High"}})");
  // Without that write of its own it is.
  EXPECT_EQ(words_for(merge({{{{kAnswer}}}, {R"({"p":{"a":2}})"}, {R"({"p":{"a":1,"tier":"Basic","b":1}})"}},
                            *BodyFacts::generic(), MergeScope::All)),
            R"({"p":{"a":2,"b":1}})");
}

TEST(Merge, WhatCannotBeRead) {
  constexpr std::string_view kGood = R"({"a":1})";
  auto hostile = hostile_json();
  hostile.push_back(nested_json("a", 300));
  hostile.push_back(R"({"a":1,"a":1})");
  for (const std::string& text : hostile) {
    for (const MergeBodies& bodies : {MergeBodies{{{{text}}}, {kGood}, {kGood}}, MergeBodies{{{{kGood}}}, {text}, {kGood}},
                                      MergeBodies{{{{kGood}}}, {kGood}, {text}}}) {
      EXPECT_EQ(merge(bodies, *BodyFacts::generic(), MergeScope::All).obstacle, MergeObstacle::Unreadable)
          << text.substr(0, 40);
    }
  }
  // As deep as is read, and as wide.
  const std::string deep = nested_json("a", 250), other = "{\"b\":2," + deep.substr(1);
  EXPECT_EQ(merge({{{{deep}}}, {other}, {deep}}, *BodyFacts::generic(), MergeScope::All).kind, Merge::Kind::Merged);
}

// As much as is read at all, below a name that no pointer should repeat for each place. Square time would take minutes.
TEST(Merge, MuchIsMergedInLinearTime) {
  const auto body = [](size_t changed_from, size_t changed_to) {
    std::string text = "{\"" + std::string(100'000, 'n') + "\":{\"tags\":{\"x\":1";
    for (size_t i = 0; i < 40'000; ++i)
      text += ",\"" + std::to_string(i) + "\":" + (i >= changed_from && i < changed_to ? "2" : "1");
    return text + "}}}";
  };
  const Merge merged =
      merge({{{{body(0, 0)}}}, {body(0, 20'000)}, {body(20'000, 40'000)}}, *BodyFacts::generic(), MergeScope::All);
  EXPECT_EQ(merged.body, body(0, 40'000));
  EXPECT_EQ(merged.taken.count, 20'000u);
  EXPECT_EQ(merged.taken.pointers.size(), Difference::kPointersMax);
}

TEST(Merge, WhatIsSaidOfIt) {
  const Merge merged = merge({{{{R"({"a":1,"b":1,"tags":{}})"}}},
                              {R"({"a":2,"b":1,"tags":{"t":"1","s":"1"}})"},
                              {R"({"a":1,"b":2,"tags":{"t":"1"}})"}},
                             *BodyFacts::generic(), MergeScope::All);
  EXPECT_EQ(merged.taken.pointers, (std::vector<std::string>{"/a", "/tags/s"}));
  EXPECT_EQ(merged.kept.pointers, std::vector<std::string>{"/b"});
  EXPECT_EQ(merged.taken.count, 2u);
  EXPECT_EQ(merge({{{{R"({"a":1})"}}}, {R"({"a":2})"}, {R"({"a":3})"}}, *BodyFacts::generic(), MergeScope::Maps).kind,
            Merge::Kind::Conflict);
}

// An object without members that one side takes away and another fills.
TEST(Merge, WhatIsPutIntoAnEmptyObjectThatTheOtherSideTakesAway) {
  expect_stories({{"removed here, filled there", R"({"a":{},"x":1})", R"({"x":1})", R"({"a":{"v":1},"x":1})", "412 at /a/v"}});
}

}  // namespace
}  // namespace armgate::arm
