// Goal: where clients share a budget of ARM's, with budgets.fair each gets its part, a tenth of the 429s comes, and it takes no longer in
// all; nobody waits longer than its queue timeout, and who is alone does not wait while there is something left. Method: the
// pipeline against a bucket as ARM has them, under virtual time, with and without. It prints the table of docs/monitoring.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/stage_rig.h"

namespace armgate::world::share_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const arm::Headers kShared{{"Authorization", "Bearer of-all"}};

Budgets::Options fair(bool on = true) {
  Budgets::Options options;
  options.fair = on;
  return options;
}

// ARM's bucket for one principal: reads 250 and 25 each second (docs/arm.md).
struct Bucket {
  double left = 250;
  TimePoint at{};
  uint64_t refused = 0;

  Step answer(TimePoint now) {
    if (at == TimePoint{}) at = now;
    left = std::min(250.0, left + 25 * std::chrono::duration<double>(now - at).count());
    at = now;
    Step step;
    step.takes = milliseconds(100);
    step.body = "{}";
    if (left < 1) {
      ++refused;
      step.status = 429;
      step.fields.add("Retry-After", "1");
    } else {
      left -= 1;
    }
    step.fields.add("x-ms-ratelimit-remaining-subscription-reads", std::to_string(static_cast<int>(left)));
    return step;
  }
};

// So many requests, so many of them at once; who is told to come again does, when it is told to.
struct Crowd {
  std::string client;
  int at_once = 1;
  int requests = 0;
  Duration every{};  // begins one so often, whatever becomes of the others; zero: as soon as it can
  int begun = 0;
  int ended = 0;
  int in_time = 0;  // until kUntil, from when all of them are at it
  Duration longest{};

  struct Worker {
    std::shared_ptr<StageRig::Running> running;
    TimePoint from{};
    TimePoint next{};
    bool again = false;
  };
  std::vector<Worker> workers{};
  TimePoint next{};

  bool step(StageRig& rig, bool counts) {
    workers.resize(static_cast<size_t>(at_once));
    for (Worker& worker : workers) {
      if (worker.running && worker.running->done) {
        const arm::Response& answer = worker.running->link->answer();
        longest = std::max<Duration>(longest, rig.now() - worker.from);
        worker.again = answer.head.status != 200;
        const auto come_again = std::string(answer.head.fields.get("Retry-After"));
        worker.next = rig.now() + (worker.again ? Duration(seconds(std::atoi(come_again.c_str()))) : Duration{});
        if (!worker.again) {
          ++ended;
          if (counts) ++in_time;
        }
        worker.running.reset();
      }
      const bool may_begin = !worker.running && rig.now() >= worker.next && (worker.again || begun < requests);
      if (!may_begin || (!worker.again && rig.now() < next)) continue;
      if (!worker.again) {
        ++begun;
        next = rig.now() + every;
      }
      worker.from = rig.now();
      worker.running = rig.start(client, get(kGroup), {}, kShared);
    }
    return ended < requests;
  }
};

struct Storm {
  std::vector<Crowd> crowds;
  uint64_t refused = 0;
  double seconds_in_all = 0;
};

constexpr int kFrom = 15;   // seconds: the bucket is used up...
constexpr int kUntil = 45;  // ...and everybody still has something to ask

Storm run_storm(bool is_fair) {
  StageRig rig(StageRig::default_options(), fair(is_fair));
  Bucket bucket;
  rig.arm_lives([&](const arm::Request&) { return bucket.answer(rig.now()); });
  Storm storm{{{"controller", 40, 900}, {"pipeline", 20, 700}, {"scripts", 10, 500}, {"portal", 50, 200, milliseconds(250)}}};
  const TimePoint began = rig.now();
  for (bool goes_on = true; goes_on && rig.now() - began < std::chrono::minutes(10);) {
    const Duration passed = rig.now() - began;
    goes_on = false;
    for (Crowd& crowd : storm.crowds) {
      goes_on = crowd.step(rig, passed >= seconds(kFrom) && passed < seconds(kUntil)) || goes_on;
    }
    rig.pass(milliseconds(10));
  }
  storm.refused = bucket.refused;
  storm.seconds_in_all = std::chrono::duration<double>(rig.now() - began).count();
  return storm;
}

// What max-min fairness gives each of `wanted` of `total`.
std::vector<double> max_min(std::vector<double> wanted, double total) {
  std::vector<double> parts(wanted.size(), 0);
  for (size_t left = wanted.size(); left > 0; --left) {
    const auto least = static_cast<size_t>(std::min_element(wanted.begin(), wanted.end()) - wanted.begin());
    parts[least] = std::min(wanted[least], total / static_cast<double>(left));
    total -= parts[least];
    wanted[least] = 1e9;
  }
  return parts;
}

