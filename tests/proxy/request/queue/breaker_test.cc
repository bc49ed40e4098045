// Which writes a breaker keeps from a resource whose operations keep failing.
#include "proxy/request/queue/breaker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "proxy/request/identify.h"
#include "rules/file/rule_file.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::breaker_test {
namespace {

using std::chrono::minutes;

const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1";
const std::string kPoll = "GET /subscriptions/s/operations/1";
const std::string kPatch = patch(kScaleSet);
const std::string kDelete = "DELETE " + std::string(kScaleSet);
const std::string kBody = R"({"a":1})";
const std::string kFailedState = R"({"properties":{"provisioningState":"Failed"}})";

class BreakerTest : public testing::Test {
 protected:
  void use(const std::string& mode) {
    rules::FaultList faults;
    auto rules = rules::read_rules("r.json", R"({"rules": [{"name": "sets",
      "match": {"types": ["Microsoft.Compute/virtualMachineScaleSets"]}, "guard": {"kind": "etag"},
      "breaker": {"mode": ")" + mode + R"(", "probe_every": "5m"}}]})",
                                   faults);
    EXPECT_TRUE(faults.empty());
    rig_.shared().rules.replace(std::make_shared<const rules::Ruleset>(std::move(rules)), rules::Mode::Protect);
  }
  void fail(int times) {
    for (int i = 0; i < times; ++i) {
      rig_.arm("", 202, {{"Azure-AsyncOperation", kOperation}});
      rig_.arm(kPoll, 200, {}, R"({"status":"Failed","error":{"code":"Bad","message":"x"}})");
      EXPECT_EQ(rig_.ask("one", kPatch, kBody).head.status, 202);
      rig_.ask("one", kPoll);
    }
  }
  bool goes(const std::string& request, const std::string& body = kBody) {
    rig_.arm("", 200, {}, kFailedState);
    const size_t before = rig_.seen().size();
    last_ = rig_.ask("two", request, body);
    return rig_.seen().size() > before;
  }

  StageRig rig_;
  arm::Response last_;
};

TEST_F(BreakerTest, AWriteToASickResourceIsRefusedWithTheWayOut) {
  use("protect");
  fail(10);
  const arm::Response refused = rig_.ask("two", kPatch, kBody);
  EXPECT_EQ(refused.head.status, 412) << "go-autorest sends a request again that got 409";
  EXPECT_FALSE(refused.head.fields.has("Retry-After"));
  EXPECT_EQ(refused.head.fields.get("x-armgate-reason"), "resource-sick");
  EXPECT_EQ(refused.head.fields.get("x-armgate-attempts"), "0");
  for (const char* part : {"\"ArmgateResourceSick\"", "10 operations", "Bad", " since ", "each 300 s", "DELETE"})
    EXPECT_NE(refused.body.find(part), std::string::npos) << refused.body;
  EXPECT_EQ(rig_.shared().counters.refused_sick, 1u);
}

TEST_F(BreakerTest, ReadsDeletesAndAbortGo) {
  use("protect");
  fail(10);
  EXPECT_TRUE(goes(get(kScaleSet), ""));
  EXPECT_TRUE(goes(
      "POST /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/abort?api-version=2024-07-01"));
  EXPECT_TRUE(goes(kDelete, ""));
}

