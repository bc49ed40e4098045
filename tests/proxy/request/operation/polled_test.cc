// Goal: how an operation ends is learnt from a client's poll whichever of several processes that comes to, and an operation URL of
// armgate's own means the same at all of them. Method: two processes on a simulated log, and an ARM that follows a script.
#include "proxy/request/operation/polled.h"

#include <gtest/gtest.h>

#include <string>

#include "arm/url.h"
#include "tests/proxy/request/operation/failing_operations.h"
#include "tests/support/cluster_rig.h"

namespace armgate::world::polled_test {
namespace {

using namespace failing_operations;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string kGet = get(kScaleSet);
const std::string kPut = put(kScaleSet);
const std::string kSucceeded = R"({"status":"Succeeded"})";
const std::string kQuota = failed("QuotaExceeded");

// The client reads and writes through the first process and polls through the second.
class Polled : public ::testing::Test, protected ClusterRig {
 protected:
  explicit Polled(const std::string& attempts = "1")
      : ClusterRig(late_rules(R"({"attempts": )" + attempts + R"(, "base": "2s", "max": "2s"})")) {}

  // The target of the operation URL that it was given.
  std::string write() {
    arm(kGet, 200, {}, kBefore);
    ask(0, "one", kGet);
    arm(kPut, 201, {{"Azure-AsyncOperation", url(1)}}, kRunning);
    const arm::Response answer = ask(0, "one", kPut, kWanted);
    EXPECT_EQ(answer.head.status, 201);
    const auto given = arm::parse_url(answer.head.fields.get("Azure-AsyncOperation"));
    return given ? given->target : std::string();
  }
  std::string poll_elsewhere(const std::string& target) { return ask(1, "one", "GET " + target).body; }
  size_t leases() { return gates[0]->shared().op_leases.size(); }
};

TEST_F(Polled, AnEndThatIsToldThroughAnotherProcessEndsTheLeaseOfTheFirst) {
  const std::string target = write();
  EXPECT_EQ(target, operation(1)) << "ARM's own";
  arm(poll(1), 200, {}, kInProgress);
  poll_elsewhere(target);
  pass(seconds(2));
  EXPECT_EQ(leases(), 1u);
  arm(poll(1), 200, {}, kQuota);
  EXPECT_EQ(poll_elsewhere(target), kQuota);
  pass(seconds(2));
  EXPECT_EQ(leases(), 0u) << "without a poll of its own";
  EXPECT_TRUE(upstream.steps.empty());
  const auto results = gates[0]->shared().results.counts();
  EXPECT_EQ(results.size(), 1u);
  arm(kGet, 200, {}, kBack);
  EXPECT_EQ(ask(1, "one", kGet).head.status, 200);
}

TEST_F(Polled, AnotherOperationsEndTellsNothing) {
  write();
  arm(poll(2), 200, {}, kSucceeded);
  EXPECT_EQ(poll_elsewhere(operation(2)), kSucceeded);
  pass(seconds(2));
  EXPECT_EQ(leases(), 1u);
}

struct OwnedElsewhere : Polled {
  OwnedElsewhere() : Polled("3") {}

