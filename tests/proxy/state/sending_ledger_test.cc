// One record for each intended write; one function says whether an arriving request is a new write (docs/design.md, "Usually
// once").
#include "proxy/state/sending_ledger.h"

#include <gtest/gtest.h>

#include "tests/proxy/state/ledger_rig.h"

namespace armgate {
namespace {

using Match = SendingLedger::Match;
using Kind = SendingLedger::Ending::Kind;
using std::chrono::minutes;
using std::chrono::seconds;

// ---- what a request is to an earlier one with the same bytes

enum class Earlier {
  Queued,         // nothing was sent yet, and its client listens
  QueuedAndLeft,  // its client is gone
  Running,        // sent, and its client listens
  RunningAndLeft,
  AskedToComeAgain,  // 408, 429, 5xx
  RefusedOnItsWay,   // a final answer that nobody knows the arrival of
  RefusedAndLost,
  AcceptedOnItsWay,
  AcceptedAndLost,
  AcceptedAndArrived,
  ActedOnItsWay,  // accepted, and its answer was not kept
  ActedAndLost,
  Doubtful,
  DoubtfulAndRead,  // its client has read the resource since
};

struct Ids {
  const char* earlier;
  const char* now;
};
constexpr Ids kSame{"x", "x"};
constexpr Ids kNone{"", ""};
constexpr Ids kOther{"x", "y"};
constexpr Ids kDropped{"x", ""};
constexpr Ids kAdded{"", "x"};

void make(LedgerRig& rig, Earlier earlier, const char* id) {
  using enum Earlier;
  auto write = rig.begin(1, id);
  const bool left = earlier == QueuedAndLeft || earlier == RunningAndLeft;
  if (left) write.leave();
  if (earlier == Queued || earlier == QueuedAndLeft) return;
  rig.ledger.sent(write.sending());
  switch (earlier) {
    case Queued:
    case QueuedAndLeft:
    case Running:
    case RunningAndLeft: break;
    case AskedToComeAgain: rig.end(write, Kind::Expected); break;
    case RefusedOnItsWay: rig.end(write, Kind::Refused); break;
    case RefusedAndLost: rig.end(write, Kind::Refused).lose(); break;
    case AcceptedOnItsWay: rig.end(write, Kind::Accepted); break;
    case AcceptedAndLost: rig.end(write, Kind::Accepted).lose(); break;
    case AcceptedAndArrived: rig.end(write, Kind::Accepted).arrive(); break;
    case ActedOnItsWay: rig.end(write, Kind::Accepted, LedgerRig::kNoAnswer); break;
    case ActedAndLost: rig.end(write, Kind::Accepted, LedgerRig::kNoAnswer).lose(); break;
    case Doubtful: rig.end(write, Kind::InDoubt, LedgerRig::kNoAnswer); break;
    case DoubtfulAndRead:
      rig.end(write, Kind::InDoubt, LedgerRig::kNoAnswer);
      rig.read();
      break;
  }
}

struct Case {
  const char* name;
  Earlier earlier;
  Match same, none, other, dropped, added;  // by the request ids of both
};

TEST(SendingLedger, TellsWhatARequestIsToAnEarlierOne) {
  using enum Earlier;
  using enum SendingLedger::Match;
  const Case cases[] = {
      {"queued", Queued, Shared, New, New, New, New},
      {"who leaves the queue is never sent", QueuedAndLeft, Shared, New, New, New, New},
      {"two actors may both count from 2 to 3", Running, Shared, New, New, New, New},
      {"an undelivered write", RunningAndLeft, Shared, Shared, New, New, New},
      {"told to come again", AskedToComeAgain, Again, Again, New, New, New},
      {"refused, and it listens", RefusedOnItsWay, Again, New, New, New, New},
      {"refused, and it does not know", RefusedAndLost, Again, Again, New, New, New},
      {"its answer is on its way", AcceptedOnItsWay, Shared, New, New, New, New},
      {"its answer got lost", AcceptedAndLost, Shared, Shared, New, New, New},
      {"its answer has arrived", AcceptedAndArrived, New, New, New, New, New},
      {"done, without an answer to give", ActedOnItsWay, New, New, New, New, New},
      {"done, and nobody was told", ActedAndLost, InDoubt, InDoubt, New, New, New},
      {"in doubt", Doubtful, InDoubt, InDoubt, New, InDoubt, InDoubt},
      {"its client looked", DoubtfulAndRead, InDoubt, New, New, New, New},
  };
  for (const auto& c : cases) {
    const std::pair<Ids, Match> expected[] = {
        {kSame, c.same}, {kNone, c.none}, {kOther, c.other}, {kDropped, c.dropped}, {kAdded, c.added}};
    for (const auto& [ids, match] : expected) {
      LedgerRig rig;
      make(rig, c.earlier, ids.earlier);
      EXPECT_FALSE(rig.knows(2, ids.now)) << c.name << ": other bytes";
      EXPECT_EQ(rig.knows(1, ids.now), match == Shared || match == InDoubt) << c.name << ", asked only";
      EXPECT_EQ(rig.match(1, ids.now), match) << c.name << ", ids '" << ids.earlier << "' and '" << ids.now << "'";
    }
  }
}

TEST(SendingLedger, AfterItsTimeARequestIsNewOrItsDoubtIsToldOnce) {
  using enum Earlier;
  for (const Earlier earlier : {AskedToComeAgain, RefusedAndLost, AcceptedAndLost, ActedAndLost, Doubtful}) {
    LedgerRig rig;
    make(rig, earlier, "x");
    rig.pass(minutes(5));
    EXPECT_TRUE(rig.ledger.expire(rig.now)) << "not over yet: " << static_cast<int>(earlier);
    rig.pass(seconds(1));
    const bool was_in_doubt = earlier == Doubtful;
    EXPECT_EQ(rig.match(1, "x"), was_in_doubt ? Match::DoubtExpired : Match::New) << static_cast<int>(earlier);
    EXPECT_EQ(rig.match(1, "x"), Match::Shared) << "the one that runs now";
  }
}

TEST(SendingLedger, AWriteThatStillRunsIsNeverOver) {
  LedgerRig rig;
  make(rig, Earlier::RunningAndLeft, "");
  rig.pass(minutes(600));
  EXPECT_TRUE(rig.ledger.expire(rig.now));
  EXPECT_EQ(rig.match(1), Match::Shared);
}

// ---- what a re-send keeps

TEST(SendingLedger, AReSendKeepsItsFirstArrivalAndWhatWasLearnt) {
  LedgerRig rig;
  const auto first = rig.begin(1);
  rig.ledger.note_maybe_applied(first.sending());
  EXPECT_EQ(rig.ledger.note_visibility_try(first.sending()), 0);
  rig.end(first, Kind::Expected);
  rig.read();
  const auto again = rig.begin(1);
  EXPECT_EQ(again.match(), Match::Again);
  EXPECT_EQ(again.sending(), first.sending());
  EXPECT_EQ(again.first_arrival().order, first.first_arrival().order);
  EXPECT_TRUE(rig.ledger.maybe_applied(again.sending()));
  EXPECT_EQ(rig.ledger.note_visibility_try(again.sending()), 1);
}

TEST(SendingLedger, OfOneThatRunsAgainNothingIsLeftOfItsEarlierEnd) {
  LedgerRig rig;
  const auto first = rig.begin(1);
  rig.ledger.sent(first.sending());
  rig.end(first, Kind::Refused).lose();
  const auto again = rig.begin(1);
  ASSERT_EQ(again.match(), Match::Again);
  EXPECT_FALSE(rig.ledger.ending(again.sending()).has_value());
  EXPECT_EQ(rig.match(1), Match::New) << "it was not sent yet, and its client listens";
}

TEST(SendingLedger, WhatIsNotKnownHasEndedWithoutAnAnswer) {
  LedgerRig rig;
  const auto ending = rig.ledger.ending(99);
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->answer, nullptr);
  EXPECT_FALSE(rig.ledger.maybe_applied(99));
  EXPECT_EQ(rig.ledger.note_visibility_try(99), 0);
}

// ---- replays

TEST(SendingLedger, WithoutIdAndBaseAnAnswerIsNotGivenAgainAfterAnothersWrite) {
  struct Row {
    const char* name;
    const char* id;
    bool had_base;
    bool written_since;
    Match expected;
  };
  const Row rows[] = {{"nobody wrote", "", false, false, Match::Shared},
                      {"somebody wrote", "", false, true, Match::Again},
                      {"somebody wrote, and ETags tell", "", true, true, Match::Shared},
                      {"its client says that it is the same", "x", false, true, Match::Shared}};
  for (const auto& row : rows) {
    LedgerRig rig;
    auto write = rig.begin(1, row.id);
    rig.ledger.sent(write.sending());
    if (row.had_base) rig.ledger.note_had_base(write.sending());
    rig.end(write, Kind::Accepted).lose();
    const uint64_t ended = rig.order;
    uint64_t asked = 0;
    rig.ask.written = [&](uint64_t, uint64_t order) {
      asked = order;
      return row.written_since ? SendingLedger::Since::Written : SendingLedger::Since::Nothing;
    };
    EXPECT_EQ(rig.match(1, row.id), row.expected) << row.name;
    EXPECT_TRUE(asked == 0 || asked == ended) << "since its end";
  }
}

// ---- who shares an answer

TEST(SendingLedger, WhoSharesAnAnswerIsWokenWhenItIsThereAlsoIfItComesLater) {
  LedgerRig rig;
  const auto write = rig.begin(1, "x");
  const auto early = rig.begin(1, "x");
  EXPECT_EQ(early.match(), Match::Shared);
  EXPECT_EQ(rig.wakes(early), 0);
  rig.end(write, Kind::Accepted);
  EXPECT_EQ(rig.wakes(early), 1);
  const auto late = rig.begin(1, "x");
  EXPECT_EQ(late.match(), Match::Shared);
  EXPECT_EQ(rig.wakes(late), 1);
  EXPECT_EQ(rig.wakes(write), 0);
  EXPECT_EQ(rig.ledger.ending(late.sending())->answer->body.size(), 10u);
}

TEST(SendingLedger, WhoTakesTheAnswerOfAnUndeliveredIsItsAskerFromThenOn) {
  LedgerRig rig;
  make(rig, Earlier::AcceptedAndLost, "");
  auto taker = rig.begin(1);
  EXPECT_EQ(taker.match(), Match::Shared);
  EXPECT_EQ(rig.match(1), Match::New) << "while it listens, the same bytes are a second write";
  taker.share_no_more(SendingLedger::With::Answer);
  taker.lose();
  auto second = rig.begin(1);
  EXPECT_EQ(second.match(), Match::Shared);
  second.share_no_more(SendingLedger::With::Nothing);
  auto third = rig.begin(1);
  EXPECT_EQ(third.match(), Match::Shared) << "who could not wait for it has given it up";
  third.share_no_more(SendingLedger::With::Answer);
  third.arrive();
  EXPECT_FALSE(rig.ledger.ending(third.sending())->answer) << "forgotten";
}

TEST(SendingLedger, OfThoseWhoWaitForAWriteThatHadNoEffectOneRunsItAndTheOthersWaitForThatOne) {
  LedgerRig rig;
  const auto first = rig.begin(1, "x");
  auto one = rig.begin(1, "x");
  auto two = rig.begin(1, "x");
  rig.end(first, Kind::Expected);
  // As on two threads: both have seen the end before either has begun anew.
  one.share_no_more(SendingLedger::With::Nothing);
  two.share_no_more(SendingLedger::With::Nothing);
  EXPECT_EQ(rig.match(1, "x"), Match::Again);
  EXPECT_EQ(rig.match(1, "x"), Match::Shared);
}

TEST(SendingLedger, WhatIsSharedIsNotForgotten) {
  LedgerRig rig({.sendings_max = 1, .bytes_max = 5});
  auto write = rig.begin(1, "x");
  auto sharer = rig.begin(1, "x");
  rig.end(write, Kind::Accepted, 10).arrive();
  rig.pass(minutes(60));
  rig.read();
  rig.end(rig.begin(2), Kind::Expected);
  EXPECT_TRUE(rig.ledger.expire(rig.now));
  ASSERT_TRUE(rig.ledger.ending(sharer.sending())->answer);
  sharer.share_no_more(SendingLedger::With::Answer);
  EXPECT_FALSE(rig.ledger.expire(rig.now));
}

// ---- settled

TEST(SendingLedger, AReadThatWasAskedForAfterItsEndSettlesAWriteWithoutId) {
  LedgerRig rig;
  const Moment before = rig.tick();
  make(rig, Earlier::AcceptedAndLost, "");
  rig.ledger.resolve(LedgerRig::kResource, before);
  EXPECT_TRUE(rig.knows(1)) << "an older read says nothing";
  rig.ledger.resolve(Hash128{8, 8}, rig.tick());
  EXPECT_TRUE(rig.knows(1)) << "of another resource";
  rig.read();
  EXPECT_EQ(rig.match(1), Match::New);
  make(rig, Earlier::AcceptedAndLost, "x");
  rig.read();
  EXPECT_EQ(rig.match(1, "x"), Match::Shared) << "its client says itself which request it is";
}

TEST(SendingLedger, AnotherWriteOfTheResourceSettlesAWriteWithoutId) {
  LedgerRig rig;
  make(rig, Earlier::AcceptedAndLost, "");
  rig.end(rig.begin_at(2, Hash128{8, 8}), Kind::Accepted);
  EXPECT_TRUE(rig.knows(1)) << "of another resource";
  EXPECT_EQ(rig.match(2), Match::New);
  EXPECT_EQ(rig.match(1), Match::New) << "who asks for 4 knows how 3 ended, and may ask for 3 again";
}

TEST(SendingLedger, AnotherWriteSettlesNeitherWhatHasAnIdNorWhatIsInDoubt) {
  LedgerRig rig;
  make(rig, Earlier::AcceptedAndLost, "x");
  rig.match(2, "y");
  EXPECT_EQ(rig.match(1, "x"), Match::Shared);
  LedgerRig doubtful;
  make(doubtful, Earlier::Doubtful, "");
  doubtful.match(2);
  EXPECT_EQ(doubtful.match(1), Match::InDoubt);
}

// ---- of an earlier process

TEST(SendingLedger, WhatAnEarlierProcessSentMayComeAgain) {
  for (const auto& [kind, match] : {std::pair(Kind::Expected, Match::Again), std::pair(Kind::InDoubt, Match::InDoubt)}) {
    LedgerRig rig;
    const uint64_t former = rig.ledger.add_former(rig.arrival(1, "x", nullptr), {kind, nullptr, {}});
    EXPECT_TRUE(rig.ledger.maybe_applied(former));
    EXPECT_EQ(rig.match(1, "x"), match);
  }
}

}  // namespace
}  // namespace armgate
