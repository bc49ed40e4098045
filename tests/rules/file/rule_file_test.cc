// Rule files: what they say, and every fault at its line with its remedy.
#include "rules/file/rule_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rules/plan.h"

namespace armgate::rules::rule_file_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

struct Expected {
  int line;
  std::string pointer;
  std::string message;  // a part of it
};

void expect_faults(const std::string& text, const std::vector<Expected>& expected) {
  FaultList faults;
  check_names(read_rules("r.json", text, faults), faults);
  ASSERT_EQ(faults.size(), expected.size()) << [&] {
    std::string all = text + "\n";
    for (const Fault& fault : faults) all += to_text(fault) + "\n";
    return all;
  }();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(faults[i].file, "r.json");
    EXPECT_EQ(faults[i].line, expected[i].line) << to_text(faults[i]);
    EXPECT_EQ(faults[i].pointer, expected[i].pointer) << to_text(faults[i]);
    EXPECT_THAT(faults[i].message, HasSubstr(expected[i].message));
  }
}

// A file with one rule for a.b/c, and `more` on line 3.
std::string file_with(const std::string& more) {
  return "{\"rules\": [\n{\"name\": \"r\", \"match\": {\"types\": [\"A.B/c\"]},\n" + more + "}]}";
}

TEST(RuleFile, EveryKeyReachesItsPlace) {
  FaultList faults;
  const auto rules = read_rules("r.json", R"({
    "$schema": "rules.schema.json",
    "rules": [{
      "name": "all of it", // a comment
      "match": {"types": ["A.B/C", "A.B/D/*", "A.B/*"], "api_version": {"from": "2024-03-01", "to": "2025-01-01-Preview"},
                "actions": ["Restart", "powerOff"]},
      "mode": "off",
      "guard": {"kind": "verify", "methods": ["PATCH", "PUT"], "creates": "if-none-match", "star": "strengthen"},
      "body": {"read_only": ["/properties/instanceView"]},
      "lock": {"parents": ["A.B/Cs", "Other.Provider/things", "*"],
               "references": [{"pointer": "/properties/*/id", "types": ["X.Y/z/w"], "parents": ["X.Y/z"], "mode": "exclusive",
                               "until": "operation"}, {"pointer": "/id"}]},
      "lease": {"until": "request", "max": "90s", "cap": "2h"},
      "retry": {"busy": {"base": "500ms", "factor": 1.5, "max": "30s", "attempts": 7, "deadline": "5m"}},
      "shown": {"consecutive": 3, "every": "2s"},
      "reentrant": "holder",
      "unconditional_after_wait": "send"
    }]})",
                                faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
  ASSERT_EQ(rules.size(), 1u);
  const Rule& rule = rules[0];
  EXPECT_EQ(rule.name, "all of it");
  EXPECT_EQ(rule.place.file, "r.json");
  EXPECT_EQ(rule.place.line, 3);
  EXPECT_THAT(rule.match.types, ElementsAre("a.b/c", "a.b/d/*", "a.b/*"));
  EXPECT_EQ(rule.match.api_version_from, "2024-03-01");
  EXPECT_EQ(rule.match.api_version_to, "2025-01-01-preview");
  EXPECT_THAT(rule.match.actions, ElementsAre("restart", "poweroff"));
  EXPECT_EQ(rule.mode, Mode::Off);
  EXPECT_EQ(rule.guard.kind, GuardKind::Verify);
  EXPECT_EQ(rule.guard.creates, CreateGuard::IfNoneMatch);
  EXPECT_EQ(rule.guard.star, Star::Strengthen);
  EXPECT_THAT(rule.guard.methods, ElementsAre(arm::OperationKind::Patch, arm::OperationKind::Put));
  EXPECT_THAT(rule.body.declared.read_only, ElementsAre("/properties/instanceView"));
  EXPECT_TRUE(rule.body.facts.body->top().member("properties").member("instanceView").read_only());
  EXPECT_THAT(rule.lock.parents, ElementsAre("a.b/cs", "other.provider/things", "*"));
  ASSERT_EQ(rule.lock.references.size(), 2u);
  EXPECT_EQ(rule.lock.references[0].pointer, "/properties/*/id");
  EXPECT_THAT(rule.lock.references[0].types, ElementsAre("x.y/z/w"));
  EXPECT_THAT(rule.lock.references[0].parents, ElementsAre("x.y/z"));
  EXPECT_EQ(rule.lock.references[0].mode, LockMode::Exclusive);
  EXPECT_EQ(rule.lock.references[0].until, LeaseUntil::Operation);
  EXPECT_EQ(rule.lock.references[1].mode, LockMode::Shared);
  EXPECT_EQ(rule.lock.references[1].until, LeaseUntil::Request);
  EXPECT_EQ(rule.lease.until, LeaseUntil::Request);
  EXPECT_EQ(rule.lease.max, seconds(90));
  EXPECT_EQ(rule.lease.cap, hours(2));
  EXPECT_EQ(rule.busy.base, milliseconds(500));
  EXPECT_EQ(rule.busy.factor, 1.5);
  EXPECT_EQ(rule.busy.max, seconds(30));
  EXPECT_EQ(rule.busy.attempts, 7);
  EXPECT_EQ(rule.busy.deadline, minutes(5));
  EXPECT_EQ(rule.shown.consecutive, 3);
  EXPECT_EQ(rule.shown.every, seconds(2));
  EXPECT_EQ(rule.reentrant, Reentrant::Holder);
  EXPECT_EQ(rule.unconditional_after_wait, UnconditionalAfterWait::Send);
}

