// What a rule file says about bodies: every key reaches its place, every fault is told at its own.
#include "rules/file/body_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"

namespace armgate::rules::body_settings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string file_with(const std::string& body) {
  return R"({"rules": [{"name": "r", "match": {"types": ["A.B/c"]}, "body": {)" + body + "}}]}";
}

TEST(BodySettings, EveryKeyReachesItsPlaceAndBecomesAFact) {
  FaultList faults;
  const auto rules =
      read_rules("r.json", file_with(R"("read_only": ["/properties/instanceView"], "write_only": ["/properties/password"],
      "arrays": [{"pointer": "/properties/list", "key": ["a", "b"]}, {"pointer": "/zones", "kind": "set"},
                 {"pointer": "/x", "kind": "ordered", "key": ["k"]}, {"pointer": "/y", "kind": "atomic"}],
      "same": [{"pointer": "/properties/*/place", "as": "location"}, {"pointer": "/properties/word"}, {"pointer": "/i", "as": "id"}])"),
                 faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
  ASSERT_EQ(rules.size(), 1u);
  const arm::DeclaredFacts& declared = rules[0].body.declared;
  EXPECT_THAT(declared.read_only, ElementsAre("/properties/instanceView"));
  EXPECT_THAT(declared.write_only, ElementsAre("/properties/password"));
  ASSERT_EQ(declared.arrays.size(), 4u);
  EXPECT_EQ(declared.arrays[0].pointer, "/properties/list");
  EXPECT_EQ(declared.arrays[0].kind, arm::ArrayKind::Keyed);
  EXPECT_THAT(declared.arrays[0].key, ElementsAre("a", "b"));
  EXPECT_EQ(declared.arrays[1].kind, arm::ArrayKind::Set);
  EXPECT_EQ(declared.arrays[2].kind, arm::ArrayKind::Ordered);
  EXPECT_EQ(declared.arrays[3].kind, arm::ArrayKind::Atomic);
  ASSERT_EQ(declared.same.size(), 3u);
  EXPECT_EQ(declared.same[0].as, arm::SameAs::Location);
  EXPECT_EQ(declared.same[1].as, arm::SameAs::Case);
  EXPECT_EQ(declared.same[2].as, arm::SameAs::Id);
  const arm::BodyPlace properties = rules[0].body.facts.body->top().member("properties");
  EXPECT_TRUE(properties.member("instanceView").read_only());
  EXPECT_TRUE(properties.member("password").write_only());
  EXPECT_NE(properties.member("list").array(), nullptr);
  EXPECT_EQ(properties.member("word").same(), arm::SameAs::Case);
}

TEST(BodySettings, WithoutThemTheGenericFactsHold) {
  const Rule rule;
  ASSERT_NE(rule.body.facts.body, nullptr);
  EXPECT_TRUE(rule.body.facts.body->top().member("etag").read_only());
}

TEST(BodySettings, EachFaultIsToldAtItsPlace) {
  const struct {
    std::string body, pointer, message;
  } cases[] = {
      {R"("read_only": ["instanceView"])", "/body/read_only/0", "is not a JSON pointer"},
      {R"("write_only": ["/a/"])", "/body/write_only/0", "is not a JSON pointer"},
      {R"("readonly": ["/a"])", "/body/readonly", R"(did you mean "read_only"?)"},
      {R"("arrays": [{"pointer": "/a"}])", "/body/arrays/0", R"(needs "key": elements that are "keyed")"},
      {R"("arrays": [{"pointer": "/a", "kind": "ordered"}])", "/body/arrays/0", R"(that are "ordered")"},
      {R"("arrays": [{"pointer": "/a", "kind": "set", "key": ["b"]}])", "/body/arrays/0/key",
       R"(is not used where "kind" is "set")"},
      {R"("arrays": [{"pointer": "/a", "kind": "set", "unique": ["/b"]}])", "/body/arrays/0/unique",
       "plain values have no members"},
      {R"("arrays": [{"pointer": "/a", "key": ["b"], "unique": ["b"]}])", "/body/arrays/0/unique/0", "is not a JSON pointer"},
      {R"("arrays": [{"pointer": "/a", "key": ["b/c"]}])", "/body/arrays/0/key/0", "is not the name of a member"},
      {R"("arrays": [{"pointer": "/a", "key": ["b"]}, {"pointer": "/A", "kind": "set"}])", "/body/arrays/1/pointer",
       "is in this list already"},
      {R"("same": [{"pointer": "/a", "as": "ids"}])", "/body/same/0/as", R"(did you mean "id"?)"},
      {R"("same": [{"pointer": "/a"}, {"pointer": "/a", "as": "id"}])", "/body/same/1/pointer", "is in this list already"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    FaultList faults;
    read_rules("r.json", file_with(c.body), faults);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].pointer, "/rules/0" + c.pointer);
    EXPECT_THAT(faults[0].message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace armgate::rules::body_settings_test
