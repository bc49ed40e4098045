// Goal: the history holds the states in the order in which they were, whatever order they became known in. Method: events, and the
// entries that they leave.
#include "proxy/policy/history.h"

#include <gtest/gtest.h>

#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

constexpr auto kNobodys = [](const Entry&) { return false; };

// ---- what was seen ---------------------------------------------------------------------------------------------------------------

TEST(HistoryEntries, OneStateShownToManyIsOneEntry) {
  Told told;
  told.show('A', "1");
  told.show('B', "1");
  told.show('A', "2");
  told.show('A', "2");
  EXPECT_EQ(told.entries_text(), "1 2");
  EXPECT_EQ(told.client('A').shown.size(), 2u);
  EXPECT_EQ(told.entry_shown_to('B'), 0u);
}

TEST(HistoryEntries, EqualETagsWithOtherContentAreTwo) {
  Told told;  // a cluster keeps its ETag while its pools change
  told.show('A', "1", whole("{\"pools\":1}"));
  told.show('A', "1", whole("{\"pools\":2}"));
  EXPECT_EQ(told.entries_text(), "1 1");
}

TEST(HistoryEntries, WithoutETagsTheBytesTell) {
  Told told;
  told.show('A', "", whole("{\"a\":1}"));
  told.show('B', "", whole("{\"a\":1}"));
  told.show('B', "", whole("{\"a\":2}"));
  EXPECT_EQ(told.history.entries().size(), 2u);
}

TEST(HistoryEntries, WhatIsShownAtTwoVersionsIsOneIfItsETagIs) {
  Told told;
  told.show('A', "1", whole("{\"a\":1}"));
  told.show('A', "1", whole("{\"b\":1}"), {.api_version = "v2"});
  ASSERT_EQ(told.entries_text(), "1");
  EXPECT_EQ(told.history.entries()[0].rendered_at("v2")->body->bytes, "{\"b\":1}");
}

TEST(HistoryEntries, TwoVersionsWithoutETagsDoNotMakeEachOtherComeBack) {
  Told told;
  for (int i = 0; i < 3; ++i) {
    told.show('A', "", whole("{\"a\":1}"));
    told.show('B', "", whole("{\"b\":1}"), {.api_version = "v2"});
  }
  EXPECT_EQ(told.history.entries().size(), 2u);
}

TEST(HistoryEntries, WhatComesBackIsNew) {
  Told told;  // content went there and back, around the gateway
  told.show('A', "", whole("{\"a\":1}"));
  told.show('A', "", whole("{\"a\":2}"));
  told.show('A', "", whole("{\"a\":1}"));
  EXPECT_EQ(told.entry_shown_to('A'), 2u);
  told.show('B', "", whole("{\"a\":1}"));
  EXPECT_EQ(told.entry_shown_to('B'), 2u);
  EXPECT_EQ(told.history.entries().size(), 3u);
}

TEST(HistoryEntries, WhatWasMadeAnewIsNew) {
  Told told;
  told.show('A', "", whole("{\"a\":1}"));
  told.show_absent('B');
  told.show('A', "", whole("{\"a\":1}"));
  told.show_absent('A');
  EXPECT_EQ(told.history.entries().size(), 4u);
  EXPECT_EQ(told.entry_shown_to('A'), 3u);
}

TEST(HistoryEntries, ContentThatAWriteBroughtBackIsNew) {
  Told told;
  told.show('A', "hash");  // some types make the ETag of the content
  told.write('B', "other");
  told.pass(minutes(2));
  told.show('A', "hash");
  EXPECT_EQ(told.entries_text(), "hash other hash");
}

TEST(HistoryEntries, AReadThatWasUnderWayStandsBeforeTheWrite) {
  Told told;
  told.show('A', "1");
  const uint64_t asked = told.tick().order;
  told.write('B', "3");
  told.show('C', "2", {.asked = asked});  // around, just before
  EXPECT_EQ(told.entries_text(), "1 2 3");
  EXPECT_TRUE(told.client('C').shown.back().lagging);
}

