// What of all that a client was shown it may still have in hand when its write comes: until when, what may not have arrived, and what
// was shown at other api-versions.
#include "proxy/policy/shown_entries.h"

#include <gtest/gtest.h>

#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

// ---- until when ------------------------------------------------------------------------------------------------------------------

TEST(SeenAge, AnOlderStateIsOverThinkMaxAfterANewerOneWasShown) {
  Told told;
  told.show('A', "1");
  told.show('A', "2");
  told.pass(told.limits.think_max + seconds(1));
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 2");
}

TEST(SeenAge, WhoeverPollsTheNewerOneDoesNotKeepTheOlderAlive) {
  Told told;
  told.show('A', "1");
  for (int polls = 0; polls < 20; ++polls) {
    told.show('A', "2");
    told.pass(minutes(1));
  }
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 2");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2");
}

TEST(SeenAge, AShowingThatWasLostSupersedesNothing) {
  Told told;
  told.show('A', "1");
  told.lose('A', told.show('A', "2"));
  told.pass(told.limits.think_max + seconds(1));
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2 1");
}

TEST(SeenAge, WhatAClientHasReadStaysItsBaseHoweverOld) {
  Told told;
  told.show('A', "1");
  told.pass(told.limits.observation_age + seconds(1));
  EXPECT_EQ(told.bases_text('A'), "newest 1");
}

TEST(SeenAge, ItsOwnAnswersAloneDoNot) {
  Told told;
  told.write('A', "1");
  EXPECT_EQ(told.bases_text('A'), "newest 1");
  told.pass(told.limits.observation_age + seconds(1));
  EXPECT_EQ(told.bases_text('A'), "unconditional");
  told.facts.known_from = told.now() - hours(1);
  EXPECT_EQ(told.bases_text('A'), "forgotten");
}

TEST(SeenAge, AnOlderStateThatWasShownAgainIsPossibleAgain) {
  Told told;
  told.show('A', "1");
  const uint64_t asked = told.tick().order;
  told.show('A', "2");
  told.pass(told.limits.think_max + seconds(1));
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 2");
  told.show('A', "1", {.asked = asked});
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 2 1") << "an item of a page that was asked for long ago";
}

// ---- what may not have arrived ---------------------------------------------------------------------------------------------------

TEST(SeenPending, ALostAnswerIsPossibleBesideTheNewest) {
  Told told;
  told.show('A', "1");
  told.lose('A', told.show('A', "2"));
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2 1");
}

TEST(SeenPending, OnceSomethingNewerWasShownItIsNot) {
  Told told;
  told.show('A', "1");
  told.lose('A', told.show('A', "2"));
  told.show('A', "3");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 3");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 3 | 3 2 1");
}

TEST(SeenPending, IfNothingElseWasShownItIsTheOne) {
  Told told;
  told.lose('A', told.show('A', "1"));
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 1");
}

TEST(SeenPending, AReadThatLagsIsOneMoreAndSupersedesNothing) {
  Told told;
  told.show('A', "1");
  told.write('A', "2");
  told.show('A', "1");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2 1");
}

// ---- api-versions ----------------------------------------------------------------------------------------------------------------

TEST(SeenVersions, WhoWritesAtOneHasReadAtIt) {
  Told told;
  told.show('A', "1");
  told.show('A', "2", {.api_version = "v2"});
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 1");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 1");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2") << "there is but one, whatever it reads at";
}

TEST(SeenVersions, WhatItReadThereBeforeADeletionIsInNobodysHands) {
  Told told;
  told.show('A', "1");
  told.remove('A');
  told.show('A', "2", {.api_version = "v2"});
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2");
}

TEST(SeenVersions, WhoOnlyWritesAtOneReadsAtAnother) {
  Told told;
  told.write('A', "1");
  told.write('B', "2");
  told.show('A', "2", {.api_version = "v2"});
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
  told.show('A', "2");
  told.show('A', "3", {.api_version = "v2"});
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 1") << "now it has read there";
}

TEST(SeenVersions, WhatIsKnownAtAnotherAloneCannotTellWhetherAWriteIsStale) {
  Told lone;
  lone.write('A', "1");
  lone.show('A', "2", {.api_version = "v2"});  // the service moved it
  EXPECT_EQ(lone.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
  Told told;
  told.write('A', "1");
  told.accept('B', "b");
  told.show('A', "2", {.api_version = "v2"});
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "any-shown 2 1") << "it may go on from its own answer";
}

TEST(SeenVersions, OlderOnesAtOthersStay) {
  Told told;
  told.show('A', "1", {.api_version = "v2"});
  told.show('A', "2");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
}

// Its number says only that it is not older than that; it may be what a namesake's write has made, and would vouch for a stale one.
TEST(SeenVersions, OneOfWhichItIsNotKnownWhetherItIsOlderDoesNot) {
  Told told;
  const uint64_t asked = told.tick().order;
  told.show('A', "1");
  told.accept('B', "write");
  told.show('A', "2", {.api_version = "v2", .asked = asked});
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 1");
}

