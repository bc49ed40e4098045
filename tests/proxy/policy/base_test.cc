// One test per sentence of DESIGN §3 that names a behaviour. Rule 1 (the client's own precondition) and what HEAD and 304
// deliver are decided by the stages.
#include "proxy/policy/base.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/proxy/policy/shown.h"

namespace armgate::policy {
namespace {

TEST(BaseRule, EveryRuleHasAWordOfItsOwn) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(BaseRule::Refused); ++i) words.insert(to_text(static_cast<BaseRule>(i)));
  EXPECT_EQ(words.size(), static_cast<size_t>(BaseRule::Refused) + 1);
  EXPECT_FALSE(words.contains("unknown"));
}

// ---- which versions count

TEST(DecideBase, OnlyWhatWasDeliveredBeforeTheRequestsFirstByteCounts) {
  Shown shown;
  shown.facts.arrived = shown.tick();
  shown.show("a");  // while the body was still coming in
  const Base base = decide_base(shown.view, shown.facts, shown.limits, shown.liveness());
  EXPECT_EQ(base.rule, BaseRule::Blind);
  EXPECT_TRUE(base.goes_unguarded());
  EXPECT_FALSE(base.has_state());
}

TEST(DecideBase, AnOnlyDeliveryIsTheBaseEvenWhileItIsPending) {
  Shown shown;
  shown.show("a", pending());
  EXPECT_EQ(shown.decide_text(), "only-live a");
}

TEST(DecideBase, TheBaseCarriesAllThatALaterComparisonNeeds) {
  Shown shown;
  const uint64_t id = shown.show("a");
  const Base base = shown.decide();
  EXPECT_EQ(base.version, id);
  EXPECT_EQ(base.body->bytes, "{\"a\":1}");
  EXPECT_EQ(base.target, "/r?api-version=a");
  EXPECT_TRUE(base.has_state());
}

TEST(DecideBase, AStateWithoutAnEtagIsABaseToo) {
  Shown shown;
  shown.show("", as_own_answer());
  const Base base = shown.decide();
  EXPECT_EQ(base.rule, BaseRule::OnlyLive);
  EXPECT_TRUE(base.etag.empty());
  EXPECT_TRUE(base.has_state());
  EXPECT_FALSE(base.goes_unguarded());
}

TEST(DecideBase, StatesOfEqualContentAreOneBaseWithTheNewestEtag) {
  Shown shown;
  const uint64_t id = shown.show("a");
  shown.show_same("b", id);
  EXPECT_EQ(shown.decide_text(), "only-live b");
}

// ---- rule 2

TEST(DecideBase, TheEtagInTheBodyIsTheClientsOwnWord) {
  Shown shown;
  shown.show("a", with_id("x"));
  shown.show("b", with_id("x"));
  shown.facts.request_id = "x";
  shown.facts.body_etag = "a";
  const Base base = shown.decide();
  EXPECT_EQ(base.rule, BaseRule::BodyEtag);
  EXPECT_EQ(base.etag, "a");
  EXPECT_EQ(base.body->bytes, "{\"a\":1}");
}

TEST(DecideBase, TheEtagInTheBodyHoldsWhateverIsKnownOfIt) {
  struct Case {
    const char* name;
    void (*happens)(Shown&);
  };
  const Case cases[] = {
      {"never delivered", [](Shown&) {}},
      {"refused", [](Shown& s) { s.view.refuse(s.show("mine")); }},
      {"under a newer ETag by now", [](Shown& s) { s.show_same("newer", s.show("mine")); }},
      {"after a refusal of these bytes", [](Shown& s) { s.forbid_until_read(); }},
      {"deleted since", [](Shown& s) { s.show("mine"), s.deleted_order = s.tick().order; }},
      {"absent by now", [](Shown& s) { s.show("mine"), s.show_absent(); }},
  };
  for (const auto& c : cases) {
    Shown shown;
    c.happens(shown);
    shown.facts.body_etag = "mine";
    EXPECT_EQ(shown.decide_text(), "body-etag mine") << c.name;
  }
}

// ---- rule 3

TEST(DecideBase, AReadWithTheSameRequestIdIsTheBase) {
  Shown shown;
  shown.show("a", with_id("mine"));
  shown.show("b", with_id("other"));
  shown.show("c");
  shown.facts.request_id = "mine";
  EXPECT_EQ(shown.decide_text(), "request-id a");
}

TEST(DecideBase, OfSeveralReadsWithTheSameRequestIdTheNewestConfirmedCounts) {
  Shown shown;
  shown.show("a", with_id("mine"));
  shown.show("b", with_id("mine"));
  shown.show("c", {DeliveryKind::PointRead, Confirmation::Pending, "mine", {}});
  shown.facts.request_id = "mine";
  EXPECT_EQ(shown.decide_text(), "request-id b");
}

