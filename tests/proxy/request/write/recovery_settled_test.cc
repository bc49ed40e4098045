// Goal: a sending whose answer was lost, and that no precondition holds off, is decided by what is there once nothing can come of it any
// more. Method: an ARM that keeps one resource.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/proxy/request/write/recovery.h"

namespace armgate::world::recovery_settled_test {
namespace {

using recovery::kState;
using recovery::kWanted;
using std::chrono::seconds;

// What ARM does after the lost sending: the resource is `there` (empty: absent), and takes what comes.
struct AfterLoss {
  explicit AfterLoss(std::string is_there) : there(std::move(is_there)) {}

  StageRig rig;
  std::string there, etag;
  std::vector<std::string> writes;

  void begin() {
    rig.arm_lives([this](const arm::Request& request) {
      Step step;
      step.expected = request.head.method_token;
      if (request.head.method == arm::Method::Get) {
        step.status = there.empty() ? 404 : 200;
        if (!etag.empty()) step.fields = {{"ETag", etag}};
        step.body = there.empty() ? R"({"error":{"code":"ResourceNotFound","message":"m"}})" : there;
        return step;
      }
      writes.push_back(request.head.method_token);
      step.status = request.head.method == arm::Method::Delete ? 204 : 200;
      step.body = request.head.method == arm::Method::Delete ? "" : kWanted;
      there = step.body;
      return step;
    });
  }

  std::shared_ptr<StageRig::Running> lose_a_delete() {
    rig.arm_fails("DELETE ", Sent::Maybe);
    begin();
    return rig.start("one", "DELETE " + std::string(kScaleSet));
  }
};

TEST(LostAnswer, APutWithoutABaseIsDecidedByReading) {
  struct Case {
    std::string there;
    const char* reason;
    size_t writes;
    int64_t waits_s;
  };
  // What ARM adds to every resource and an empty array are nothing that the request would remove; tags are.
  const std::string as_shown = R"({"id":"/subscriptions/s","name":"n","type":"t","etag":"e","sku":{"capacity":5},"zones":[]})";
  const std::string with_more = R"({"id":"/subscriptions/s","name":"n","type":"t","sku":{"capacity":5},"tags":{"a":"1"}})";
  for (const Case& c : {Case{kWanted, "answer-recovered-by-reading", 0, 0}, Case{as_shown, "answer-recovered-by-reading", 0, 0},
                        Case{with_more, "answer-lost-state-unmoved", 1, 10}, Case{kState, "answer-lost-state-unmoved", 1, 10},
                        Case{"", "answer-lost-state-unmoved", 1, 10}}) {
    AfterLoss arm(c.there);
    arm.rig.arm_fails(put(kScaleSet), Sent::Maybe);
    arm.begin();
    const TimePoint before = arm.rig.now();
    const auto answer = arm.rig.ask("one", put(kScaleSet), kWanted);
    EXPECT_EQ(answer.head.status, 200) << c.there;
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), c.reason) << c.there;
    EXPECT_EQ(arm.writes.size(), c.writes) << c.there;
    EXPECT_EQ(std::chrono::duration_cast<seconds>(arm.rig.now() - before).count(), c.waits_s) << c.there;
  }
}

