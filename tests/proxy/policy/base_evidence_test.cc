// Rule 6: what the body says about the states that were shown (DESIGN §3).
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "proxy/policy/base.h"
#include "tests/proxy/policy/shown.h"

namespace armgate::policy {
namespace {

using arm::Evidence;
constexpr auto kAgrees = Evidence::Agrees;
constexpr auto kAbsence = Evidence::ContradictsByAbsence;
constexpr auto kContradicts = Evidence::Contradicts;

// Three states, the oldest first, and what the body says about them.
struct Case {
  const char* name;
  std::array<Evidence, 3> says;
  void (*happens)(Shown&, const std::array<uint64_t, 3>&);
  const char* expected;
};

void nothing(Shown&, const std::array<uint64_t, 3>&) {}

std::string decided(const Case& c, Actor actor, bool after_refusal) {
  Shown shown;
  shown.facts.actor = actor;
  std::array<uint64_t, 3> ids{};
  if (!after_refusal) ids = {shown.show("a"), shown.show("b"), shown.show("c")};
  if (after_refusal) {
    ids[0] = shown.show("a");
    shown.forbid_until_read();
    ids[1] = shown.show("b");
    ids[2] = shown.show("c");
  }
  for (size_t i = 0; i < ids.size(); ++i) shown.facts.evidence.push_back({ids[i], c.says[i]});
  c.happens(shown, ids);
  return shown.decide_text();
}

TEST(ContentEvidence, ItRulesOutAndWhatIsLeftIsJudgedAsEver) {
  const auto refuse_first = [](Shown& s, const std::array<uint64_t, 3>& ids) { s.view.refuse(ids[0]); };
  const auto use_up_first = [](Shown& s, const std::array<uint64_t, 3>& ids) { s.use_up(ids[0]); };
  const auto refuse_last = [](Shown& s, const std::array<uint64_t, 3>& ids) { s.view.refuse(ids[2]); };
  const auto only_last_lives = [](Shown& s, const std::array<uint64_t, 3>& ids) { s.view.refuse(ids[0]), s.use_up(ids[1]); };
  const Case cases[] = {
      {"none", {}, nothing, "oldest-live a"},
      {"the newest", {kContradicts, kContradicts, kAgrees}, nothing, "content c"},
      {"the middle", {kContradicts, kAgrees, kContradicts}, nothing, "content b"},
      {"two fit: the older", {kContradicts, kAgrees, kAgrees}, nothing, "oldest-live b"},
      {"a dead one fits", {kAgrees, kContradicts, kContradicts}, refuse_first, "refused"},
      {"a used up one fits", {kAgrees, kContradicts, kContradicts}, use_up_first, "refused"},
      {"a dead one fits as well as the only live one", {kAgrees, kAgrees, kAgrees}, only_last_lives, "only-live c"},
      {"a dead one fits better than the only live one", {kContradicts, kAgrees, kContradicts}, only_last_lives, "refused"},
      {"the only live one fits", {kContradicts, kContradicts, kAgrees}, only_last_lives, "only-live c"},
      {"one that nothing is known about stays", {Evidence::Silent, kContradicts, kAgrees}, nothing, "oldest-live a"},
      {"against all is against none", {kContradicts, kContradicts, kContradicts}, nothing, "oldest-live a"},
      {"absence, against newer states", {kAgrees, kAbsence, kAbsence}, nothing, "content a"},
      {"absence, the older is dead", {kAgrees, kAbsence, kAbsence}, refuse_first, "refused"},
      {"absence never gives up an older one", {kAbsence, kContradicts, kAgrees}, nothing, "oldest-live a"},
      {"unless it is dead", {kAbsence, kContradicts, kAgrees}, refuse_first, "content c"},
      {"a dead newest", {kContradicts, kContradicts, kAgrees}, refuse_last, "refused"},
  };
  for (const auto& c : cases) EXPECT_EQ(decided(c, Actor::Many, false), c.expected) << c.name;
}

TEST(ContentEvidence, OneActorIsBelievedWhatItRemovedButNotThatItWroteOnWhatItCannotHaveRead) {
  const Case cases[] = {
      {"none", {}, nothing, "single c"},
      {"an older one", {kContradicts, kAgrees, kContradicts}, nothing, "content b"},
      {"the newest", {kContradicts, kContradicts, kAgrees}, nothing, "content c"},
      {"absence", {kAgrees, kAbsence, kAbsence}, nothing, "single c"},
  };
  for (const auto& c : cases) EXPECT_EQ(decided(c, Actor::Single, false), c.expected) << c.name;
}

TEST(ContentEvidence, WhatAnotherActorReadSinceARefusalIsNotWhatTheSameBytesWereBuiltOn) {
  const auto wait = [](Shown& s, const std::array<uint64_t, 3>&) { s.pass(s.limits.insist_after); };
  const Case cases[] = {
      {"none", {}, nothing, "since-refusal c"},
      {"the older", {kAgrees, kContradicts, kContradicts}, nothing, "refused"},
      {"by absence", {kAgrees, kAbsence, kAbsence}, nothing, "refused"},
      {"for a time", {kAgrees, kContradicts, kContradicts}, wait, "since-refusal c"},
      {"one of those since", {kContradicts, kAgrees, kContradicts}, nothing, "since-refusal b"},
      {"the newest", {kContradicts, kContradicts, kAgrees}, nothing, "since-refusal c"},
      {"what was read since cannot be compared", {kAgrees, Evidence::Silent, Evidence::Silent}, nothing, "refused"},
  };
  for (const auto& c : cases) EXPECT_EQ(decided(c, Actor::Many, true), c.expected) << c.name;
  EXPECT_EQ(decided(cases[1], Actor::Single, true), "since-refusal c") << "nobody else read it";
}

TEST(ContentEvidence, ItIsNoGuessIfNothingElseIsLeft) {
  const auto guessed = [](const std::array<Evidence, 3>& says) {
    Shown shown;
    const std::array<uint64_t, 3> ids{shown.show("a"), shown.show("b"), shown.show("c")};
    for (size_t i = 0; i < ids.size(); ++i) shown.facts.evidence.push_back({ids[i], says[i]});
    return shown.decide().guessed;
  };
  EXPECT_TRUE(guessed({}));
  EXPECT_FALSE(guessed({kContradicts, kContradicts, kAgrees}));
  EXPECT_FALSE(guessed({kAgrees, kContradicts, kContradicts}));
  EXPECT_TRUE(guessed({kAgrees, kAbsence, kContradicts})) << "or built on the second, and something removed";
  EXPECT_TRUE(guessed({kContradicts, kAgrees, kAgrees}));
}

TEST(ContentEvidence, AReadThatTookLongIsAsOldAsItsQuestion) {
  Shown shown;
  Observation slow;
  slow.etag = "old";
  const uint64_t asked = shown.tick().order;
  const auto answer = shown.show("new", as_own_answer());
  slow.delivery = shown.delivery({});
  slow.delivery.asked = asked;
  const auto read = shown.view.record(std::move(slow), std::nullopt);
  shown.facts.evidence = {{read, kAgrees}, {answer, kAbsence}};
  EXPECT_EQ(shown.decide_text(), "content old");
}

TEST(ContentEvidence, ABodysOwnEtagAndARequestIdSayMore) {
  Shown shown;
  const auto first = shown.show("a", with_id("mine"));
  const auto second = shown.show("b");
  shown.facts.evidence = {{first, kContradicts}, {second, kAgrees}};
  shown.facts.request_id = "mine";
  EXPECT_EQ(shown.decide_text(), "request-id a");
  shown.facts.body_etag = "a";
  EXPECT_EQ(shown.decide_text(), "body-etag a");
}

}  // namespace
}  // namespace armgate::policy