TEST(SeenVersions, WithoutAnyAtItsOwnTheOthersCount) {
  Told told;
  told.show('A', "1", {.api_version = "v2"});
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 1");
}

TEST(SeenVersions, TheBodyIsThatOfTheWritesVersionIfThereIsOne) {
  Told told;
  told.show('A', "1", whole("{\"at\":2}"), {.api_version = "v2"});
  told.show('B', "1", whole("{\"at\":1}"));
  const Bases bases = told.bases('A', Actors::Single);
  EXPECT_EQ(bases.possible[0].api_version, "v1");
  EXPECT_EQ(bases.possible[0].body->bytes, "{\"at\":1}");
}

// ---- what ARM has taken back -----------------------------------------------------------------------------------------------------

// A reads "1", its write is answered with "2", and its operation fails.
void fail_a_write(Told& told) {
  told.show('A', "1");
  told.accept('A', "write");
  told.answer('A', "write", "2", whole("{\"is\":\"2\"}"));
  told.show('A', "2 runs");
  told.end("write", false);
}

TEST(SeenTakenBack, WhatAFailedOperationLeftIsReadAndTheWriteMadeAnew) {
  Told told;
  fail_a_write(told);
  told.show('A', "3");
  EXPECT_EQ(told.bases_text('A'), "newest 3 | 3 1");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 3 2 runs 2 1") << "one of them may not know";
}

TEST(SeenTakenBack, AgainAndAgain) {
  Told told;
  fail_a_write(told);
  told.show('A', "3");
  told.accept('A', "again");
  told.answer('A', "again", "4", whole("{\"is\":\"4\"}"));
  told.end("again", false);
  told.show('A', "5");
  EXPECT_EQ(told.bases_text('A'), "newest 5 | 5 3 1");
}

TEST(SeenTakenBack, NotBeforeItsClientHasReadSince) {
  Told told;
  fail_a_write(told);
  EXPECT_EQ(told.bases_text('A'), "newest 2 runs | 2 runs 2 1");
  told.lose('A', told.show('A', "3"));
  EXPECT_EQ(told.bases_text('A'), "newest 3 2 runs | 3 2 runs 2 1");
}

// The read has shown what came of both.
TEST(SeenTakenBack, AlsoIfSomebodyHasWrittenSince) {
  for (const char writer : {'A', 'B'}) {
    Told told;
    fail_a_write(told);
    told.write(writer, "3");
    if (writer == 'B') {
      EXPECT_EQ(told.bases_text('A'), "newest 2 runs | 2 runs 2 1") << "it has not read since";
    }
    told.show('A', "3");
    EXPECT_EQ(told.bases_text('A'), "newest 3 | 3 1") << writer;
  }
}

TEST(SeenTakenBack, NotIfNobodyKnowsHowTheOperationEnded) {
  Told told;
  told.show('A', "1");
  told.accept('A', "write");
  told.answer('A', "write", "2", whole("{\"is\":\"2\"}"));
  told.apply(OperationEnded{Told::hash("write"), told.tick(), false, false});
  told.show('A', "3");
  EXPECT_EQ(told.bases_text('A'), "newest 3 | 3 2 1");
}

// ---- what is forgotten -------------------------------------------------------------------------------------------------------------

// SDKs give each request an id of its own, so that no two reads are told as one.
TEST(SeenForgotten, HoweverOftenTheNewestIsReadTheOlderOneStaysPossible) {
  Told told;
  told.show('A', "1", {.id = "first"});
  for (int read = 0; read < 200; ++read) told.show('A', "2", {.id = std::to_string(read)});
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 2 1");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 | 2 1");
  EXPECT_LE(told.client('A').shown.size(), told.limits.observations_max);
}

TEST(SeenForgotten, OneOfManyActorsMayBuildOnWhatIsNotKnownAnyMore) {
  Told told;
  told.limits.observations_max = 2;
  for (const char* etag : {"1", "2", "3"}) told.show('A', etag);
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 3 2 gone");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 3");
  told.pass(told.limits.think_max + seconds(1));
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 3");
}

// A has read "1", and then B wrote more states than are kept.
struct ReadLongAgo : Told {
  ReadLongAgo() {
    limits.entries_max = 2;
    show('A', "1");
    for (const char* etag : {"2", "3", "4"}) write('B', etag);
  }
};

TEST(SeenForgotten, WhatAClientHasReadIsNoFreePassWhenSoManyStatesCameAfterIt) {
  for (const Actors actors : {Actors::Single, Actors::Unknown, Actors::Many}) {
    ReadLongAgo told;
    told.pass(told.limits.observation_age);
    EXPECT_EQ(told.bases_text('A', actors), "newest gone");
    told.show('A', "4");
    EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 4");
  }
}