  static bool runs(const std::string& told) { return told.find(R"("status":"InProgress")") != std::string::npos; }
  // The first operation has failed, as the other process is told.
  std::string write_and_fail(const std::string& with = kBusy) {
    std::string own = write();
    EXPECT_NE(own.find("/armgate-operations/"), std::string::npos) << own;
    arm(poll(1), 200, {}, with);
    EXPECT_TRUE(runs(poll_elsewhere(own))) << "whether it goes again is the first one's to say";
    return own;
  }
  size_t sent() {
    size_t puts = 0;
    for (const auto& request : upstream.seen) puts += request.head.method == arm::Method::Put ? 1 : 0;
    return puts;
  }
};

TEST_F(OwnedElsewhere, IsKnownAtOnceAndAnsweredByARM) {
  const std::string own = write();
  arm(poll(1), 200, {{"Retry-After", "7"}}, kInProgress);
  const arm::Response running = ask(1, "one", "GET " + own);
  EXPECT_EQ(running.body, kInProgress);
  EXPECT_EQ(running.head.fields.get("Retry-After"), "7");
  arm(poll(1), 200, {}, kSucceeded);
  EXPECT_EQ(poll_elsewhere(own), kSucceeded);
  pass(seconds(2));
  EXPECT_EQ(leases(), 0u);
  arm(poll(1), 404, {}, "{}");
  EXPECT_NE(poll_elsewhere(own).find(R"("status":"Succeeded")"), std::string::npos) << "the last word";
}

TEST_F(OwnedElsewhere, WhatFailedGoesAgainWithTheTokenThatItCameWith) {
  const std::string own = write_and_fail();
  arm(kGet, 200, {}, kBack);
  arm(kPut, 200, {{"Azure-AsyncOperation", url(2)}}, kRunning);
  pass(seconds(4));
  ASSERT_EQ(sent(), 2u);
  EXPECT_EQ(upstream.seen.back().head.fields.get("Authorization"), "Bearer of-one");
  EXPECT_EQ(upstream.seen.back().head.fields.get("If-Match"), "\"3\"");
  arm(poll(2), 200, {}, kSucceeded);
  EXPECT_EQ(poll_elsewhere(own), kSucceeded) << "of the second one";
  pass(seconds(2));
  EXPECT_EQ(leases(), 0u);
}

TEST_F(OwnedElsewhere, AFailureThatIsFinalIsToldWithTheNextPoll) {
  const std::string own = write_and_fail(kQuota);
  pass(seconds(2));
  EXPECT_EQ(leases(), 0u);
  arm(poll(1), 200, {}, kQuota);
  EXPECT_EQ(poll_elsewhere(own), kQuota);
  EXPECT_EQ(sent(), 1u);
}

TEST_F(OwnedElsewhere, APartialEffectIsTold) {
  const std::string own = write_and_fail();
  arm(kGet, 200, {}, kRunning);
  pass(seconds(4));
  arm(poll(1), 200, {}, kBusy);
  EXPECT_EQ(poll_elsewhere(own), kBusy);
  EXPECT_EQ(sent(), 1u);
}

TEST_F(OwnedElsewhere, NobodyElsesPollsKeepItGoing) {
  const std::string own = write();
  arm(poll(1), 200, {}, kBusy);
  EXPECT_TRUE(runs(ask(1, "two", "GET " + own).body));
  pass(minutes(5));
  EXPECT_EQ(sent(), 1u);
  EXPECT_EQ(leases(), 0u);
  arm(poll(1), 200, {}, kBusy);
  EXPECT_EQ(poll_elsewhere(own), kBusy);
}

TEST_F(OwnedElsewhere, OfADeadProcessTheFailureIsTold) {
  const std::string own = write_and_fail();
  gates[0]->cut();
  pass(minutes(2));
  const size_t before = sent();
  arm(poll(1), 200, {}, kBusy);
  EXPECT_EQ(poll_elsewhere(own), kBusy);
  EXPECT_EQ(sent(), before);
}

// It had sent the write once more, and died before anybody heard what ARM said to that.
TEST_F(OwnedElsewhere, OfADeadProcessThatHasSentItAgainNothingIsKnown) {
  const std::string own = write_and_fail();
  arm(kGet, 200, {}, kBack);
  arm(kPut, 200, {{"Azure-AsyncOperation", url(2)}}, kRunning, seconds(30));
  pass(seconds(4));
  ASSERT_EQ(sent(), 2u);
  gates[0]->cut();
  pass(minutes(2));
  const size_t before = upstream.seen.size();
  EXPECT_TRUE(runs(poll_elsewhere(own))) << "until somebody knows what became of that";
  EXPECT_EQ(upstream.seen.size(), before) << "what the first one failed with is not its end";
}

TEST_F(OwnedElsewhere, WhileTheEngineIsAwayNobodyIsToldThatItIsUnknown) {
  const std::string own = write();
  const std::string unknown = own.substr(0, own.rfind('/') + 1) + "0123456789abcdef0123456789abcdef?api-version=2024-07-01";
  arm("GET " + unknown, 404, {}, "{}");
  EXPECT_EQ(ask(1, "one", "GET " + unknown).head.status, 404) << "it is ARM's to say so";
  log.away(minutes(10));
  const arm::Response answer = ask(1, "one", "GET " + unknown);
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable");
}

}  // namespace
}  // namespace armgate::world::polled_test
