#include "proxy/state/operation/owned_operations.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/policy/late_failure.h"

namespace armgate {
namespace {

using std::chrono::seconds;
using Phase = OwnedOperation::Phase;

TimePoint after(int second) { return TimePoint(seconds(second)); }
const Hash128 kOne{1, 1};
const Hash128 kTwo{2, 2};

class OwnedOperationsTest : public testing::Test {
 protected:
  OwnedOperationsTest() { rule_.backoff.attempts = 3; }

  std::shared_ptr<OwnedOperation> make(OwnedOperations& table, const Hash128& id = kOne) {
    auto again = std::make_shared<SendAgain>();
    again->principal = kOne;
    again->taken = after(0);
    again->share = table.keep(10);
    arm::Tracking tracking;
    tracking.by = arm::TrackedBy::StatusUrl;
    tracking.status_url = "https://h/1";
    return std::make_shared<OwnedOperation>(id, "h", "/t", 1, tracking, std::move(again));
  }
  bool fails(OwnedOperation& operation, IntentId sending, rules::ErrorClass kind = rules::ErrorClass::Busy,
             arm::Progress how = arm::Progress::Failed) {
    operation.note_failure(sending, {kind, std::nullopt});
    return operation.fail(sending, how, rule_, after(1), rng_).has_value();
  }

