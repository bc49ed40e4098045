// Goal: a file of the version before gets the new names and keeps everything else. Method: texts before and after.
#include "rules/file/renames.h"

#include <gtest/gtest.h>

#include "rules/file/rule_file.h"

namespace armgate::rules {
namespace {

std::string with_new_names(std::string_view text) {
  RuleDraft draft;
  return renamed(text, renames_in(text, settings_of(draft, "f")));
}

TEST(Renames, TouchNothingButTheNames) {
  EXPECT_EQ(with_new_names("// mine\n{\"rules\": [{\"name\" : \"hold\", /* why */ \"hold\"  : {\"until\": \"request\"},\n"
                           "  \"reenter\":\"holder\", \"blind_after_wait\": \"send\"}],\n"
                           " \"patience\": [], \"cases\": [{\"hold\": \"operation\"}]}\n"),
            "// mine\n{\"rules\": [{\"name\" : \"hold\", /* why */ \"lease\"  : {\"until\": \"request\"},\n"
            "  \"reentrant\":\"holder\", \"unconditional_after_wait\": \"send\"}],\n"
            " \"queue_timeouts\": [], \"cases\": [{\"lease\": \"operation\"}]}\n");
}

TEST(Renames, LeaveAFileOfToday) {
  const std::string today = R"({"rules": [{"name": "a", "lease": {"until": "request"}}]})";
  EXPECT_EQ(with_new_names(today), today);
}

TEST(Renames, LeaveANameWhoseNewOneStandsBesideIt) {
  const std::string both = R"({"rules": [{"hold": {}, "lease": {}}]})";
  EXPECT_EQ(with_new_names(both), both);
  RuleDraft draft;
  const auto found = renames_in(both, settings_of(draft, "f"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].both);
}

TEST(Renames, FindNothingInWhatCannotBeRead) {
  for (const char* text : {"", "[1]", "{\"hold\"", "null", "7"}) EXPECT_EQ(with_new_names(text), text);
}

TEST(Renames, AreToldByTheReader) {
  FaultList faults;
  read_rule_book("f",
                 "{\"rules\": [{\"name\": \"a\", \"match\": {\"types\": [\"a.b/c\"]},\n \"hold\": {\"until\": \"request\"}}]}",
                 faults);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(to_text(faults[0]), "f:2: /rules/0/hold: is called \"lease\" now; \"armgate migrate FILE\" renames it");
}

}  // namespace
}  // namespace armgate::rules