// Some types show what they were until the operation is over, which may be the lost sending's.
TEST(LostAnswer, APutIsDecidedOnlyWhenTheResourceIsNotBeingChangedAnyMore) {
  for (const bool is_guarded : {false, true}) {
    for (const bool etag_moves : {false, true}) {
      AfterLoss arm(kState);
      arm.etag = "\"1\"";
      arm.begin();
      if (is_guarded) arm.rig.ask("one", get(kScaleSet));
      arm.rig.arm_fails(put(kScaleSet), Sent::Maybe);
      arm.there = R"({"sku":{"capacity":1},"properties":{"provisioningState":"Updating"}})";
      if (etag_moves) arm.etag = "\"2\"";
      const auto running = arm.rig.start("one", put(kScaleSet), kWanted);
      arm.rig.pass(seconds(25));
      EXPECT_FALSE(running->done) << is_guarded << etag_moves;
      arm.there = kWanted;
      arm.etag = "\"2\"";
      arm.rig.run_until([&] { return running->done; });
      EXPECT_EQ(running->link->answer().head.status, 200) << is_guarded << etag_moves;
      EXPECT_EQ(running->link->answer().head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
      EXPECT_TRUE(arm.writes.empty()) << is_guarded << etag_moves;
    }
  }
}

// So that its client knows whether to look again.
TEST(LostAnswer, ADoubtTellsWhetherTheResourceIsStillBeingChanged) {
  for (const bool is_underway : {true, false}) {
    AfterLoss arm(is_underway ? R"({"sku":{"capacity":1},"properties":{"provisioningState":"Updating"}})" : kState);
    arm.etag = "\"2\"";
    arm.rig.arm_fails(put(kScaleSet), Sent::Maybe);
    arm.begin();
    const auto answer = arm.rig.ask("one", put(kScaleSet), kWanted, {{"If-Match", "\"1\""}});
    EXPECT_TRUE(says(answer, "ArmgateOutcomeUnknown")) << is_underway;
    EXPECT_EQ(says(answer, "is still being changed"), is_underway) << answer.body;
    EXPECT_EQ(says(answer, "does not show that the request was carried out"), !is_underway) << answer.body;
    EXPECT_TRUE(arm.writes.empty()) << is_underway;
  }
}

TEST(LostAnswer, ACreateIsDecidedByReading) {
  for (const bool is_made : {true, false}) {
    AfterLoss arm("");
    arm.begin();
    EXPECT_EQ(arm.rig.ask("one", get(kScaleSet)).head.status, 404);
    arm.rig.arm_fails(put(kScaleSet), Sent::Maybe);
    if (is_made) arm.there = kWanted;
    EXPECT_EQ(arm.rig.ask("one", put(kScaleSet), kWanted).head.status, 200);
    EXPECT_EQ(arm.writes.size(), is_made ? 0u : 1u);
  }
}

// No write can undo another here: whoever asks for what is there has got it.
TEST(LostAnswer, ARoleAssignmentThatIsThereIsDone) {
  const std::string assignment = "/subscriptions/s/providers/Microsoft.Authorization/roleAssignments/r?api-version=2022-04-01";
  const std::string wanted = R"({"properties":{"principalId":"p","roleDefinitionId":"/subscriptions/s/roles/owner"}})";
  const std::string there =
      R"({"name":"r","properties":{"principalId":"p","roleDefinitionId":"/subscriptions/s/roles/owner","scope":"/subscriptions/s"}})";
  StageRig rig;
  rig.arm(get(assignment), 404);
  rig.arm_fails(put(assignment), Sent::Maybe);
  rig.arm(get(assignment), 200, {}, there);
  rig.ask("one", get(assignment));
  const auto answer = rig.ask("one", put(assignment), wanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.body, there);
  EXPECT_TRUE(rig.script_is_done()) << "it is not sent again";
}

TEST(LostAnswer, OfAClientsOwnPreconditionADoubtStaysWhereItIsBroken) {
  StageRig rig;
  rig.arm_fails(put(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), kState);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted, {{"If-Match", "\"1\""}});
  EXPECT_TRUE(says(answer, "ArmgateOutcomeUnknown"));
  EXPECT_TRUE(rig.script_is_done());
  StageRig harmless;
  harmless.arm_fails(put(kScaleSet), Sent::Maybe);
  harmless.arm(get(kScaleSet), 200, etag("\"1\""), kState);
  harmless.arm(put(kScaleSet), 200, etag("\"2\""), kWanted);
  EXPECT_EQ(harmless.ask("one", put(kScaleSet), kWanted, {{"If-Match", "\"1\""}}).head.status, 200);
  EXPECT_TRUE(harmless.script_is_done());
}

// The lost one may yet remove what somebody makes after the second.
TEST(LostAnswer, ADeleteGoesAgainOnlyWhenTheLostOneCannotComeAnyMore) {
  AfterLoss arm(kState);
  const auto running = arm.lose_a_delete();
  arm.rig.pass(seconds(9));
  EXPECT_TRUE(arm.writes.empty());
  arm.rig.run_until([&] { return running->done; });
  EXPECT_EQ(running->link->answer().head.status, 204);
  EXPECT_EQ(running->link->answer().head.fields.get("x-armgate-reason"), "answer-lost-state-unmoved");
  EXPECT_EQ(arm.writes.size(), 1u);
}

TEST(LostAnswer, ADeleteWhoseClientHasLeftKeepsOthersOff) {
  AfterLoss arm(kState);
  const auto running = arm.lose_a_delete();
  arm.rig.pass(seconds(1));
  running->link->leave(world::Leaving::Reset);
  arm.rig.run_until([&] { return running->done; });
  arm.rig.ask("two", get(kScaleSet));
  const auto next = arm.rig.ask("two", put(kScaleSet), kWanted);
  EXPECT_EQ(next.head.status, 200) << next.body;
  EXPECT_EQ(next.head.fields.get("x-armgate-waited-ms"), "10000");
}

}  // namespace
}  // namespace armgate::world::recovery_settled_test
