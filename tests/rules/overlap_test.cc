// Rules that get into each other's way.
#include "rules/overlap.h"

#include <gtest/gtest.h>

#include "rules/file/rule_file.h"
#include "tests/support/shipped_rules.h"

namespace armgate::rules::overlap_test {
namespace {

// One line of JSON per rule, each file a list of them; what is warned of, as text.
std::vector<std::string> warned(const std::vector<std::string>& files) {
  std::vector<Rule> all;
  FaultList faults;
  for (size_t i = 0; i < files.size(); ++i) {
    for (auto& rule : read_rules("f" + std::to_string(i + 1), "{\"rules\": [\n" + files[i] + "\n]}", faults))
      all.push_back(std::move(rule));
  }
  EXPECT_TRUE(faults.empty()) << to_text(faults.empty() ? Fault{} : faults[0]);
  std::vector<std::string> texts;
  for (const auto& warning : warnings_about(all)) texts.push_back(to_text(warning));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Overlap, ARuleOfWhichEarlierOnesTakeEverythingIsNamedWithThem) {
  EXPECT_EQ(warned({R"({"name": "mine", "match": {"types": ["a.b/*"]}})",
                    R"({"name": "theirs", "match": {"types": ["a.b/c", "a.b/d"]}})"}),
            Texts{"f2:2: rule \"theirs\" never decides: rule \"mine\" at f1:2 takes everything that it matches"});
  EXPECT_EQ(
      warned({"{\"name\": \"c\", \"match\": {\"types\": [\"a.b/c\"]}},\n{\"name\": \"d\", \"match\": {\"types\": [\"a.b/d\"]}}",
              R"({"name": "both", "match": {"types": ["a.b/c", "a.b/d"]}})"}),
      Texts{"f2:2: rule \"both\" never decides: rule \"c\" at f1:2 and rule \"d\" at f1:3 take everything that it matches"});
}

TEST(Overlap, ARuleThatStillDecidesSomethingIsFine) {
  for (
      const Texts& files : {
          Texts{R"({"name": "mine", "match": {"types": ["a.b/c"]}})",
                R"({"name": "theirs", "match": {"types": ["a.b/c", "a.b/d"]}})"},
          Texts{R"({"name": "mine", "match": {"types": ["*"]}})", R"({"name": "theirs", "match": {"types": ["a.b/*"]}})"},
          Texts{R"({"name": "mine", "match": {"types": ["a.b/c"]}})", R"({"name": "theirs", "match": {"types": ["a.b/*"]}})"},
          Texts{
              R"({"name": "new", "match": {"types": ["a.b/c"], "api_version": {"from": "2024-01-01"}}, "guard": {"kind": "etag"}})",
              R"({"name": "old", "match": {"types": ["a.b/c"]}})"},
      }) {
    EXPECT_EQ(warned(files), Texts{});
  }
}

TEST(Overlap, ApiVersionsThatTwoRulesShareInPartAreAContradictionIfTheyDecideDifferently) {
  const std::string until = R"({"name": "until", "match": {"types": ["a.b/c"], "api_version": {"to": "2024-06-01"}}})";
  const std::string from =
      R"({"name": "from", "match": {"types": ["a.b/*"], "api_version": {"from": "2024-01-01"}}, "guard": {"kind": "etag"}})";
  const std::string alike = R"({"name": "alike", "match": {"types": ["a.b/c"], "api_version": {"from": "2024-01-01"}}})";
  const std::string after =
      R"({"name": "after", "match": {"types": ["a.b/c"], "api_version": {"from": "2024-06-02"}}, "guard": {"kind": "etag"}})";
  EXPECT_EQ(
      warned({until, from}),
      Texts{"f2:2: rule \"from\" contradicts rule \"until\" at f1:2 about some api-versions of \"a.b/*\": the earlier one "
            "decides there; let their api-versions not overlap"});
  EXPECT_EQ(warned({until, alike}), Texts{});
  EXPECT_EQ(warned({until, after}), Texts{});
}

TEST(Overlap, ALockOnAParentWhoseWritesPassIsUseless) {
  const std::string child = R"({"name": "child", "match": {"types": ["a.b/c/d"]}, "lock": {"parents": ["a.b/c"]}})";
  EXPECT_EQ(
      warned({child, R"({"name": "parent", "match": {"types": ["a.b/c"]}, "mode": "off"})"}),
      Texts{"f1:2: /lock/parents: rule \"child\" locks \"a.b/c\", but rule \"parent\" at f2:2 has the mode \"off\", so writes "
            "to it do not wait"});
  EXPECT_EQ(warned({child, R"({"name": "parent", "match": {"types": ["a.b/c"]}})"}), Texts{});
  EXPECT_EQ(warned({child}), Texts{});
}

// The lines of the entries that never decide, of a list with one entry a line.
std::vector<int> never_deciding(const std::string& entries) {
  FaultList faults;
  const auto book = read_rule_book("f", "{\"errors\": [\n" + entries + "\n]}", faults);
  EXPECT_TRUE(faults.empty()) << to_text(faults.empty() ? Fault{} : faults[0]);
  std::vector<int> lines;
  for (const auto& warning : warnings_about(book.errors)) lines.push_back(warning.line);
  return lines;
}

TEST(Overlap, AnEntryOfErrorsWhoseAnswersEarlierOnesTakeNeverDecides) {
  using Lines = std::vector<int>;
  const std::string conflict = R"({"class": "final", "status": [409], "codes": ["Conflict", "Busy"]},)";
  EXPECT_EQ(never_deciding(conflict + "\n" + R"({"class": "busy", "status": [409], "codes": ["conflict"]})"), Lines{3});
  EXPECT_EQ(never_deciding(conflict + "\n" + R"({"class": "busy", "status": [409, 429], "codes": ["Conflict"]})"), Lines{});
  EXPECT_EQ(never_deciding(conflict + "\n" + R"({"class": "busy", "status": [409], "codes": ["Conflict", "More"]})"), Lines{});
  EXPECT_EQ(never_deciding(conflict + R"({"class": "final", "status": [429], "codes": ["Conflict"]},)" + "\n" +
                           R"({"class": "busy", "status": [409, 429], "codes": ["Conflict"],
                              "message": {"contains_any": ["later"]}})"),
            Lines{3})
      << "two take it together";
  const std::string by_message =
      R"({"class": "final", "status": [409], "codes": ["C"], "message": {"contains_any": ["again", "later"]}},)";
  EXPECT_EQ(
      never_deciding(
          by_message + "\n" +
          R"({"class": "busy", "status": [409], "codes": ["C"], "message": {"contains_any": ["try again", "LATER on"]}})"),
      Lines{3});
  EXPECT_EQ(
      never_deciding(by_message + "\n" +
                     R"({"class": "busy", "status": [409], "codes": ["C"], "message": {"contains_any": ["again", "other"]}})"),
      Lines{});
  EXPECT_EQ(never_deciding(by_message + "\n" + R"({"class": "busy", "status": [409], "codes": ["C"]})"), Lines{});
  EXPECT_EQ(never_deciding(R"({"class": "final", "status": [409], "codes": ["C"], "clients": "without-precondition"},)"
                           "\n"
                           R"({"class": "busy", "status": [409], "codes": ["C"]})"),
            Lines{});
  EXPECT_EQ(never_deciding(R"({"class": "final", "status": [409], "codes": ["C"], "header": {"name": "x", "value": "y"}},)"
                           "\n"
                           R"({"class": "busy", "status": [409], "codes": ["C"]})"),
            Lines{});
}

TEST(Overlap, TheShippedErrorsAllDecide) {
  FaultList faults;
  const auto book = shipped_rules(faults);
  for (const auto& warning : warnings_about(book.errors)) ADD_FAILURE() << to_text(warning);
}

}  // namespace
}  // namespace armgate::rules::overlap_test