TEST(SeenForgotten, NorIsItsOwnLastAnswer) {
  Told told;
  told.limits.entries_max = 2;
  told.facts.known_from = told.now() - hours(24);
  told.write('A', "1");
  for (const char* etag : {"2", "3", "4"}) told.write('B', etag);
  EXPECT_EQ(told.bases_text('A'), "forgotten");
}

// ---- one actor ---------------------------------------------------------------------------------------------------------------------

TEST(SeenBySingle, WhatItAskedForIsItsBaseAlsoIfTheAnswerWasLost) {
  Told told;
  told.show('A', "1");
  told.write('A', "2");
  told.lose('A', told.client('A').shown.back().last_shown.order);
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2");
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "newest 2 1");
  told.write('B', "3");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2 1") << "somebody else's change is not its own";
}

void expect_either(Told& told, const std::string& bases) {
  const Bases found = told.bases('A', Actors::Single);
  EXPECT_EQ(found.either_of, found.possible.size()) << bases;
  EXPECT_EQ(told.bases_text('A', Actors::Single), bases);
}

TEST(SeenBySingle, AfterAFailureItGoesOnFromWhateverIsThere) {
  Told told;
  told.show('A', "1");
  told.fail('A', "w", "2");
  expect_either(told, "newest 2 1");  // ARM may have kept it
  told.pass(told.limits.think_max + seconds(1));
  expect_either(told, "newest 2 1");
  told.fail('A', "v", "3");
  expect_either(told, "newest 3 2 1");  // and either of them
  told.show('A', "4");
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 4") << "it has read what came of it";
  EXPECT_EQ(told.bases('A', Actors::Single).either_of, 0u);
}

TEST(SeenBySingle, WhatItHasDeletedSinceItsFailureIsNoneOfThem) {
  Told told;
  told.show('A', "1");
  told.fail('A', "w", "2");
  told.facts.deleted = told.tick().order;  // with its group
  told.facts.deleted_by = Told::key('A');
  const Bases found = told.bases('A', Actors::Single);
  EXPECT_EQ(told.bases_text('A', Actors::Single), "create -");
  EXPECT_EQ(found.either_of, 0u) << "there is one alone";
}

TEST(SeenBySingle, ACreateThatFailedMayBeThere) {
  Told told;
  told.show_absent('A');
  told.fail('A', "w", "1");
  expect_either(told, "newest 1 -");
  Told blind;
  blind.fail('A', "w", "1");
  expect_either(blind, "newest 1 -");
}

TEST(SeenBySingle, WhatItReadAfterTheFailureIsItsBaseAlsoIfThatIsWhatItAskedFor) {
  Told told;
  told.show('A', "1");
  told.fail('A', "w", "2");
  told.show('A', "2", whole("{}"));
  EXPECT_EQ(told.bases_text('A', Actors::Single), "newest 2");
  EXPECT_EQ(told.bases('A', Actors::Single).either_of, 0u);
}

TEST(SeenBySingle, ItsActionsAndChildrenAreNoStatesThatItAskedFor) {
  for (const Cause cause : {Cause::Acted, Cause::ChildWritten}) {
    const auto touch = [&](Told& told) {
      told.apply(WriteAccepted{cause, Told::key('A'), Told::hash("t"), Told::hash("t"), nullptr, told.tick(), true});
    };
    Told alone;
    alone.show('A', "1");
    touch(alone);
    EXPECT_EQ(alone.bases_text('A', Actors::Single), "newest 1");
    Told after;
    after.write('B', "1");
    after.show('A', "2");
    touch(after);
    EXPECT_EQ(after.bases_text('A', Actors::Single), "newest 2") << "what another asked for before is not its own";
  }
}

// ---- what is shown again and again -------------------------------------------------------------------------------------------------

TEST(SeenOften, AWriteThatWaitsKeepsTheReadThatItIsBuiltOn) {
  Told told;
  told.facts.known_from = told.now() - hours(24);
  told.show('A', "1", {ShownAs::PointRead, "r"});
  told.facts.arrived = told.tick();
  for (int i = 0; i < 200; ++i) told.show('A', "1", {ShownAs::PointRead, std::to_string(i)});
  EXPECT_EQ(told.bases_text('A'), "newest 1");
  told.lose('A', told.client('A').shown.back().last_shown.order);
  EXPECT_EQ(told.bases_text('A'), "newest 1");
}

TEST(SeenOften, AReadThatIsForgottenKeepsAFileOffForAsLongAsObservationsCount) {
  ReadLongAgo told;
  told.facts.known_from = told.now() - hours(48);
  EXPECT_EQ(told.bases_text('A'), "newest gone");
  told.pass(told.limits.observation_age + seconds(1));
  EXPECT_EQ(told.bases_text('A'), "forgotten") << "refused once at most";
  told.refuse('A', "file");
  told.facts.request_hash = Told::hash("file");
  EXPECT_TRUE(is_forced(told.history, told.limits, told.write_of('A', Actors::Unknown)));
}

}  // namespace
}  // namespace armgate::policy
