// Goal: a write goes if all that it may have been built from says so, and its refusal says why (docs/design.md,
// "Reconciliation").
// Method: bases, the write, what is there, and the verdict in words.
#include "proxy/policy/verdict.h"

#include <gtest/gtest.h>

#include "tests/proxy/policy/judged.h"

namespace armgate::policy {
namespace {

// ---- one base --------------------------------------------------------------------------------------------------------------------

TEST(OutcomeOfOne, WhatStillIsThereIsReplaced) {
  EXPECT_EQ(on({base_of(kPlain)}, kPlain)(kTwo), "sent");
  EXPECT_EQ(on({base_of(kPlain)}, R"({"etag":"9","properties":{"n":1.0,"provisioningState":"Failed"},"tags":{"a":"1"}})")(kTwo),
            "sent");
}

TEST(OutcomeOfOne, WhatOthersChangedElsewhereIsMerged) { EXPECT_EQ(on({base_of(kPlain)}, kTagged)(kTwo), "merged /tags/b"); }

TEST(OutcomeOfOne, WhatBothChangedIsInTheWay) {
  EXPECT_EQ(on({base_of(kPlain)}, kTwo)(kThree), "refused /properties/n");
  EXPECT_EQ(on({base_of(kPlain)}, kTwo)(kTwo), "refused /properties/n") << "two that count to 2 have not agreed";
}

TEST(OutcomeOfOne, AWriteThatChangesNothingUndoesNothing) {
  EXPECT_EQ(on({base_of(kPlain)}, kTwo)(kPlain), "refused /properties/n");
}

TEST(OutcomeOfEither, WhicheverOfThemIsThereTheWriteIsBuiltOnIt) {
  for (const std::string_view there : {kPlain, kTwo}) {
    Judged judged = on({base_of(kTwo), base_of(kPlain)}, there);
    EXPECT_EQ(judged(kThree), "refused /properties/n");
    judged.either_of = 2;
    EXPECT_EQ(judged(kThree), "sent") << there;
    EXPECT_EQ(judged(kTwo), "sent") << there;
    EXPECT_EQ(judged(kPlain), "sent") << there;
  }
  Judged judged = on({base_of(kTwo), absent()}, kPlain);
  judged.either_of = 2;
  EXPECT_EQ(judged(kThree), "refused /properties/n") << "it is neither";
  judged.is_absent = true;
  EXPECT_EQ(judged(kThree), "sent");
}

TEST(OutcomeOfEither, WhatItMayNotKnowOfIsInTheWayAllTheSame) {
  Judged judged = on({base_of(kTagged), base_of(kPlain), base_of(kTwo)}, kTagged);
  judged.either_of = 2;
  EXPECT_EQ(judged(kThree), "refused /tags/b") << "the third is none of which its client knows all";
  judged.either_of = 3;
  EXPECT_EQ(judged(kThree), "sent");
}

// What another has set where nothing is shown can be told by the ETag, or else by its write.
TEST(OutcomeOfOne, ASecretGoesOnlyOntoTheStateThatItWasBuiltOn) {
  const arm::BodyFacts facts({.write_only = {"/properties/password"}});
  constexpr std::string_view kWithSecret = R"({"properties":{"n":2,"password":"x"},"tags":{"a":"1"}})";
  const struct {
    const char* what;
    std::string_view wanted;
    const char* etag;
    bool others_wrote;
    bool sends;
  } rows[] = {{"nothing moved", kWithSecret, "1", true, true},
              {"another wrote", kWithSecret, "2", true, false},
              {"the ETag moves by itself", kWithSecret, "2", false, true},
              {"no ETag tells, and another wrote", kWithSecret, "", true, false},
              {"no ETag tells, and nobody wrote", kWithSecret, "", false, true},
              {"no secret", kTwo, "2", true, true}};
  for (const auto& row : rows) {
    Bases bases;
    bases.rule = BaseRule::Newest;
    bases.possible = {base_of(kPlain, "1")};
    const auto others_wrote_since = [&](uint64_t) { return row.others_wrote; };
    const ThereBody there{false, row.etag, kPlain, "v1"};
    EXPECT_EQ(decide(bases, {row.wanted, "v1"}, there, {}, others_wrote_since, facts, arm::MergeScope::All).sends, row.sends)
        << row.what;
  }
}

TEST(OutcomeOfOne, ADeletionLeavesNothing) { EXPECT_EQ(on({gone(kPlain)}, kPlain)(kTwo), "refused"); }
TEST(OutcomeOfOne, AReadThatSaidItWasGoneTakesNothingFromWhoeverKnowsWhatIsThere) {
  Judged one = on({gone(kPlain, false)}, kPlain), anew = on({gone(kPlain, false)}, kTagged), made = one, part = one;
  part.bases.front().is_partial = made.others_wrote = true;
  EXPECT_EQ(one(kTwo) + made(kTwo) + part(kTwo) + anew(kTwo), "sentrefusedrefusedrefused /tags/b");
}

TEST(OutcomeOfOne, AbsenceIsAStateToo) {
  EXPECT_EQ(on({absent()}, kPlain)(kTwo), "refused");
  Judged nothing = on({absent()}, "");
  nothing.is_absent = true;
  EXPECT_EQ(nothing(kTwo), "sent");
  nothing.bases = {base_of(kPlain)};
  EXPECT_EQ(nothing(kTwo), "refused");
}

TEST(OutcomeOfOne, AtAnotherVersionOrWithoutBodyOnlyTheETagTells) {
  for (const BaseState& base : {at_version(kPlain, "1"), without_body("1")}) {
    Judged judged = on({base}, kPlain);
    EXPECT_EQ(judged(kTwo), "refused");
    judged.there_etag = "1";
    EXPECT_EQ(judged(kTwo), "sent");
  }
}

TEST(OutcomeOfOne, AWriteAtAnotherVersionGoesIfNothingMoved) {
  Judged judged = on({base_of(kPlain)}, kPlain);
  judged.wanted_version = "v2";
  EXPECT_EQ(judged(R"({"other":"shape"})"), "sent");
  judged.there = kTwo;
  EXPECT_EQ(judged(R"({"other":"shape"})"), "refused /properties/n");
}

TEST(OutcomeOfOne, WhatCannotBeReadIsSentIfNotAByteHasChanged) {
  EXPECT_EQ(on({base_of(kTwice)}, kTwice)(kTwo), "sent");
  EXPECT_EQ(on({base_of(kTwice)}, kPlain)(kTwo).substr(0, 7), "refused");
  EXPECT_EQ(on({base_of(kPlain)}, kPlain)(kTwice), "sent");
  EXPECT_EQ(on({base_of(kPlain)}, kTwo)(kTwice).substr(0, 7), "refused");
}

// ---- bodies that leave something out ---------------------------------------------------------------------------------------------

TEST(OutcomeOfPartial, WhatWasSentStandsInIfNobodyElseWrote) {
  Judged judged = on({base_of(kPlain, "", true)}, R"({"properties":{"n":1,"filledIn":true},"tags":{"a":"1"}})");
  EXPECT_EQ(judged(kTwo), "sent");
  judged.others_wrote = true;
  EXPECT_EQ(judged(kTwo).substr(0, 7), "refused");
}

TEST(OutcomeOfPartial, ItsETagProvesIt) {
  Judged judged = on({base_of(R"({"tags":{"a":"1"}})", "1", true)}, kPlain);
  judged.others_wrote = true;
  EXPECT_EQ(judged(kTwo).substr(0, 7), "refused");
  judged.there_etag = "1";
  EXPECT_EQ(judged(kTwo), "sent");
}

TEST(OutcomeOfPartial, WhatItHasIsCompared) {
  EXPECT_EQ(on({base_of(R"({"tags":{"a":"1"}})", "", true)}, R"({"tags":{"a":"2"}})")(R"({"tags":{"a":"3"}})"),
            "refused /tags/a");
}

// ---- several bases ---------------------------------------------------------------------------------------------------------------

TEST(OutcomeOfSeveral, AllMustAgree) {
  EXPECT_EQ(on({base_of(kPlain), base_of(kPlain, "2")}, kPlain)(kTwo), "sent");
  EXPECT_EQ(on({base_of(kTwo), base_of(kPlain)}, kTwo)(kThree), "refused /properties/n");
}

TEST(OutcomeOfSeveral, AnOlderOneDoesNotMatterIfTheWriteHasWhatOthersAdded) {
  EXPECT_EQ(on({base_of(kTagged), base_of(kPlain)}, kTagged)(kBoth), "sent");
  EXPECT_EQ(on({base_of(kPlain)}, kTagged)(kBoth), "refused /tags/b")
      << "nobody was shown that tag: it may be a count from nothing";
}

// An operation made it so, and failed; then it was made so by somebody else, who did the same as this write.
TEST(OutcomeOfSeveral, OneThatOnlyLooksLikeWhatIsThereDoesNotVouchForTheOthers) {
  Judged judged = on({base_of(kPlain, "3"), base_of(kTagged, "2")}, kTagged);
  judged.others_wrote = true;
  judged.there_etag = "4";
  EXPECT_EQ(judged(kTagged), "refused /tags/b");
  judged.others_wrote = false;
  EXPECT_EQ(judged(kTagged), "refused /tags/b") << "its client was shown something else since";
  judged.others_wrote = true;
  judged.there_etag = "2";
  EXPECT_EQ(judged(kBoth), "sent") << "it is what is there";
}

// Two that count from nothing send the same body; only one that asks for more than what is there has surely seen it. Who is one actor asks
// for the same again on purpose.
TEST(OutcomeOfSeveral, OneThatTheWriteLeavesAsItIsDoesNotVouchForTheOthers) {
  Judged judged = on({base_of(kTagged, "2"), base_of(kPlain, "1")}, kTagged);
  judged.there_etag = "2";
  EXPECT_EQ(judged(kTagged), "refused /tags/b");
  EXPECT_EQ(judged(kBoth), "sent");
  judged.rule = BaseRule::Newest;
  EXPECT_EQ(judged(kTagged), "sent");
}

TEST(OutcomeOfSeveral, AGoneOneIsInTheWayOfEverything) {
  EXPECT_EQ(on({base_of(kPlain), gone(kPlain)}, kPlain)(kTwo), "refused");
}

TEST(OutcomeOfSeveral, WithoutAnyNothingIsSent) { EXPECT_EQ(on({}, kPlain)(kTwo), "refused"); }

TEST(OutcomeOfSeveral, MoreThanCanBeComparedAreNotPassedOver) {
  std::vector<BaseState> many(arm::Difference::kBodiesMax, base_of(kPlain));
  many.push_back(base_of(kTagged));
  EXPECT_EQ(on(many, kPlain)(kTwo), "refused");
}

// ---- whether it looks stale ------------------------------------------------------------------------------------------------------

std::string narrowed(std::vector<BaseState> shown, std::string_view wanted, std::string_view version = "v1") {
  Bases bases;
  bases.rule = BaseRule::Newest;
  uint64_t number = 100;
  for (BaseState& state : shown) state.entry = number--;
  bases.possible = {shown.front()};
  bases.if_stale = std::move(shown);
  narrow_down(bases, {wanted, version}, *arm::BodyFacts::generic());
  EXPECT_TRUE(bases.if_stale.empty());
  return std::string(to_text(bases.rule)) + " " + std::to_string(bases.possible.size());
}

TEST(OutcomeStale, AValueOfBeforeWhereTheNewestHasAnother) {
  EXPECT_EQ(narrowed({base_of(kTwo), base_of(kPlain)}, kThree), "newest 1");
  EXPECT_EQ(narrowed({base_of(kThree), base_of(kPlain)}, kPlain), "any-shown 2");
  EXPECT_EQ(narrowed({base_of(kTagged), base_of(kPlain)}, kTwo), "any-shown 2") << "absence is a value";
  EXPECT_EQ(narrowed({base_of(kTagged), base_of(kPlain)}, kBoth), "newest 1");
}

TEST(OutcomeStale, ByWhatItLacksUnlessItHasWhatItsClientItselfHasAddedSince) {
  constexpr std::string_view kWanted = R"({"properties":{"n":1},"tags":{"a":"1","b":"1","own":"1"}})";
  BaseState newest = base_of(R"({"properties":{"n":1},"tags":{"a":"1","b":"1","c":"1"}})");
  EXPECT_EQ(narrowed({newest, base_of(kPlain)}, kWanted), "any-shown 2") << "another may have added \"b\" as well as \"c\"";
  newest.sent = newest.body;
  EXPECT_EQ(narrowed({newest, base_of(kPlain)}, kWanted), "newest 1");
  BaseState before = base_of(kTagged);
  before.sent = before.body;
  newest.sent = nullptr;
  EXPECT_EQ(narrowed({newest, before, base_of(kPlain)}, kWanted), "any-shown 3") << "\"c\" came after what it did itself";
}

TEST(OutcomeStale, NothingChangedThoughAScalarMoved) {
  EXPECT_EQ(narrowed({base_of(kTwo), base_of(kPlain)}, kTwo), "any-shown 2");
  EXPECT_EQ(narrowed({base_of(kTagged), base_of(kPlain)}, kTagged), "newest 1");
}

TEST(OutcomeStale, WhatIsAtAnotherVersionDoesNotTell) {
  EXPECT_EQ(narrowed({base_of(kThree), at_version(kPlain, "1")}, kPlain), "newest 1");
  EXPECT_EQ(narrowed({base_of(kThree), base_of(kPlain)}, kPlain, "v2"), "newest 1");
}

// ---- by right --------------------------------------------------------------------------------------------------------------------

Judged reread(std::string_view read, std::string_view there) {
  Judged judged = on({base_of(kTwo), base_of(kPlain)}, there);
  judged.right.may_send = true;
  judged.right.last_read = base_of(read);
  return judged;
}

TEST(OutcomeByRight, WhoHasReadWhatIsThereIsSent) {
  EXPECT_EQ(reread(kTwo, kTwo)(kThree), "by right");
  Judged none = reread(kTwo, kTwo);
  none.right.may_send = false;
  EXPECT_EQ(none(kThree), "refused /properties/n");
}

TEST(OutcomeByRight, NotIfThatIsNotThereAnyMore) { EXPECT_EQ(reread(kPlain, kTwo)(kThree), "refused /properties/n"); }

TEST(OutcomeByRight, NotIfSomethingElseWasThereInBetween) {
  Judged judged = reread(kTwo, kTwo);
  judged.right.newer = {base_of(kTwo)};
  EXPECT_EQ(judged(kThree), "by right") << "the service's own writes are nothing else";
  judged.right.newer = {base_of(kPlain)};
  EXPECT_EQ(judged(kThree), "refused /properties/n");
  judged.right.newer = {absent()};
  EXPECT_EQ(judged(kThree), "refused /properties/n");
  judged.right.newer = {without_body("unknown")};
  EXPECT_EQ(judged(kThree), "refused /properties/n");
}

// The item shows the same as what is there as far as it goes; what it leaves out somebody has set since.
TEST(OutcomeByRight, NotByAnItemThatLeavesOutWhatIsThereIfSomethingWasThereSince) {
  const BaseState item = base_of(R"({"properties":{"n":1}})", "", true);
  Judged judged = on({item}, kTagged);
  judged.right.may_send = true;
  judged.right.last_read = item;
  judged.right.newer = {base_of(kTagged)};
  judged.others_wrote = true;
  EXPECT_EQ(judged(R"({"properties":{"n":2},"tags":{"mine":"1"}})"), "refused");
  judged.right.newer = {};
  EXPECT_EQ(judged(R"({"properties":{"n":2},"tags":{"mine":"1"}})"), "by right");
}

TEST(OutcomeByRight, NotIfItLooksStaleAllTheSame) {
  Judged judged = reread(kTwo, kTwo);
  judged.right.superseded = {base_of(kPlain)};
  EXPECT_EQ(judged(kThree), "by right");
  EXPECT_EQ(judged(kPlain), "refused /properties/n");
}

TEST(OutcomeByRight, UnlessTheSameChangeWasRefusedAfterAReadAlready) {
  Judged judged = reread(kTwo, kTwo);
  judged.right.superseded = {base_of(kPlain)};
  Refusal refusal;
  refusal.found = whole(std::string(kTwo));
  refusal.requested_body = whole(std::string(kPlain));
  judged.right.same_change = {refusal};
  EXPECT_EQ(judged(kPlain), "by right");
  refusal.requested_body = whole(std::string(kThree));
  judged.right.same_change = {refusal};
  EXPECT_EQ(judged(kPlain), "refused /properties/n") << "it was another change";
}

TEST(OutcomeByRight, TheSameChangeOnANewerStateIsTheSame) {
  Judged judged = reread(kBoth, kBoth);
  judged.right.superseded = {base_of(kTagged)};
  Refusal refusal;
  refusal.found = whole(std::string(kTwo));
  refusal.requested_body = whole(std::string(kPlain));
  judged.right.same_change = {refusal};
  EXPECT_EQ(judged(kTagged), "by right") << "n from 2 to 1, whatever the tags";
}

TEST(OutcomeByRight, OfAbsenceToo) {
  Judged judged = reread(kTwo, "");
  judged.is_absent = true;
  EXPECT_EQ(judged(kThree), "refused");
  judged.right.last_read = absent();
  EXPECT_EQ(judged(kThree), "by right");
}

TEST(OutcomeByRight, WithoutABodyTheETagTells) {
  Judged judged = reread(kTwo, kTwo);
  judged.right.last_read = without_body("2");
  EXPECT_EQ(judged(kThree), "refused /properties/n");
  judged.there_etag = "2";
  EXPECT_EQ(judged(kThree), "by right");
}

TEST(OutcomeByRight, AtAnotherVersionOnlyWhetherItMovedCounts) {
  Judged judged = reread(kTwo, kTwo);
  judged.wanted_version = "v2";
  EXPECT_EQ(judged(R"({"other":"shape"})"), "by right");
  judged.right.newer = {base_of(kPlain)};
  EXPECT_EQ(judged(R"({"other":"shape"})"), "refused /properties/n");
}

TEST(OutcomeByRight, WhatCannotBeReadCountsIfNotAByteHasChanged) { EXPECT_EQ(reread(kTwice, kTwice)(kThree), "by right"); }

}  // namespace
}  // namespace armgate::policy
