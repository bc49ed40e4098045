// The corpus of paths under the shipped rules, line by line, and in all the spellings that leave a path what it is or spoil it.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cctype>

#include "rules/plan.h"
#include "tests/support/paths.h"
#include "tests/support/shipped_rules.h"

namespace armgate::rules::paths_test {
namespace {

using Becomes = AskedPath::Becomes;

const Ruleset& shipped() {
  static const Ruleset rules = [] {
    FaultList faults;
    RuleBook book = shipped_rules(faults);
    EXPECT_TRUE(faults.empty());
    return Ruleset(std::move(book.rules));
  }();
  return rules;
}

std::string_view name_of(const Plan& plan) {
  if (!plan.guarded) return "none";
  switch (plan.rule->guard.kind) {
    case GuardKind::Auto: return "auto";
    case GuardKind::Etag: return "etag";
    case GuardKind::Verify: return "verify";
    case GuardKind::None: break;
  }
  return "none";
}

std::vector<std::string> keys_of(const Plan& plan) {
  std::vector<std::string> ids;
  for (const LockKey& key : plan.keys) ids.push_back(key.id);
  return ids;
}

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

Becomes what_becomes(const Result<Plan>& plan) {
  if (!plan) return Becomes::Refused;
  switch (plan->kind) {
    case PlanKind::Write: return Becomes::Write;
    case PlanKind::Read: return Becomes::Read;
    case PlanKind::Pass: break;
  }
  return Becomes::Passed;
}

TEST(Paths, EachBecomesWhatItsLineSays) {
  ASSERT_GT(asked_paths().size(), 120u);
  for (const AskedPath& path : asked_paths()) {
    SCOPED_TRACE(path.line);
    const auto plan = make_plan(shipped(), Mode::Protect, path.method, path.target);
    ASSERT_EQ(what_becomes(plan), path.becomes);
    if (path.rule.empty()) continue;
    EXPECT_EQ(plan->rule->name, path.rule);
    if (path.becomes != Becomes::Write) continue;
    EXPECT_EQ(name_of(*plan), path.guard);
    std::vector<std::string> locks = path.further_locks;
    locks.push_back(plan->target.resource.id);
    std::sort(locks.begin(), locks.end());
    EXPECT_EQ(keys_of(*plan), locks);
  }
}

// Case, a slash at the end, an escape that need not be one, more in the query: the same resource, the same rule, the same locks.
TEST(Paths, OtherSpellingsOfAWriteTakeTheSameLocks) {
  for (const AskedPath& path : asked_paths()) {
    if (path.becomes != Becomes::Write) continue;
    SCOPED_TRACE(path.line);
    const auto plan = make_plan(shipped(), Mode::Protect, path.method, path.target);
    ASSERT_TRUE(plan.ok());
    const size_t query = path.target.find('?');
    const std::string place = path.target.substr(0, query), rest = path.target.substr(query);
    const std::string escaped =
        place.substr(0, place.size() - 1) + fmt::format("%{:02x}", static_cast<unsigned char>(place.back()));
    std::vector<std::string> spellings{in_capitals(place) + rest, lower_text(place) + rest,
                                       place + "?$filter=a%20b&" + rest.substr(1)};
    if (!place.ends_with('/')) spellings.push_back(place + "/" + rest);
    if (std::isalnum(static_cast<unsigned char>(place.back())) != 0 && place[place.size() - 3] != '%')
      spellings.push_back(escaped + rest);
    for (const std::string& spelling : spellings) {
      const auto other = make_plan(shipped(), Mode::Protect, path.method, spelling);
      ASSERT_TRUE(other.ok()) << spelling;
      EXPECT_EQ(keys_of(*other), keys_of(*plan)) << spelling;
      EXPECT_EQ(other->rule, plan->rule) << spelling;
    }
  }
}

// Cut off anywhere, with something in between, with any method: there is a plan, or a refusal.
TEST(Paths, WhateverIsLeftOfThemIsRead) {
  size_t writes = 0;
  for (const AskedPath& path : asked_paths()) {
    for (const auto method : {arm::Method::Put, arm::Method::Post, arm::Method::Get, arm::Method::Delete}) {
      for (size_t length = 0; length <= path.target.size(); ++length) {
        const std::string start = path.target.substr(0, length);
        for (const std::string& target : {start, start + "%", start + "/providers/" + path.target.substr(length)}) {
          const auto plan = make_plan(shipped(), Mode::Protect, method, target);
          if (!plan.ok() || plan->kind != PlanKind::Write) continue;
          EXPECT_FALSE(plan->keys.empty()) << target;
          ++writes;
        }
      }
    }
  }
  EXPECT_GT(writes, 1000u);
}

}  // namespace
}  // namespace armgate::rules::paths_test
