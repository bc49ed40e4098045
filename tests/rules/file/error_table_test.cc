// Entries of the error table as a file says them: every key reaches its place, every fault is told with its remedy.
#include "rules/file/error_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"

namespace armgate::rules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ErrorTableFile, EveryKeyReachesItsPlace) {
  FaultList faults;
  const auto book = read_rule_book("e.json", R"({"errors": [
    {"class": "dependency", "status": [409, 429], "codes": ["One", "Two"],
     "message": {"contains_any": ["either this", "or that"], "contains_all": ["always"]},
     "header": {"name": "X-Cause", "value": "gateway", "if_absent": "matches"}, "clients": "without-precondition"},
    {"class": "final", "status": [400], "codes": ["Three"]}]})",
                                   faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
  ASSERT_EQ(book.errors.size(), 2u);
  EXPECT_TRUE(book.rules.empty());
  const ErrorRule& rule = book.errors[0];
  EXPECT_EQ(rule.place.file, "e.json");
  EXPECT_EQ(rule.place.line, 2);
  EXPECT_EQ(rule.kind, ErrorClass::Dependency);
  EXPECT_THAT(rule.statuses, ElementsAre(409, 429));
  EXPECT_THAT(rule.codes, ElementsAre("One", "Two"));
  EXPECT_THAT(rule.message_any, ElementsAre("either this", "or that"));
  EXPECT_THAT(rule.message_all, ElementsAre("always"));
  EXPECT_EQ(rule.header_name, "x-cause");
  EXPECT_EQ(rule.header_value, "gateway");
  EXPECT_EQ(rule.header_absent, ErrorRule::IfAbsent::Matches);
  EXPECT_EQ(rule.clients, ErrorRule::ForClients::WithoutPrecondition);
  EXPECT_EQ(book.errors[1].kind, ErrorClass::Final);
  EXPECT_EQ(book.errors[1].clients, ErrorRule::ForClients::All);
}

TEST(ErrorTableFile, EachFaultIsReportedAtItsPlaceWithARemedy) {
  struct Case {
    std::string entry;
    std::string pointer;
    std::string message;
  };
  const std::string whole = R"("class": "busy", "status": [409], "codes": ["Some"], )";
  for (const Case& c : std::vector<Case>{
           {R"("status": [409], "codes": ["Some"])", "", R"("class" is missing)"},
           {R"("class": "busy", "codes": ["Some"])", "", R"("status" is missing)"},
           {R"("class": "busy", "status": [409])", "", R"("codes" is missing)"},
           {R"("class": "bussy", "status": [409], "codes": ["Some"])", "/class", R"(did you mean "busy"?)"},
           {R"("class": "throttle", "status": [429], "codes": ["Some"])", "/class", "is not a valid value"},
           {R"("class": "busy", "status": 409, "codes": ["Some"])", "/status", "must be an array of at least one whole number"},
           {R"("class": "busy", "status": [], "codes": ["Some"])", "/status", "but is empty"},
           {R"("class": "busy", "status": [399], "codes": ["Some"])", "/status/0", "a whole number from 400 to 599"},
           {R"("class": "busy", "status": ["409"], "codes": ["Some"])", "/status/0", "a whole number from 400 to 599"},
           {R"("class": "busy", "status": [409, 409], "codes": ["Some"])", "/status/1", "in this list already"},
           {R"("class": "busy", "status": [409, 412], "codes": ["Some"])", "/status/1", "412 is the answer to a precondition"},
           {R"("class": "final", "status": [412], "codes": ["Some"])", "/status/0", "412 is the answer to a precondition"},
           {R"("class": "final", "status": [412], "codes": ["Some"], "message": {"contains_any": ["some words"]})", "/status/0",
            R"(only "busy" with a "message")"},
           {R"("class": "busy", "status": [500], "codes": ["Some"])", "/status/0",
            "does not prove that the request had no effect"},
           {R"("class": "superseded", "status": [409, 503], "codes": ["Some"])", "/status/1", "does not prove"},
           {R"("class": "busy", "status": [409], "codes": [])", "/codes", "must name at least 1"},
           {R"("class": "busy", "status": [409], "codes": ["Two words"])", "/codes/0", "is not an error code"},
           {whole + R"("message": {"contains_any": ["busy"]})", "/message/contains_any/0", "5 to 200 characters"},
           {whole + R"("message": {"contains": ["is busy"]})", "/message/contains",
            R"(valid here: "contains_any" and "contains_all")"},
           {whole + R"("header": {"value": "x"})", "/header", R"(add "name")"},
           {whole + R"("header": {"name": "a b"})", "/header/name", "is not the name of a header field"},
           {whole + R"("client": "all")", "/client", R"(did you mean "clients"?)"},
       }) {
    FaultList faults;
    read_rule_book("e.json", "{\"errors\": [\n{" + c.entry + "}]}", faults);
    ASSERT_EQ(faults.size(), 1u) << c.entry;
    EXPECT_EQ(faults[0].line, 2) << to_text(faults[0]);
    EXPECT_EQ(faults[0].pointer, "/errors/0" + c.pointer) << to_text(faults[0]);
    EXPECT_THAT(faults[0].message, HasSubstr(c.message));
  }
}

