// Goal: of all that a client was shown exactly those states are named that its write may have been built from (docs/design.md,
// "Possible bases"). Method: a history, and the rule and the ETags that come out: "newest 2 | 2 1" are one base, and two if the
// write looks stale.
#include "proxy/policy/bases.h"

#include <gtest/gtest.h>

#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

// ---- kinds -----------------------------------------------------------------------------------------------------------------------

TEST(BasesOfKinds, TheNewestForSingleAllForManyAndBothForUnknown) {
  Told told;
  told.show('A', "1");
  told.show('A', "2");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 2 1");
}

TEST(BasesOfKinds, TheNewestIsWhatIsNewestNotWhatWasShownLast) {
  Told told;
  told.show('A', "1");
  const uint64_t asked = told.tick().order;
  told.write('A', "2");
  told.show('A', "1", {.asked = asked});  // a slow read of before
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2");
}

TEST(BasesOfKinds, OwnAnswersCount) {
  Told told;
  told.show('A', "1");
  told.write('A', "2");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2");
}

TEST(BasesOfKinds, WhatOthersWereShownSaysNothing) {
  Told told;
  told.show('A', "1");
  told.show('B', "2");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 1");
}

TEST(BasesOfKinds, WhatIsShownAfterTheWriteCameIsNone) {
  Told told;
  told.show('A', "1");
  told.facts.arrived = told.tick();
  told.show('A', "2");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 1");
}

// Nothing came of the first sending, and the client was shown something before the second.
TEST(BasesOfKinds, TheSameBytesAgainMayBeBuiltOnWhatWasShownMeanwhile) {
  Told told;
  told.show('A', "1");
  told.facts.arrived = told.tick();
  told.facts.repeated = told.tick();
  EXPECT_EQ(told.bases_text('A'), "newest 1");
  told.show('A', "2");
  told.facts.repeated = told.tick();
  told.show('A', "3");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 1");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 2 1");
  told.facts.request_id = "call";
  EXPECT_EQ(told.bases_text('A'), "newest 1");
}

TEST(BasesOfKinds, WhoReadsAfterItsWriteWasPutOffBuildsOnThat) {
  Told told;
  told.facts.arrived = told.tick();
  told.show('A', "1");
  told.facts.repeated = told.tick();
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 1");
  EXPECT_EQ(told.bases_text('A'), "unconditional") << "the read may be a namesake's";
  told.facts.known_from = told.now();
  EXPECT_EQ(told.bases_text('A'), "newest 1") << "what it may have been shown before is not known, and nobody wrote";
  told.write('B', "2");
  told.show('A', "2");
  told.facts.repeated = told.tick();
  EXPECT_EQ(told.bases_text('A'), "forgotten") << "the read may be a namesake's, and B's write is not to be undone";
  told.facts.request_hash = Told::hash("write of 2");
  EXPECT_EQ(told.bases_text('A'), "newest 2 | 2 1") << "equal bytes are not refused, and may count";
  told.facts.known_from = {};
  told.show_absent('A');
  told.facts.repeated = told.tick();
  EXPECT_EQ(told.bases_text('A', Actors::Single), "create -");
}

TEST(BasesOfKinds, SeveralWritesAtOnceMakeASingleUnknownForAWhile) {
  Told told;
  told.show('A', "1");
  told.show('A', "2");
  told.apply(WriteArrived{Told::key('A'), {1, Told::hash("x"), ""}, told.now()});
  told.apply(WriteArrived{Told::key('A'), {2, Told::hash("y"), ""}, told.now()});
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2 | 2 1");
  told.pass(told.limits.think_max + seconds(1));
  told.show('A', "2");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2");
}

// ---- certain ones ----------------------------------------------------------------------------------------------------------------

TEST(BasesCertain, AnETagInTheBodyNamesTheState) {
  Told told;
  told.show('B', "1");
  told.show('A', "2");
  told.facts.body_etag = "1";
  EXPECT_EQ(told.bases_text('A'), "body-etag 1");
  EXPECT_NE(told.bases('A', Actors::Unknown).possible[0].body, nullptr);
  told.facts.body_etag = "never seen";
  EXPECT_EQ(told.bases_text('A'), "body-etag never seen");
}

TEST(BasesCertain, OneThatStandsForSeveralStatesNamesThoseThatWereShown) {
  Told told;
  told.show('A', "1", whole("12"));
  told.show('A', "1", whole("13"));  // AKS: a pool has changed
  told.show('B', "1", whole("14"));
  told.facts.body_etag = "1";
  EXPECT_EQ(told.bases_text('A'), "body-etag 1 1");
  EXPECT_FALSE(told.bases('A', Actors::Single).is_certain());
}

