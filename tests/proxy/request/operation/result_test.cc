// What becomes known of how operations end, and of the states of their resources.
#include "proxy/request/operation/result.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/request/operation/unlock.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::result_test {
namespace {

const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1";
const std::string kPoll = "GET /subscriptions/s/operations/1";
const std::string kPatch = patch(kScaleSet);
const std::string kFailed = R"({"status":"Failed","error":{"code":"Bad","message":"Code=\"Worse\" Message=\"secret words\""}})";

JournaledWrite only_write(const SimJournal& journal) {
  const PreviousProcess former = journal.previous_process(std::chrono::hours(1));
  EXPECT_EQ(former.recent.size() + former.open.size(), 1u);
  return former.recent.empty() ? former.open.at(0) : former.recent.at(0);
}

TEST(OperationResult, IsLearntFromTheClientsPollsAndIsOneHoweverOftenItIsPolled) {
  SimJournal journal;
  StageRig rig(journal);
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.ask("one", kPatch, R"({"a":1})", {{"User-Agent", "Terraform/1.9"}});
  for (int i = 0; i < 50; ++i) {
    rig.arm(kPoll, 200, {}, kFailed);
    rig.ask("one", kPoll);
  }
  const JournaledWrite write = only_write(journal);
  EXPECT_EQ(write.result.how, arm::Progress::Failed);
  EXPECT_EQ(write.result.error, (arm::ErrorCodes{"Bad", "Worse"}));
  EXPECT_EQ(write.tool, "Terraform/1.9");
  const auto counts = rig.shared().results.counts();
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].type, "microsoft.compute/virtualmachinescalesets");
  EXPECT_EQ(counts[0].count, 1u);
  EXPECT_EQ(rig.shared().results.last().size(), 1u);
}

TEST(OperationResult, IsLearntFromArmgatesOwnPolls) {
  SimJournal journal;
  StageRig rig(journal);
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.arm(kPoll, 200, {}, R"({"status":"Canceled","error":{"code":"Canceled","details":[{"code":"Superseded"}]}})");
  rig.ask("one", kPatch, R"({"a":1})");
  rig.pass(std::chrono::minutes(2));
  const JournaledWrite write = only_write(journal);
  EXPECT_EQ(write.result.how, arm::Progress::Canceled);
  EXPECT_EQ(write.result.error, (arm::ErrorCodes{"Canceled", "Superseded"}));
}

TEST(OperationResult, OfALocationIsInItsErrorAnswer) {
  SimJournal journal;
  StageRig rig(journal);
  rig.arm(kPatch, 202, {{"Location", kOperation}});
  rig.arm(kPoll, 409, {}, R"({"error":{"code":"Conflict","message":"no"}})");
  rig.ask("one", kPatch, R"({"a":1})");
  rig.ask("one", kPoll);
  EXPECT_EQ(only_write(journal).result.how, arm::Progress::Failed);
  EXPECT_EQ(only_write(journal).result.error.code, "Conflict");
}

