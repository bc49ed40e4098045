// Goal: nobody waits while there is something left, then each client gets its part, soon, whatever others ask for. Method: the rules one by
// one, then a simulated token bucket.
#include "proxy/policy/budget/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace armgate::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using Rank = FairShare::Rank;

constexpr TimePoint kStart = TimePoint(std::chrono::hours(5));
constexpr TimePoint kLater = kStart + seconds(2);
const Hash128 kAlice{1, 1};
const Hash128 kBob{2, 2};
const Hash128 kCarol{3, 3};

FairShare used_up() {
  FairShare share(seconds(10));
  share.note_left(250, kStart);
  share.note_left(2, kStart);
  return share;
}

TEST(FairShare, WhatIsNotKnownHoldsNobodyBack) {
  FairShare share(seconds(10));
  for (uint64_t number = 1; number <= 100; ++number) {
    share.join(number, kAlice, Rank::First);
    EXPECT_THAT(share.grant(kStart), ElementsAre(number));
  }
  FairShare old = used_up();
  old.join(1, kAlice, Rank::First);
  EXPECT_THAT(old.grant(kStart), ElementsAre(1)) << "the first is let go: only an answer tells more";
  old.join(2, kAlice, Rank::First);
  EXPECT_THAT(old.grant(kStart), IsEmpty());
  EXPECT_THAT(old.grant(kStart + FairShare::kBelieved), ElementsAre(2)) << "what was told a minute ago tells nothing";
}

TEST(FairShare, AfterALongPauseNotAllGoAtOnce) {
  FairShare share = used_up();
  share.pause_for(seconds(120), kStart);
  for (uint64_t number = 1; number <= 300; ++number) share.join(number, kAlice, Rank::First);
  EXPECT_THAT(share.grant(kStart + seconds(119)), IsEmpty());
  EXPECT_LE(share.grant(kStart + seconds(121)).size(), 250u) << "no more than there can be";
}

TEST(FairShare, NobodyWaitsWhileThereIsSomethingLeft) {
  FairShare share(seconds(10));
  share.note_left(250, kStart);
  uint64_t number = 0;
  for (uint32_t left = 249; left >= 3; --left) {
    share.join(++number, kAlice, Rank::First);
    ASSERT_THAT(share.grant(kStart), ElementsAre(number)) << left;
    share.note_left(left, kStart);
    share.leave(number);
  }
}

TEST(FairShare, WhoWasLetGoLeastOftenIsNext) {
  FairShare share = used_up();
  for (uint64_t number = 1; number <= 4; ++number) share.join(number, kAlice, Rank::First);
  EXPECT_THAT(share.grant(kStart), ElementsAre(1));
  share.join(5, kBob, Rank::First);
  share.join(6, kBob, Rank::First);
  share.join(7, kCarol, Rank::First);
  share.note_left(250, kLater);
  EXPECT_THAT(share.grant(kLater), ElementsAre(5, 7, 2, 6, 3, 4));
}

TEST(FairShare, NobodySavesTurnsUp) {
  FairShare share = used_up();
  for (uint64_t number = 1; number <= 5; ++number) share.join(number, kAlice, Rank::First);
  share.note_left(5, kStart + seconds(1));
  EXPECT_THAT(share.grant(kStart + seconds(1)), ElementsAre(1, 2, 3));
  for (uint64_t number = 6; number <= 9; ++number) share.join(number, kBob, Rank::First);
  share.note_left(250, kLater);
  EXPECT_THAT(share.grant(kLater), ElementsAre(6, 4, 7, 5, 8, 9)) << "who comes later begins where the line is";
}

TEST(FairShare, OfOneClientWhatOthersWaitForGoesFirst) {
  FairShare share = used_up();
  share.join(1, kAlice, Rank::Later);
  share.join(2, kAlice, Rank::Later);
  share.join(3, kAlice, Rank::First);
  share.note_left(250, kLater);
  EXPECT_THAT(share.grant(kLater), ElementsAre(3, 1, 2));
}

TEST(FairShare, WhoLeavesTakesNoTurn) {
  FairShare share = used_up();
  for (uint64_t number = 1; number <= 3; ++number) share.join(number, kAlice, Rank::First);
  share.leave(2);
  share.note_left(250, kLater);
  EXPECT_THAT(share.grant(kLater), ElementsAre(1, 3));
  EXPECT_EQ(share.waiting(), 0u);
}