// The object that it has sent keeps the ETag of what it was read with.
TEST(BasesCertain, BehindItsOwnWritesAloneTheETagInTheBodyTellsNothing) {
  for (const char other : {'A', 'B'}) {
    Told told;
    told.show('A', "1");
    told.write('A', "2");
    if (other == 'B') told.write(other, "3");
    told.facts.body_etag = "1";
    EXPECT_EQ(told.bases_text('A', Actors::Single), other == 'A' ? "newest 2" : "body-etag 1");
    EXPECT_EQ(told.bases_text('A', Actors::Unknown), other == 'A' ? "any-shown 2 1" : "body-etag 1");
    EXPECT_EQ(told.bases_text('A', Actors::Many), "body-etag 1");
  }
  Told read;
  read.write('A', "1");
  read.write('A', "2");
  read.show('A', "2");
  read.facts.body_etag = "1";
  EXPECT_EQ(read.bases_text('A'), "body-etag 1") << "it had the newer one in hand";
}

TEST(BasesCertain, ACommandBuildsOnItsOwnReads) {
  Told told;
  told.show('A', "1", {.id = "mine"});
  told.show('A', "2", {.id = "another"});
  told.facts.request_id = "mine";
  EXPECT_EQ(told.bases_text('A'), "request-id 1");
}

TEST(BasesCertain, OnAllOfThem) {
  Told told;
  told.show('A', "1", {.id = "mine"});
  told.show('A', "2", {.id = "mine"});
  told.facts.request_id = "mine";
  EXPECT_EQ(told.bases_text('A', Actors::Single), "request-id 2 1");
}

// A tool that gives all its requests one id is one actor that goes on with what its own writes made.
TEST(BasesCertain, SinceItsOwnLastAnswer) {
  Told told;
  told.show('A', "1", {.id = "mine"});
  told.write('A', "2", "mine");
  told.facts.request_id = "mine";
  EXPECT_EQ(told.bases_text('A', Actors::Single), "request-id 2");
  told.show('A', "3", {.id = "mine"});
  EXPECT_EQ(told.bases_text('A', Actors::Single), "request-id 3 2");
}

TEST(BasesCertain, AnAnswerThatWasLostEndsNothing) {
  Told told;
  told.show('A', "1", {.id = "mine"});
  told.write('A', "2", "mine");
  told.lose('A', told.client('A').shown.back().last_shown.order);
  told.facts.request_id = "mine";
  EXPECT_EQ(told.bases_text('A', Actors::Single), "request-id 2 1");
}

TEST(BasesCertain, AnIdUnderWhichTwoWritesOverlappedTellsNothing) {
  Told told;
  told.show('A', "1", {.id = "same"});
  told.show('A', "2", {.id = "other"});
  told.apply(WriteArrived{Told::key('A'), {1, Told::hash("x"), "same"}, told.now()});
  told.apply(WriteArrived{Told::key('A'), {2, Told::hash("y"), "same"}, told.now()});
  told.facts.request_id = "same";
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
}

TEST(BasesCertain, AnIdThatNoReadCarriedTellsNothing) {
  Told told;
  told.show('A', "1");
  told.show('A', "2");
  told.facts.request_id = "fresh";
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
}

// Goal: older states are not looked through where none can be told from the newest; a single one that can brings all of them back.
TEST(BasesAlike, StatesOfTheSameBytesAreNotLookedThrough) {
  Told told;
  told.show('A', "1", whole("{\"is\":1}"));
  told.show('A', "2", whole("{\"is\":1}"));
  told.show('A', "3", whole("{\"is\":1}"));
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 3");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 3 2 1");
  told.show('A', "4", whole("{\"is\":4}"));
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 4 | 4 3 2 1");
}

// Goal: what cannot be told may be another: an older state that is absent, of which no body is kept, or of which a part is known.
TEST(BasesAlike, WhatIsNotKnownMayBeAnother) {
  for (const SharedBody& older : {SharedBody(), partial("{\"is\":1}")}) {
    Told told;
    told.show('A', "1", older);
    told.show('A', "2", whole("{\"is\":1}"));
    EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
  }
  Told told;
  told.show_absent('A');
  told.show('A', "2", whole("{\"is\":1}"));
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 -");
}

// ---- absence and deletes ---------------------------------------------------------------------------------------------------------

TEST(BasesAbsence, WhoWasTold404Creates) {
  Told told;
  const uint64_t told_at = told.show_absent('A');
  EXPECT_EQ(told.bases_text('A'), "create -");
  EXPECT_EQ(told.bases('A', Actors::Unknown).known_since(), told_at);
}

TEST(BasesAbsence, AsOfTheAskingIfACreateCameBetween) {
  Told told;
  const uint64_t asked = told.tick().order;
  told.write('B', "1");
  told.show_absent('A', {.asked = asked});
  EXPECT_EQ(told.bases_text('A'), "create -");
  EXPECT_LE(told.bases('A', Actors::Unknown).known_since(), asked);
}

