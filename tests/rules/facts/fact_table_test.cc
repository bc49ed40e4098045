// What facts, rules and nothing at all say about a type at an api-version.
#include "rules/facts/fact_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "rules/file/rule_file.h"
#include "rules/plan.h"

namespace armgate::rules::fact_table_test {
namespace {

RuleBook book_of(const std::string& text, const std::string& file = "f.json") {
  FaultList faults;
  RuleBook book = read_rule_book(file, text, faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
  return book;
}

const std::string kFacts = R"({"facts": [
  {"types": ["A.B/*"], "body": {"read_only": ["/everywhere"], "maps": ["/map"]}},
  {"types": ["A.B/c"], "body": {"read_only": ["/always"], "arrays": [{"pointer": "/list", "key": ["k"]}]}},
  {"types": ["A.B/c"], "api_version": {"to": "2020-12-31"}, "body": {"read_only": ["/before"]}},
  {"types": ["A.B/c"], "api_version": {"from": "2021-01-01"}, "body": {"kept": ["/after"]}},
  {"types": ["A.B/late"], "api_version": {"from": "2021-01-01"}}
]})";

FactTable table_of(const std::string& text) { return FactTable(share(book_of(text).facts)); }

TEST(FactTable, AnUnknownTypeHasTheGenericFactsAndIsNoError) {
  const FactTable table = table_of(kFacts);
  for (const char* type : {"x.y/z", "a.b", "", "/", "*"}) {
    const TypeFacts& facts = table.find(type, "2024-01-01", nullptr);
    EXPECT_FALSE(facts.known()) << type;
    EXPECT_EQ(facts.body, arm::BodyFacts::generic());
  }
  EXPECT_EQ(&FactTable(nullptr).find("a.b/c", "", nullptr), &generic_type_facts());
}

TEST(FactTable, FactsOfPatternsAndOfTheTypeAddUpByApiVersion) {
  const FactTable table = table_of(kFacts);
  const TypeFacts& before = table.find("a.b/c", "2020-12-31", nullptr);
  const TypeFacts& after = table.find("a.b/c", "2021-01-01", nullptr);
  EXPECT_EQ(before.strength, FactStrength::Declared);
  for (const TypeFacts* facts : {&before, &after}) {
    EXPECT_TRUE(facts->body->top().member("everywhere").read_only());
    EXPECT_TRUE(facts->body->top().member("always").read_only());
    EXPECT_NE(facts->body->top().member("list").array(), nullptr);
    EXPECT_TRUE(facts->body->top().member("map").is_map());
    EXPECT_TRUE(facts->body->top().member("etag").read_only());
  }
  EXPECT_TRUE(before.body->top().member("before").read_only());
  EXPECT_FALSE(before.body->top().member("after").kept());
  EXPECT_FALSE(after.body->top().member("before").read_only());
  EXPECT_TRUE(after.body->top().member("after").kept());
  EXPECT_TRUE(table.find("a.b/other/deep", "2024-01-01", nullptr).body->top().member("everywhere").read_only());
  EXPECT_TRUE(table.find("a.b/late", "2024-01-01", nullptr).known());
}

TEST(FactTable, WhatWasWorkedOutOnceIsFoundAgain) {
  const FactTable table = table_of(kFacts);
  const TypeFacts& first = table.find("a.b/c", "2022-01-01", nullptr);
  EXPECT_EQ(&first, &table.find("a.b/c", "2023-09-01-preview", nullptr)) << "between the same bounds";
  EXPECT_NE(&first, &table.find("a.b/c", "2019-01-01", nullptr));
  EXPECT_EQ(&first, &table.find("a.b/c", "2022-01-01", nullptr));
}

