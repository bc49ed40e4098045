// What a rule can say about the end of an operation: that it lasts until all that it touched is in a final state.
#include "proxy/request/operation/provisioned.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::provisioned_test {
namespace {

using std::chrono::seconds;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1";
const std::string kPoll = "GET /subscriptions/s/operations/1";

TEST(Provisioned, TheNextWriteWaitsUntilTheParentIsAtRest) {
  StageRig rig;
  const std::string busy = R"({"properties":{"provisioningState":"Updating"}})";
  rig.arm(put(kSubnet), 201, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "5"}}, busy);
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm(get(kSubnet), 200, {}, kState);
  rig.arm("GET /subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n?api-version=2023-09-01", 200, {},
          busy);
  rig.arm("GET /subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n?api-version=2023-09-01", 200, {},
          kState);
  rig.arm("PATCH ", 200, {}, kState);
  rig.ask("one", put(kSubnet), R"({"properties":{}})");
  const auto next = rig.ask("two", patch(kNetwork), R"({"a":1})");
  EXPECT_EQ(next.head.status, 200);
  EXPECT_EQ(next.head.fields.get("x-armgate-waited-ms"), "7000") << "five until the operation's end, two until the next look";
}

TEST(Provisioned, WhatWasDoneWithItsAnswerIsOverWithIt) {
  StageRig rig;
  rig.arm(put(kSubnet), 200, {}, kState);
  rig.arm("PATCH ", 200, {}, kState);
  rig.ask("one", put(kSubnet), R"({"properties":{}})");
  EXPECT_EQ(rig.ask("two", patch(kNetwork), R"({"a":1})").head.fields.get("x-armgate-waited-ms"), "0");
}

// A subnet's operation whose end its client has seen.
void write_subnet(StageRig& rig) {
  rig.arm(put(kSubnet), 201, {{"Azure-AsyncOperation", kOperation}}, "{}");
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.ask("one", put(kSubnet), R"({"properties":{}})");
  rig.ask("one", kPoll);
}

TEST(Provisioned, WithoutAWaiterNothingIsReadForAMinute) {
  StageRig rig;
  write_subnet(rig);
  rig.pass(seconds(50));
  EXPECT_EQ(rig.seen().size(), 2u);
  rig.arm(get(kSubnet), 200, {}, kState);
  rig.arm("GET /subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n", 200, {}, kState);
  rig.pass(seconds(80));
  EXPECT_TRUE(rig.shared().op_leases.empty());
}

TEST(Provisioned, WhatCannotBeReadIsNotWaitedForForEver) {
  StageRig rig;
  write_subnet(rig);
  for (int i = 0; i < 6; ++i) rig.arm("GET ", 403, {}, "{}");
  rig.arm("PATCH ", 200, {}, kState);
  const auto next = rig.ask("two", patch(kNetwork), R"({"a":1})");
  EXPECT_EQ(next.head.status, 200);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Provisioned, WhatNeverComesToRestIsReleasedLoudly) {
  StageRig rig;
  write_subnet(rig);
  rig.arm_lives([](const arm::Request&) {
    Step step;
    step.body = R"({"properties":{"provisioningState":"Updating"}})";
    return step;
  });
  rig.pass(std::chrono::hours(2));
  EXPECT_EQ(rig.shared().op_leases.size(), 1u) << "reads say that it is still in motion";
  EXPECT_TRUE(rig.loud().empty());
  rig.pass(std::chrono::hours(24));
  EXPECT_TRUE(rig.shared().op_leases.empty());
  EXPECT_EQ(rig.shared().counters.leases_expired, 1u);
  ASSERT_EQ(rig.loud().size(), 1u);
  EXPECT_NE(rig.loud()[0].find("was not seen to reach a final state"), std::string::npos) << rig.loud()[0];
}

}  // namespace
}  // namespace armgate::world::provisioned_test
