// Goal: armgate's own questions are the first that stop, never stop for ever, and leave most of what is refilled to clients. Method: the
// rules one by one, then a simulated token bucket that clients drain.
#include "proxy/policy/budget/read_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace armgate::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kReadStart = TimePoint(std::chrono::hours(5));
constexpr double kShare = 1.0 / 5;

bool may_ask(const ReadBudget& budget, TimePoint now) { return budget.may_ask_from(now) <= now; }

TEST(ReadBudget, OfWhichNothingIsToldIsNotSpared) {
  ReadBudget budget;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(may_ask(budget, kReadStart));
    budget.spend(kReadStart);
  }
}

TEST(ReadBudget, ThatIsPlentyIsNotSparedEither) {
  ReadBudget budget;
  budget.note_left(250, kReadStart, kShare);
  budget.note_left(220, kReadStart, kShare);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(may_ask(budget, kReadStart));
    budget.spend(kReadStart);
  }
}

TEST(ReadBudget, ThatIsScarceIsLeftToClientsButForOneQuestionInTenSeconds) {
  ReadBudget budget;
  budget.note_left(250, kReadStart, kShare);
  budget.note_left(62, kReadStart, kShare);
  EXPECT_TRUE(may_ask(budget, kReadStart)) << "the first";
  budget.spend(kReadStart);
  EXPECT_EQ(budget.may_ask_from(kReadStart), kReadStart + seconds(10));
  budget.note_left(60, kReadStart + seconds(9), kShare);
  EXPECT_FALSE(may_ask(budget, kReadStart + milliseconds(9999)));
  EXPECT_TRUE(may_ask(budget, kReadStart + seconds(10))) << "whatever clients do";
}

TEST(ReadBudget, ThatRecoversIsThereAgain) {
  ReadBudget budget;
  budget.note_left(250, kReadStart, kShare);
  budget.note_left(0, kReadStart, kShare);
  budget.spend(kReadStart);
  EXPECT_FALSE(may_ask(budget, kReadStart));
  budget.note_left(230, kReadStart + seconds(1), kShare);
  EXPECT_TRUE(may_ask(budget, kReadStart + seconds(1)));
}

TEST(ReadBudget, OfWhichNothingWasToldForAMinuteIsUnknown) {
  ReadBudget budget;
  budget.note_left(250, kReadStart, kShare);
  budget.note_left(1, kReadStart, kShare);
  for (int second = 0; second < 60; second += 10) budget.spend(kReadStart + seconds(second));
  EXPECT_FALSE(may_ask(budget, kReadStart + seconds(59)));
  budget.spend(kReadStart + seconds(60));
  EXPECT_TRUE(may_ask(budget, kReadStart + seconds(60)));
}

TEST(ReadBudget, WithFewLeftIsScarceWhateverTheMost) {
  ReadBudget budget;
  budget.note_left(9, kReadStart, kShare);
  budget.spend(kReadStart);
  EXPECT_FALSE(may_ask(budget, kReadStart));
}

TEST(ReadBudget, ForgetsTheMostThatWasToldAfterAnHourOrTwo) {
  ReadBudget budget;
  budget.note_left(12'000, kReadStart, kShare);
  budget.note_left(200, kReadStart + std::chrono::minutes(61), kShare);
  EXPECT_EQ(budget.most(), 12'000u);
  budget.note_left(200, kReadStart + std::chrono::minutes(122), kShare);
  EXPECT_EQ(budget.most(), 200u);
  budget.note_left(100, kReadStart + std::chrono::hours(9), kShare);
  EXPECT_EQ(budget.most(), 100u);
}

// ARM's bucket, of which clients take what they can get, and armgate what it allows itself.
struct Shares {
  int clients = 0;
  int own = 0;
  int refused_clients = 0;
  int refused_own = 0;
};

Shares share(double capacity, double each_second, double clients_each_second, int own_each_second, int for_seconds,
             double own_share = kShare) {
  ReadBudget budget;
  Shares shares;
  double bucket = capacity;
  double wanted = 0;
  constexpr int kSteps = 100;  // of a second
  for (int step = 0; step < for_seconds * kSteps; ++step) {
    const TimePoint now = kReadStart + milliseconds(step * 1000 / kSteps);
    bucket = std::min(capacity, bucket + each_second / kSteps);
    const auto take = [&](int& served, int& refused) {
      if (bucket < 1) {
        ++refused;
        return;
      }
      bucket -= 1;
      ++served;
      budget.note_left(static_cast<uint32_t>(bucket), now, own_share);
    };
    for (wanted += clients_each_second / kSteps; wanted >= 1; wanted -= 1) take(shares.clients, shares.refused_clients);
    for (int i = 0; step % kSteps == 0 && i < own_each_second; ++i) {
      if (!may_ask(budget, now)) continue;
      budget.spend(now);
      take(shares.own, shares.refused_own);
    }
  }
  return shares;
}

TEST(ReadBudget, IsSharedSoThatClientsHardlyNoticeArmgate) {
  // Buckets as ARM has them since 2024 and had them before (docs/arm.md), with clients that want all of it and more.
  for (const auto& [capacity, each_second] : {std::tuple{250.0, 25.0}, {3750.0, 375.0}, {12000.0, 12000.0 / 3600}}) {
    for (const double pressure : {1.2, 3.0}) {
      const Shares with = share(capacity, each_second, pressure * each_second, 50, 3600);
      const Shares without = share(capacity, each_second, pressure * each_second, 0, 3600);
      EXPECT_LE(with.own, 0.2 * (capacity + 3600 * each_second))
          << "of all that could be asked: " << capacity << " " << pressure;
      EXPECT_GE(with.clients, 0.8 * without.clients) << capacity << " " << pressure;
      EXPECT_GE(with.own + with.refused_own, 300) << "one in ten seconds";
      EXPECT_LE(with.refused_own, 370) << "but for that one it is not there when 429 begins: " << capacity << " " << pressure;
    }
    const Shares quiet = share(capacity, each_second, each_second / 10, 2, 600);
    EXPECT_EQ(quiet.own, 1200) << "nobody else wants it: " << capacity;
    EXPECT_EQ(quiet.refused_clients, 0);
  }
}

// Questions that may be asked at once, and do not reach ARM.
int asked_at_once(ReadBudget& budget, TimePoint now) {
  int asked = 0;
  for (; may_ask(budget, now); ++asked) budget.spend(now);
  return asked;
}

TEST(ReadBudget, TakesTheShareThatItIsGiven) {
  for (const auto& [share, more] : {std::pair{0.0, 0}, {0.2, 2}, {0.5, 5}}) {
    ReadBudget budget;
    budget.note_left(100, kReadStart, share);
    budget.note_left(50, kReadStart + milliseconds(10), share);
    EXPECT_EQ(asked_at_once(budget, kReadStart + milliseconds(20)), 5) << "what is kept for later, a twentieth of all";
    budget.note_left(59, kReadStart + milliseconds(30), share);  // ten more, and what that answer took
    EXPECT_EQ(asked_at_once(budget, kReadStart + milliseconds(40)), more) << share;
  }
}

}  // namespace
}  // namespace armgate::policy
