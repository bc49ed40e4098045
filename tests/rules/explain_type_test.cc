// `armgate types` in words: what is known of a type, from where, and how it is protected.
#include "rules/explain_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/facts/imported_facts.h"
#include "rules/file/rule_file.h"

namespace armgate::rules {
namespace {

using ::testing::ElementsAre;

const Ruleset& ruleset() {
  static const Ruleset rules = [] {
    FaultList faults;
    RuleBook book = read_rule_book("r.json", R"({"rules": [
{"name": "new", "match": {"types": ["A.B/c"], "api_version": {"from": "2022-01-01"}}, "guard": {"kind": "etag"}},
{"name": "old", "match": {"types": ["A.B/c"]}, "body": {"write_only": ["/w"]}},
{"name": "off", "match": {"types": ["A.B/off"]}, "mode": "off"},
{"name": "any", "match": {"types": ["*"]}}],
"facts": [
{"types": ["A.B/c"], "body": {"read_only": ["/r"], "maps": ["/m"]}},
{"types": ["A.B/c"], "api_version": {"to": "2021-12-31"}, "body": {"kept": ["/k"]}},
{"types": ["A.B/d/*"], "body": {"arrays": [{"pointer": "/a", "kind": "set"}]}}]})",
                                   faults);
    for (FactEntry& entry :
         read_imported_facts("i.json", to_imported_text({{"A.B/i", "2020-01-01", "2020-01-01", {}}}), faults)) {
      book.facts.push_back(std::move(entry));
    }
    for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
    return Ruleset(book.rules, {}, {}, share(book.facts));
  }();
  return rules;
}

std::vector<std::string> lines_of(std::string_view type) {
  std::vector<std::string> lines;
  for (const Fact& fact : explain_type(ruleset(), type))
    lines.push_back(fact.name + " | " + fact.value + " | " + fact.decided_by);
  return lines;
}

TEST(ExplainType, EverythingThatIsSaidIsToldWithItsPlaceAndApiVersions) {
  EXPECT_THAT(
      lines_of("A.B/C"),
      ElementsAre("type | a.b/c | ", "known | declared: rule files say what is known | ",
                  "guard | etag: carries the ETag of the state it was built from | rule \"new\" at r.json:2, from 2022-01-01",
                  "guard | auto: the resource is read, where its client may, and compared with the state it was built from | "
                  "rule \"old\" at r.json:3",
                  "kept if left out | /k | the facts at r.json:8, to 2021-12-31",
                  "read-only members | /r | the facts at r.json:7", "maps | /m | the facts at r.json:7",
                  "write-only members | /w | rule \"old\" at r.json:3"));
}

TEST(ExplainType, OneThatNobodyNamesIsNoError) {
  const auto lines = lines_of("X.Y/z");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "known | generic: only what holds for every type | ");
  EXPECT_THAT(lines[2], ::testing::HasSubstr("rule \"any\" at r.json:5"));
  EXPECT_EQ(lines_of("Microsoft.Resources/subscriptions").back(), "guard | none: no rule is for this type | ");
  EXPECT_EQ(lines_of("A.B/off").back(), "guard | none: switched off | rule \"off\" at r.json:4");
}

TEST(ExplainType, TheListCountsWhatHoldsAtTheNewestApiVersion) {
  const auto all = summaries_of(ruleset());
  std::vector<std::string> types;
  types.reserve(all.size());
  for (const TypeSummary& one : all)
    types.push_back(one.type + " " + std::string(to_text(one.strength)) + " " + one.rule + " " + one.guard);
  EXPECT_THAT(types, ElementsAre("* generic any auto", "a.b/c declared new etag", "a.b/d/* declared any auto",
                                 "a.b/i imported any auto", "a.b/off generic off off"));
  EXPECT_EQ(all[1].read_only, 1u);
  EXPECT_EQ(all[1].maps, 1u);
  EXPECT_EQ(all[1].kept, 0u) << "no longer";
  EXPECT_EQ(all[2].arrays, 1u);
}

}  // namespace
}  // namespace armgate::rules
