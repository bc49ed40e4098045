// Goal: a body is taken for built on a newer state only if it says so beyond doubt. Method: pairs and triples of states as
// providers answer them, with bodies as tools send them.
#include "arm/evidence.h"

#include <gtest/gtest.h>

#include "tests/arm/hostile_json.h"

namespace armgate::arm {
namespace {

const BodyFacts kGeneric;

char letter(Evidence evidence) {
  switch (evidence) {
    case Evidence::Silent: return '?';
    case Evidence::Agrees: return '+';
    case Evidence::ContradictsByAbsence: return '-';
    case Evidence::Contradicts: return 'x';
  }
  return ' ';
}

// One letter for each state.
std::string letters(std::string_view put, const std::vector<WeighedState>& states, Evidence StateEvidence::*which) {
  std::string text;
  for (const StateEvidence& evidence : weigh_evidence(put, states, kGeneric)) text += letter(evidence.*which);
  return text;
}

std::string weighed(std::string_view put, const std::vector<std::string_view>& states) {
  std::vector<WeighedState> in_hand;
  for (const auto state : states) in_hand.push_back({state});
  EXPECT_EQ(letters(put, in_hand, &StateEvidence::says_in_hand), std::string(states.size(), '?')) << "nothing was left out";
  return letters(put, in_hand, &StateEvidence::says);
}

struct Case {
  const char* name;
  const char* put;
  std::vector<std::string_view> states;
  const char* expected;
};

void expect_all(const std::vector<Case>& cases) {
  for (const auto& c : cases) EXPECT_EQ(weighed(c.put, c.states), c.expected) << c.name;
}

TEST(Evidence, TagsAndLeavesOfAScaleSet) {
  const char* one =
      R"({"etag":"\"1\"","sku":{"name":"S","capacity":1},"tags":{},"properties":{"provisioningState":"Updating","overprovision":true}})";
  const char* tagged =
      R"({"etag":"\"2\"","sku":{"name":"S","capacity":1},"tags":{"a":"1"},"properties":{"provisioningState":"Succeeded","overprovision":true}})";
  const char* raised =
      R"({"etag":"\"3\"","sku":{"name":"S","capacity":2},"tags":{"a":"1"},"properties":{"provisioningState":"Succeeded","overprovision":true}})";
  expect_all({
      {"built on the newer", R"({"sku":{"name":"S","capacity":1},"tags":{"a":"1","b":"1"}})", {one, tagged}, "x+"},
      {"built on the older", R"({"sku":{"name":"S","capacity":1},"tags":{"b":"1"}})", {one, tagged}, "+-"},
      {"on the last of three", R"({"sku":{"capacity":2},"tags":{"a":"1","b":"1"}})", {one, tagged, raised}, "xx+"},
      {"on the middle one", R"({"sku":{"capacity":1},"tags":{"a":"1","b":"1"}})", {one, tagged, raised}, "x+x"},
      {"changes a place of its own too", R"({"sku":{"capacity":9},"tags":{"a":"1","b":"1"}})", {one, tagged, raised}, "x++"},
      {"only such a place", R"({"sku":{"capacity":9},"tags":{"a":"1"}})", {tagged, raised}, "??"},
      {"leaves out what differs", R"({"properties":{"overprovision":false}})", {tagged, raised}, "??"},
      {"agrees with neither: from a file", R"({"sku":{"capacity":2},"tags":{"c":"1"}})", {one, tagged, raised}, "???"},
      {"a value by number", R"({"sku":{"capacity":2.0},"tags":{"a":"1","b":"1"}})", {tagged, raised}, "x+"},
      {"a null counts as left out", R"({"sku":{"capacity":null},"tags":{"a":"1","b":null}})", {tagged, raised}, "??"},
  });
}

