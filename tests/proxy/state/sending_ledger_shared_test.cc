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
  // What the one told, in order.
  void pass_on() {
    for (const auto& event : std::exchange(heard.events, {})) there.follow(event, std::make_shared<const Presence>(), moment());
  }
  SendingLedger::Matched ask(SendingLedger& ledger) {
    arrival.at = moment();
    return ledger.match(arrival, &waiter, 1, {});
  }

  boost::asio::io_context loop;
  Waiter waiter;
  uint64_t order = 0;
  Heard heard;
  Heard ignored;
  SendingLedger here{options(&heard, 1), {7, 7}};
  SendingLedger there{options(&ignored, 1'000'001), {7, 7}};
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
  two.here.end(first.asking.sending, {Kind::Accepted, answer, {}}, two.moment());
  two.pass_on();
  ASSERT_TRUE(two.there.ending(again.asking.sending).has_value());
  EXPECT_EQ(two.there.ending(again.asking.sending)->answer->head.status, 200);
}

TEST(SendingLedgerShared, WhatEndedWithoutAnAnswerIsInDoubtEverywhere) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  two.here.sent(first.asking.sending);
  two.here.end(first.asking.sending, {Kind::Unknown, nullptr, {}}, two.moment());
  two.pass_on();
  EXPECT_EQ(two.ask(two.there).match, Match::InDoubt);
}

TEST(SendingLedgerShared, AfterADeliveredAnswerTheSameIsANewWriteEverywhere) {
  TwoProcesses two;
  const auto first = two.ask(two.here);
  two.here.sent(first.asking.sending);
  two.here.end(first.asking.sending, {Kind::Accepted, std::make_shared<arm::Response>(), {}}, two.moment());
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
  EXPECT_EQ(two.ask(two.there).match, Match::New) << "without an id, and its client listens: a second write";
  two.there.follow({SendingEvent::What::AskerGone, {}, first.asking, {}, {}}, nullptr, two.moment());
  EXPECT_TRUE(two.there.knows_another(two.arrival, 1'000'001));
}

TEST(SendingLedgerShared, WhatAReadHasSettledIsSettledEverywhere) {
  TwoProcesses two;
  two.arrival.request_id.clear();
  const auto first = two.ask(two.here);
  two.here.sent(first.asking.sending);
  two.here.end(first.asking.sending, {Kind::Unknown, nullptr, {}}, two.moment());
  two.pass_on();  // before its client is told
  two.here.resolve(two.arrival.resource, two.moment());
  two.pass_on();
  EXPECT_EQ(two.here.size(), 0u);
  EXPECT_EQ(two.there.size(), 0u);
}

}  // namespace
}  // namespace armgate
