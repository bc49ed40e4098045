// One client's ledger in two processes: what is told by one is followed by the other, and a request is the same to both.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <utility>
#include <vector>

#include "proxy/state/sending_event.h"
#include "proxy/state/sending_ledger.h"

namespace armgate {
namespace {

using Match = SendingLedger::Match;
using Kind = SendingLedger::Ending::Kind;

struct Heard final : SendingSink {
  void tell(SendingEvent event) override { events.push_back(std::move(event)); }
  std::vector<SendingEvent> events;
};

struct TwoProcesses {
  TwoProcesses() : waiter(loop.get_executor()) {
    arrival.request = {1, 1};
    arrival.request_id = "id";
    arrival.resource = {2, 2};
    arrival.at = moment();
    arrival.asker = std::make_shared<const Presence>();
  }
  static SendingLedger::Options options(SendingSink* sink, uint64_t first) {
    SendingLedger::Options options;
    options.sink = sink;
    options.first_id = first;
    return options;
  }
  Moment moment() { return {++order, TimePoint(std::chrono::hours(1))}; }
  // What the one told, in order: it stands in the log now.
  void pass_on() { pass(heard, here, there); }
  void pass_back() { pass(heard_there, there, here); }
  void pass(Heard& told, SendingLedger& teller, SendingLedger& other) {
    for (const auto& event : std::exchange(told.events, {})) {
      const Moment at = moment();
      teller.note_logged(event, at.order);
      other.follow(event, std::make_shared<const Presence>(), at);
    }
  }
  SendingLedger::Matched ask(SendingLedger& ledger) {
    arrival.at = moment();
    return ledger.match(arrival, &waiter, 1, {});
  }
  // The request comes for the first time, is told to come again, and both know.
  void have_no_effect() {
    here.end(ask(here).asking, {Kind::Expected, nullptr, {}}, moment());
    pass_on();
  }

  boost::asio::io_context loop;
  Waiter waiter;
  uint64_t order = 0;
  Heard heard;
  Heard heard_there;
  SendingLedger here{options(&heard, 1), {7, 7}};
  SendingLedger there{options(&heard_there, 1'000'001), {7, 7}};
  SendingLedger::Arrival arrival;
};

TEST(SendingLedgerShared, TheSameRequestJoinsTheOneThatRunsElsewhereAndGetsItsAnswer) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  ASSERT_EQ(first.match, Match::New);
  two.here.sent(first.asking.sending);
  two.pass_on();
  const auto again = two.ask(two.there);
  ASSERT_EQ(again.match, Match::Shared);
  EXPECT_EQ(again.asking.sending, first.asking.sending) << "it is the same sending, by the same number";
  auto answer = std::make_shared<arm::Response>();
  answer->head.status = 200;
  two.here.end(first.asking, {Kind::Accepted, answer, {}}, two.moment());
  two.pass_on();
  ASSERT_TRUE(two.there.ending(again.asking.sending).has_value());
  EXPECT_EQ(two.there.ending(again.asking.sending)->answer->head.status, 200);
}

TEST(SendingLedgerShared, WhatEndedWithoutAnAnswerIsInDoubtEverywhere) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  two.here.sent(first.asking.sending);
  two.here.end(first.asking, {Kind::InDoubt, nullptr, {}}, two.moment());
  two.pass_on();
  EXPECT_EQ(two.ask(two.there).match, Match::InDoubt);
}

TEST(SendingLedgerShared, WhatAnEarlierProcessHadAcceptedIsForgottenElsewhereWhenItsTimeIsOver) {
  TwoProcesses two;
  two.arrival.repeats.by_id = true;
  two.here.add_former(two.arrival, {Kind::Accepted, std::make_shared<arm::Response>(), {}});
  two.pass_on();
  EXPECT_EQ(two.there.size(), 1u);
  const TimePoint later = two.arrival.at.time + SendingLedger::Options().repeat_keep + std::chrono::seconds(1);
  EXPECT_FALSE(two.there.expire(later));
  EXPECT_EQ(two.there.size(), 0u);
}

TEST(SendingLedgerShared, AfterADeliveredAnswerTheSameIsANewWriteEverywhere) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  two.here.sent(first.asking.sending);
  two.here.end(first.asking, {Kind::Accepted, std::make_shared<arm::Response>(), {}}, two.moment());
  two.here.written(first.asking);
  two.here.delivered(first.asking);
  two.pass_on();
  EXPECT_EQ(two.there.size(), 0u);
  EXPECT_EQ(two.ask(two.there).match, Match::New);
}

TEST(SendingLedgerShared, WhoHasGoneElsewhereLeavesAnAnswerForItsReSend) {
  TwoProcesses two;
  two.arrival.request_id.clear();
  const auto first = two.ask(two.here);
  two.here.sent(first.asking.sending);
  two.pass_on();
  const auto second = two.ask(two.there);
  EXPECT_EQ(second.match, Match::New) << "without an id, and its client listens: a second write";
  two.pass_back();
  EXPECT_FALSE(two.there.is_elsewhere(two.arrival, second.asking, {}));
  two.there.follow({SendingEvent::What::AskerGone, {}, first.asking, {}, {}}, nullptr, two.moment());
  EXPECT_TRUE(two.there.is_elsewhere(two.arrival, second.asking, {}));
}