TEST(Evidence, IfNoneAgreesThoseInHandAreWeighedAmongThemselves) {
  const char* wiped_out = R"({"sku":{"capacity":1},"tags":{"own":"1"}})";
  const char* older = R"({"sku":{"capacity":2},"tags":{}})";
  const char* newer = R"({"sku":{"capacity":2},"tags":{"a":"1"}})";
  const char* put = R"({"sku":{"capacity":2},"tags":{"own":"1"}})";
  // What all say, and what those in hand say.
  const auto weighed_of_three = [&](const char* body, std::vector<bool> in_hand) {
    const std::vector<WeighedState> states{{wiped_out, in_hand[0]}, {older, in_hand[1]}, {newer, in_hand[2]}};
    return letters(body, states, &StateEvidence::says) + " " + letters(body, states, &StateEvidence::says_in_hand);
  };
  EXPECT_EQ(weighed_of_three(put, {true, true, true}), "??? ???");
  EXPECT_EQ(weighed_of_three(put, {false, true, true}), "??? ?+-");
  EXPECT_EQ(weighed_of_three(put, {false, true, false}), "??? ???") << "nothing to compare with";
  EXPECT_EQ(weighed_of_three(put, {false, false, false}), "??? ???");
  EXPECT_EQ(weighed_of_three(R"({"sku":{"capacity":1},"tags":{"own":"1","b":"1"}})", {false, true, true}), "+xx ???")
      << "what agrees is built on, whoever holds it";
  EXPECT_EQ(weighed_of_three(wiped_out, {false, true, true}), "??? ???") << "taken back";
}

TEST(Evidence, ABodyThatLeavesAStateAsItIsSaysNothing) {
  const char* one =
      R"({"sku":{"capacity":1},"tags":{"a":"1"},"properties":{"subnets":[{"name":"A","p":1},{"name":"B","p":2}]}})";
  const char* two = R"({"sku":{"capacity":2},"tags":{"a":"1"},"properties":{"subnets":[{"name":"A","p":1}]}})";
  expect_all({
      {"somebody else counted the same", R"({"sku":{"capacity":2},"tags":{"a":"1"}})", {one, two}, "??"},
      {"a drift is taken back", R"({"sku":{"capacity":1},"tags":{"a":"1"}})", {one, two}, "??"},
      {"the whole, elements reordered",
       R"({"sku":{"capacity":1},"properties":{"subnets":[{"name":"b","p":2},{"name":"A","p":1}]}})",
       {one, two},
       "??"},
      {"with a tag more it does not", R"({"sku":{"capacity":2},"tags":{"a":"1","b":"1"}})", {one, two}, "x+"},
  });
}

