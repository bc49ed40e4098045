// Goal: who reads after a refusal gets through, and who never reads may force its write; nobody else does (law L3; docs/design.md,
// "Unconditional writes and lagging reads"). Method: a history, and what it says of the right of the next write.
#include <gtest/gtest.h>

#include "proxy/policy/right.h"
#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

// ---- the right of who has read again ---------------------------------------------------------------------------------------------

TEST(Right, IsGivenByAReadAfterADelivered412) {
  Told told;
  told.show('A', "1");
  EXPECT_FALSE(told.right('A').may_send);
  told.refuse('A');
  EXPECT_FALSE(told.right('A').may_send) << "it has not read since";
  told.show('A', "2");
  const Right right = told.right('A');
  EXPECT_TRUE(right.may_send);
  EXPECT_EQ(right.last_read.etag, "2");
  ASSERT_EQ(right.superseded.size(), 1u);
  EXPECT_TRUE(told.right('A', Actors::Single).superseded.empty());
  EXPECT_FALSE(told.right('A', Actors::Many).may_send);
}

TEST(Right, AnsweringAgainByTheSameStateGivesItToo) {
  Told told;
  told.show('A', "1");
  told.refuse('A');
  told.show('A', "1");
  EXPECT_TRUE(told.right('A').may_send);
}

TEST(Right, ButNotToAWriteThatWasOnItsWayBeforeThatRead) {
  Told told;
  told.show('A', "1");
  told.refuse('A');
  told.facts.arrived = told.tick();
  told.show('A', "1");  // of another actor, while the write waits
  EXPECT_FALSE(told.right('A').may_send);
}

TEST(Right, ARefusalThatWasLostGivesNone) {
  Told told;
  told.show('A', "1");
  told.lose('A', told.refuse('A'));
  told.show('A', "2");
  EXPECT_FALSE(told.right('A').may_send);
}

TEST(Right, IsOverForOneActorThatHasWrittenSince) {
  Told told;
  told.show('A', "1");
  told.refuse('A');
  told.show('A', "1");
  EXPECT_TRUE(told.right('A', Actors::Single).may_send);
  told.write('A', "2");
  told.write('B', "3");
  told.show('A', "3");
  EXPECT_FALSE(told.right('A', Actors::Single).may_send) << "it got through";
  EXPECT_TRUE(told.right('A').may_send) << "another of its actors did, perhaps";
}

// Exported files keep the ETag of what they were made of.
TEST(Right, OfAFileIsGivenByTheRefusalOfThatFile) {
  Told told;
  told.show('A', "1");
  told.refuse('A', "file");
  told.show('A', "2");
  told.facts.body_etag = "1";
  EXPECT_FALSE(told.right('A').may_send) << "another one";
  told.facts.request_hash = Told::hash("file");
  EXPECT_TRUE(told.right('A').may_send);
}

TEST(Right, AReadThatLagsIsHeldAgainstWhatIsNewer) {
  Told told;
  told.show('A', "1");
  told.write('B', "2");
  told.refuse('A');
  told.show('A', "1");
  const Right right = told.right('A');
  EXPECT_EQ(right.last_read.etag, "1");
  ASSERT_EQ(right.newer.size(), 1u) << "what is there cannot be both";
  EXPECT_EQ(right.newer[0].etag, "2");
}

TEST(Right, WhatOthersMayHaveWrittenSinceTheReadIsToldOf) {
  for (const Cause cause : {Cause::ChildWritten, Cause::Written}) {
    Told told;
    told.show('A', "1");
    told.refuse('A');
    told.show('A', "2");
    EXPECT_FALSE(told.right('A').written_since);
    WriteAccepted write;
    write.cause = cause;
    write.certain = false;
    write.at = told.tick();
    told.history.apply(told.limits, write);
    EXPECT_TRUE(told.right('A').written_since);
    EXPECT_TRUE(told.right('A').newer.empty()) << "what may have had no effect proves nothing against the read";
  }
}