TEST_F(BreakerTest, AnotherWriteRepairsAFailedResource) {
  use("protect");
  fail(10);
  EXPECT_TRUE(goes(get(kScaleSet), "")) << "which shows that it is Failed";
  EXPECT_FALSE(rig_.ask("two", kPatch, kBody).head.status == 200);
  rig_.arm(kPatch, 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  EXPECT_EQ(rig_.ask("two", kPatch, R"({"a":2})").head.status, 200);
  rig_.arm(kPatch, 200, {}, "{}");
  EXPECT_EQ(rig_.ask("two", kPatch, kBody).head.status, 200) << "that made it well";
}

TEST_F(BreakerTest, TheWritesOfARunThatKeepsTheResourceGo) {
  use("protect");
  fail(10);
  EXPECT_EQ(rig_.ask("two", kPatch, kBody).head.status, 412);
  auto& shared = rig_.shared();
  const std::string id = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v";
  const auto lease = shared.run_leases.take({id}, client_key(shared.hasher, "two"), "two", "a repair", rig_.now());
  ASSERT_TRUE(lease.ok());
  EXPECT_TRUE(goes(kPatch));
  EXPECT_EQ(last_.head.status, 200);
}

TEST_F(BreakerTest, OneProbeGoesEachSoOftenAndItsSuccessEndsIt) {
  use("protect");
  fail(10);
  rig_.pass(minutes(5));
  fail(1);
  EXPECT_EQ(rig_.ask("two", kPatch, kBody).head.status, 412);
  rig_.pass(minutes(5));
  rig_.arm(kPatch, 200, {}, "{}");
  EXPECT_EQ(rig_.ask("two", kPatch, kBody).head.status, 200);
  rig_.arm(kPatch, 200, {}, "{}");
  EXPECT_EQ(rig_.ask("two", kPatch, kBody).head.status, 200);
}

TEST_F(BreakerTest, WhoStoodInLineAsItBecameSickIsRefusedToo) {
  use("protect");
  fail(9);
  rig_.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  EXPECT_EQ(rig_.ask("one", kPatch, kBody).head.status, 202);
  std::vector<std::shared_ptr<StageRig::Running>> waiting;
  waiting.reserve(5);
  for (int i = 0; i < 5; ++i) waiting.push_back(rig_.start("two", kPatch, R"({"a":)" + std::to_string(i) + "}"));
  const size_t before = rig_.seen().size();
  rig_.arm(kPoll, 200, {}, R"({"status":"Failed","error":{"code":"Bad","message":"x"}})");
  rig_.ask("one", kPoll);
  rig_.run_until([&] { return std::all_of(waiting.begin(), waiting.end(), [](const auto& one) { return one->done; }); });
  EXPECT_EQ(rig_.seen().size(), before + 1) << "only the poll was sent";
  EXPECT_EQ(rig_.shared().counters.refused_sick, 5u);
}

TEST_F(BreakerTest, WhatIsRefusedDoesNotWaitForTheProbe) {
  use("protect");
  fail(10);
  rig_.pass(minutes(5));
  rig_.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  EXPECT_EQ(rig_.ask("one", kPatch, kBody).head.status, 202) << "the probe";
  const auto other = rig_.start("two", kPatch, kBody);
  rig_.pass(std::chrono::seconds(1));
  EXPECT_TRUE(other->done);
  EXPECT_EQ(rig_.shared().counters.refused_sick, 1u);
}

TEST_F(BreakerTest, AMakingAnewBehindADeleteWaitsAndGoes) {
  use("protect");
  fail(10);
  rig_.arm(kDelete, 202, {{"Azure-AsyncOperation", kOperation}});
  EXPECT_EQ(rig_.ask("one", kDelete).head.status, 202);
  std::string status = "InProgress";
  rig_.arm_lives([&](const arm::Request& request) {
    if (request.head.target == "/subscriptions/s/operations/1")
      return Step{{}, 200, {}, R"({"status":")" + status + R"("})", {}, {}, {}};
    return Step{{}, request.head.method == arm::Method::Put ? 201 : 404, {}, "{}", {}, {}, {}};
  });
  const auto create = rig_.start("two", put(kScaleSet), kBody, {{"If-None-Match", "*"}});
  rig_.pass(std::chrono::seconds(5));
  EXPECT_FALSE(create->done);
  status = "Succeeded";
  rig_.run_until([&] { return create->done; });
  EXPECT_EQ(rig_.shared().counters.refused_sick, 0u);
  EXPECT_EQ(create->link->answer().head.status, 201) << create->link->answer().body;
}

TEST_F(BreakerTest, WhatArmRefusesBeforeItTakesItDoesNotCount) {
  use("protect");
  for (int i = 0; i < 20; ++i) {
    rig_.arm(kPatch, 400, {}, R"({"error":{"code":"Bad","message":"x"}})");
    EXPECT_EQ(rig_.ask("one", kPatch, kBody).head.status, 400);
  }
}

TEST_F(BreakerTest, ObserveOnlyTells) {
  use("observe");
  fail(10);
  EXPECT_TRUE(goes(kPatch));
  EXPECT_EQ(last_.head.status, 200);
  ASSERT_EQ(rig_.finding().size(), 1u);
  EXPECT_EQ(rig_.finding()[0].kind, ObserveFinding::Kind::Sick);
  EXPECT_NE(rig_.finding()[0].why.find("10 operations"), std::string::npos);
  EXPECT_EQ(rig_.shared().counters.would_be_sick, 1u);
}

TEST_F(BreakerTest, ItIsOffUnlessTheRuleSaysSo) {
  use("off");
  fail(10);
  EXPECT_TRUE(goes(kPatch));
  EXPECT_TRUE(rig_.finding().empty());
}

}  // namespace
}  // namespace armgate::world::breaker_test