TEST(FactTable, TheMoreExactAndThenTheFirstDecidesAboutAnArray) {
  std::vector<FactEntry> all =
      book_of(R"({"facts": [{"types": ["A.B/c"], "body": {"arrays": [{"pointer": "/a", "key": ["first"]}]}}]})").facts;
  for (
      const char* later :
      {R"({"facts": [{"types": ["A.B/c"], "body": {"arrays": [{"pointer": "/a", "key": ["second"]}]}}]})",
       R"({"facts": [{"types": ["A.B/*"], "body": {"arrays": [{"pointer": "/a", "key": ["pattern"]}, {"pointer": "/p", "key": ["p"]}]}}]})"}) {
    for (FactEntry& entry : book_of(later).facts) all.push_back(std::move(entry));
  }
  const FactTable table(share(std::move(all)));
  const auto& facts = table.find("a.b/c", "", nullptr);
  EXPECT_THAT(facts.body->top().member("a").array()->key, ::testing::ElementsAre("first"));
  EXPECT_THAT(facts.body->top().member("p").array()->key, ::testing::ElementsAre("p"));
  EXPECT_EQ(table.about("a.b/c").size(), 3u);
}

TEST(FactTable, WhatWasImportedIsWeakerThanAllElse) {
  std::vector<FactEntry> all =
      book_of(R"({"facts": [{"types": ["A.B/c", "A.B/d"], "body": {"arrays": [{"pointer": "/a", "key": ["i"]}]}}]})").facts;
  all[0].strength = FactStrength::Imported;
  for (FactEntry& entry :
       book_of(R"({"facts": [{"types": ["A.B/c"], "body": {"arrays": [{"pointer": "/a", "key": ["d"]}]}}]})").facts) {
    all.push_back(std::move(entry));
  }
  const FactTable table(share(std::move(all)));
  EXPECT_EQ(table.find("a.b/c", "", nullptr).strength, FactStrength::Declared);
  EXPECT_EQ(table.find("a.b/c", "", nullptr).body->top().member("a").array()->key.front(), "d");
  EXPECT_EQ(table.find("a.b/d", "", nullptr).strength, FactStrength::Imported);
}

TEST(FactTable, ARulesOwnBodyIsOnTopAndCountsForThatRuleAlone) {
  const RuleBook book = book_of(R"({"rules": [
      {"name": "own", "match": {"types": ["A.B/c"], "api_version": {"from": "2022-01-01"}},
       "body": {"arrays": [{"pointer": "/a", "key": ["rule"]}]}},
      {"name": "plain", "match": {"types": ["A.B/*"]}}],
    "facts": [{"types": ["A.B/c"], "body": {"read_only": ["/r"], "arrays": [{"pointer": "/a", "key": ["fact"]}]}}]})");
  const Ruleset rules(book.rules, {}, {}, share(book.facts));
  const auto facts_of = [&](const std::string& type, const std::string& version) {
    const std::string target = "/subscriptions/s/resourceGroups/g/providers/" + type + "/x?api-version=" + version;
    return make_plan(rules, Mode::Protect, arm::Method::Put, target)->facts();
  };
  const TypeFacts own = facts_of("A.B/c", "2022-01-01");
  EXPECT_EQ(own.body->top().member("a").array()->key.front(), "rule");
  EXPECT_TRUE(own.body->top().member("r").read_only());
  EXPECT_EQ(facts_of("A.B/c", "2021-01-01").body->top().member("a").array()->key.front(), "fact");
  EXPECT_FALSE(facts_of("A.B/e", "2021-01-01").known());
}

TEST(FactTable, ARuleAloneMakesItsTypesKnown) {
  const RuleBook book =
      book_of(R"({"rules": [{"name": "own", "match": {"types": ["A.B/c"]}, "body": {"read_only": ["/r"]}}]})");
  const Ruleset rules(book.rules);
  const auto thread = rules.for_one_thread();
  const auto facts = make_plan(*thread, Mode::Protect, arm::Method::Get, "/subscriptions/s/providers/A.B/c/x")->facts();
  EXPECT_TRUE(facts.known());
  EXPECT_TRUE(facts.body->top().member("r").read_only());
}

TEST(FactTable, ThreadsThatAskAtOnceGetOneAnswer) {
  for (int round = 0; round < 20; ++round) {
    const FactTable table = table_of(kFacts);
    std::vector<const TypeFacts*> found(8);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < found.size(); ++i) {
      threads.emplace_back([&, i] { found[i] = &table.find("a.b/c", i % 2 == 0 ? "2019-01-01" : "2022-01-01", nullptr); });
    }
    for (auto& thread : threads) thread.join();
    for (size_t i = 2; i < found.size(); ++i) EXPECT_EQ(found[i], found[i - 2]);
  }
}

}  // namespace
}  // namespace armgate::rules::fact_table_test