TEST(Right, AReadThatWasLostGivesNone) {
  Told told;
  told.show('A', "1");
  told.refuse('A');
  told.lose('A', told.show('A', "2"));
  EXPECT_FALSE(told.right('A').may_send);
}

TEST(Right, AReadThatWasAskedForBefore412DoesNotCount) {
  Told told;
  const uint64_t asked = told.tick().order;
  told.refuse('A');
  told.show('A', "1", {.asked = asked});
  EXPECT_FALSE(told.right('A').may_send);
}

TEST(Right, IsUsedOnce) {
  Told told;
  told.show('A', "1");
  told.refuse('A');
  told.show('A', "2");
  told.apply(RightUsed{Told::key('A')});
  EXPECT_FALSE(told.right('A').may_send);
}

// What a file that names its ETag was refused before is no right of another file.
TEST(Right, OfAFileIsUsedByThatFile) {
  Told told;
  told.show('A', "1");
  told.facts.body_etag = "1";
  told.refuse('A', "a");
  told.refuse('A', "b");
  told.show('A', "2");
  told.facts.request_hash = Told::hash("b");
  EXPECT_TRUE(told.right('A').may_send);
  told.apply(RightUsed{Told::key('A')});
  told.accept('A', "b");
  told.show('A', "3");
  EXPECT_FALSE(told.right('A').may_send) << "days later, say";
  told.facts.request_hash = Told::hash("a");
  EXPECT_TRUE(told.right('A').may_send) << "its own";
}

TEST(Right, OneThatCannotGiveItIsNotTakenForTheOneThatDid) {
  Told told;
  told.show('A', "1");
  told.lose('A', told.refuse('A'));
  told.refuse('A');
  told.show('A', "2");
  told.apply(RightUsed{Told::key('A')});
  EXPECT_FALSE(told.right('A').may_send);
}

TEST(Right, EndsWithADeletion) {
  Told told;
  told.show('A', "1");
  told.refuse('A');
  told.remove('B');
  told.show('A', "2");
  told.apply(RightUsed{Told::key('A')});
  EXPECT_FALSE(told.right('A').may_send);
  told.refuse('A');
  told.show('A', "2");
  EXPECT_TRUE(told.right('A').may_send);
}

TEST(Right, NamesWhatBecameKnownAfterTheRead) {
  Told told;
  told.show('A', "1");
  told.refuse('A');
  told.show('A', "2");
  told.show('B', "3");
  told.accept('B', "4");
  EXPECT_EQ(told.right('A').newer.size(), 2u);
}

// Where there are no ETags, bodies of different versions cannot be told to be one state.
TEST(Right, WhatWasSeenAtAnotherVersionBeforeTheReadIsNotNewer) {
  Told told;
  told.show('A', "", whole("1"));
  told.show('B', "", whole("one"), {.api_version = "v2"});
  told.refuse('A');
  told.show('A', "", whole("1"));
  EXPECT_TRUE(told.right('A').may_send);
  EXPECT_EQ(told.right('A').newer.size(), 0u);
  told.show('B', "", whole("two"), {.api_version = "v2"});
  EXPECT_EQ(told.right('A').newer.size(), 1u);
}

TEST(Right, KnowsTheChangeThatWasRefusedAfterAReadAlready) {
  Told told;
  told.show('A', "1");
  told.refuse('A');
  told.show('A', "2");
  Refusal refusal;
  refusal.arrived = told.tick().order;
  refusal.told = told.tick().order;
  refusal.requested_body = whole("{\"a\":2}");
  refusal.found = whole("{\"a\":1}");
  told.apply(Refused{Told::key('A'), refusal});
  told.show('A', "2");
  EXPECT_EQ(told.right('A').same_change.size(), 1u);
  told.lose('A', refusal.told);
  EXPECT_EQ(told.right('A').same_change.size(), 0u) << "its client was not told";
}

