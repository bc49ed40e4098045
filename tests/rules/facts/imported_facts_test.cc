// The file of imported facts: written, read, compared, and refused by name if something is wrong with it.
#include "rules/facts/imported_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/facts/fact_table.h"
#include "rules/file/rule_file.h"

namespace armgate::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ImportedType widgets() {
  return {"Microsoft.Example/widgets",
          "2020-01-01",
          "2024-01-01",
          {.read_only = {"/properties/endpoint"}, .write_only = {"/properties/password"}, .maps = {"/properties/labels"}}};
}
ImportedType gadgets() { return {"Microsoft.Example/gadgets", "2021-01-01", "2021-01-01", {}}; }

TEST(ImportedFacts, WhatIsWrittenIsRead) {
  const std::vector<ImportedType> types{gadgets(), widgets()};
  const std::string text = to_imported_text(types);
  EXPECT_TRUE(is_imported(text));
  FaultList faults;
  EXPECT_EQ(read_imported("i.json", text, faults), types);
  EXPECT_TRUE(faults.empty());
}

TEST(ImportedFacts, AreNamedLikeARuleFileAndTellTheirLine) {
  FaultList faults;
  const RuleBook book = read_rule_book("i.json", to_imported_text({gadgets(), widgets()}), faults);
  EXPECT_TRUE(faults.empty());
  ASSERT_EQ(book.facts.size(), 2u);
  EXPECT_THAT(book.facts[1].match.types, ElementsAre("microsoft.example/widgets"));
  EXPECT_EQ(words_for(book.facts[1]), "the facts at i.json:4");
  const FactTable table(share(book.facts));
  const TypeFacts& facts = table.find("microsoft.example/widgets", "2010-01-01", nullptr);
  EXPECT_EQ(facts.strength, FactStrength::Imported);
  const arm::BodyPlace properties = facts.body->top().member("properties");
  EXPECT_TRUE(properties.member("endpoint").read_only());
  EXPECT_TRUE(properties.member("password").write_only());
  EXPECT_TRUE(properties.member("labels").is_map());
  EXPECT_EQ(table.find("microsoft.example/gadgets", "", nullptr).strength, FactStrength::Imported);
}

TEST(ImportedFacts, ARuleFileIsNoneOfThem) {
  for (const char* text : {"", "{}", R"({"rules": []})", R"({"rules": [{"name": "armgate_imported_types"}]})"}) {
    EXPECT_FALSE(is_imported(text)) << text;
  }
}

TEST(ImportedFacts, WhatIsWrongIsToldWithItsTypeAndLine) {
  const auto with = [](const std::string& types) { return "{\"armgate_imported_types\": 1, \"types\": {\n" + types + "\n}}"; };
  const struct {
    std::string text, pointer, message;
    int line;
  } cases[] = {
      {"{\"armgate_imported_types\": 1, \"types\": {", "", "was cut", 1},
      {R"({"armgate_imported_types": 2, "types": {}})", "", "has the form 2", 1},
      {with(R"("A.B/c": [])"), "/types/A.B~1c", "is no object", 2},
      {with("\"A.B/b\": {},\n\"c\": {}"), "/types/c", "is no resource type", 3},
      {with(R"("A.B/c": {"read_only": ["properties"]})"), "/types/A.B~1c/read_only", "JSON pointers", 2},
      {with(R"("A.B/c": {"write_only": "/a"})"), "/types/A.B~1c/write_only", "JSON pointers", 2},
      {with(R"("A.B/c": {"arrays": []})"), "/types/A.B~1c/arrays", "is not a key of imported facts", 2},
      {with(R"("A.B/c": {"api_versions": ["2020-01-01"]})"), "/types/A.B~1c/api_versions", "is not the first and the last", 2},
      {with(R"("A.B/c": {"read_only": ["/a"], "write_only": ["/b", "/A/c"]})"), "/types/A.B~1c/write_only/1", "never compared",
       2},
      {with(R"("A.B/c": {"maps": ["/a"], "read_only": ["/a"]})"), "/types/A.B~1c/maps/0", "is in \"read_only\" of this type",
       2},
      {with("\"A.B/c\": {},\n\"a.b/C\": {}"), "/types/a.b~1C", "stands on line 2 already", 3},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    FaultList faults;
    read_rule_book("i.json", c.text, faults);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].file, "i.json");
    EXPECT_EQ(faults[0].pointer, c.pointer);
    EXPECT_EQ(faults[0].line, c.line);
    EXPECT_THAT(faults[0].message, HasSubstr(c.message));
  }
}

TEST(ImportedFacts, DifferencesAreToldByName) {
  ImportedType other = widgets();
  other.body.read_only.clear();
  const auto difference = difference_between({widgets(), gadgets()}, {{"A.B/new", "2020-01-01", "2020-01-01", {}}, other});
  EXPECT_THAT(difference.added, ElementsAre("A.B/new"));
  EXPECT_THAT(difference.gone, ElementsAre("Microsoft.Example/gadgets"));
  EXPECT_THAT(difference.changed, ElementsAre("Microsoft.Example/widgets"));
  const auto none = difference_between({widgets()}, {widgets()});
  EXPECT_TRUE(none.added.empty() && none.gone.empty() && none.changed.empty());
}

}  // namespace
}  // namespace armgate::rules
