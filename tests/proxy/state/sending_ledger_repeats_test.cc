// What is given again although its answer has arrived.
#include <gtest/gtest.h>

#include "tests/proxy/state/ledger_rig.h"

namespace armgate {
namespace {

using Kind = SendingLedger::Ending::Kind;
using Match = SendingLedger::Match;
using Since = SendingLedger::Since;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const WallTime kNoon{seconds(43'200)};

SendingLedger::Repeats by_id(WallTime first_sent = kNoon, WallTime known_from = {}) {
  return {.by_id = true, .first_sent = first_sent, .known_from = known_from};
}

SendingLedger::Repeats within(Duration window) { return {.window = window}; }
SendingLedger::Repeats while_running() { return {.running = hours(6)}; }

// One that was accepted, and whose answer has arrived.
LedgerWrite told(LedgerRig& rig, uint64_t request, std::string_view id = {}, size_t size = 10) {
  auto write = rig.begin(request, id);
  rig.ledger.sent(write.sending());
  SendingLedger::Ending ending{Kind::Accepted, std::make_shared<arm::Response>(), {}, 42};
  std::const_pointer_cast<arm::Response>(ending.answer)->body.assign(size, 'x');
  ending.recorded = std::make_shared<const SendingLedger::Recorded>(SendingLedger::Recorded{202, "\"1\"", {}});
  rig.ledger.end(write.asking(), std::move(ending), rig.tick());
  write.arrive();
  write.leave();
  return write;
}

TEST(SendingLedgerRepeats, OnlyWhatMayBeGivenAgainIs) {
  struct Row {
    const char* name;
    SendingLedger::Repeats first, again;
    Duration later{};
    Since since = Since::Nothing;
    bool runs = false;
    Match expected = Match::New;
  };
  const Row rows[] = {
      {"nothing asks for it", {}, {}},
      {"the same name", by_id(), by_id(), {}, Since::Written, false, Match::Shared},
      {"much later", by_id(), by_id(), hours(11), Since::Unknown, false, Match::Shared},
      {"too late: it may have run", by_id(), by_id(), hours(13), Since::Nothing, false, Match::Forgotten},
      {"within the window", within(minutes(10)), within(minutes(10)), minutes(9), Since::Nothing, false, Match::Shared},
      {"after it", within(minutes(10)), within(minutes(10)), minutes(11)},
      {"the rule has a shorter one now", within(minutes(10)), within(minutes(5)), minutes(9)},
      {"the rule has none any more", within(minutes(10)), {}, minutes(1)},
      {"something else was accepted", within(minutes(10)), within(minutes(10)), minutes(1), Since::Written},
      {"whether, is not known", within(minutes(10)), within(minutes(10)), minutes(1), Since::Unknown, false, Match::InDoubt},
      {"its operation runs", while_running(), while_running(), hours(1), Since::Nothing, true, Match::Shared},
      {"it has ended", while_running(), while_running(), minutes(1), Since::Nothing, false},
      {"it runs, and something else was accepted", while_running(), while_running(), minutes(1), Since::Written, true},
      {"it runs; the write is compared all the same", while_running(), while_running(), minutes(1), Since::Unknown, true},
  };
  for (const auto& row : rows) {
    LedgerRig rig;
    IntentId asked = 0;
    rig.ask.written = [&](uint64_t, uint64_t) { return row.since; };
    rig.ask.runs = [&](IntentId intent, uint64_t) {
      asked = intent;
      return row.runs;
    };
    rig.repeats = row.first;
    told(rig, 1);
    rig.pass(row.later);
    rig.repeats = row.again;
    EXPECT_EQ(rig.match(1), row.expected) << row.name;
    EXPECT_TRUE(asked == 0 || asked == 42) << row.name;
  }
}

TEST(SendingLedgerRepeats, IdsOfRequestsDoNotMatterToARuleNorToOneActor) {
  for (const auto& repeats : {within(minutes(10)), while_running()}) {
    LedgerRig rig;
    rig.repeats = repeats;
    rig.ask.written = [](uint64_t, uint64_t) { return Since::Nothing; };
    rig.ask.runs = [](IntentId, uint64_t) { return true; };
    told(rig, 1, "x");
    EXPECT_EQ(rig.match(1, "y"), Match::Shared);
    EXPECT_EQ(rig.match(2, "y"), Match::New);
  }
}

TEST(SendingLedgerRepeats, UnderARuleADoubleClickIsOneWhileTheFirstRuns) {
  LedgerRig rig;
  rig.repeats = within(minutes(10));
  const auto first = rig.begin(1, "x");
  rig.ledger.sent(first.sending());
  const auto second = rig.begin(1, "y");
  EXPECT_EQ(second.match(), Match::Shared);
  EXPECT_EQ(second.sending(), first.sending());
}

TEST(SendingLedgerRepeats, OneNameIsForOneRequest) {
  LedgerRig rig;
  rig.repeats = by_id();
  rig.content = Hash128{1, 1};
  told(rig, 1);
  rig.content = Hash128{2, 2};
  EXPECT_EQ(rig.match(1), Match::Misused);
  const auto running = rig.begin(3);
  rig.content = Hash128{3, 3};
  EXPECT_EQ(rig.match(3), Match::Misused) << "also while it runs";
}

TEST(SendingLedgerRepeats, WithAnotherCredentialItsRecordIsGiven) {
  LedgerRig rig;
  rig.repeats = by_id();
  told(rig, 1);
  Waiter waiter(rig.loop.get_executor());
  auto arrival = rig.arrival(1, "", std::make_shared<Presence>());
  EXPECT_FALSE(rig.ledger.match(arrival, &waiter, 1, rig.ask).as_recorded);
  arrival.resend = Hash128{5, 5};
  EXPECT_TRUE(rig.ledger.match(arrival, &waiter, 1, rig.ask).as_recorded);
}

TEST(SendingLedgerRepeats, WhatIsAheadOfOurClockIsNotDecidedUnlessItIsKnown) {
  LedgerRig rig;
  rig.repeats = by_id(kNoon);
  const auto write = told(rig, 1, "named");
  rig.repeats.known_until = kNoon - seconds(1);  // our clock was set back
  EXPECT_EQ(rig.match(1, "named"), Match::Shared) << "what is known is given again whatever the clocks say";
  EXPECT_EQ(rig.match(2, "named"), Match::Ahead);
  EXPECT_EQ(rig.ledger.size(), 1u) << "what is not decided leaves nothing";
  rig.repeats.known_until = kNoon;
  EXPECT_EQ(rig.match(2, "named"), Match::New);
}

TEST(SendingLedgerRepeats, WhatWasFirstSentBeforeAllThatIsKnownIsNotDecided) {
  LedgerRig rig;
  rig.repeats = by_id(kNoon, kNoon + seconds(1));
  EXPECT_EQ(rig.match(1), Match::Forgotten);
  rig.repeats = by_id(kNoon, kNoon);
  EXPECT_EQ(rig.match(1), Match::Forgotten) << "dates have whole seconds";
  rig.repeats = by_id(kNoon + seconds(1), kNoon);
  EXPECT_EQ(rig.match(1), Match::New);
  EXPECT_EQ(rig.ledger.size(), 1u) << "what is not decided leaves nothing";
}

TEST(SendingLedgerRepeats, ADoubtUnderANameIsNotSentAgainHoweverLong) {
  LedgerRig rig;
  rig.repeats = by_id();
  auto write = rig.begin(1, "named");
  rig.ledger.sent(write.sending());
  rig.end(write, Kind::InDoubt).lose();
  rig.read();
  rig.pass(hours(2));
  EXPECT_EQ(rig.match(1, "named"), Match::InDoubt);
}

TEST(SendingLedgerRepeats, WhatWasRefusedIsDecidedAgain) {
  LedgerRig rig;
  rig.repeats = by_id();
  auto write = rig.begin(1);
  rig.end(write, Kind::Refused).written();
  EXPECT_EQ(rig.match(1), Match::New);
}

TEST(SendingLedgerRepeats, AnAnswerThatGotLostIsGivenForTheWholeWindowWhateverItsClientReads) {
  LedgerRig rig;
  rig.repeats = within(minutes(20));
  rig.ask.written = [](uint64_t, uint64_t) { return Since::Nothing; };
  auto write = rig.begin(1);
  rig.ledger.sent(write.sending());
  rig.end(write, Kind::Accepted).lose();
  rig.read();
  rig.pass(minutes(15));
  EXPECT_EQ(rig.match(1), Match::Shared);
}

TEST(SendingLedgerRepeats, ItsClientsNextWriteEndsAJoin) {
  LedgerRig rig;
  rig.repeats = while_running();
  told(rig, 1);
  told(rig, 2);
  EXPECT_EQ(rig.ledger.size(), 1u);
}

TEST(SendingLedgerRepeats, ForWantOfRoomTheRecordStandsInForTheAnswerAndWhatGoesIsNotForgotten) {
  LedgerRig rig({.sendings_max = 4, .bytes_max = 100});
  for (uint64_t request = 1; request <= 4; ++request) {
    rig.repeats = by_id(kNoon + seconds(request));
    told(rig, request, "named", 60);
  }
  rig.repeats = by_id(kNoon + seconds(1));
  const auto first = rig.begin(1, "named");
  EXPECT_EQ(first.match(), Match::Shared);
  const auto ending = rig.ledger.ending(first.sending());
  EXPECT_FALSE(ending->answer);
  EXPECT_TRUE(ending->recorded);

  LedgerRig small({.sendings_max = 2, .bytes_max = 100});
  for (uint64_t request = 1; request <= 3; ++request) {
    small.repeats = by_id(kNoon + seconds(request));
    told(small, request, "named");
  }
  small.repeats = by_id(kNoon + seconds(1));
  EXPECT_EQ(small.match(1, "named"), Match::Forgotten);
  small.repeats = by_id(kNoon + seconds(9));
  EXPECT_EQ(small.match(9, "named"), Match::New);
}

TEST(SendingLedgerRepeats, OfAnEarlierProcessItIsGivenAsItIsRecorded) {
  LedgerRig rig;
  rig.repeats = by_id();
  SendingLedger::Ending ending;
  ending.kind = Kind::Accepted;
  ending.recorded = std::make_shared<const SendingLedger::Recorded>(SendingLedger::Recorded{201, "\"2\"", {}});
  rig.ledger.add_former(rig.arrival(1, "named", nullptr), std::move(ending));
  auto again = rig.begin(1, "named");
  EXPECT_EQ(again.match(), Match::Shared);
  EXPECT_EQ(rig.ledger.ending(again.sending())->recorded->status, 201);
  again.share_no_more(SendingLedger::With::Answer);
  rig.pass(hours(13));
  EXPECT_EQ(rig.match(2, "named"), Match::Forgotten);
}

}  // namespace
}  // namespace armgate