TEST(OperationResult, AnAnswerThatIsTheEndTellsIt) {
  SimJournal journal;
  StageRig rig(journal);
  rig.arm(kPatch, 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.ask("one", kPatch, R"({"a":1})");
  EXPECT_EQ(only_write(journal).result.how, arm::Progress::Succeeded);
}

TEST(OperationResult, ASuccessThatShowsAFailedResourceIsNone) {
  SimJournal journal;
  StageRig rig(journal);
  rig.arm(kPatch, 200, {}, R"({"properties":{"provisioningState":"Failed"}})");
  rig.ask("one", kPatch, R"({"a":1})");
  EXPECT_EQ(only_write(journal).result.how, arm::Progress::Failed);
}

TEST(OperationResult, WhatWasReleasedUnseenHasNone) {
  SimJournal journal;
  StageRig rig(journal);
  rig.arm_lives([](const arm::Request&) {
    Step step;
    step.status = 503;
    return step;
  });
  rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
  rig.ask("one", kPatch, R"({"a":1})");
  rig.pass(std::chrono::hours(2));
  EXPECT_TRUE(only_write(journal).given_up);
  EXPECT_EQ(only_write(journal).result.how, arm::Progress::Unknown);
  EXPECT_EQ(rig.shared().results.counts().at(0).how, arm::Progress::Unknown);
}

TEST(OperationResult, FailuresOfAnEarlierProcessCount) {
  SimJournal journal;
  for (int life = 0; life < 2; ++life) {
    StageRig rig(journal);
    for (int i = 0; i < 5; ++i) {
      rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
      rig.arm(kPoll, 200, {}, kFailed);
      rig.ask("one", kPatch, R"({"a":1})");
      rig.ask("one", kPoll);
    }
  }
  const auto sick = [](StageRig& rig) {
    return rig.shared().results.sick(rig.now(), [](const Hash128&) { return false; }).size();
  };
  {
    StageRig rig(journal);
    EXPECT_EQ(sick(rig), 1u);
    rig.arm(kPatch, 200, {}, "{}");
    rig.ask("one", kPatch, R"({"a":1})");
  }
  StageRig rig(journal);
  EXPECT_EQ(sick(rig), 0u) << "it was well when the process before ended";
}

TEST(ResourceState, IsSeenInAnswersAndInReadsOfWhatIsNotWell) {
  StageRig rig;
  const std::string read = get(kScaleSet);
  const auto key =
      rig.shared().locks.key_of("/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v");
  const auto state = [&] {
    const auto known = rig.shared().results.state_of(key);
    return known ? known->state : "";
  };
  rig.arm(read, 200, {}, R"({"properties":{"provisioningState":"Updating"}})");
  rig.ask("one", read);
  EXPECT_EQ(state(), "") << "nothing is known of it that is not well";
  rig.arm(kPatch, 200, {{"Azure-AsyncOperation", kOperation}}, R"({"properties":{"provisioningState":"Updating"}})");
  rig.ask("one", kPatch, R"({"a":1})");
  EXPECT_EQ(state(), "Updating");
  rig.arm(kPoll, 200, {}, kFailed);
  rig.ask("one", kPoll);
  EXPECT_EQ(state(), "") << "whether it is at work still is not known";
  rig.arm(read, 200, {}, R"({"properties":{"provisioningState":"Failed"}})");
  rig.ask("one", read);
  EXPECT_EQ(state(), "Failed");
  rig.arm(kPatch, 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.ask("one", kPatch, R"({"a":2})");
  EXPECT_EQ(state(), "Succeeded");
  EXPECT_FALSE(rig.shared().results.is_watched(key));
}

TEST(ResourceState, OutlivesTheProcessUntilItIsSeenToHavePassed) {
  const auto key_in = [](StageRig& rig) {
    return rig.shared().locks.key_of("/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v");
  };
  SimJournal journal;
  WallTime since{};
  {
    StageRig rig(journal);
    rig.arm(kPatch, 200, {{"Azure-AsyncOperation", kOperation}}, R"({"properties":{"provisioningState":"Updating"}})");
    rig.ask("one", kPatch, R"({"a":1})");
    since = rig.shared().results.state_of(key_in(rig))->since;
  }
  StageRig rig(journal);
  rig.pass(std::chrono::hours(1));
  const auto known = rig.shared().results.state_of(key_in(rig));
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->state, "Updating");
  EXPECT_EQ(known->since, since);
  rig.arm(get(kScaleSet), 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.ask("two", get(kScaleSet));
  EXPECT_EQ(rig.shared().results.state_of(key_in(rig))->state, "Succeeded");
  EXPECT_TRUE(journal.previous_process(std::chrono::hours(1)).states.empty()) << "the journal is told, too";
}

// An operator let others in; nobody saw how it went on.
TEST(ResourceState, OutlivesAReleaseToo) {
  SimJournal journal;
  {
    StageRig rig(journal);
    const Hash128 key =
        rig.shared().locks.key_of("/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v");
    rig.arm(kPatch, 200, {{"Azure-AsyncOperation", kOperation}}, R"({"properties":{"provisioningState":"Updating"}})");
    rig.ask("one", kPatch, R"({"a":1})");
    EXPECT_EQ(unlock(rig.parts(), key, "operator").released.size(), 1u);
    rig.pass(std::chrono::seconds(1));
  }
  StageRig rig(journal);
  rig.pass(std::chrono::hours(2));
  const auto sick = rig.shared().results.sick(rig.now(), [](const Hash128&) { return false; });
  ASSERT_EQ(sick.size(), 1u);
  EXPECT_EQ(sick[0].why, OperationResults::Sick::Why::Stuck);
}

}  // namespace
}  // namespace armgate::world::result_test
