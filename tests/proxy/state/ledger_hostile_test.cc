// Where a sending ledger is easily wrong: late news of an earlier answer, several at once, what is settled by whom, its bounds.
#include <gtest/gtest.h>

#include "tests/proxy/state/ledger_rig.h"

namespace armgate {
namespace {

using Match = SendingLedger::Match;
using Kind = SendingLedger::Ending::Kind;
using std::chrono::minutes;
using std::chrono::seconds;

LedgerWrite lost(LedgerRig& rig, uint64_t request, std::string_view id = {}, size_t size = 10) {
  auto write = rig.begin(request, id);
  rig.ledger.sent(write.sending());
  rig.end(write, Kind::Accepted, size).lose();
  return write;
}

// ---- late news

TEST(SendingLedger, TheFateOfAnEarlierAnswerIsNotThatOfTheNextOne) {
  LedgerRig rig;
  auto first = rig.begin(1);
  rig.end(first, Kind::Expected);  // 503; its client comes again on another connection
  auto again = rig.begin(1);
  ASSERT_EQ(again.match(), Match::Again);
  rig.ledger.sent(again.sending());
  first.lose();  // the connection of the 503 is reset
  EXPECT_EQ(rig.match(1), Match::New) << "the re-send's client listens";
  rig.end(again, Kind::Accepted).lose();
  first.arrive();
  EXPECT_EQ(rig.match(1), Match::Shared) << "nobody has had this answer";
}

TEST(SendingLedger, WhoHasGoneDoesNotSpeakForWhoTookItsPlace) {
  LedgerRig rig;
  auto first = rig.begin(1);
  rig.ledger.sent(first.sending());
  first.leave();
  auto taker = rig.begin(1);
  ASSERT_EQ(taker.match(), Match::Shared);
  rig.end(first, Kind::Accepted).lose();
  EXPECT_EQ(rig.match(1), Match::New) << "the taker listens";
}

TEST(SendingLedger, WhoGivesUpAnAnswerAfterAnotherBeganAnewTakesNothingFromThatOne) {
  LedgerRig rig;
  auto first = rig.begin(1);
  rig.ledger.sent(first.sending());
  first.leave();
  auto taker = rig.begin(1);
  ASSERT_EQ(taker.match(), Match::Shared);
  rig.end(first, Kind::Expected);
  const auto other = rig.begin(1);  // before the taker has woken
  ASSERT_EQ(other.match(), Match::Again);
  rig.ledger.sent(other.sending());
  taker.share_no_more(SendingLedger::With::Nothing);
  EXPECT_EQ(rig.match(1), Match::New) << "the other one listens";
}

TEST(SendingLedger, ARefusalThatIsBeingSharedIsNotTakenFromThoseWhoWaitForIt) {
  LedgerRig rig;
  const auto first = rig.begin(1, "x");
  const auto sharer = rig.begin(1, "x");
  rig.end(first, Kind::Refused);
  EXPECT_EQ(rig.match(1, "x"), Match::Shared);
  ASSERT_TRUE(rig.ledger.ending(sharer.sending()).has_value());
  EXPECT_TRUE(rig.ledger.ending(sharer.sending())->answer);
}

TEST(SendingLedger, ARefusalIsNotSharedWithWhoComesWithAnotherCredential) {
  LedgerRig rig;
  rig.repeats = {.by_id = true, .first_sent = WallTime(seconds(1))};
  const auto first = rig.begin(1, "x");
  const auto same = rig.begin(1, "x");
  rig.resend = {2, 2};
  auto other = rig.begin(1, "x");
  auto another = rig.begin(1, "x");
  ASSERT_EQ(another.match(), Match::Shared);
  rig.end(first, Kind::Refused);
  EXPECT_FALSE(rig.ledger.told(same.sending(), {}).as_recorded);
  EXPECT_TRUE(rig.ledger.told(other.sending(), rig.resend).as_recorded);
  other.share_no_more(SendingLedger::With::Nothing);
  const auto again = rig.begin(1, "x");
  ASSERT_EQ(again.match(), Match::Again) << "others share it, but it can never have their answer";
  rig.end(again, Kind::Accepted);
  EXPECT_TRUE(rig.ledger.told(same.sending(), {}).as_recorded) << "the answer is that of another credential now";
  EXPECT_FALSE(rig.ledger.told(another.sending(), rig.resend).as_recorded);
}

TEST(SendingLedger, AWriteThatNobodyAsksForMayBeSharedAllTheSame) {
  LedgerRig rig;
  const uint64_t sending = rig.ledger.add(rig.arrival(1, "x", nullptr)).sending;
  const auto sharer = rig.begin(1, "x");
  EXPECT_EQ(sharer.match(), Match::Shared);
  EXPECT_EQ(sharer.sending(), sending);
}

TEST(SendingLedger, TheQuestionWhetherOthersWroteIsAskedForTheEarlierSending) {
  LedgerRig rig;
  const auto write = lost(rig, 1);
  uint64_t asked = 0;
  rig.ask.written = [&](uint64_t sending, uint64_t) {
    asked = sending;
    return SendingLedger::Since::Nothing;
  };
  EXPECT_EQ(rig.match(1), Match::Shared);
  EXPECT_EQ(asked, write.sending()) << "the end of its own operation is not another's write";
}

TEST(SendingLedger, WhatWasFoundDoneInsteadOfBeingSentIsAnUndeliveredToo) {
  LedgerRig rig;
  const auto first = rig.begin(1);
  rig.ledger.sent(first.sending());
  rig.end(first, Kind::Expected);
  const auto again = rig.begin(1);
  rig.end(again, Kind::Accepted).lose();  // the resource shows its effect
  EXPECT_EQ(rig.match(1), Match::Shared);
}

// ---- settled

TEST(SendingLedger, AnotherWriteThatCameBeforeTheEndSettlesNothing) {
  LedgerRig rig;
  auto other = rig.arrival(2, "", std::make_shared<Presence>());
  lost(rig, 1);
  Waiter waiter(rig.loop.get_executor());
  rig.ledger.match(other, &waiter, 1, {});  // its body was slow
  EXPECT_EQ(rig.match(1), Match::Shared);
}

TEST(SendingLedger, AnotherWriteSettlesAnAnswerThatIsOnItsWay) {
  LedgerRig rig;
  auto write = rig.begin(1);
  rig.ledger.sent(write.sending());
  rig.end(write, Kind::Accepted);
  rig.match(2);
  write.lose();  // a client that closes its connections by resets
  EXPECT_EQ(rig.match(1), Match::New) << "3, 4, 3: the second 3 is not the first one";
}

TEST(SendingLedger, AReSendOfAnotherWriteSettlesAsWell) {
  LedgerRig rig;
  rig.end(rig.begin(2), Kind::Expected);
  lost(rig, 1);
  EXPECT_EQ(rig.match(2), Match::Again);
  EXPECT_EQ(rig.match(1), Match::New);
}

TEST(SendingLedger, AWriteThatIsOnlyNotedSettlesAsWell) {
  LedgerRig rig;
  lost(rig, 1);
  rig.ledger.add(rig.arrival(2, "", std::make_shared<Presence>()));
  EXPECT_FALSE(rig.knows(1));
}

TEST(SendingLedger, ARefusalThatWasSentWhollyClosesItsRecord) {
  for (const char* id : {"", "x"}) {
    LedgerRig rig;
    auto write = rig.begin(1, id);
    rig.end(write, Kind::Refused);
    write.written();
    EXPECT_EQ(rig.ledger.size(), 0u);
    write.lose();  // a client that closes its connections by resets
    EXPECT_EQ(rig.match(1, id), Match::New) << "else it is refused for what it had read before, for ever";
  }
  LedgerRig rig;
  auto write = rig.begin(1);
  rig.end(write, Kind::Accepted);
  write.written();
  write.lose();
  EXPECT_EQ(rig.match(1), Match::Shared) << "what was accepted is kept until it has arrived";
}

TEST(SendingLedger, OfOneActorAnythingIsSettledByItsNextReadOrOtherWrite) {
  for (const Kind kind : {Kind::Expected, Kind::Refused, Kind::Accepted}) {
    for (const bool one_actor : {true, false}) {
      for (const bool by_read : {true, false}) {
        LedgerRig rig;
        rig.one_actor = one_actor;
        auto write = rig.begin(1);
        rig.ledger.sent(write.sending());
        rig.end(write, kind).lose();
        by_read ? rig.read() : static_cast<void>(rig.match(2));
        const bool settled = one_actor || kind == Kind::Accepted || (kind == Kind::Refused && by_read);
        EXPECT_EQ(rig.match(1) == Match::New, settled) << static_cast<int>(kind) << one_actor << by_read;
      }
    }
  }
}

// ---- doubts

TEST(SendingLedger, AWriteWhoseDoubtHasExpiredIsStillTheSameWrite) {
  LedgerRig rig;
  const auto first = rig.begin(1);
  rig.ledger.note_maybe_applied(first.sending());
  rig.end(first, Kind::InDoubt, LedgerRig::kNoAnswer);
  rig.pass(rig.options.in_doubt_max + seconds(1));
  const auto again = rig.begin(1);
  EXPECT_EQ(again.match(), Match::DoubtExpired);
  EXPECT_EQ(again.sending(), first.sending());
  EXPECT_EQ(again.first_arrival().order, first.first_arrival().order);
  EXPECT_TRUE(rig.ledger.maybe_applied(again.sending())) << "before it goes, somebody looks whether it was done";
}

TEST(SendingLedger, ADoubtThatExpiredIsToldAlsoIfSomebodyCleansUpMeanwhile) {
  LedgerRig rig;
  rig.end(rig.begin(1), Kind::InDoubt, LedgerRig::kNoAnswer);
  rig.pass(rig.options.in_doubt_max + seconds(1));
  EXPECT_TRUE(rig.ledger.expire(rig.now));
  rig.end(rig.begin(2), Kind::Expected);
  EXPECT_EQ(rig.match(1), Match::DoubtExpired);
}

TEST(SendingLedger, ADoubtIsForgottenInTheEnd) {
  LedgerRig rig;
  rig.end(rig.begin(1), Kind::InDoubt, LedgerRig::kNoAnswer);
  rig.pass(rig.options.in_doubt_max + rig.options.keep + seconds(1));
  EXPECT_FALSE(rig.ledger.expire(rig.now));
  EXPECT_EQ(rig.match(1), Match::New);
}

// ---- limits

TEST(SendingLedger, WhatIsOverMakesRoomWithoutBeingAskedFor) {
  LedgerRig rig;
  const auto running = rig.begin(1);
  for (uint64_t request = 2; request <= 9; ++request) rig.end(rig.begin(request), Kind::Expected);
  rig.pass(minutes(6));
  rig.end(rig.begin(10), Kind::Expected);
  EXPECT_EQ(rig.ledger.size(), 2u) << "the oldest one, which still runs, keeps no other";
  EXPECT_FALSE(rig.ledger.ending(running.sending()).has_value());
}

TEST(SendingLedger, AnAnswerThatIsTooLargeIsForgottenAloneAndTakesNoOtherAlong) {
  LedgerRig rig({.bytes_max = 100});
  lost(rig, 1, "x");
  rig.end(rig.begin(2, "x"), Kind::Expected);
  rig.end(rig.begin(3, "x"), Kind::InDoubt, LedgerRig::kNoAnswer);
  lost(rig, 4, "x", 101);
  EXPECT_EQ(rig.match(4, "x"), Match::New);
  EXPECT_EQ(rig.match(1, "x"), Match::Shared);
  EXPECT_EQ(rig.match(2, "x"), Match::Again);
  EXPECT_EQ(rig.match(3, "x"), Match::InDoubt);
}

TEST(SendingLedger, BytesAreMadeRoomForByWhatHasBytes) {
  LedgerRig rig({.bytes_max = 100});
  rig.end(rig.begin(1, "x"), Kind::Expected);
  rig.end(rig.begin(2, "x"), Kind::InDoubt, LedgerRig::kNoAnswer);
  for (uint64_t request = 3; request <= 9; ++request) lost(rig, request, "x", 60);
  EXPECT_EQ(rig.match(1, "x"), Match::Again);
  EXPECT_EQ(rig.match(2, "x"), Match::InDoubt) << "forgotten, it would be sent a second time";
  EXPECT_EQ(rig.match(9, "x"), Match::Shared);
}

TEST(SendingLedger, WhatWouldBeSentTwiceIsForgottenLast) {
  LedgerRig rig({.sendings_max = 3});
  rig.end(rig.begin(1, "x"), Kind::InDoubt, LedgerRig::kNoAnswer);
  lost(rig, 2, "x");
  for (uint64_t request = 3; request <= 9; ++request) rig.end(rig.begin(request, "x"), Kind::Expected);
  EXPECT_EQ(rig.match(1, "x"), Match::InDoubt);
  EXPECT_EQ(rig.match(2, "x"), Match::Shared);
  EXPECT_EQ(rig.match(9, "x"), Match::Again);
}

TEST(SendingLedger, TheHeadOfAnAnswerCountsToo) {
  LedgerRig rig({.bytes_max = 1000});
  for (uint64_t request = 1; request <= 20; ++request) {
    auto write = rig.begin(request, "x");
    rig.ledger.sent(write.sending());
    auto answer = std::make_shared<arm::Response>();  // 202, without a body
    answer->head.fields.add("Azure-AsyncOperation", std::string(80, 'u'));
    rig.ledger.end(write.asking(), {Kind::Accepted, std::move(answer), {}}, rig.tick());
    write.lose();
  }
  EXPECT_EQ(rig.ledger.size(), 10u);
}

}  // namespace
}  // namespace armgate
