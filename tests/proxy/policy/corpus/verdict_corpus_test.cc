// Goal: real bodies are taken for what they are. Method: the stories of verdict_corpus.cc.
#include "tests/proxy/policy/corpus/verdict_corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "proxy/policy/verdict.h"
#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

bool nobody_wrote(uint64_t) { return false; }

Verdict verdict_on(const VerdictStory& story, Actors actors) {
  Told told;
  bool is_old = false;
  for (const std::string_view state : story.shown) {
    if (state == kLongAgo) {
      is_old = true;
      continue;
    }
    told.show('A', "", whole(std::string(state)));
    if (is_old) told.pass(told.limits.think_max + seconds(1));
    is_old = false;
  }
  const std::string_view there = story.there.empty() ? story.shown.back() : story.there;
  const WantedBody wanted{story.put, "v1"};
  const auto& facts = *arm::BodyFacts::generic();
  Bases bases = told.bases('A', actors);
  narrow_down(bases, wanted, facts);
  return decide(bases, wanted, {false, "", there, "v1"}, Right(), nobody_wrote, facts, arm::MergeScope::All);
}

Ends end_of(const Verdict& verdict) { return verdict.merged ? Ends::Merged : verdict.sends ? Ends::Sent : Ends::Refused; }

TEST(OutcomeCorpus, EveryStoryEndsAsItMust) {
  for (const auto& story : verdict_corpus()) {
    const Verdict verdict = verdict_on(story, Actors::Unknown);
    const Ends ends = end_of(verdict);
    EXPECT_EQ(ends == Ends::Sent, story.ends == Ends::Sent) << story.name;
    EXPECT_EQ(ends == Ends::Merged, story.ends == Ends::Merged) << story.name;
    const auto& pointers = verdict.merged ? verdict.merged->kept.pointers : verdict.pointers;
    const bool says_why = story.pointer.empty() || std::find(pointers.begin(), pointers.end(), story.pointer) != pointers.end();
    EXPECT_TRUE(says_why) << story.name << ": " << ::testing::PrintToString(pointers);
    EXPECT_EQ(pointers.empty(), ends == Ends::Sent) << story.name;
  }
}

// Who is one actor and has read what is there is never refused.
TEST(OutcomeCorpus, ASingleOneIsRefusedOnlyIfTheStateIsAnother) {
  for (const auto& story : verdict_corpus()) {
    const bool has_moved = !story.there.empty() && story.ends != Ends::Sent;
    EXPECT_EQ(end_of(verdict_on(story, Actors::Single)) == Ends::Sent, !has_moved) << story.name;
  }
}

// Of many, a state that lies long behind counts no more; before that any change since is in the way.
TEST(OutcomeCorpus, WhatIsSentOfUnknownOnesOnTheirFirstStateIsSentOfManyToo) {
  for (const auto& story : verdict_corpus()) {
    const bool is_first = story.shown.size() == 1 || story.shown[1] == kLongAgo;
    if (is_first && story.shown.size() <= 3) {
      EXPECT_EQ(end_of(verdict_on(story, Actors::Many)) == Ends::Sent, story.ends == Ends::Sent) << story.name;
    }
  }
}

TEST(OutcomeCorpus, StoriesHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const auto& story : verdict_corpus()) EXPECT_TRUE(names.insert(story.name).second) << story.name;
  EXPECT_GE(names.size(), 35u);
}

}  // namespace
}  // namespace armgate::policy
