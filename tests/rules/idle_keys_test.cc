// Keys that another key of the same entry leaves without effect.
#include "rules/idle_keys.h"

#include <gmock/gmock.h>

#include "rules/file/rule_file.h"
#include "tests/support/shipped_rules.h"

namespace armgate::rules::idle_keys_test {
namespace {

// "/breaker/probe_every: breaker.mode" for each warning: the key below its entry, and the first other key that the warning names.
std::vector<std::string> warned(const std::string& list, const std::string& entry, const std::string& keys) {
  FaultList faults;
  const auto book = read_rule_book("f", "{\"" + list + "\": [{" + entry + ",\n" + keys + "}]}", faults);
  EXPECT_TRUE(faults.empty()) << keys << ": " << to_text(faults.empty() ? Fault{} : faults[0]);
  std::vector<std::string> found;
  const std::string above = "/" + list + "/0";
  for (const Fault& warning : book.warnings) {
    EXPECT_EQ(warning.line, 2) << "of the key";
    EXPECT_THAT(warning.message, testing::AllOf(testing::HasSubstr("has no effect"), testing::HasSubstr("remove this key")));
    const size_t name = warning.message.find("has no effect");
    const size_t begin = warning.message.find('"', name) + 1;
    found.push_back(warning.pointer.substr(above.size()) + ": " +
                    warning.message.substr(begin, warning.message.find('"', begin) - begin));
  }
  return found;
}

struct Row {
  const char* keys;
  std::vector<std::string> warnings;
};

TEST(IdleKeys, AKeyOfARuleThatNeedsAnotherIsToldWithIt) {
  const std::string rule = R"("name": "r", "match": {"types": ["a.b/c"]})";
  const Row rows[] = {
      {R"("breaker": {"probe_every": "1m"})", {"/breaker/probe_every: breaker.mode"}},
      {R"("breaker": {"mode": "off", "probe_every": "1m"})", {"/breaker/probe_every: breaker.mode"}},
      {R"("breaker": {"mode": "observe", "probe_every": "1m"})", {}},
      {R"("breaker": {"mode": "observe"}, "lease": {"until": "request"})", {"/breaker/mode: lease.until"}},
      {R"("breaker": {"mode": "off"}, "lease": {"until": "request"})", {}},
      {R"("retry": {"operation": {"base": "1s", "factor": 2, "max": "1m", "deadline": "1h", "polled_within": "1m"}})",
       {"/retry/operation/base: retry.operation.attempts", "/retry/operation/factor: retry.operation.attempts",
        "/retry/operation/max: retry.operation.attempts", "/retry/operation/deadline: retry.operation.attempts",
        "/retry/operation/polled_within: retry.operation.attempts"}},
      {R"("retry": {"operation": {"attempts": 1, "base": "1s"}})", {"/retry/operation/base: retry.operation.attempts"}},
      {R"("retry": {"operation": {"attempts": 2, "base": "1s"}})", {}},
      {R"("retry": {"operation": {"attempts": 2}}, "lease": {"until": "request"})", {"/retry/operation/attempts: lease.until"}},
      {R"("retry": {"operation": {"attempts": 2}}, "guard": {"kind": "none"})", {"/retry/operation/attempts: guard.kind"}},
      {R"("retry": {"busy": {"attempts": 1, "base": "1s", "deadline": "1m"}})",
       {"/retry/busy/base: retry.busy.attempts", "/retry/busy/deadline: retry.busy.attempts"}},
      {R"("retry": {"busy": {"base": "1s", "factor": 3, "max": "1m", "deadline": "1m"}})", {}},
      {R"("shown": {"every": "1s"})", {"/shown/every: shown.consecutive"}},
      {R"("shown": {"consecutive": 1, "every": "1s"})", {}},
      {R"("guard": {"kind": "none", "merge": "off"})", {"/guard/merge: guard.kind"}},
      {R"("guard": {"kind": "none", "patch": "send"})", {"/guard/patch: guard.kind"}},
      {R"("guard": {"kind": "none", "methods": ["PUT", "DELETE"]})", {"/guard/methods: guard.kind"}},
      {R"("guard": {"kind": "auto", "merge": "off", "patch": "send"})", {}},
      {R"("guard": {"kind": "verify", "etag_covers": "own-members"})", {}},  // the ETag proves nothing then
      {R"("guard": {"kind": "etag", "methods": ["PATCH"], "creates": "if-none-match"})", {"/guard/creates: guard.methods"}},
      {R"("guard": {"kind": "etag", "creates": "if-none-match"})", {}},
      {R"("reentrant": "holder", "lease": {"until": "request"})", {"/reentrant: lease.until"}},
      {R"("reentrant": "holder", "lease": {"until": "provisioned"})", {}},
      {R"("lease": {"until": "request", "max": "1m", "cap": "2m"})", {}},  // a write whose answer was lost has a lease
  };
  for (const Row& row : rows) EXPECT_EQ(warned("rules", rule, row.keys), row.warnings) << row.keys;
}

TEST(IdleKeys, AKeyOfAnEntryOfErrorsThatNeedsAnotherIsToldWithIt) {
  const std::string busy = R"("class": "busy", "status": [409], "codes": ["Conflict"])";
  const std::string unseen = R"("class": "propagation", "status": [404], "codes": ["NotFound"])";
  EXPECT_EQ(warned("errors", busy, R"("evidence": "parent", "visibility": {"every": "1s", "tries": 3, "window": "1m"})"),
            (std::vector<std::string>{"/evidence: class", "/visibility/every: class", "/visibility/tries: class",
                                      "/visibility/window: class"}));
  EXPECT_EQ(warned("errors", unseen, R"("evidence": "parent", "visibility": {"every": "1s", "tries": 3, "window": "1m"})"),
            std::vector<std::string>{});
  EXPECT_EQ(warned("errors", unseen, R"("visibility": {"tries": 1, "window": "1m"})"),
            std::vector<std::string>{"/visibility/window: visibility.tries"});
  EXPECT_EQ(warned("errors", busy, R"("header": {"if_absent": "matches-not"})"),
            std::vector<std::string>{"/header/if_absent: header.name"});
}

TEST(IdleKeys, TheWordsNameTheRuleAndTheRemedy) {
  FaultList faults;
  const auto book = read_rule_book(
      "f", R"({"rules": [{"name": "r", "match": {"types": ["a.b/c"]}, "breaker": {"probe_every": "1m"}}]})", faults);
  ASSERT_EQ(book.warnings.size(), 1U);
  EXPECT_EQ(
      to_text(book.warnings[0]),
      "f:1: /rules/0/breaker/probe_every: of rule \"r\": has no effect while \"breaker.mode\" is \"off\", which keeps no write "
      "away; add \"mode\", \"observe\" or \"protect\", beside it, or remove this key");
}

TEST(IdleKeys, TheShippedFilesHaveNone) {
  FaultList faults;
  for (const char* directory : {"conf/rules", "conf/rules/optional"}) {
    for (const Fault& warning : rules_in(directory, faults).warnings) ADD_FAILURE() << to_text(warning);
  }
}

}  // namespace
}  // namespace armgate::rules::idle_keys_test