TEST(HistoryEntries, AListsItemFillsInNothingAndTheReadAfterItDoes) {
  Told told;
  told.show('A', "1", partial("{\"name\":\"r\"}"), {.as = ShownAs::ListItem});
  EXPECT_TRUE(told.history.entries()[0].rendered_at("v1")->body->is_partial);
  told.show('A', "1", whole("{\"name\":\"r\",\"a\":1}"));
  ASSERT_EQ(told.entries_text(), "1");
  EXPECT_FALSE(told.history.entries()[0].rendered_at("v1")->body->is_partial);
  told.show('A', "1", partial("{\"name\":\"r\"}"), {.as = ShownAs::ListItem});
  EXPECT_FALSE(told.history.entries()[0].rendered_at("v1")->body->is_partial);
}

// Pages are looked through when a write comes, which is later than they were shown.
TEST(HistoryEntries, AnItemOfAnOldPageStandsWhereItWasShown) {
  Told told;
  told.show('A', "1");
  const uint64_t asked = told.tick().order;
  const uint64_t at = told.tick().order;
  told.write('B', "3");
  told.show('A', "3");
  told.show('A', "2", partial("{}"), {.as = ShownAs::ListItem, .asked = asked, .at = at});
  EXPECT_EQ(told.entries_text(), "1 2 3");
  const auto& shown = told.client('A').shown;
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[1].as, ShownAs::ListItem);
  EXPECT_FALSE(shown[1].lagging);
}

TEST(HistoryEntries, AnItemOfAnOldPageIsNotWhatCameBackLater) {
  Told told;
  const uint64_t asked = told.tick().order;
  const uint64_t at = told.tick().order;
  told.write('B', "other");
  told.write('B', "hash");
  told.show('A', "hash", whole("{\"is\":\"hash\"}"), {.as = ShownAs::ListItem, .asked = asked, .at = at});
  EXPECT_EQ(told.entries_text(), "hash other hash");
  EXPECT_EQ(told.entry_shown_to('A'), 0u);
}

// ---- writes ----------------------------------------------------------------------------------------------------------------------

TEST(HistoryWrites, AnAnswerSaysWhatTheWriteMade) {
  Told told;
  told.show('A', "1");
  told.write('A', "2");
  told.show('B', "2");
  EXPECT_EQ(told.entries_text(), "1 2");
  EXPECT_EQ(told.entry_shown_to('B'), 1u);
  EXPECT_EQ(told.history.entries()[1].writer, Told::key('A'));
}

TEST(HistoryWrites, AnAnswerThatIsGivenAgainShowsItsOwnWrite) {
  Told told;
  const std::string bytes = "counts to 6";
  told.accept('A', bytes);
  told.end(bytes);
  told.answer('A', bytes, "", whole("{\"n\":6}"));
  told.accept('B', "to 7");
  told.answer('B', "to 7", "", whole("{\"n\":7}"));
  told.accept('B', "back to 6");
  told.answer('B', "back to 6", "", whole("{\"n\":6}"));
  told.answer('A', bytes, "", whole("{\"n\":6}"));
  EXPECT_EQ(told.entry_shown_to('A'), 0u);
}

TEST(HistoryWrites, AreOthersUntilTheirEnd) {
  Told told;
  const uint64_t before = told.tick().order;
  told.accept('A', "w");
  EXPECT_TRUE(told.history.written_since(before, kNobodys));
  EXPECT_FALSE(told.history.written_since(before, [](const Entry& e) { return e.writer == Told::key('A'); }));
  const uint64_t between = told.tick().order;
  EXPECT_FALSE(told.history.ended_since(between, kNobodys));
  told.end("w");
  EXPECT_TRUE(told.history.ended_since(between, kNobodys));
  EXPECT_FALSE(told.history.written_since(between, kNobodys));
}

TEST(HistoryWrites, AWritesOwnEndIsNoOtherWrite) {
  Told told;
  const uint64_t accepted = told.accept('A', "w");
  told.answer('A', "w", "", partial("{}"));
  told.end("w");
  EXPECT_FALSE(told.history.ended_since(accepted, kNobodys));
}

TEST(HistoryWrites, AnEndOfNobodyKnowsWhatMayBeAnyones) {
  Told told;
  const uint64_t before = told.tick().order;
  told.end("of an earlier process");
  EXPECT_TRUE(told.history.written_since(before, kNobodys));
}

TEST(HistoryWrites, AFailedOperationProvesNothing) {
  Told told;
  told.show('A', "1");
  told.accept('B', "w");
  told.end("w", false);
  told.show('A', "1");
  EXPECT_FALSE(told.client('A').shown.back().lagging);
}

