// How many requests the simulated ARM takes of a principal: as learn's "Understand how Azure Resource Manager throttles requests" has it.
#include <gtest/gtest.h>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

constexpr std::string_view kReadsLeft = "x-ms-ratelimit-remaining-subscription-reads";
constexpr std::string_view kWritesLeft = "x-ms-ratelimit-remaining-subscription-writes";
constexpr std::string_view kDeletesLeft = "x-ms-ratelimit-remaining-subscription-deletes";

arm::Headers token(std::string_view bearer) { return {{"Authorization", bearer}}; }

SimOptions with_reads(double size, double each_second) {
  SimOptions options;
  options.operation = Duration{};
  options.reads = {size, each_second};
  return options;
}

struct Asking : Bench {
  using Bench::Bench;
  arm::Response read(std::string_view bearer = "Bearer a", std::string_view path = kGroup) {
    return ask("GET", path, {}, token(bearer));
  }
  // How many of `count` at once get something else than 429.
  int taken_of(int count, std::string_view bearer = "Bearer a") {
    int taken = 0;
    for (int i = 0; i < count; ++i) taken += read(bearer).head.status != 429 ? 1 : 0;
    return taken;
  }
};

TEST(TokenBuckets, TakeAsManyAsTheyHoldAndSayWhatIsLeft) {
  Asking arm(with_reads(3, 1));
  for (const char* left : {"2", "1", "0"}) {
    const auto answer = arm.read();
    EXPECT_NE(answer.head.status, 429);
    EXPECT_EQ(answer.head.fields.get(kReadsLeft), left);
  }
  const auto refused = arm.read();
  EXPECT_EQ(refused.head.status, 429);
  EXPECT_EQ(refused.head.fields.get(kReadsLeft), "0");
  EXPECT_EQ(refused.head.fields.get("Retry-After"), "1");
  EXPECT_NE(refused.body.find(R"("code":"SubscriptionRequestsThrottled")"), std::string::npos) << refused.body;
  EXPECT_EQ(arm.arm.report().throttled, 1u);
}

TEST(TokenBuckets, AreRefilledSteadilyAndNeverBeyondTheirSize) {
  Asking arm(with_reads(4, 2));
  EXPECT_EQ(arm.taken_of(9), 4);
  arm.pass(499);
  EXPECT_EQ(arm.taken_of(1), 0) << "not yet a whole one";
  arm.pass(1);
  EXPECT_EQ(arm.taken_of(2), 1) << "what is refused takes nothing";
  arm.pass(1500);
  EXPECT_EQ(arm.taken_of(9), 3);
  arm.pass(3'600'000);
  EXPECT_EQ(arm.taken_of(9), 4);
}

TEST(TokenBuckets, WhoComesAgainWhenItIsToldIsTaken) {
  Asking arm(with_reads(1, 0.1));
  EXPECT_EQ(arm.taken_of(1), 1);
  const auto refused = arm.read();
  EXPECT_EQ(refused.head.fields.get("Retry-After"), "10");
  arm.pass(9'000);
  EXPECT_EQ(arm.read().head.fields.get("Retry-After"), "1");
  arm.pass(1'000);
  EXPECT_EQ(arm.taken_of(1), 1);
}

TEST(TokenBuckets, BelongToASubscriptionAndAPrincipal) {
  Asking arm(with_reads(2, 0));
  EXPECT_EQ(arm.taken_of(3, "Bearer a"), 2);
  EXPECT_EQ(arm.taken_of(3, "Bearer b"), 2);
  EXPECT_NE(arm.read("Bearer a", "/subscriptions/other/resourceGroups/g").head.status, 429);
  EXPECT_EQ(arm.read("Bearer a", "/subscriptions/S1/resourceGroups/other").head.status, 429) << "the same, spelt otherwise";
}

TEST(TokenBuckets, ReadsWritesAndDeletesTakeOfDifferentOnes) {
  SimOptions options = with_reads(1, 0);
  options.writes = {2, 0};
  options.deletes = {1, 0};
  Asking arm(options);
  const std::string body = R"({"location":"westeurope"})";
  EXPECT_EQ(arm.taken_of(2), 1);
  EXPECT_EQ(arm.ask("PUT", kGroup, body, token("Bearer a")).head.fields.get(kWritesLeft), "1");
  EXPECT_EQ(arm.ask("POST", std::string(kScaleSet) + "/restart", {}, token("Bearer a")).head.fields.get(kWritesLeft), "0");
  EXPECT_EQ(arm.ask("PATCH", kGroup, "{}", token("Bearer a")).head.status, 429);
  EXPECT_EQ(arm.ask("DELETE", kScaleSet, {}, token("Bearer a")).head.fields.get(kDeletesLeft), "0");
  EXPECT_EQ(arm.ask("DELETE", kScaleSet, {}, token("Bearer a")).head.status, 429);
}

TEST(TokenBuckets, WhatIsThrottledIsNotDone) {
  SimOptions options;
  options.operation = Duration{};
  options.writes = {1, 0};
  Asking arm(options);
  const auto put = [&](std::string_view tag) {
    return arm.ask("PUT", kGroup, R"({"location":"westeurope","tags":{"a":")" + std::string(tag) + R"("}})", token("Bearer a"));
  };
  EXPECT_EQ(put("1").head.status, 201);
  EXPECT_EQ(put("2").head.status, 429);
  EXPECT_NE(arm.ask("GET", kGroup).body.find(R"("a":"1")"), std::string::npos);
}

TEST(TokenBuckets, WhoShowsNoTokenAndWhatHasNoBucketIsTakenAsItComes) {
  Asking arm(with_reads(1, 0));
  for (int i = 0; i < 5; ++i) {
    const auto judge = arm.ask("GET", kGroup);
    EXPECT_NE(judge.head.status, 429);
    EXPECT_FALSE(judge.head.fields.has(kReadsLeft));
    EXPECT_NE(arm.ask("PUT", kGroup, R"({"location":"westeurope"})", token("Bearer a")).head.status, 429);
  }
}

TEST(TokenBuckets, AreFullAgainAfterAReset) {
  Asking arm(with_reads(1, 0));
  EXPECT_EQ(arm.taken_of(2), 1);
  arm.ask("POST", "/__sim/reset");
  EXPECT_EQ(arm.taken_of(2), 1);
}

}  // namespace
}  // namespace armgate::sim
