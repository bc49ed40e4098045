// Goal: an action that no rule names runs once for each intention. Method: the same restart twice, after each way in which the first
// can end.
#include "proxy/request/read/relayed_action.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/stage_rig.h"

namespace armgate::world::relayed_action_test {
namespace {

using testing::HasSubstr;

const std::string kRestartSite =
    "POST /subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w/restart?api-version=2023-12-01";

TEST(RelayedAction, GoesAgainOnlyIfTheFirstHadNoEffectOrItsAnswerArrived) {
  const struct {
    const char* why;
    std::function<void(StageRig&)> script;
    bool arrives;
    bool goes_again;
  } rows[] = {
      {"done", [](StageRig& rig) { rig.arm(kRestartSite, 200, {}, "{}"); }, true, true},
      {"done, answer lost", [](StageRig& rig) { rig.arm(kRestartSite, 200, {}, "{}"); }, false, false},
      {"refused", [](StageRig& rig) { rig.arm(kRestartSite, 403, {}, "{}"); }, false, true},
      {"failed within", [](StageRig& rig) { rig.arm(kRestartSite, 500, {}, "{}"); }, false, false},
      {"lost", [](StageRig& rig) { rig.arm_fails(kRestartSite, Sent::Maybe); }, true, false},
  };
  for (const auto& row : rows) {
    StageRig rig;
    row.script(rig);
    if (row.goes_again) rig.arm(kRestartSite, 200, {}, "{}");
    const auto first = rig.start("one", kRestartSite);
    rig.run_until([&] { return first->done; });
    if (row.arrives)
      first->receipt.confirm();
    else
      first->receipt.drop();
    const auto again = rig.ask("one", kRestartSite);
    EXPECT_EQ(again.head.status, row.goes_again ? 200 : 409) << row.why;
    EXPECT_EQ(rig.seen().size(), row.goes_again ? 2u : 1u) << row.why;
  }
}

TEST(RelayedAction, AnotherClientsIsAnother) {
  StageRig rig;
  rig.arm_fails(kRestartSite, Sent::Maybe);
  rig.arm(kRestartSite, 200, {}, "{}");
  rig.ask("one", kRestartSite);
  EXPECT_EQ(rig.ask("two", kRestartSite).head.status, 200);
}

TEST(RelayedAction, IsNotForwardedAgainWhileItRunsForAClientThatLeft) {
  StageRig rig;
  const arm::Headers id{{"x-ms-client-request-id", "r1"}};
  rig.arm_takes(std::chrono::seconds(5), kRestartSite, 200, {}, "{}");
  const auto first = rig.start("one", kRestartSite, "", id);
  rig.pass(std::chrono::seconds(1));
  first->link->leave(Leaving::Reset);
  EXPECT_THAT(rig.ask("one", kRestartSite, "", id).body, HasSubstr("ArmgateOutcomeUnknown"));
  rig.run_until([&] { return first->done; });
  EXPECT_THAT(rig.ask("one", kRestartSite, "", id).body, HasSubstr("ArmgateOutcomeUnknown"));
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(RelayedAction, OfALivingClientWithoutIdsIsASecondOne) {
  StageRig rig = many_actors();
  rig.arm_takes(std::chrono::seconds(5), kRestartSite, 200, {}, "{}");
  rig.arm(kRestartSite, 200, {}, "{}");
  const auto first = rig.start("jvm", kRestartSite);
  rig.pass(std::chrono::seconds(1));
  EXPECT_EQ(rig.ask("jvm", kRestartSite).head.status, 200);
  rig.run_until([&] { return first->done; });
}

TEST(RelayedAction, OnceAnsweredAndConfirmedIsANewOne) {
  StageRig rig;
  const arm::Headers id{{"x-ms-client-request-id", "r1"}};
  for (int i = 0; i < 3; ++i) {
    rig.arm(kRestartSite, 200, {}, "{}");
    EXPECT_EQ(rig.ask("one", kRestartSite, "", id).head.status, 200);
  }
}

}  // namespace
}  // namespace armgate::world::relayed_action_test