TEST(Right, AReadAtAnotherVersionTellsNothingOfWhoHasReadAtItsOwn) {
  Told told;
  told.facts.api_version = "2022-11-01";
  told.show('A', "1", {.api_version = "2022-11-01"});
  told.refuse('A', "w");
  told.show('A', "2", {.api_version = "2024-07-01"});  // perhaps another actor behind the same name
  EXPECT_FALSE(told.right('A').may_send);
  EXPECT_TRUE(told.right('A', Actors::Single).may_send) << "one alone knows what it reads";
  told.refuse('A', "x");
  EXPECT_FALSE(told.right('A').may_send) << "it has not read since";
  told.show('A', "2", {.api_version = "2024-07-01"});
  EXPECT_TRUE(told.right('A').may_send) << "refused twice, it reads there and nowhere else";
  told.show('A', "2", {.api_version = "2022-11-01"});
  EXPECT_TRUE(told.right('A').may_send);
}

// What names its base is not built on what was read after it.
TEST(Right, OfACommandIsGivenByItsOwnReadsOnly) {
  Told told;
  told.show('A', "1", {.id = "c"});
  told.refuse('A');
  told.show('A', "2", {.id = "another"});
  told.facts.request_id = "c";
  EXPECT_FALSE(told.right('A').may_send);
  told.show('A', "2", {.id = "c"});
  EXPECT_TRUE(told.right('A').may_send);
}

// ---- who does not read and means it ----------------------------------------------------------------------------------------------

TEST(BasesForced, TheSameBytesAfterADelivered412AreMeant) {
  Told told;
  told.write('B', "1");
  const uint64_t refused = told.refuse('A', "file");
  const auto forced = [&](const char* bytes) {
    told.facts.request_hash = Told::hash(bytes);
    return is_forced(told.history, told.limits, told.write_of('A', Actors::Unknown));
  };
  EXPECT_TRUE(forced("file"));
  EXPECT_FALSE(forced("other"));
  told.write('B', "2");
  EXPECT_FALSE(forced("file")) << "something was written since";
  told.refuse('A', "file");
  EXPECT_TRUE(forced("file"));
  told.show('A', "2");
  EXPECT_FALSE(forced("file")) << "it reads";
  EXPECT_GT(refused, 0u);
}

TEST(BasesForced, ALost412IsNone) {
  Told told;
  told.lose('A', told.refuse('A', "file"));
  told.facts.request_hash = Told::hash("file");
  EXPECT_FALSE(is_forced(told.history, told.limits, told.write_of('A', Actors::Unknown)));
}

// ---- reads that are of no use ---------------------------------------------------------------------------------------------------

TEST(ReadsInVain, TwoRefusalsEachAfterAReadAndOneReadMoreAndNobodyWrote) {
  Told told;
  const auto in_vain = [&](Actors actors) {
    return refused_in_vain(told.history, told.write_of('A', actors), BaseRule::Newest).has_value();
  };
  told.show('A', "1");
  told.refuse('A');
  told.show('A', "2");
  EXPECT_FALSE(in_vain(Actors::Unknown)) << "refused once";
  told.refuse('A');
  EXPECT_FALSE(in_vain(Actors::Unknown)) << "not read again";
  told.show('A', "3");
  EXPECT_TRUE(in_vain(Actors::Unknown));
  EXPECT_TRUE(in_vain(Actors::Single));
  EXPECT_FALSE(in_vain(Actors::Many));
  EXPECT_FALSE(refused_in_vain(told.history, told.write_of('B', Actors::Unknown), BaseRule::Newest));
  told.write('B', "4");
  EXPECT_FALSE(in_vain(Actors::Unknown)) << "what moved may be another's write";
}