TEST(DecideBase, OfPendingReadsWithTheSameRequestIdTheOldestCounts) {
  Shown shown;
  shown.show("b", {DeliveryKind::PointRead, Confirmation::Pending, "mine", {}});
  shown.show("c", {DeliveryKind::PointRead, Confirmation::Pending, "mine", {}});
  shown.facts.request_id = "mine";
  EXPECT_EQ(shown.decide_text(), "request-id b");
}

TEST(DecideBase, AConsumedReadIsNoBaseForTheSameRequestId) {
  Shown shown;
  shown.show("a", with_id("mine"));
  shown.facts.request_id = "mine";
  shown.accept(shown.decide());
  shown.show("b", {DeliveryKind::OwnAnswer, Confirmation::Confirmed, "mine", {}});
  EXPECT_EQ(shown.decide_text(), "request-id b");
}

TEST(DecideBase, ARequestIdIsNoEvidence) {
  struct Case {
    const char* name;
    void (*happens)(Shown&);
    const char* expected;
  };
  const Case cases[] = {
      {"older than think_max", [](Shown& s) { s.pass(minutes(5) + seconds(1)); }, "only-live a"},
      {"of exactly think_max it still is", [](Shown& s) { s.pass(minutes(5)); }, "request-id a"},
      {"under which two writes overlapped", [](Shown& s) { s.view.overlapped_ids = {"mine"}; }, "only-live a"},
      {"if another one overlapped it still is", [](Shown& s) { s.view.overlapped_ids = {"x"}; }, "request-id a"},
      {"when the write has another", [](Shown& s) { s.facts.request_id = "theirs"; }, "only-live a"},
      {"when the write has none", [](Shown& s) { s.facts.request_id = ""; }, "only-live a"},
  };
  for (const auto& c : cases) {
    Shown shown;
    shown.show("a", with_id("mine"));
    shown.facts.request_id = "mine";
    c.happens(shown);
    EXPECT_EQ(shown.decide_text(), c.expected) << c.name;
  }
}

TEST(DecideBase, WithoutAnyIdNothingMatchesTheEmptyId) {
  Shown shown;
  shown.show("a");
  shown.show("b");
  EXPECT_EQ(shown.decide_text(), "oldest-live a");
}

TEST(DecideBase, ADeadReadWithTheSameRequestIdIsRefused) {
  Shown shown;
  shown.view.refuse(shown.show("a", with_id("mine")));
  shown.show("b");
  shown.facts.request_id = "mine";
  EXPECT_EQ(shown.decide_text(), "refused");
}

TEST(DecideBase, ACommandThatHasReadHoldsNothingThatOthersReadLater) {
  struct Case {
    const char* name;
    void (*happens)(Shown&, uint64_t own);
  };
  const Case cases[] = {
      {"its read was used up", [](Shown& s, uint64_t own) { s.use_up(own); }},
      {"its read is older than think_max", [](Shown& s, uint64_t) { s.pass(minutes(6)); }},
  };
  for (const auto& c : cases) {
    Shown shown;
    const uint64_t own = shown.show("a", with_id("mine"));
    shown.show("b", with_id("theirs"));
    c.happens(shown, own);
    shown.facts.request_id = "mine";
    EXPECT_EQ(shown.decide_text(), "refused") << c.name;
    shown.facts.request_id = "a fresh one";
    EXPECT_EQ(shown.decide_text(), "only-live b") << c.name;
  }
}

// ---- rules 4 and 8

TEST(DecideBase, APendingReadIsNoBaseForWhoWasShownSomethingElseBefore) {
  Shown shown;
  shown.view.refuse(shown.show("a"));
  shown.show("b", pending());
  EXPECT_EQ(shown.decide_text(), "refused");
  shown.view.confirm(2);
  EXPECT_EQ(shown.decide_text(), "only-live b");
}

TEST(DecideBase, APendingReadIsAnOlderCandidate) {
  Shown shown;
  shown.show("a", pending());
  shown.show("b");
  EXPECT_EQ(shown.decide_text(), "oldest-live a");
}

TEST(DecideBase, AStateThatTheClientsOwnWriteMadeOfAnotherIsTheNewerOneWhateverArrivedFirst) {
  Shown shown;
  const uint64_t made = shown.show("b", as_own_answer());
  const uint64_t slow = shown.show("a");
  EXPECT_EQ(shown.decide_text(), "oldest-live b");
  shown.view.find(made)->follows = slow;
  EXPECT_EQ(shown.decide_text(), "oldest-live a");
  shown.view.find(slow)->follows = made;
  EXPECT_EQ(shown.decide_text(), "oldest-live a") << "a state that came back ends the search all the same";
}