// A rule says that the same request is one for a while, unless its operation fails: then it is not elsewhere, but is to run here.
TEST(SendingLedgerShared, WhatIsToRunAgainIsNotElsewhere) {
  for (const bool has_failed : {false, true}) {
    TwoProcesses two;
    two.arrival.repeats.window = std::chrono::minutes(10);
    const auto first = two.ask(two.here);
    two.here.sent(first.asking.sending);
    two.here.end(first.asking, {Kind::Accepted, std::make_shared<arm::Response>(), {}, 7}, two.moment());
    two.here.delivered(first.asking);
    two.pass_on();
    SendingLedger::Questions ask;
    ask.failed = [&](IntentId intent) { return has_failed && intent == 7; };
    ask.written = [](uint64_t, uint64_t) { return SendingLedger::Since::Nothing; };
    two.arrival.at = two.moment();
    const auto second = two.there.match(two.arrival, &two.waiter, 1, ask);
    EXPECT_EQ(second.match, has_failed ? Match::New : Match::Shared);
    two.pass_back();
    EXPECT_EQ(two.there.is_elsewhere(two.arrival, second.asking, ask), !has_failed);
    two.there.leave(second.asking.sending, &two.waiter, SendingLedger::With::Answer);
  }
}

// Its client's connection broke when the first one's process died, and it came again before anybody had noticed that.
TEST(SendingLedgerShared, WhatWasBegunOnceMoreDoesNotHideTheDoubtAboutTheFirst) {
  TwoProcesses two;
  two.arrival.request_id.clear();
  const auto first = two.ask(two.here);
  two.here.sent(first.asking.sending);
  two.pass_on();
  const auto second = two.ask(two.there);
  ASSERT_EQ(second.match, Match::New);
  two.pass_back();
  two.there.follow({SendingEvent::What::Ended, {}, first.asking, {}, {Kind::InDoubt, nullptr, {}}}, nullptr, two.moment());
  ASSERT_TRUE(two.there.is_elsewhere(two.arrival, second.asking, {}));
  two.there.end(second.asking, {Kind::Expected, nullptr, {}}, two.moment());
  two.pass_back();
  EXPECT_EQ(two.ask(two.there).match, Match::InDoubt);
}

TEST(SendingLedgerShared, WhatWasBegunOnceMoreDoesNotHideTheAnswerOfTheFirst) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  const auto second = two.ask(two.there);
  ASSERT_EQ(second.match, Match::New);
  two.here.sent(first.asking.sending);
  two.pass_on();
  two.pass_back();
  ASSERT_TRUE(two.there.is_elsewhere(two.arrival, second.asking, {}));
  two.there.end(second.asking, {Kind::Expected, nullptr, {}}, two.moment());
  two.here.end(first.asking, {Kind::Accepted, std::make_shared<arm::Response>(), {}}, two.moment());
  two.pass_on();
  two.pass_back();
  const auto again = two.ask(two.there);
  EXPECT_EQ(again.match, Match::Shared);
  EXPECT_EQ(again.asking.sending, first.asking.sending);
}

TEST(SendingLedgerShared, SinceWhenAllKnowOfItsFirstArrivalIsTheSameEverywhere) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  EXPECT_EQ(two.here.logged_at(first.asking.sending), 0u);
  two.pass_on();
  const uint64_t known = two.here.logged_at(first.asking.sending);
  EXPECT_GT(known, two.arrival.at.order);
  EXPECT_EQ(two.there.logged_at(first.asking.sending), known);
  two.here.end(first.asking, {Kind::Expected, nullptr, {}}, two.moment());
  two.pass_on();
  ASSERT_EQ(two.ask(two.there).match, Match::Again);
  two.pass_back();
  EXPECT_EQ(two.here.logged_at(first.asking.sending), known) << "of the first one";
}

TEST(SendingLedgerShared, OfTwoThatDidNotKnowOfEachOtherTheOneThatIsToldOfFirstIsCarriedOut) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  const auto second = two.ask(two.there);
  ASSERT_EQ(second.match, Match::New);
  two.pass_on();
  two.pass_back();
  EXPECT_FALSE(two.here.is_elsewhere(two.arrival, first.asking, {}));
  EXPECT_TRUE(two.there.is_elsewhere(two.arrival, second.asking, {}));
}

TEST(SendingLedgerShared, OfTwoReSendsOfOneThatHadNoEffectOneIsCarriedOut) {
  TwoProcesses two;
  two.have_no_effect();
  const auto again = two.ask(two.here);
  const auto beside = two.ask(two.there);
  ASSERT_EQ(again.match, Match::Again);
  ASSERT_EQ(beside.match, Match::Again) << "it does not know yet";
  two.pass_on();
  two.pass_back();
  EXPECT_FALSE(two.here.is_elsewhere(two.arrival, again.asking, {}));
  EXPECT_TRUE(two.there.is_elsewhere(two.arrival, beside.asking, {}));
}