TEST(ReadsInVain, NotWithoutAReadBetweenTheRefusalsNorIfOneWasLost) {
  Told unconditional;
  unconditional.show('A', "1");
  unconditional.refuse('A');
  unconditional.refuse('A');
  unconditional.show('A', "2");
  EXPECT_FALSE(refused_in_vain(unconditional.history, unconditional.write_of('A', Actors::Unknown), BaseRule::Newest));
  Told lost;
  lost.show('A', "1");
  lost.refuse('A');
  lost.show('A', "2");
  lost.lose('A', lost.refuse('A'));
  lost.show('A', "3");
  EXPECT_FALSE(refused_in_vain(lost.history, lost.write_of('A', Actors::Unknown), BaseRule::Newest));
}

// ---- own writes --------------------------------------------------------------------------------------------------------------------

// The object keeps the ETag of what was read. Of whom it is tells that it was shown once.
TEST(OwnWrites, AnObjectThatWasShownOnceIsInOneHand) {
  const auto etag_of_1 = [](Told& told, const char* bytes) {
    told.accept('A', bytes);
    told.end(bytes);
    told.answer('A', bytes, bytes, whole("{}"));
  };
  const char* const kWrite = R"({"etag":"1","n":1})";
  Told told;
  told.show('A', "1");
  etag_of_1(told, kWrite);
  told.facts.body_etag = "1";
  EXPECT_EQ(told.bases_text('A'), std::string("newest ") + kWrite);
  EXPECT_EQ(told.bases_text('A', Actors::Many), "body-etag 1");

  Told twice;
  twice.show('A', "1");
  twice.show('A', "1");
  etag_of_1(twice, kWrite);
  twice.facts.body_etag = "1";
  EXPECT_EQ(twice.bases_text('A'), std::string("any-shown ") + kWrite + " 1") << "perhaps to two";

  Told blind;
  blind.show('A', "1");
  etag_of_1(blind, R"({"n":1})");
  blind.facts.body_etag = "1";
  EXPECT_EQ(blind.bases_text('A'), R"(any-shown {"n":1} 1)") << "of an actor that had not read it, perhaps";
}

TEST(OwnWrites, WhoRepeatsWhatWasRefusedAsStaleAndHasReadNothingNewerGoesOnFromItsOwn) {
  Told told;
  told.show('A', "1");
  told.write('A', "2");
  EXPECT_EQ(told.bases_text('A'), "newest 2 | 2 1");
  told.refuse('A', "again");
  EXPECT_EQ(told.bases_text('A'), "newest 2 | 2 1") << "another write";
  told.facts.request_hash = Told::hash("again");
  EXPECT_EQ(told.bases_text('A'), "newest 2");
  Told read = told;
  read.show('A', "2");
  EXPECT_EQ(read.bases_text('A'), "newest 2 | 2 1") << "one of several may have read, and another repeats";
  told.write('B', "3");
  EXPECT_EQ(told.bases_text('A'), "newest 2 | 2 1");
}

// ---- what was never shown anything ------------------------------------------------------------------------------------------------

TEST(Overtaken, ALoneClientIsNotByTheEndOfWhatItHadBegunBefore) {
  Told told;
  told.accept('A', "first");
  told.answer('A', "first", "", partial("{}"));
  WriteFacts next = told.facts;
  next.client = Told::key('A');
  next.arrived = told.tick();
  told.end("first");  // noticed only now
  for (const Actors actors : {Actors::Single, Actors::Unknown}) {
    next.actors = actors;
    EXPECT_FALSE(was_overtaken(told.history, next)) << to_text(actors);
  }
  next.actors = Actors::Many;
  EXPECT_TRUE(was_overtaken(told.history, next)) << "it may be another of them";
  next.actors = Actors::Unknown;
  next.client = Told::key('B');
  EXPECT_TRUE(was_overtaken(told.history, next));
}

TEST(Overtaken, ButByWhatOneOfItsNameBeganMeanwhile) {
  Told told;
  WriteFacts next = told.facts;
  next.client = Told::key('A');
  next.arrived = told.tick();
  told.accept('A', "first");
  EXPECT_TRUE(was_overtaken(told.history, next));
}

}  // namespace
}  // namespace armgate::policy