TEST(FairShare, After429NobodyGoesBeforeRetryAfterIsOver) {
  FairShare share(seconds(10));
  share.pause_for(seconds(17), kStart);
  share.join(1, kAlice, Rank::First);
  share.join(2, kBob, Rank::First);
  EXPECT_THAT(share.grant(kStart + milliseconds(16'999)), IsEmpty());
  EXPECT_EQ(share.due(1, kStart), kStart + seconds(17));
  EXPECT_THAT(share.grant(kStart + seconds(17)), ElementsAre(1)) << "one, whose answer tells more";
}

TEST(FairShare, OneInFiveSecondsGoesWhateverIsEstimated) {
  FairShare share = used_up();
  for (int second = 1; second <= 3; ++second) share.note_left(0, kStart + seconds(second));  // nothing is refilled
  uint64_t gone = 0;
  for (uint64_t number = 1; number <= 20; ++number) share.join(number, kAlice, Rank::First);
  for (int second = 3; second < 43; ++second) {
    for (const uint64_t number : share.grant(kStart + seconds(second))) {
      ++gone;
      share.note_left(0, kStart + seconds(second));
      share.leave(number);
    }
  }
  EXPECT_GE(gone, 8u);
  EXPECT_LE(gone, 9u);
}

TEST(FairShare, NobodyIsLetGoBeforeItIsDueNorMuchLater) {
  FairShare share = used_up();
  const Hash128 clients[] = {kAlice, kAlice, kBob, kCarol, kAlice, kBob, kAlice};
  share.join(1, kAlice, Rank::First);
  share.grant(kStart);
  uint64_t number = 1;
  for (const Hash128& client : clients) {
    ++number;
    share.join(number, client, number % 2 == 0 ? Rank::First : Rank::Later);
  }
  std::map<uint64_t, TimePoint> due;  // 25 are refilled each second
  for (uint64_t i = 2; i <= number; ++i) due[i] = share.due(i, kStart);
  for (TimePoint now = kStart; share.waiting() > 0; now += milliseconds(1)) {
    for (const uint64_t gone : share.grant(now)) {
      EXPECT_LE(due[gone], now) << gone;
      EXPECT_GE(due[gone] + milliseconds(2 + 2 * 40), now) << gone << ": of the two others one each may go before";
    }
    ASSERT_LT(now, kStart + seconds(30));
  }
}

// ---- a simulated bucket

struct Demand {
  Hash128 client;
  double each_second;
  double served = 0;
  double owed = 0;
  Duration longest{};
};

// What max-min fairness gives each of `demands` of `total`.
std::vector<double> max_min(const std::vector<Demand>& demands, double total) {
  std::vector<double> parts(demands.size(), 0);
  std::vector<size_t> order(demands.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return demands[a].each_second < demands[b].each_second; });
  for (size_t i = 0; i < order.size(); ++i) {
    parts[order[i]] = std::min(demands[order[i]].each_second, total / static_cast<double>(order.size() - i));
    total -= parts[order[i]];
  }
  return parts;
}

TEST(FairShare, SharesAreMaxMinFair) {
  for (const double refill : {25.0, 10.0, 375.0}) {
    FairShare share(seconds(10));
    std::vector<Demand> demands{{{1, 1}, refill / 8}, {{2, 2}, refill / 2}, {{3, 3}, refill * 4}, {{4, 4}, refill * 2}};
    double bucket = refill * 10;
    uint64_t refused = 0;
    uint64_t number = 0;
    std::map<uint64_t, std::pair<size_t, TimePoint>> waiting;
    constexpr int kSteps = 1000;
    constexpr int kSeconds = 60;
    constexpr int kWarm = 30;  // until the bucket is used up
    for (int step = 0; step < (kWarm + kSeconds) * kSteps; ++step) {
      const TimePoint now = kStart + milliseconds(step);
      bucket = std::min(refill * 10, bucket + refill / kSteps);
      for (size_t i = 0; i < demands.size(); ++i) {
        for (demands[i].owed += demands[i].each_second / kSteps; demands[i].owed >= 1; demands[i].owed -= 1) {
          share.join(++number, demands[i].client, FairShare::Rank::First);
          waiting[number] = {i, now};
        }
      }
      for (const uint64_t gone : share.grant(now)) {
        Demand& demand = demands[waiting[gone].first];
        if (step >= kWarm * kSteps) {
          demand.served += 1;
          demand.longest = std::max<Duration>(demand.longest, now - waiting[gone].second);
        }
        if (bucket >= 1) {
          bucket -= 1;
          share.note_left(static_cast<uint32_t>(bucket), now);
        } else {
          ++refused;
          share.pause_for(seconds(1), now);
        }
        share.leave(gone);
      }
    }
    EXPECT_EQ(refused, 0u) << refill;
    const auto parts = max_min(demands, refill);
    for (size_t i = 0; i < demands.size(); ++i) {
      EXPECT_NEAR(demands[i].served / kSeconds, parts[i], 0.05 * parts[i]) << refill << ", client " << i;
    }
    // One of each other client's goes before, and the reserve is what one may have to wait for at the start.
    EXPECT_LE(demands[0].longest, milliseconds(static_cast<int>(8000 / refill)))
        << "who asks for less than its part hardly waits";
  }
}

}  // namespace
}  // namespace armgate::policy
