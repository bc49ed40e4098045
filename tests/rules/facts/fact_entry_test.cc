// Entries of "facts": every key reaches its place, and what contradicts itself is told with file, line and type.
#include "rules/facts/fact_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"

namespace armgate::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RuleBook read(const std::string& facts, FaultList& faults) {
  return read_rule_book("f.json", "{\"facts\": [\n" + facts + "]}", faults);
}

TEST(FactEntry, EveryKeyReachesItsPlace) {
  FaultList faults;
  const auto book = read(R"({"types": ["A.B/c", "A.B/d/*"], "api_version": {"from": "2020-01-01", "to": "2021-01-01"},
      "body": {"read_only": ["/a"], "write_only": ["/b"], "kept": ["/c"], "maps": ["/d"],
               "arrays": [{"pointer": "/e", "key": ["k"]}], "same": [{"pointer": "/f", "as": "id"}]}})",
                         faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
  ASSERT_EQ(book.facts.size(), 1u);
  const FactEntry& entry = book.facts[0];
  EXPECT_THAT(entry.match.types, ElementsAre("a.b/c", "a.b/d/*"));
  EXPECT_EQ(entry.match.api_version_from, "2020-01-01");
  EXPECT_EQ(entry.match.api_version_to, "2021-01-01");
  EXPECT_EQ(entry.strength, FactStrength::Declared);
  EXPECT_EQ(words_for(entry), "the facts at f.json:2");
  const arm::BodyFacts facts(entry.body);
  EXPECT_TRUE(facts.top().member("a").read_only());
  EXPECT_TRUE(facts.top().member("b").write_only());
  EXPECT_TRUE(facts.top().member("c").kept());
  EXPECT_TRUE(facts.top().member("d").is_map());
  EXPECT_FALSE(facts.top().member("d").member("createdAt").read_only());
  EXPECT_NE(facts.top().member("e").array(), nullptr);
  EXPECT_EQ(facts.top().member("f").same(), arm::SameAs::Id);
}

TEST(FactEntry, WithoutABodyItSaysThatSomebodyHasLooked) {
  FaultList faults;
  EXPECT_EQ(read(R"({"types": ["A.B/c"]})", faults).facts.size(), 1u);
  EXPECT_TRUE(faults.empty());
}

struct Contradictory {
  std::string facts, pointer, message;
  int line;
};

void expect_fault(const Contradictory& c) {
  SCOPED_TRACE(c.facts);
  FaultList faults;
  read(c.facts, faults);
  ASSERT_EQ(faults.size(), 1u) << (faults.empty() ? "" : to_text(faults.back()));
  EXPECT_EQ(faults[0].pointer, c.pointer);
  EXPECT_EQ(faults[0].line, c.line);
  EXPECT_EQ(faults[0].file, "f.json");
  EXPECT_THAT(faults[0].message, HasSubstr(c.message));
}

TEST(FactEntry, OneThatContradictsItselfIsRefused) {
  const Contradictory cases[] = {
      {R"({"types": ["*"], "body": {"read_only": ["/a"]}})", "/facts/0/types/0", "name a provider", 2},
      {R"({"types": ["A.B/c"], "body": {"read_only": ["a"]}})", "/facts/0/body/read_only/0", "is not a JSON pointer", 2},
      {R"({"types": ["A.B/c"], "body": {"arrays": [{"pointer": "/a"}]}})", "/facts/0/body/arrays/0", R"(needs "key")", 2},
      {R"({"types": ["A.B/c"], "api_version": {"from": "2022-01-01", "to": "2021-01-01"}})", "/facts/0/api_version",
       "no request would match", 2},
      {"{\"types\": [\"A.B/c\"], \"body\": {\"read_only\": [\"/a\"],\n \"kept\": [\"/A\"]}}", "/facts/0/body/kept/0",
       R"("/a" is in "read_only")", 3},
      {R"({"types": ["A.B/c"], "body": {"read_only": ["/a"], "arrays": [{"pointer": "/a/*/b", "kind": "set"}]}})",
       "/facts/0/body/arrays/0", "never compared", 2},
      {R"({"types": ["A.B/c"], "body": {"read_only": ["/a"], "write_only": ["/a"]}})", "/facts/0/body/write_only/0",
       "never compared", 2},
  };
  for (const auto& c : cases) expect_fault(c);
}

TEST(FactEntry, TwoThatContradictEachOtherAreRefused) {
  const auto two = [](const std::string& first, const std::string& second) {
    return "{\"types\": [\"A.B/c\"], " + first + "},\n{\"types\": [\"A.B/d\", \"A.B/*\"], " + second + "}";
  };
  const auto keyed = [](const std::string& key) {
    return R"("body": {"arrays": [{"pointer": "/a", "key": [")" + key + "\"]}]}";
  };
  const Contradictory cases[] = {
      {two(keyed("name"), keyed("id")), "/facts/1/body/arrays/0", "the facts at f.json:2", 3},
      {two(keyed("name"), R"("body": {"arrays": [{"pointer": "/A", "kind": "atomic"}]})"), "/facts/1/body/arrays/0",
       R"("keyed" by name)", 3},
      {two(keyed("name"), R"("body": {"arrays": [{"pointer": "/a", "key": ["name"], "unique": ["/rank"]}]})"),
       "/facts/1/body/arrays/0", R"("keyed" by name, with one /rank each, which is "keyed" by name by the facts)", 3},
      {two(keyed("name"), R"("body": {"read_only": ["/a"]})"), "/facts/1/body/read_only/0", R"("/a" is in "arrays")", 3},
      {two(R"("body": {"read_only": ["/a"]})", keyed("name")), "/facts/1/body/arrays/0", "a.b/d", 3},
      {two(R"("body": {"same": [{"pointer": "/a", "as": "id"}]})", R"("body": {"same": [{"pointer": "/a"}]})"),
       "/facts/1/body/same/0", "in another way", 3},
  };
  for (const auto& c : cases) expect_fault(c);
}

TEST(FactEntry, WhatAgreesOrHoldsAtOtherApiVersionsOrTypesIsNoContradiction) {
  const std::string name = R"("body": {"arrays": [{"pointer": "/a", "key": ["name"]}]})";
  const std::string id = R"("body": {"arrays": [{"pointer": "/a", "key": ["id"]}]})";
  for (const std::string& facts : {
           R"({"types": ["A.B/c"], )" + name + R"(}, {"types": ["A.B/c"], )" + name + "}",
           R"({"types": ["A.B/c"], )" + name + R"(}, {"types": ["A.B/d"], )" + id + "}",
           R"({"types": ["A.B/c"], "api_version": {"to": "2020-01-01"}, )" + name +
               R"(}, {"types": ["A.B/c"], "api_version": {"from": "2020-01-02"}, )" + id + "}",
           std::string(R"({"types": ["A.B/c"], "body": {"read_only": ["/a"], "kept": ["/ab"]}})"),
       }) {
    FaultList faults;
    read(facts, faults);
    for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault) << "\n" << facts;
  }
}

}  // namespace
}  // namespace armgate::rules