TEST(FairSharing, GivesEachClientItsPartWithoutAStormAndTakesNoLonger) {
  const Storm without = run_storm(false);
  const Storm with = run_storm(true);
  // The portal asks for four a second, the others for whatever they can get.
  const auto parts = max_min({400, 200, 100, 4}, 25);
  fmt::print("{:<12}{:>10}{:>10}{:>10}   requests each second, of 25\n", "client", "max-min", "without", "with");
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto rate = [i](const Storm& storm) { return storm.crowds[i].in_time / double(kUntil - kFrom); };
    fmt::print("{:<12}{:>10.1f}{:>10.1f}{:>10.1f}\n", with.crowds[i].client, parts[i], rate(without), rate(with));
    EXPECT_NEAR(rate(with), parts[i], 0.1 * parts[i]) << with.crowds[i].client;
    EXPECT_LE(with.crowds[i].longest, seconds(50)) << "its queue timeout";
    EXPECT_EQ(with.crowds[i].ended, with.crowds[i].requests);
  }
  fmt::print("{:<12}{:>10}{:>10}{:>10}\n", "429", "", without.refused, with.refused);
  fmt::print("{:<12}{:>10}{:>10.1f}{:>10.1f}\n", "seconds", "", without.seconds_in_all, with.seconds_in_all);
  EXPECT_GT(without.refused, 200u) << "or this shows nothing";
  EXPECT_LE(with.refused * 10, without.refused);
  EXPECT_LE(with.seconds_in_all, 1.1 * without.seconds_in_all);
}

TEST(FairSharing, WhoIsAloneDoesNotWaitWhileThereIsSomethingLeft) {
  StageRig rig(StageRig::default_options(), fair());
  Bucket bucket;
  rig.arm_lives([&](const arm::Request&) { return bucket.answer(rig.now()); });
  for (int i = 0; i < 400; ++i) {
    const auto answer = rig.ask("one", get(kGroup), {}, kShared);
    ASSERT_EQ(answer.head.status, 200);
    ASSERT_FALSE(answer.head.fields.has("x-armgate-waited-ms")) << i;
  }
}

arm::Headers left(std::string_view reads) { return {{"x-ms-ratelimit-remaining-subscription-reads", reads}}; }

TEST(FairSharing, A429IsObeyedForAllThatShareTheBudget) {
  StageRig rig(StageRig::default_options(), fair());
  rig.arm(get(kGroup), 429, {{"Retry-After", "20"}}, "{}");
  rig.arm(get(kGroup), 200, left("100"), "{}");
  rig.arm(get(kGroup), 200, left("99"), "{}");
  EXPECT_EQ(rig.ask("one", get(kGroup), {}, kShared).head.status, 429);
  const auto other = rig.start("three", get(kGroup));  // another principal
  rig.run_until([&] { return other->done; });
  const auto waited = rig.ask("two", get(kGroup), {}, kShared);
  EXPECT_EQ(waited.head.status, 200);
  EXPECT_EQ(waited.head.fields.get("x-armgate-waited-ms"), "20000");
  EXPECT_EQ(waited.head.fields.get("x-armgate-reason"), "waited-for-its-share");
}

TEST(FairSharing, AProvidersOwn429HoldsNobodyElseBack) {
  StageRig rig(StageRig::default_options(), fair());
  arm::Headers plenty = left("200");
  plenty.add("Retry-After", "20");
  rig.arm(get(kGroup), 429, plenty, "{}");
  rig.arm(get(kGroup), 200, left("199"), "{}");
  rig.ask("one", get(kGroup), {}, kShared);
  EXPECT_FALSE(rig.ask("two", get(kGroup), {}, kShared).head.fields.has("x-armgate-waited-ms"));
}