TEST(ErrorTableFile, AFinalEntryMayNameAnyOtherStatus) {
  FaultList faults;
  read_rule_book("e.json", R"({"errors": [{"class": "final", "status": [500, 503, 408], "codes": ["Some"]}]})", faults);
  EXPECT_TRUE(faults.empty());
}

TEST(ErrorTableFile, ABusyEntryMayName412IfItsMessageTellsItFromAPrecondition) {
  FaultList faults;
  read_rule_book(
      "e.json",
      R"({"errors": [{"class": "busy", "status": [412], "codes": ["Some"], "message": {"contains_any": ["locked now"]}}]})",
      faults);
  EXPECT_TRUE(faults.empty());
}

TEST(ErrorTableFile, AFileThatSaysNothingIsAFault) {
  for (const char* text : {"{}", R"({"rules": []})", R"({"errors": [], "rules": []})"}) {
    FaultList faults;
    read_rule_book("e.json", text, faults);
    ASSERT_EQ(faults.size(), 1u) << text;
    EXPECT_THAT(faults[0].message, HasSubstr("says nothing")) << text;
  }
}

TEST(ErrorTableFile, BooksAreAddedInTheOrderInWhichTheyDecide) {
  FaultList faults;
  RuleBook both = read_rule_book("mine.json", R"({"errors": [{"class": "final", "status": [409], "codes": ["A"]}]})", faults);
  both.add(read_rule_book("shipped.json", R"({"errors": [{"class": "busy", "status": [409], "codes": ["A"]}]})", faults));
  ASSERT_TRUE(faults.empty());
  arm::ResponseHead head;
  head.status = 409;
  const ErrorTable table(std::move(both.errors));
  const ErrorRule* found = table.find(head, arm::ArmError{"a", "", {}, {}}, OwnPrecondition::Absent);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->place.file, "mine.json");
}

std::vector<int> pauses_of(const Visibility& visibility) {
  std::vector<int> pauses;
  for (int sendings = 1; const auto pause = pause_after(visibility, sendings); ++sendings) {
    pauses.push_back(static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(*pause).count()));
  }
  return pauses;
}

TEST(Visibility, TheFirstPausesAreShortAndAllOfThemTakeAsLongAsTheTriesApart) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  EXPECT_THAT(pauses_of({}), ElementsAre(500, 1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 2500));
  EXPECT_THAT(pauses_of({.every = milliseconds(200), .tries = 4}), ElementsAre(200, 200, 200));
  EXPECT_THAT(pauses_of({.every = seconds(5), .tries = 2}), ElementsAre(500, 1000, 2000, 1500));
  EXPECT_THAT(pauses_of({.every = seconds(5), .tries = 1}), ElementsAre());
  EXPECT_THAT(pauses_of({.every = seconds(5), .tries = 0}), ElementsAre());
}

}  // namespace
}  // namespace armgate::rules