// It knew nothing of the first re-send, nor of its end: what that did must not be done once more.
TEST(SendingLedgerShared, OfTwoReSendsTheSecondIsNotCarriedOutAfterTheFirstHasEndedEither) {
  for (const Kind kind : {Kind::Accepted, Kind::InDoubt}) {
    TwoProcesses two;
    two.have_no_effect();
    const auto again = two.ask(two.here);
    ASSERT_EQ(again.match, Match::Again);
    two.here.sent(again.asking.sending);
    const auto answer = kind == Kind::Accepted ? std::make_shared<arm::Response>() : nullptr;
    two.here.end(again.asking, {kind, answer, {}, 7}, two.moment());
    two.here.undelivered(again.asking);
    const auto beside = two.ask(two.there);
    ASSERT_EQ(beside.match, Match::Again) << "it does not know yet";
    two.pass_on();
    two.pass_back();
    EXPECT_TRUE(two.there.is_elsewhere(two.arrival, beside.asking, {}));
    two.there.end(beside.asking, {Kind::Expected, nullptr, {}}, two.moment());
    two.pass_back();
    const Match told = kind == Kind::Accepted ? Match::Shared : Match::InDoubt;
    EXPECT_EQ(two.ask(two.here).match, told);
    EXPECT_EQ(two.ask(two.there).match, told);
  }
}

// The one that is not carried out is told to come again, and ends. That is not the end of the other.
TEST(SendingLedgerShared, OfTwoReSendsTheOneThatIsNotCarriedOutEndsNothing) {
  for (const bool is_late : {false, true}) {
    TwoProcesses two;
    two.have_no_effect();
    const auto again = two.ask(two.here);
    const auto beside = two.ask(two.there);
    two.pass_on();
    two.pass_back();
    if (is_late) two.here.end(again.asking, {Kind::InDoubt, nullptr, {}, 7}, two.moment());
    two.pass_on();
    two.there.end(beside.asking, {Kind::Expected, nullptr, {}}, two.moment());
    two.pass_back();
    if (!is_late) two.here.end(again.asking, {Kind::InDoubt, nullptr, {}, 7}, two.moment());
    two.pass_on();
    EXPECT_EQ(two.ask(two.here).match, Match::InDoubt) << is_late;
    EXPECT_EQ(two.ask(two.there).match, Match::InDoubt) << is_late;
  }
}

// Its process may end what it began before the log has its beginning (the engine is away), and begin it once more.
TEST(SendingLedgerShared, WhatEndsBeforeAllKnowOfItGoesOnEverywhere) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  two.here.end(first.asking, {Kind::Expected, nullptr, {}}, two.moment());
  const auto again = two.ask(two.here);
  ASSERT_EQ(again.match, Match::Again);
  two.here.note_logged(two.heard.events.at(0), two.moment().order);
  two.here.end(again.asking, {Kind::Expected, nullptr, {}}, two.moment());
  EXPECT_EQ(two.ask(two.here).match, Match::Again);
  two.pass_on();
  const auto there = two.ask(two.there);
  EXPECT_EQ(there.match, Match::Shared) << "the third try runs here";
  two.there.leave(there.asking.sending, &two.waiter, SendingLedger::With::Nothing);
}

// A process that lags behind the log has older numbers for what it does: what was read elsewhere seems newer than it is.
TEST(SendingLedgerShared, WhatWasReadElsewhereBeforeADoubtBeganDoesNotSettleIt) {
  for (const bool is_read : {true, false}) {
    TwoProcesses two;
    two.arrival.request_id.clear();
    const auto first = two.ask(two.here);
    two.here.sent(first.asking.sending);
    two.pass_on();
    const Moment before = two.moment();
    const Moment lost = two.moment();
    if (is_read) two.there.resolve(two.arrival.resource, two.moment());
    two.here.end(first.asking, {Kind::InDoubt, nullptr, {}}, before);
    two.pass_back();  // stands in the log before the end
    EXPECT_EQ(two.here.size(), 1u);
    two.pass_on();
    two.here.resolve(two.arrival.resource, lost);
    EXPECT_EQ(two.here.size(), 1u) << "asked for before all knew of the end";
    EXPECT_EQ(two.ask(two.here).match, Match::InDoubt) << is_read;
    EXPECT_EQ(two.ask(two.there).match, Match::InDoubt) << is_read;
    two.there.resolve(two.arrival.resource, two.moment());
    two.pass_back();
    EXPECT_EQ(two.here.size(), 0u);
    EXPECT_EQ(two.there.size(), 0u);
  }
}

TEST(SendingLedgerShared, WhatAReadHasSettledIsSettledEverywhere) {
  TwoProcesses two;
  two.arrival.request_id.clear();
  const auto first = two.ask(two.here);
  two.here.sent(first.asking.sending);
  two.here.end(first.asking, {Kind::InDoubt, nullptr, {}}, two.moment());
  two.pass_on();  // before its client is told
  two.here.resolve(two.arrival.resource, two.moment());
  two.pass_on();
  EXPECT_EQ(two.here.size(), 0u);
  EXPECT_EQ(two.there.size(), 0u);
}

}  // namespace
}  // namespace armgate