// Their absent members look like removals, which other objects' absent members do not.
TEST(Evidence, MapsWithNamesOfTheClientsOwn) {
  for (const char* map : {"tags", "nodeLabels", "metadata"}) {
    const std::string before = std::string(R"({"properties":{")") + map + R"(":{"a":"1"}}})";
    const std::string added = std::string(R"({"properties":{")") + map + R"(":{"a":"1","b":"1"}}})";
    const std::string wanted = std::string(R"({"properties":{")") + map + R"(":{"a":"1","c":"1"}}})";
    expect_all({{map, wanted.c_str(), {before.c_str(), added.c_str()}, "+-"}});
  }
  expect_all({{"any other object",
               R"({"properties":{"x":{"a":"1","c":"1"}}})",
               {R"({"properties":{"x":{"a":"1"}}})", R"({"properties":{"x":{"a":"1","b":"1"}}})"},
               "??"}});
}

TEST(Evidence, ListsOfTextsAndRecords) {
  const char* one = R"({"properties":{"nodeTaints":["a"],"ARecords":[{"ipv4Address":"1"}]}})";
  const char* two = R"({"properties":{"nodeTaints":["a","b"],"ARecords":[{"ipv4Address":"1"}]}})";
  const char* more = R"({"properties":{"nodeTaints":["a"],"ARecords":[{"ipv4Address":"1"},{"ipv4Address":"2"}]}})";
  expect_all({
      {"a text added to the older", R"({"properties":{"nodeTaints":["a","c"]}})", {one, two}, "+-"},
      {"a text added to the newer", R"({"properties":{"nodeTaints":["a","b","c"]}})", {one, two}, "x+"},
      {"another list", R"({"properties":{"nodeTaints":["x"]}})", {one, two}, "+-"},
      {"the same in another order", R"({"properties":{"nodeTaints":["b","a"]}})", {one, two}, "??"},
      {"a text twice: no keys", R"({"properties":{"nodeTaints":["a","a","c"]}})", {one, two}, "??"},
      {"a record added to the older",
       R"({"properties":{"ARecords":[{"ipv4Address":"1"},{"ipv4Address":"3"}]}})",
       {one, more},
       "+-"},
      {"a record that says nothing but its key speaks for nobody",
       R"({"properties":{"ARecords":[{"ipv4Address":"1"},{"ipv4Address":"2"},{"ipv4Address":"3"}]}})",
       {one, more},
       "??"},
  });
  expect_all({{"replaced each time",
               R"({"properties":{"p":["z"]}})",
               {R"({"properties":{"p":["x"]}})", R"({"properties":{"p":["y"]}})"},
               "??"}});
}

TEST(Evidence, ArraysWithKeys) {
  const char* none = R"({"properties":{"securityRules":[]}})";
  const char* web =
      R"({"properties":{"securityRules":[{"name":"web","id":"/subscriptions/S/r/web","properties":{"priority":100,"access":"Allow"}}]}})";
  const char* ssh = R"({"properties":{"securityRules":[{"name":"ssh","properties":{"priority":110}},)"
                    R"({"name":"Web","id":"/subscriptions/s/R/web","properties":{"priority":100,"access":"Allow"}}]}})";
  expect_all({
      {"built on that with one rule",
       R"({"properties":{"securityRules":[{"name":"new","properties":{"priority":9}},)"
       R"({"name":"web","properties":{"priority":100,"access":"Allow"}}]}})",
       {none, web},
       "x+"},
      {"case of names and ids, order",
       R"({"properties":{"securityRules":[{"name":"WEB","id":"/Subscriptions/s/r/web",)"
       R"("properties":{"priority":100}},{"name":"ssh","properties":{"priority":110}},{"name":"new","properties":{"priority":1}}]}})",
       {web, ssh},
       "x+"},
      {"without a rule: built before it, or removes it",
       R"({"properties":{"securityRules":[{"name":"new","properties":{"priority":9}}]}})",
       {none, web},
       "+-"},
      {"a rule of the same name that two made",
       R"({"properties":{"securityRules":[{"name":"web","properties":)"
       R"({"priority":100,"access":"Deny"}}]}})",
       {none, web},
       "??"},
      {"its name alone", R"({"properties":{"securityRules":[{"name":"web"},{"name":"new"}]}})", {none, web}, "??"},
      {"the array left out", R"({"properties":{"x":1}})", {none, web}, "??"},
      {"a state without the array",
       R"({"properties":{"securityRules":[{"name":"new","p":1},{"name":"web","properties":)"
       R"({"priority":100}}]}})",
       {R"({"properties":{}})", web},
       "x+"},
  });
}

TEST(Evidence, EveryKindOfArrayByItsOwnKey) {
  expect_all({
      {"data disks by lun",
       R"({"dataDisks":[{"lun":1,"name":"y","size":8},{"lun":0,"name":"x","size":9},{"lun":2,"size":1}]})",
       {R"({"dataDisks":[{"lun":0,"name":"x","size":9}]})",
        R"({"dataDisks":[{"lun":0,"name":"x","size":9},{"lun":1,"name":"y","size":8}]})"},
       "x+"},
      {"references by id",
       R"({"backends":[{"id":"/subscriptions/S/B","w":2},{"id":"/subscriptions/s/a","w":1}],"x":3})",
       {R"({"backends":[{"id":"/subscriptions/s/a","w":1}],"x":1})",
        R"({"backends":[{"id":"/subscriptions/s/a","w":1},{"id":"/subscriptions/s/b","w":2}],"x":1})"},
       "x+"},
      {"access policies by three",
       R"({"accessPolicies":[{"tenantId":"t","objectId":"1","p":["get"]},{"tenantId":"t","objectId":"2","p":["set"]}],"x":2})",
       {R"({"accessPolicies":[{"tenantId":"t","objectId":"1","p":["get"]}],"x":1})",
        R"({"accessPolicies":[{"tenantId":"t","objectId":"1","p":["get"]},{"tenantId":"t","objectId":"2","p":["set"]}],"x":1})"},
       "x+"},
      {"texts by themselves, equal",
       R"({"dns":["a","b"],"x":2})",
       {R"({"dns":["a"],"x":1})", R"({"dns":["a","b"],"x":1})"},
       "x+"},
      {"texts by themselves, one more",
       R"({"dns":["a","b","c"],"x":2})",
       {R"({"dns":["a"],"x":1})", R"({"dns":["a","b"],"x":1})"},
       "x+"},
      {"no key: as a whole, equal", R"({"l":[[1],[2]],"x":2})", {R"({"l":[[1]],"x":1})", R"({"l":[[1],[2]],"x":1})"}, "x+"},
      {"no key: as a whole, another",
       R"({"l":[[1],[2],[3]],"x":2})",
       {R"({"l":[[1]],"x":1})", R"({"l":[[1],[2]],"x":1})"},
       "??"},
      {"two of one name: as a whole",
       R"({"r":[{"name":"n","p":1},{"name":"N","p":2},{"name":"m","p":3}],"x":2})",
       {R"({"r":[{"name":"n","p":1}],"x":1})", R"({"r":[{"name":"n","p":1},{"name":"N","p":2}],"x":1})"},
       "??"},
  });
}

TEST(Evidence, NothingIsReadIntoWhatCannotBeRead) {
  const char* one = R"({"a":1,"b":1})";
  const char* two = R"({"a":2,"b":1})";
  const char* put = R"({"a":2,"b":7})";
  EXPECT_EQ(weighed(put, {one, two}), "x+");
  EXPECT_EQ(weighed(put, {two}), "?");
  EXPECT_EQ(weighed(put, {one, two, "{"}), "x+?") << "one state less";
  EXPECT_EQ(weighed(R"({"a":2,"a":2,"b":7})", {one, two}), "??");
  for (const auto& text : hostile_json()) {
    EXPECT_EQ(weighed(put, {one, text}), "??") << text;
    EXPECT_EQ(weighed(text, {one, two}), "??") << text;
  }
  EXPECT_EQ(weighed(put, std::vector<std::string_view>(kEvidenceStatesMax + 1, one)), std::string(kEvidenceStatesMax + 1, '?'));
  const std::string large = R"({"a":2,"b":1,"x":[)" + repeated("1,", kEvidenceNodesMax) + "1]}";
  EXPECT_EQ(weighed(put, {one, large}), "??");
}

// What a PUT has all of, it does not lose.
TEST(Carries, AllOfTheStateMustBeThere) {
  const char* state = R"({"id":"/subscriptions/s/x","name":"x","type":"T","etag":"\"1\"","location":"w","tags":{"a":"1"},
    "properties":{"provisioningState":"Succeeded","ranges":["1","2"],"limits":[{"p":1},{"p":2}],
                  "rules":[{"name":"A","id":"/subscriptions/s/x/rules/A","properties":{"p":1,"q":null}}]}})";
  struct {
    const char* name;
    const char* put;
    bool expected;
  } cases[] = {
      {"the same, but for what it is called and what only the service writes",
       R"({"location":"w","tags":{"a":"1"},"properties":{"ranges":["1","2"],"limits":[{"p":1},{"p":2}],"rules":[{"name":"A","properties":{"p":1}}]}})",
       true},
      {"more of everything",
       R"({"location":"w","zones":["1"],"tags":{"b":"2","a":"1"},"properties":{"ranges":["3","2","1"],"limits":[{"p":1},{"p":2}],
         "rules":[{"name":"B","properties":{}},{"name":"A","properties":{"p":1,"q":7}}]}})",
       true},
      {"a tag is missing",
       R"({"location":"w","tags":{},"properties":{"ranges":["1","2"],"limits":[{"p":1},{"p":2}],"rules":[{"name":"A","properties":{"p":1}}]}})",
       false},
      {"a rule is missing",
       R"({"location":"w","tags":{"a":"1"},"properties":{"ranges":["1","2"],"limits":[{"p":1},{"p":2}],"rules":[]}})", false},
      {"a leaf is missing",
       R"({"tags":{"a":"1"},"properties":{"ranges":["1","2"],"limits":[{"p":1},{"p":2}],"rules":[{"name":"A","properties":{"p":1}}]}})",
       false},
      {"a leaf is another",
       R"({"location":"w","tags":{"a":"1"},"properties":{"ranges":["1","2"],"limits":[{"p":1},{"p":2}],"rules":[{"name":"A","properties":{"p":2}}]}})",
       false},
      {"an array without keys is longer",
       R"({"location":"w","tags":{"a":"1"},"properties":{"ranges":["1","2"],"limits":[{"p":1},{"p":2},{"p":3}],"rules":[{"name":"A","properties":{"p":1}}]}})",
       false},
      {"it is called otherwise",
       R"({"name":"y","location":"w","tags":{"a":"1"},"properties":{"ranges":["1","2"],"limits":[{"p":1},{"p":2}],"rules":[{"name":"A","properties":{"p":1}}]}})",
       false},
      {"nothing", "{}", false},
      {"no JSON", "{", false},
  };
  for (const auto& c : cases) EXPECT_EQ(carries(c.put, state, kGeneric), c.expected) << c.name;
  EXPECT_FALSE(carries("{}", "{", kGeneric));
  EXPECT_FALSE(carries(R"({"properties":{}})", R"({"subnet":{"id":"/subscriptions/s/y"},"properties":{}})", kGeneric))
      << "a reference is no name";
}

}  // namespace
}  // namespace armgate::arm