TEST(DecideBase, ABaseIsAGuessIfSomethingElseWasShownAfterIt) {
  Shown doubtful;
  doubtful.show("a");
  EXPECT_FALSE(doubtful.decide().guessed);
  doubtful.show("b", pending());
  EXPECT_EQ(doubtful.decide_text(), "only-live a");
  EXPECT_TRUE(doubtful.decide().guessed);

  Shown dead;
  dead.show("a");
  dead.view.refuse(dead.show("b"));
  EXPECT_EQ(dead.decide_text(), "only-live a");
  EXPECT_TRUE(dead.decide().guessed);

  Shown command;
  command.show("a", with_id("mine"));
  command.show("b", {DeliveryKind::PointRead, Confirmation::Pending, "mine", {}});
  command.facts.request_id = "mine";
  EXPECT_EQ(command.decide_text(), "request-id a");
  EXPECT_TRUE(command.decide().guessed);

  Shown several;
  several.show("a");
  several.show("b");
  several.show("a");
  EXPECT_EQ(several.decide_text(), "oldest-live a");
  EXPECT_TRUE(several.decide().guessed);
}

TEST(DecideBase, OfSeveralLiveStatesTheOldestCounts) {
  Shown shown;
  shown.show("a");
  shown.show("b");
  shown.show("c");
  EXPECT_EQ(shown.decide_text(), "oldest-live a");
}

TEST(DecideBase, TheOnlyStateLeftAliveIsTheBase) {
  struct Case {
    const char* name;
    void (*kill)(Shown&, uint64_t id);
  };
  const Case cases[] = {
      {"the other was used up", [](Shown& s, uint64_t id) { s.use_up(id); }},
      {"the other was refused", [](Shown& s, uint64_t id) { s.view.refuse(id); }},
      {"the other is outlived", [](Shown& s, uint64_t) { s.pass(minutes(6)); }},
  };
  for (const auto& c : cases) {
    Shown shown;
    const uint64_t a = shown.show("a");
    shown.show("b");
    c.kill(shown, a);
    EXPECT_EQ(shown.decide_text(), "only-live b") << c.name;
  }
}

TEST(DecideBase, TwoActorsThatHoldTheSameStateCanEachBuildOnItOnce) {
  Shown shown;
  shown.show("a");
  shown.show("a");
  const Base first = shown.decide();
  const Base second = shown.decide();
  EXPECT_EQ(first.etag, "a");
  EXPECT_EQ(second.etag, "a");
  shown.accept(first);
  shown.show("b", as_own_answer());
  EXPECT_EQ(shown.decide_text(), "oldest-live a") << "the second actor has not written yet";
}

TEST(DecideBase, WithoutALiveStateTheWriteIsRefused) {
  struct Case {
    const char* name;
    void (*kill)(Shown&, uint64_t id);
  };
  const Case cases[] = {
      {"used up", [](Shown& s, uint64_t id) { s.use_up(id); }},
      {"refused", [](Shown& s, uint64_t id) { s.view.refuse(id); }},
      {"deleted, whoever deleted it", [](Shown& s, uint64_t) { s.deleted_order = s.tick().order; }},
  };
  for (const Actor actor : {Actor::Many, Actor::Single}) {
    for (const auto& c : cases) {
      Shown shown;
      shown.facts.actor = actor;
      c.kill(shown, shown.show("a"));
      const Base base = shown.decide();
      EXPECT_EQ(base.rule, BaseRule::Refused) << c.name;
      EXPECT_FALSE(base.goes_unguarded()) << c.name;
    }
  }
}

// ---- rule 5

TEST(DecideBase, WhoWasToldThatNothingIsThereCreates) {
  for (const Actor actor : {Actor::Many, Actor::Single}) {
    Shown shown;
    shown.facts.actor = actor;
    shown.show_absent();
    const Base base = shown.decide();
    EXPECT_EQ(base.rule, BaseRule::Create);
    EXPECT_TRUE(base.goes_unguarded());
    EXPECT_EQ(base.known.order, 1u) << "what was accepted since refuses it";
  }
}

TEST(DecideBase, ACreateUsesTheAbsenceUp) {
  Shown shown;
  shown.show_absent();
  shown.accept(shown.decide());
  EXPECT_EQ(shown.decide_text(), "refused");
  shown.show("a", as_own_answer());
  EXPECT_EQ(shown.decide_text(), "only-live a");
}

TEST(DecideBase, TheEarliestUnusedTellingOfAnAbsenceIsTheOneThatCounts) {
  Shown shown;
  shown.show_absent();
  shown.show_absent();
  EXPECT_EQ(shown.decide().known.order, 1u);
  shown.use_up(1);
  EXPECT_EQ(shown.decide().known.order, 2u);
}

TEST(DecideBase, AfterTheClientsOwnDeleteItCreatesAndDoesNotBuildOnWhatWas) {
  Shown shown;
  shown.show("a");
  shown.deleted_order = shown.tick().order;
  shown.show_absent(as_own_answer());
  EXPECT_EQ(shown.decide_text(), "create");
}

TEST(DecideBase, AnOlderStateIsPreferredToANewerAbsence) {
  Shown shown;
  shown.show("a");
  shown.show_absent();
  EXPECT_EQ(shown.decide_text(), "oldest-live a") << "ARM refuses it if the resource is gone";
}

}  // namespace
}  // namespace armgate::policy
