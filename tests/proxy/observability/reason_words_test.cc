#include "proxy/observability/reason_words.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "base/source_tree.h"
#include "certs/secret_file.h"

namespace armgate {
namespace {

// The values that docs/answers.md lists, which tidy_test holds against the code.
std::set<std::string> documented_reasons() {
  const std::string manual = certs::read_file(source_path("docs/answers.md")).value();
  const size_t begin = manual.find("### Reasons");
  const std::string section = manual.substr(begin, manual.find("### Guards") - begin);
  const std::regex row("\\n\\| `([a-z-]+)` \\|");
  std::set<std::string> reasons;
  for (std::sregex_iterator found(section.begin(), section.end(), row), end; found != end; ++found) reasons.insert((*found)[1]);
  return reasons;
}

TEST(ReasonWords, EveryReasonHasWords) {
  const auto reasons = documented_reasons();
  EXPECT_GT(reasons.size(), 40u);
  for (const std::string& reason : reasons) {
    EXPECT_FALSE(words_of(reason).words.empty()) << reason << " has no words in proxy/observability/reason_words.cc";
  }
}

TEST(ReasonWords, WhoIsRefusedIsToldWhatToDo) {
  for (const char* reason : {"stale", "conflict", "outcome-unknown", "waited-too-long", "verify-failed", "upstream-failure"})
    EXPECT_FALSE(words_of(reason).advice.empty()) << reason;
  EXPECT_TRUE(words_of("arm-was-busy").advice.empty()) << "nothing is to be done";
  EXPECT_TRUE(words_of("no-such-reason").words.empty());
  EXPECT_TRUE(words_of("").words.empty());
}

}  // namespace
}  // namespace armgate