TEST(RuleFile, WhatIsLeftOutKeepsItsDefault) {
  FaultList faults;
  const auto rules = read_rules("r.json", file_with("\"lease\": {}"), faults);
  ASSERT_TRUE(faults.empty());
  const Rule defaults;
  EXPECT_EQ(rules[0].mode, std::nullopt);
  EXPECT_EQ(rules[0].guard.methods, defaults.guard.methods);
  EXPECT_EQ(rules[0].lease.max, defaults.lease.max);
  EXPECT_EQ(rules[0].busy.attempts, defaults.busy.attempts);
  EXPECT_EQ(rules[0].unconditional_after_wait, UnconditionalAfterWait::Refuse);
}

TEST(RuleFile, EachFaultIsReportedAtItsPlaceWithARemedy) {
  struct Case {
    std::string line_three;
    std::string pointer;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {R"("gaurd": {})", "/gaurd", R"(did you mean "guard"?)"},
           {R"("colour": 1)", "/colour", R"(valid here: "name", "match", "mode")"},
           {R"("guard": {"knid": "etag"})", "/guard/knid", R"(did you mean "kind"?)"},
           {R"("guard": {"kind": "etga"})", "/guard/kind", R"("etga" is not a valid value; did you mean "etag"?)"},
           {R"("guard": {"kind": "verfy"})", "/guard/kind", R"(did you mean "verify"?)"},
           {R"("guard": {"kind": "verify", "methods": ["PUT", "DELETE"]})", "/guard/methods/1",
            R"(only "etag" can guard DELETE)"},
           {R"("guard": {"kind": "none", "creates": "if-none-match"})", "/guard/creates",
            R"(needs another "kind" than "none")"},
           {R"("guard": {"star": "strengthen"})", "/guard/star", "no ETag goes along"},
           {R"("guard": {"kind": "none", "star": "strengthen"})", "/guard/star", "no ETag goes along"},
           {R"("guard": {"methods": ["PUT", "PATCH"], "patch": "send"})", "/guard/patch", "remove one of them"},
           {R"("guard": {"creates": "*"})", "/guard/creates", "is not a valid value"},
           {R"("guard": {"kind": true})", "/guard/kind", R"(must be "auto" or "etag" or "verify" or "none", but is true)"},
           {R"("guard": "etag")", "/guard", R"(must be an object, but is the text "etag")"},
           {R"("guard": {"methods": ["put"]})", "/guard/methods/0", R"(did you mean "PUT"?)"},
           {R"("guard": {"methods": []})", "/guard/methods", "must name at least 1"},
           {R"("guard": {"methods": ["PUT", "PUT"]})", "/guard/methods/1", "in this list already"},
           {R"("guard": {"read_only": ["instanceView"]})", "/guard/read_only",
            R"(is no key any more; write "body": {"read_only": [...]} beside "guard", with a JSON pointer such as)"},
           {R"("lock": {"parents": ["A.B"]})", "/lock/parents/0", "is not a resource type"},
           {R"("lock": {"parents": ["A.B/*"]})", "/lock/parents/0", "is not a resource type"},
           {R"("lock": {"parents": ["A.B/cc"]})", "/lock/parents/0", "is not the type of an ancestor"},
           {R"("lock": {"parents": ["A.B/c"]})", "/lock/parents/0", "is not the type of an ancestor"},
           {R"("lock": {"references": [{}]})", "/lock/references/0", R"("pointer" is missing)"},
           {R"("lock": {"references": ["/a"]})", "/lock/references/0", "must be an object"},
           {R"("lock": {"references": [{"pointer": "a/b"}]})", "/lock/references/0/pointer", "is not a JSON pointer"},
           {R"("lock": {"references": [{"pointer": "/a//b"}]})", "/lock/references/0/pointer", "is not a JSON pointer"},
           {R"("lock": {"references": [{"pointer": "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q"}]})", "/lock/references/0/pointer",
            "at most 16"},
           {R"("lock": {"references": [{"pointer": "/a", "parents": ["*"]}]})", "/lock/references/0/parents/0",
            "is not a resource type"},
           {R"("lock": {"references": [{"pointer": "/a", "types": ["A.B/c"], "parents": ["A.B/d"]}]})",
            "/lock/references/0/parents/0", "is not the type of an ancestor of the types that this reference counts"},
           {R"("lock": {"references": [{"pointer": "/a", "mode": "share"}]})", "/lock/references/0/mode",
            R"(did you mean "shared"?)"},
           {R"("lease": {"max": 60})", "/lease/max",
            R"(a duration in ms, s, m or h from "1s" to "168h", but is the number 60)"},
           {R"("lease": {"max": "60 m"})", "/lease/max", R"(but is the text "60 m")"},
           {R"("lease": {"max": "169h"})", "/lease/max", R"(to "168h")"},
           {R"("lease": {"max": "-1s"})", "/lease/max", R"(from "1s")"},
           {R"("lease": {"max": "7h"})", "/lease", R"("max" is longer than "cap")"},
           {R"("lease": {"until": "forever"})", "/lease/until", R"(valid here: "operation", "request" and "provisioned")"},
           {R"("retry": {"busy": {"attempts": 0}})", "/retry/busy/attempts",
            "a whole number from 1 to 1000, but is the number 0"},
           {R"("retry": {"busy": {"attempts": 2.5}})", "/retry/busy/attempts", "but is the number 2.5"},
           {R"("retry": {"busy": {"attempts": -1}})", "/retry/busy/attempts", "but is the number -1"},
           {R"("retry": {"busy": {"factor": 11}})", "/retry/busy/factor", "a number from 1 to 10"},
           {R"("retry": {"busy": {"factor": "2"}})", "/retry/busy/factor", R"(but is the text "2")"},
           {R"("retry": {"busy": {"base": "1m"}})", "/retry/busy", R"("base" is longer than "max")"},
           {R"("retry": null)", "/retry", "must be an object, but is null"},
           {R"("mode": "guard")", "/mode", R"(valid here: "protect", "observe" and "off")"},
           {R"("mode": "off", "mode": "off")", "/mode", "a second time, first on line 3"},
       }) {
    SCOPED_TRACE(c.line_three);
    expect_faults(file_with(c.line_three), {{3, "/rules/0" + c.pointer, c.message}});
  }
}

TEST(RuleFile, EachFaultOfAMatchIsReported) {
  struct Case {
    std::string match;
    std::string pointer;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {R"({})", "", R"("match/types" is missing)"},
           {R"({"types": []})", "/match/types", "must name at least 1"},
           {R"({"types": "A.B/c"})", "/match/types", "must be an array of texts"},
           {R"({"types": [7]})", "/match/types/0", "must be a text, but is the number 7"},
           {R"({"types": ["A.B"]})", "/match/types/0", R"("A.B" is not a resource type)"},
           {R"({"types": ["/A.B/c"]})", "/match/types/0", "is not a resource type"},
           {R"({"types": ["A.B//c"]})", "/match/types/0", "is not a resource type"},
           {R"({"types": ["A.B/c/"]})", "/match/types/0", "is not a resource type"},
           {R"({"types": ["A.B/*/c"]})", "/match/types/0", "is not a resource type"},
           {R"({"types": ["A.B/c*"]})", "/match/types/0", "is not a resource type"},
           {R"({"types": ["/*"]})", "/match/types/0", "is not a resource type"},
           {R"({"types": [""]})", "/match/types/0", "is not a resource type"},
           {R"({"types": ["A.B/c", "a.b/C"]})", "/match/types/1", R"("a.b/c" is in this list already)"},
           {R"({"types": ["A.B/c"], "api_version": {"from": "2024"}})", "/match/api_version/from", "is not an api-version"},
           {R"({"types": ["A.B/c"], "api_version": {"to": "2024-01-01x"}})", "/match/api_version/to", "is not an api-version"},
           {R"({"types": ["A.B/c"], "api_version": "2024-01-01"})", "/match/api_version", "must be an object"},
           {R"({"types": ["A.B/c"], "api_version": {"from": "2024-01-02", "to": "2024-01-01"}})", "/match/api_version",
            R"("from" (2024-01-02) is later than "to" (2024-01-01))"},
           {R"({"types": ["A.B/c"], "actions": ["re start"]})", "/match/actions/0", "is not the name of a POST action"},
           {R"({"types": ["A.B/c"], "actions": ["listKeys"]})", "/match/actions/0", "only reads"},
           {R"({"types": ["A.B/c"], "actions": ["abort"]})", "/match/actions/0", "must be able to pass the operation"},
           {R"({"types": ["A.B/c"], "type": 1})", "/match/type", R"(did you mean "types"?)"},
       }) {
    SCOPED_TRACE(c.match);
    expect_faults("{\"rules\": [{\"name\": \"r\",\n\"match\": " + c.match + "}]}",
                  {{c.pointer.empty() ? 1 : 2, "/rules/0" + c.pointer, c.message}});
  }
}

TEST(RuleFile, WhatIsNoListOfRulesIsRefused) {
  expect_faults("", {{1, "", "is not valid JSON"}});
  expect_faults("[]", {{1, "", "must be an object, but is an array"}});
  expect_faults("{}", {{1, "", "says nothing"}});
  expect_faults("{\n\"rules\": {}}", {{2, "/rules", "must be an array of objects, but is an object"}});
  expect_faults("{\"rules\": [\n7]}", {{2, "/rules/0", "must be an object, but is the number 7"}});
  expect_faults("{\"rules\": []\n,}", {{2, "", "is not valid JSON"}});
  expect_faults("{\n// a comment\n\"rules\" []}", {{3, "", "is not valid JSON"}});
  expect_faults("{\"rules\": [{\"name\": \"\"}]}",
                {{1, "/rules/0/name", "is not a name"}, {1, "/rules/0", R"("match/types" is missing)"}});
  expect_faults("{\"rules\": " + std::string(100, '[') + std::string(100, ']') + "}", {{0, "", "nested deeper than 64"}});
}

TEST(RuleFile, AllFaultsAreReportedAtOnceInTheOrderOfLines) {
  expect_faults(
      "{\"rules\": [\n"
      "  {\"match\": {\"types\": [\"x\"]},\n"
      "   \"mode\": \"on\",\n"
      "   \"lease\": {\"max\": \"x\",\n"
      "              \"mx\": \"1s\"}},\n"
      "  {\"name\": \"b\", \"mode\": \"off\",\n"
      "   \"mode\": \"off\"}],\n"
      " \"rule\": 1}",
      {{2, "/rules/0/match/types/0", "is not a resource type"},
       {2, "/rules/0", R"("name" is missing)"},
       {3, "/rules/0/mode", "is not a valid value"},
       {4, "/rules/0/lease/max", "must be a duration"},
       {5, "/rules/0/lease/mx", R"(did you mean "max"?)"},
       {6, "/rules/1", R"("match/types" is missing)"},
       {7, "/rules/1/mode", "a second time, first on line 6"},
       {8, "/rule", R"(did you mean "rules"?)"}});
}

std::vector<std::string> whole_checks(const std::vector<std::pair<std::string, std::string>>& files) {
  FaultList faults;
  std::vector<Rule> rules;
  for (const auto& [name, text] : files) {
    for (Rule& rule : read_rules(name, "{\"rules\": [\n" + text + "]}", faults)) rules.push_back(std::move(rule));
  }
  check_names(rules, faults);
  std::vector<std::string> texts;
  for (const Fault& fault : faults) texts.push_back(to_text(fault));
  return texts;
}

TEST(RuleFile, ANameGivenTwiceIsRefusedAlsoAcrossFiles) {
  const std::string rule = R"({"name": "r", "match": {"types": ["a.b/c"]}})";
  EXPECT_THAT(whole_checks({{"one.json", rule}, {"two.json", rule}}),
              ElementsAre("two.json:2: the rule name \"r\" stands here and at one.json:2; rename one of them"));
}

TEST(RuleFile, ANameGivenTwiceIsReportedBesideOtherFaultsAndANamelessRuleOnlyOnce) {
  const std::string rule = R"({"name": "r", "match": {"types": ["a.b/c"]}, "mode": "on"},
{"match": {"types": ["a.b/d"]}})";
  const auto faults = whole_checks({{"one.json", rule}, {"two.json", rule}});
  EXPECT_THAT(faults,
              ElementsAre(HasSubstr("one.json:2: /rules/0/mode"), HasSubstr("one.json:3: /rules/1: \"name\" is missing"),
                          HasSubstr("two.json:2: /rules/0/mode"), HasSubstr("two.json:3: /rules/1: \"name\" is missing"),
                          HasSubstr("two.json:2: the rule name \"r\" stands here and at one.json:2")));
}

TEST(RuleFile, ARuleThatCanNeverMatchIsRefused) {
  const auto pair = [](const std::string& first, const std::string& second) {
    return whole_checks({{"f", "{\"name\": \"1\", \"match\": " + first + "},\n{\"name\": \"2\", \"match\": " + second + "}"}});
  };
  struct Case {
    std::string first;
    std::string second;
    std::string shadowed;
  };
  for (const Case& c : std::vector<Case>{
           {R"({"types": ["a.b/c"]})", R"({"types": ["a.b/c"]})", "a.b/c"},
           {R"({"types": ["a.b/*"]})", R"({"types": ["a.b/c"]})", "a.b/c"},
           {R"({"types": ["a.b/*"]})", R"({"types": ["a.b/c/*"]})", "a.b/c/*"},
           {R"({"types": ["*"]})", R"({"types": ["a.b/c"]})", ""},
           {R"({"types": ["*"]})", R"({"types": ["*"]})", "*"},
           {R"({"types": ["a.b/c"]})", R"({"types": ["a.b/*"]})", ""},
           {R"({"types": ["a.b/c"]})", R"({"types": ["a.b/cc"]})", ""},
           {R"({"types": ["a.b/c"], "api_version": {"from": "2024-01-01"}})", R"({"types": ["a.b/c"]})", ""},
           {R"({"types": ["a.b/c"], "api_version": {"to": "2024-01-01"}})", R"({"types": ["a.b/c"]})", ""},
           {R"({"types": ["a.b/c"], "api_version": {"from": "2024-01-01"}})",
            R"({"types": ["a.b/c"], "api_version": {"from": "2024-02-01"}})", "a.b/c"},
           {R"({"types": ["a.b/c"], "api_version": {"from": "2024-01-01", "to": "2024-03-01"}})",
            R"({"types": ["a.b/c"], "api_version": {"from": "2024-02-01"}})", ""},
       }) {
    SCOPED_TRACE(c.first + " then " + c.second);
    const auto faults = pair(c.first, c.second);
    ASSERT_EQ(faults.size(), c.shadowed.empty() ? 0u : 1u);
    if (!c.shadowed.empty()) {
      EXPECT_THAT(faults[0], HasSubstr("f:3: rule \"2\" can never match \"" + c.shadowed + "\": rule \"1\" on line 2"));
    }
  }
  EXPECT_THAT(whole_checks({{"mine", R"({"name": "1", "match": {"types": ["*"]}})"},
                            {"shipped", R"({"name": "2", "match": {"types": ["a.b/c"]}})"}}),
              ElementsAre());
}

TEST(RuleFile, ARuleForAnyTypeIsForNothingElse) {
  EXPECT_THAT(whole_checks({{"f", R"({"name": "1", "match": {"types": ["a.b/c", "*"]}})"}}),
              ElementsAre(HasSubstr("has \"*\" beside other types")));
}

TEST(RuleFile, WhatIsWrongElsewhereHidesNoFault) {
  expect_faults(
      "{\"rules\": [\n"
      "{\"name\": \"all\", \"match\": {\"types\": [\"A.B/*\"]}},\n"
      "7,\n"
      "{\"name\": \"one\", \"match\": {\"types\": [\"A.B/c\"]}},\n"
      "{\"name\": \"two\", \"match\": {\"types\": [\"A.D/e\"]}, \"mode\": \"on\", \"lease\": {\"max\": \"10h\", \"cap\": \"1h\"}},\n"
      "{\"name\": \"three\", \"match\": {\"types\": [\"A.F/g\"]}, \"lease\": {\"max\": \"10h\", \"cap\": \"1h\"}}],\n"
      "\"errors\": [{\"class\": \"busy\", \"status\": [503], \"codes\": [\"X\"]}],\n"
      "\"queue_timeouts\": [{\"user_agent\": \"x\", \"wait_max\": \"1s\"}, {\"user_agent\": \"tool\", \"wait_max\": \"1s\"}, {\"user_agent\": \"mytool\", \"wait_max\": \"1s\"}]}",
      {{3, "/rules/1", "must be an object"},
       {4, "",
        "rule \"one\" can never match \"a.b/c\": rule \"all\" on line 2 takes it first; put this rule before that one, or remove it"},
       {5, "/rules/3/mode", "is not a valid value"},
       {6, "/rules/4/lease", "\"max\" is longer than \"cap\""},
       {7, "/errors/0/status/0", "does not prove"},
       {8, "/queue_timeouts/0/user_agent", "part of a User-Agent"},
       {8, "", "no User-Agent gets to \"mytool\""}});
}

}  // namespace
}  // namespace armgate::rules::rule_file_test