TEST(HistoryWrites, AChildsIsToldApart) {
  Told told;
  const uint64_t before = told.tick().order;
  told.apply(WriteAccepted{Cause::ChildWritten, Told::key('A'), Told::hash("w"), {}, nullptr, told.tick()});
  EXPECT_TRUE(told.history.child_written_since(before));
  EXPECT_TRUE(told.history.written_since(before, kNobodys)) << "the parent's content has changed with it";
  const uint64_t after = told.tick().order;
  told.write('A', "2");
  EXPECT_FALSE(told.history.child_written_since(after));
}

// ---- reads that lack a write -----------------------------------------------------------------------------------------------------

TEST(HistoryLag, AReadThatLacksAnAcceptedWriteIsLagging) {
  Told told;
  told.show('A', "1");
  told.write('B', "2");
  told.show('A', "1");
  EXPECT_TRUE(told.client('A').shown.back().lagging);
  EXPECT_EQ(told.entries_text(), "1 2");
  told.show('A', "2");
  EXPECT_FALSE(told.client('A').shown.back().lagging);
}

TEST(HistoryLag, IsBelievedAMinuteAfterTheOperation) {
  Told told;
  told.show('A', "1");
  told.accept('B', "w");
  told.answer('B', "w", "2", whole("{}"));
  told.pass(hours(1));
  told.show('A', "1");
  EXPECT_TRUE(told.client('A').shown.back().lagging) << "it runs";
  told.end("w");
  told.pass(told.limits.lag_max + seconds(1));
  told.show('A', "1");
  EXPECT_FALSE(told.client('A').shown.back().lagging);
  EXPECT_EQ(told.entries_text(), "1 2 1");
}

TEST(HistoryLag, A404ThatLacksACreateIsNoDeletion) {
  Told told;
  told.show_absent('A');
  told.write('A', "1");
  told.show_absent('B');
  EXPECT_TRUE(told.client('B').shown.back().lagging);
  told.show('A', "1");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "any-shown 1 -");
}

TEST(HistoryLag, AWriteThatMayHaveHadNoEffectIsMissedByNobody) {
  Told told;
  told.show('A', "1");
  told.accept('B', "w", false);
  told.show('A', "1");
  EXPECT_FALSE(told.client('A').shown.back().lagging);
}

// ---- 304, losses -----------------------------------------------------------------------------------------------------------------

TEST(HistoryObservations, NotModifiedShowsTheStateOfItsETag) {
  Told told;
  told.show('A', "1");
  told.show('B', "2");
  const uint64_t asked = told.tick().order;
  told.apply(NotModified{Told::key('C'), "", asked, told.tick(), "2", "v1"});
  EXPECT_EQ(told.entry_shown_to('C'), 1u);
  EXPECT_EQ(told.client('C').shown.back().last_asked, asked);
  told.apply(NotModified{Told::key('D'), "", asked, told.tick(), "never seen", "v1"});
  EXPECT_EQ(told.history.client(Told::key('D')), nullptr);
}

TEST(HistoryObservations, NotModifiedAfterAWriteShowsAStateThatIsBack) {
  Told told;
  told.show('A', "hash");
  told.write('B', "other");
  told.write('B', "third");
  told.pass(minutes(2));
  const uint64_t asked = told.tick().order;
  told.apply(NotModified{Told::key('A'), "", asked, told.tick(), "hash", "v1"});
  EXPECT_EQ(told.entry_shown_to('A'), 3u);
  EXPECT_EQ(told.history.entries()[3].rendered_at("v1")->body->bytes, "{\"is\":\"hash\"}");
}

TEST(HistoryObservations, OneThatWasLostStaysOneOfItsOwn) {
  Told told;
  told.lose('A', told.show('A', "1"));
  EXPECT_TRUE(told.client('A').shown[0].lost);
  told.show('A', "1");
  ASSERT_EQ(told.client('A').shown.size(), 2u);
  EXPECT_FALSE(told.client('A').shown[1].lost);
}

TEST(HistoryObservations, ALostRepetitionTakesNothingBack) {
  Told told;
  told.show('A', "1");
  told.lose('A', told.show('A', "1"));
  ASSERT_EQ(told.client('A').shown.size(), 1u);
  EXPECT_FALSE(told.client('A').shown[0].lost);
}

TEST(HistoryObservations, ALostRefusalIsKnownToNobody) {
  Told told;
  const uint64_t refused = told.refuse('A');
  told.lose('A', refused);
  EXPECT_TRUE(told.client('A').refusals[0].lost);
}

