// Goal: what somebody ends does not go again, whichever of several processes the abort comes to. Method: as in polled_test.cc.
#include "proxy/request/operation/early_end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "arm/url.h"
#include "tests/proxy/request/operation/failing_operations.h"
#include "tests/support/cluster_rig.h"

namespace armgate::world::early_end_test {
namespace {

using namespace failing_operations;
using std::chrono::seconds;

const std::string kGet = get(kScaleSet);
const std::string kPut = put(kScaleSet);
const std::string kAbort =
    "POST /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/abort?api-version=2024-07-01";

class EarlyEnd : public ::testing::Test, protected ClusterRig {
 protected:
  EarlyEnd() : ClusterRig(late_rules(R"({"attempts": 3, "base": "2s", "max": "2s"})")) {}

  // Written through the first process, aborted through `process` with that answer; then its operation fails, as its client is told.
  std::string write_abort_and_fail(size_t process, int status) {
    arm(kGet, 200, {}, kBefore);
    ask(0, "one", kGet);
    arm(kPut, 201, {{"Azure-AsyncOperation", url(1)}}, kRunning);
    const auto given = arm::parse_url(ask(0, "one", kPut, kWanted).head.fields.get("Azure-AsyncOperation"));
    arm(kAbort, status, {}, "{}");
    ask(process, "ops", kAbort);
    pass(seconds(1));
    arm(poll(1), 200, {}, kBusy);
    ask(0, "one", "GET " + given->target);
    return "GET " + given->target;
  }
  size_t sent() const {
    return static_cast<size_t>(std::count_if(upstream.seen.begin(), upstream.seen.end(),
                                             [](const auto& request) { return request.head.method == arm::Method::Put; }));
  }
};

TEST_F(EarlyEnd, WhatARMTookAsAnAbortKeepsTheWriteFromGoingAgainAtEachProcess) {
  for (const size_t process : {0, 1}) {
    const std::string polls = write_abort_and_fail(process, 202);
    upstream.otherwise = [](const arm::Request&) { return Step{{}, 200, {}, kBusy, {}, {}, {}}; };
    pass(seconds(20));
    EXPECT_EQ(sent(), process + 1) << "aborted at " << process;
    for (const size_t at : {0, 1}) EXPECT_EQ(ask(at, "one", polls).body, kBusy) << "told at " << at;
    EXPECT_EQ(gates[0]->shared().op_leases.size(), 0u);
    upstream.otherwise = {};
  }
}

TEST_F(EarlyEnd, AnAbortThatARMRefusesChangesNothing) {
  write_abort_and_fail(1, 409);
  arm(kGet, 200, {}, kBack);
  arm(kPut, 200, {{"Azure-AsyncOperation", url(2)}}, kRunning);
  pass(seconds(4));
  EXPECT_EQ(sent(), 2u);
}

}  // namespace
}  // namespace armgate::world::early_end_test
