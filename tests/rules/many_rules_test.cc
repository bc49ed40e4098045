// Goal: who makes rules by a program can have many: eight times as many take about eight times as long to read, not sixty-four.
// Method: the processor's time of this thread for two sizes, the least of three.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "rules/facts/fact_table.h"
#include "rules/file/rule_file.h"
#include "rules/overlap.h"

namespace armgate::rules::many_rules_test {
namespace {

double seconds_of_this_thread() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

std::string list_of(size_t count, const char* element) {
  std::string list;
  for (size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",\n") + fmt::format(fmt::runtime(element), i);
  return list;
}

double seconds_to_read(const std::string& text) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double begin = seconds_of_this_thread();
    FaultList faults;
    RuleBook book = read_rule_book("f", text, faults);
    EXPECT_TRUE(faults.empty()) << to_text(faults.empty() ? Fault{} : faults[0]);
    EXPECT_TRUE(warnings_about(book.rules).empty());
    EXPECT_TRUE(warnings_about(book.facts).empty());
    const FactTable table(share(std::move(book.facts)));
    least = std::min(least, seconds_of_this_thread() - begin);
  }
  return least;
}

constexpr size_t kFew = 1000;
constexpr double kGrowthMax = 24;  // between 8 and 64

void expect_no_square(const char* form, const char* element) {
  const auto text_of = [&](size_t count) { return fmt::format(fmt::runtime(form), list_of(count, element)); };
  const double few = seconds_to_read(text_of(kFew)), many = seconds_to_read(text_of(8 * kFew));
  EXPECT_LT(many, few * kGrowthMax) << few << " s and " << many << " s: " << element;
}

TEST(ManyRules, AreReadInTimeInProportion) {
  expect_no_square(R"({{"rules": [{}]}})", R"({{"name": "r{0}", "match": {{"types": ["a.b{0}/c"]}}}})");
  expect_no_square(R"({{"rules": [{{"name": "all", "match": {{"types": [{}]}}}}]}})", R"("a.b{0}/c")");
}

TEST(ManyFacts, AreReadInTimeInProportion) {
  expect_no_square(R"({{"facts": [{}]}})", R"({{"types": ["a.b{0}/c", "a.d{0}/*"], "body": {{"read_only": ["/x"]}}}})");
}

TEST(ManyQueueTimeouts, AreReadInTimeInProportion) {
  expect_no_square(R"({{"queue_timeouts": [{}]}})", R"({{"user_agent": "<{0}>", "wait_max": "1s"}})");
}

}  // namespace
}  // namespace armgate::rules::many_rules_test