TEST(HistoryObservations, RefusalsAreCountedUntilOneIsAccepted) {
  Told told;
  told.refuse('A');
  told.refuse('A');
  EXPECT_EQ(told.client('A').refused_in_a_row, 2);
  told.write('A', "1");
  EXPECT_EQ(told.client('A').refused_in_a_row, 0);
}

TEST(HistoryObservations, TwoDifferentWritesAtOnceAreSeveralActors) {
  Told told;
  told.apply(WriteArrived{Told::key('A'), {1, Told::hash("x"), "id"}, told.now()});
  told.apply(WriteArrived{Told::key('A'), {2, Told::hash("x"), ""}, told.now()});
  EXPECT_EQ(told.client('A').several_until, TimePoint::min());
  told.apply(WriteArrived{Told::key('A'), {3, Told::hash("y"), "id"}, told.now()});
  EXPECT_EQ(told.client('A').several_until, told.now() + told.limits.think_max);
  EXPECT_EQ(told.client('A').overlapped_ids, std::vector<std::string>{"id"});
  EXPECT_TRUE(told.history.has_write_under_way());
  for (const uint64_t write : {1, 2, 3}) told.apply(WriteLeft{Told::key('A'), write});
  EXPECT_FALSE(told.history.has_write_under_way());
}

// ---- bounds ----------------------------------------------------------------------------------------------------------------------

TEST(HistoryBounds, OldEntriesGoAndThatIsKnown) {
  Told told;
  told.limits.entries_max = 3;
  const uint64_t begin = told.tick().order;
  told.write('A', "1");
  const uint64_t after = told.tick().order;
  for (const char* etag : {"2", "3", "4"}) told.show('A', etag);
  EXPECT_EQ(told.entries_text(), "2 3 4");
  EXPECT_TRUE(told.history.written_since(begin, kNobodys)) << "it may have been forgotten";
  EXPECT_FALSE(told.history.written_since(after, kNobodys));
}

TEST(HistoryBounds, OldObservationsGoAndThatIsKnown) {
  Told told;
  told.limits.observations_max = 2;
  for (const char* etag : {"1", "2", "3"}) told.show('A', etag);
  EXPECT_EQ(told.client('A').shown.size(), 2u);
  EXPECT_NE(told.client('A').forgotten, 0u);
  told.pass(told.limits.observation_age + seconds(1));
  told.show('A', "3");
  EXPECT_EQ(told.client('A').shown.size(), 1u);
}

TEST(HistoryBounds, WhoWasNotSeenForLongestGoes) {
  Told told;
  told.limits.clients_max = 2;
  told.show('A', "1");
  told.show('B', "1");
  told.show('A', "2");
  told.show('C', "2");
  EXPECT_EQ(told.history.client(Told::key('B')), nullptr);
  EXPECT_NE(told.history.client(Told::key('A')), nullptr);
  EXPECT_NE(told.history.clients_forgotten(), 0u);
  EXPECT_EQ(told.history.forgotten(), 0u) << "no state is missing";
}

TEST(HistoryBounds, NobodyGoesWhoseWriteIsUnderWay) {
  Told told;
  told.limits.clients_max = 2;
  told.apply(WriteArrived{Told::key('A'), {1, Told::hash("x"), ""}, told.now()});
  told.show('B', "1");
  told.show('C', "1");
  EXPECT_NE(told.history.client(Told::key('A')), nullptr);
}

TEST(HistoryBounds, OldRefusalsGo) {
  Told told;
  told.limits.refusals_max = 2;
  for (int i = 0; i < 5; ++i) told.refuse('A');
  EXPECT_EQ(told.client('A').refusals.size(), 2u);
}

TEST(HistoryBounds, BodiesAreCountedAndFreed) {
  Told told;
  told.show('A', "1", whole("12345"));
  told.accept('A', "123");
  Refusal refusal;
  refusal.requested_body = whole("12");
  refusal.found = whole("1");
  told.apply(Refused{Told::key('A'), refusal});
  EXPECT_EQ(told.history.body_bytes(), 11u);
  told.history.drop_bodies(7);
  EXPECT_EQ(told.history.body_bytes(), 3u) << "refusals' bodies go first, then those of the oldest state";
  told.history.drop_bodies(0);
  EXPECT_EQ(told.history.body_bytes(), 0u);
  EXPECT_EQ(told.entries_text(), "1 w");
}

}  // namespace
}  // namespace armgate::policy