  rules::LateRetry rule_;
  Rng rng_{1};
  OwnedOperations table_;
};

TEST_F(OwnedOperationsTest, AFailureForAPassingReasonIsPlannedOnce) {
  const auto operation = make(table_);
  EXPECT_FALSE(operation->due());
  EXPECT_TRUE(fails(*operation, 1));
  EXPECT_EQ(operation->snapshot().phase, Phase::Again);
  const auto due = operation->due();
  EXPECT_EQ(operation->fail(1, arm::Progress::Failed, rule_, after(9), rng_), due) << "whoever else hears of it";
}

TEST_F(OwnedOperationsTest, WhatSomebodyCanceledDoesNotGoAgainWhatWasSupersededDoes) {
  const auto canceled = make(table_);
  EXPECT_FALSE(fails(*canceled, 1, rules::ErrorClass::Busy, arm::Progress::Canceled));
  EXPECT_EQ(canceled->again(), nullptr);
  const auto superseded = make(table_, Hash128{2, 2});
  EXPECT_TRUE(fails(*superseded, 1, rules::ErrorClass::Superseded, arm::Progress::Canceled));
}

TEST_F(OwnedOperationsTest, AFinalFailureIsNotAndNothingIsKept) {
  const auto operation = make(table_);
  operation->note_poll(kOne, "token", after(1));
  EXPECT_EQ(table_.bytes(), 10u);
  EXPECT_FALSE(fails(*operation, 1, rules::ErrorClass::Final));
  EXPECT_EQ(operation->snapshot().phase, Phase::Follows);
  EXPECT_EQ(operation->again(), nullptr);
  EXPECT_EQ(operation->token(after(0)), "");
  EXPECT_EQ(table_.bytes(), 0u);
}

TEST_F(OwnedOperationsTest, WhatAnEarlierSendingIsToldChangesNothing) {
  const auto operation = make(table_);
  EXPECT_TRUE(fails(*operation, 1));
  arm::Tracking second;
  second.status_url = "https://h/2";
  operation->note_sending();
  operation->follow(2, second);
  EXPECT_EQ(operation->snapshot().tracking.status_url, "https://h/2");
  EXPECT_FALSE(fails(*operation, 1));
  operation->end(1, {arm::Progress::Failed, {}});
  EXPECT_EQ(operation->snapshot().phase, Phase::Follows);
  EXPECT_TRUE(fails(*operation, 2));
  operation->end(2, {arm::Progress::Succeeded, {}});
  EXPECT_EQ(operation->snapshot().phase, Phase::Over);
  EXPECT_FALSE(operation->due());
  operation->give_up();
  EXPECT_EQ(operation->snapshot().phase, Phase::Over);
}

TEST_F(OwnedOperationsTest, EachSendingCounts) {
  const auto operation = make(table_);
  for (IntentId sending = 1; sending <= 3; ++sending) {
    EXPECT_EQ(fails(*operation, sending), sending < 3) << sending;
    if (sending == 3) break;
    operation->note_sending();
    operation->follow(sending + 1, {});
  }
  EXPECT_EQ(operation->sendings(), 3);
}

TEST_F(OwnedOperationsTest, OnlyTheWritesPrincipalIsListenedTo) {
  const auto operation = make(table_);
  operation->note_poll(kTwo, "of another", after(5));
  EXPECT_EQ(operation->token(after(0)), "");
  operation->note_poll(kOne, "old", after(5));
  operation->note_poll(kOne, "new", after(6));
  EXPECT_EQ(operation->token(after(6)), "new");
  EXPECT_EQ(operation->token(after(7)), "") << "it has not polled since";
  operation->distrust("old");
  EXPECT_EQ(operation->token(after(6)), "new");
  operation->distrust("new");
  EXPECT_EQ(operation->token(after(6)), "");
}

TEST_F(OwnedOperationsTest, DoubtIsTheEndOfSending) {
  const auto operation = make(table_);
  EXPECT_TRUE(fails(*operation, 1));
  operation->doubt(2);
  EXPECT_TRUE(operation->snapshot().in_doubt);
  EXPECT_EQ(operation->again(), nullptr);
  EXPECT_FALSE(fails(*operation, 2));
}

TEST_F(OwnedOperationsTest, BodiesAreBounded) {
  OwnedOperations table({10, 15});
  const auto first = table.keep(10);
  ASSERT_TRUE(first);
  EXPECT_FALSE(table.keep(10));
  EXPECT_TRUE(table.keep(5));
  EXPECT_EQ(table.bytes(), 10u);
}

TEST_F(OwnedOperationsTest, OfTooManyTheOldestThatIsOverIsForgotten) {
  OwnedOperations table({2, 1000});
  EXPECT_TRUE(table.empty());
  const auto first = make(table, {1, 0});
  const auto second = make(table, {2, 0});
  EXPECT_TRUE(table.add(first));
  EXPECT_TRUE(table.add(second));
  EXPECT_FALSE(table.add(make(table, {3, 0}))) << "both may still be polled for";
  second->end(1, {});
  EXPECT_TRUE(table.add(make(table, {3, 0})));
  EXPECT_EQ(table.find({1, 0}), first);
  EXPECT_EQ(table.find({2, 0}), nullptr);
  EXPECT_NE(table.find({3, 0}), nullptr);
}

// What several processes tell each other.
struct ToldOthers final : OwnedSink {
  void tell_owned_poll(const Hash128& operation, const Hash128& principal) override {
    polls.emplace_back(operation, principal);
  }
  void tell_owned_left(const Hash128& operation) override { left.push_back(operation); }
  std::vector<std::pair<Hash128, Hash128>> polls;
  std::vector<Hash128> left;
};

TEST_F(OwnedOperationsTest, APollIsToldWhereAnotherMaySendAgain) {
  ToldOthers told;
  const auto operation = make(table_);
  table_.set_sink(&told);
  table_.note_poll(*operation, kOne, "token", after(1));
  EXPECT_TRUE(told.polls.empty()) << "it is this one's own";
  EXPECT_EQ(operation->token(after(1)), "token");
  const auto other = std::make_shared<OwnedOperation>(kTwo, "h", "/t", 2, arm::Tracking{}, nullptr);
  other->lead_elsewhere(true);
  EXPECT_TRUE(other->snapshot().is_led_elsewhere);
  table_.note_poll(*other, kOne, "token", after(1));
  EXPECT_EQ(told.polls, (std::vector<std::pair<Hash128, Hash128>>{{kTwo, kOne}}));
  EXPECT_EQ(other->token(after(0)), "") << "nobody would use it";
  table_.tell_left(*operation);
  EXPECT_EQ(told.left, std::vector<Hash128>{kOne});
  other->end(2, {});
  EXPECT_FALSE(other->snapshot().is_led_elsewhere);
}

TEST_F(OwnedOperationsTest, APollElsewhereVouchesForTheTokenThatThereIs) {
  const auto operation = make(table_);
  operation->keep_token("of-the-write");
  EXPECT_EQ(operation->token(after(1)), "") << "nobody polls";
  EXPECT_FALSE(operation->note_poll_elsewhere(kTwo, after(2))) << "of another";
  EXPECT_TRUE(operation->note_poll_elsewhere(kOne, after(2)));
  EXPECT_EQ(operation->token(after(1)), "of-the-write");
  operation->note_poll(kOne, "newer", after(3));
  EXPECT_TRUE(operation->note_poll_elsewhere(kOne, after(4)));
  EXPECT_EQ(operation->token(after(4)), "newer");
  operation->give_up();
  EXPECT_FALSE(operation->note_poll_elsewhere(kOne, after(5)));
}

}  // namespace
}  // namespace armgate