TEST(FairSharing, NobodyWaitsLongerThanItsQueueTimeoutAndWhoWaitsIsShown) {
  StageRig rig(StageRig::default_options(), fair());
  rig.arm(get(kGroup), 429, {{"Retry-After", "120"}}, "{}");
  rig.ask("one", get(kGroup), {}, kShared);
  const auto read = rig.start("two", get(kGroup), {}, kShared);
  const auto listing = rig.start("three", get("/subscriptions/s/resourceGroups?api-version=2021-04-01"), {}, kShared);
  rig.pass(seconds(30));
  EXPECT_FALSE(read->done);
  const auto report = rig.shared().budgets.report(rig.now());
  ASSERT_EQ(report.rows.size(), 1u);
  ASSERT_EQ(report.rows[0].waiting.size(), 2u);
  EXPECT_EQ(report.rows[0].waiting[0].client, "two");
  EXPECT_EQ(report.rows[0].waiting[0].what, "GET /subscriptions/s/resourceGroups/g");
  EXPECT_EQ(report.rows[0].waiting[0].waited, seconds(30));
  rig.pass(seconds(21));
  ASSERT_TRUE(read->done);
  EXPECT_EQ(read->link->answer().head.status, 503);
  EXPECT_EQ(read->link->answer().head.fields.get("x-armgate-reason"), "budget-used-up");
  EXPECT_TRUE(read->link->answer().head.fields.has("Retry-After"));
  EXPECT_TRUE(listing->done);
  EXPECT_EQ(rig.seen().size(), 1u) << "neither was sent";
  EXPECT_TRUE(rig.shared().budgets.report(rig.now()).rows[0].waiting.empty());
}

TEST(FairSharing, MoreThanMayWaitAreToldToComeAgain) {
  auto few = fair();
  few.waiters_max = 1;
  StageRig rig(StageRig::default_options(), few);
  rig.arm(get(kGroup), 429, {{"Retry-After", "20"}}, "{}");
  rig.arm(get(kGroup), 200, left("100"), "{}");
  rig.ask("one", get(kGroup), {}, kShared);
  const auto first = rig.start("one", get(kGroup), {}, kShared);
  rig.pass(seconds(1));
  const auto second = rig.ask("two", get(kGroup), {}, kShared);
  EXPECT_EQ(second.head.status, 503);
  EXPECT_EQ(second.head.fields.get("x-armgate-reason"), "queue-full");
  rig.run_until([&] { return first->done; });
  EXPECT_EQ(first->link->answer().head.status, 200);
}

// However many wait for another budget.
TEST(FairSharing, WhoNeedNotWaitIsNotRefusedForThoseWhoDo) {
  auto few = fair();
  few.waiters_max = 1;
  StageRig rig(StageRig::default_options(), few);
  const arm::Headers another{{"Authorization", "Bearer another"}};
  rig.arm(get(kGroup), 200, left("100"), "{}");
  rig.arm(get(kGroup), 429, {{"Retry-After", "20"}}, "{}");
  rig.arm(get(kGroup), 200, left("99"), "{}");
  rig.arm(get(kGroup), 200, left("100"), "{}");
  rig.ask("three", get(kGroup), {}, another);
  rig.ask("one", get(kGroup), {}, kShared);
  const auto waits = rig.start("one", get(kGroup), {}, kShared);
  rig.pass(seconds(1));
  EXPECT_EQ(rig.ask("three", get(kGroup), {}, another).head.status, 200);
  rig.run_until([&] { return waits->done; });
}

TEST(FairSharing, AWriteWaitsForItsShareBeforeItsLock) {
  StageRig rig(StageRig::default_options(), fair());
  rig.arm(patch(kScaleSet), 429, {{"Retry-After", "20"}}, R"({"error":{"code":"SubscriptionRequestsThrottled"}})");
  rig.arm(get(kGroup), 200, {}, "{}");
  rig.arm(patch(kScaleSet), 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.arm(patch(kScaleSet), 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.ask("one", patch(kScaleSet), R"({"a":1})", kShared);
  EXPECT_EQ(rig.ask("one", get(kGroup), {}, kShared).head.status, 200) << "reads have a bucket of their own";
  const auto waits = rig.start("two", patch(kScaleSet), R"({"a":2})", kShared);
  rig.pass(seconds(1));
  EXPECT_EQ(rig.ask("three", patch(kScaleSet), R"({"a":3})").head.fields.get("x-armgate-waited-ms"), "0")
      << "of another principal";
  rig.run_until([&] { return waits->done; });
  EXPECT_EQ(waits->link->answer().head.status, 200);
  EXPECT_EQ(waits->link->answer().head.fields.get("x-armgate-waited-ms"), "20000");
}

TEST(FairSharing, IsOffUnlessItIsAskedFor) {
  StageRig rig;
  rig.arm(get(kGroup), 429, {{"Retry-After", "20"}}, "{}");
  rig.arm(get(kGroup), 200, {}, "{}");
  rig.ask("one", get(kGroup), {}, kShared);
  EXPECT_FALSE(rig.ask("two", get(kGroup), {}, kShared).head.fields.has("x-armgate-waited-ms"));
}

}  // namespace
}  // namespace armgate::world::share_test