TEST(BasesAbsence, WhoIsToldAgainCreatesAsOfTheLastTime) {
  Told told;
  told.show_absent('A');
  const uint64_t asked = told.tick().order;
  told.show_absent('A', {.asked = asked});
  EXPECT_EQ(told.bases('A', Actors::Unknown).known_since(), asked);
}

TEST(BasesAbsence, NothingSurvivesADeletion) {
  Told told;
  told.show('A', "1");
  told.remove('B');
  told.show('A', "2");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 2 gone");
}

TEST(BasesAbsence, AnothersDeletionLeavesNothingToBuildOn) {
  Told told;
  told.show('A', "1");
  told.remove('B');
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest gone");
}

TEST(BasesAbsence, OnesOwnDeletionIsACreate) {
  Told told;
  told.show('A', "1");
  told.remove('A');
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "create -");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown gone");
}

TEST(BasesAbsence, ThatOfWhatContainsItCountsTheSame) {
  Told told;
  told.show('A', "1");
  told.facts.deleted = told.tick().order;
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest gone");
  told.facts.deleted_by = Told::key('A');
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "create -");
}

TEST(BasesAbsence, A404IsADeletionToEverybody) {
  Told told;
  told.show('A', "1");
  told.show_absent('B');
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest gone");
}

TEST(BasesAbsence, WhoKnowsThatItIsGoneAndMakesItAnewIsNotAskedAboutBefore) {
  Told told;
  told.show('A', "1");
  told.show('A', "2");
  told.show_absent('A');
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "create -");
}

TEST(BasesAbsence, NorWhenItHasReadTheNewOne) {
  Told told;
  told.show('A', "1");
  told.remove('A');
  told.show('A', "2");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2");
}

// ---- never read, and forgotten ---------------------------------------------------------------------------------------------------

TEST(BasesUnknown, WhoNeverReadIsUnconditional) {
  Told told;
  told.show('B', "1");
  EXPECT_EQ(told.bases_text('A'), "unconditional");
}

TEST(BasesUnknown, UnlessItMayHaveReadBeforeThisProcess) {
  Told told;
  told.facts.known_from = told.now() - hours(1);
  EXPECT_EQ(told.bases_text('A'), "forgotten");
}

TEST(BasesUnknown, OrBeforeSomethingWasForgotten) {
  Told told;
  told.history.forget_until(1);
  EXPECT_EQ(told.bases_text('A'), "forgotten");
  Told crowd;
  crowd.limits.clients_max = 1;
  crowd.show('A', "1");
  crowd.show('B', "1");
  EXPECT_EQ(crowd.bases_text('A'), "forgotten");
  Told pages;
  pages.facts.pages_forgotten = true;
  EXPECT_EQ(pages.bases_text('A'), "forgotten");
}

TEST(BasesUnknown, ThatStatesAreForgottenSaysNothingOfReads) {
  Told told;
  told.limits.entries_max = 2;
  for (const char* etag : {"1", "2", "3", "4"}) told.write('B', etag);
  EXPECT_EQ(told.bases_text('A'), "unconditional");
}

// After a restart several actors may hold what was read before.
TEST(BasesUnknown, WhatAnEarlierProcessShowedStaysPossibleForAWhile) {
  Told told;
  told.accept('B', "before");
  told.facts.former = told.tick().order;
  told.facts.known_from = told.now();
  told.show('A', "1");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 1");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 1 gone");
  told.pass(told.limits.think_max + seconds(1));
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 1");
}

TEST(BasesUnknown, ThatIsToldOnceAndNeverToACommandThatHasRead) {
  Told told;
  told.accept('B', "before");
  told.facts.former = told.tick().order;
  told.facts.known_from = told.now();
  told.show('A', "1", {.id = "call"});
  told.facts.request_id = "call";
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "request-id 1");
  told.facts.request_id = "another";
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 1 gone");
  Told written = told;
  told.refuse('A');
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 1");
  written.write('A', "2");
  EXPECT_EQ(written.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
}

TEST(BasesUnknown, ItsOwnWritesOfThenUndoNothing) {
  Told told;
  told.accept('A', "before");
  told.facts.former = told.tick().order;
  told.facts.known_from = told.now();
  told.show('A', "1");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 1");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 1 gone");
}

TEST(BasesText, EachKindHasItsWord) {
  for (const Actors actors : {Actors::Single, Actors::Unknown, Actors::Many}) EXPECT_EQ(parse_actors(to_text(actors)), actors);
  EXPECT_EQ(parse_actors("several"), std::nullopt);
}

}  // namespace
}  // namespace armgate::policy
