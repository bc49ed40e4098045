// Goal: what the record says of a write after ARM's answer, and whether its lease stays. Method: a table of answers, and a journal that
// is read back.
#include "proxy/request/write/settle.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/stage_rig.h"

namespace armgate::world::settle_test {
namespace {

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kRunning = R"({"properties":{"provisioningState":"Updating"}})";
const std::string kRefusal = R"({"error":{"code":"InvalidParameter","message":"m"}})";
const std::string kPatch = patch(kScaleSet);
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1";

TEST(Settle, TheRecordSaysWhatTheAnswerMeant) {
  using Kind = OutcomeKind;
  const struct {
    const char* why;
    std::function<void(StageRig&)> script;
    Kind kind;
    int status;
    bool runs;
    arm::Progress how;
    const char* code;
  } rows[] = {
      {"done", [](StageRig& rig) { rig.arm(kPatch, 200, {}, kState); }, Kind::Answered, 200, false, arm::Progress::Succeeded,
       ""},
      {"operation",
       [](StageRig& rig) {
         rig.arm(kPatch, 202, {{"Azure-AsyncOperation", kOperation}});
       },
       Kind::Answered, 202, true, arm::Progress::Unknown, ""},
      {"in motion", [](StageRig& rig) { rig.arm(kPatch, 200, {}, kRunning); }, Kind::Answered, 200, true,
       arm::Progress::Unknown, ""},
      {"refused", [](StageRig& rig) { rig.arm(kPatch, 400, {}, kRefusal); }, Kind::Answered, 400, false, arm::Progress::Unknown,
       "InvalidParameter"},
      {"not reached",
       [](StageRig& rig) {
         for (int i = 0; i < 3; ++i) rig.arm_fails(kPatch, Sent::No);
       },
       Kind::NotSent, 502, false, arm::Progress::Unknown, ""},
  };
  for (const auto& row : rows) {
    SimJournal journal;
    StageRig rig(journal);
    row.script(rig);
    rig.ask("one", kPatch, R"({"sku":{"capacity":2}})");
    ASSERT_EQ(journal.writes().size(), 1u) << row.why;
    const JournaledWrite& write = journal.writes().begin()->second;
    ASSERT_TRUE(write.outcome.has_value()) << row.why;
    EXPECT_EQ(write.outcome->kind, row.kind) << row.why;
    EXPECT_EQ(write.outcome->status, row.status) << row.why;
    EXPECT_EQ(write.is_open(), row.runs) << row.why;
    EXPECT_EQ(rig.shared().op_leases.size(), row.runs ? 1u : 0u) << row.why;
    EXPECT_EQ(write.result.how, row.how) << row.why;
    EXPECT_EQ(write.result.error.code, row.code) << row.why;
  }
}

TEST(Settle, WhoseAnswerWasLostIsInDoubt) {
  SimJournal journal;
  StageRig rig(journal);
  const std::string restart = "POST " + std::string(kRestart);
  rig.arm_fails(restart, Sent::Maybe);
  EXPECT_EQ(rig.ask("one", restart).head.status, 409);
  ASSERT_EQ(journal.writes().size(), 1u);
  EXPECT_EQ(journal.writes().begin()->second.outcome->kind, OutcomeKind::InDoubt);
  EXPECT_EQ(rig.shared().op_leases.size(), 1u) << "it may be running";
}

// The ETag of an AKS cluster covers none of its pools, so a PUT of it that is late would take back what was written to a pool meanwhile.
TEST(Settle, AnEtagThatCoversNotAllHoldsNothingOffThatIsLate) {
  const std::string cluster = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c";
  const std::string version = "?api-version=2025-10-01";
  const std::string pool = put(cluster + "/agentPools/blue" + version);
  const std::string shown =
      R"({"eTag":"e1","properties":{"provisioningState":"Succeeded","agentPoolProfiles":[{"name":"blue","count":1}]}})";
  StageRig rig;
  rig.arm(get(cluster), 200, {}, shown);
  rig.ask("one", get(cluster + version));
  rig.arm(get(cluster), 200, {}, shown);  // compared
  rig.arm_fails(put(cluster), Sent::Maybe);
  rig.arm(get(cluster), 200, {}, shown);  // it has not moved
  rig.arm(put(cluster), 400, {}, R"({"error":{"code":"InvalidParameter"}})");
  const auto answer = rig.ask("one", put(cluster + version),
                              R"({"tags":{"a":"1"},"properties":{"agentPoolProfiles":[{"name":"blue","count":1}]}})");
  EXPECT_EQ(answer.head.status, 400);
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "e1");
  const TimePoint then = rig.now();
  rig.arm_lives([&](const arm::Request& request) {
    EXPECT_TRUE(request.head.method == arm::Method::Get || rig.now() - then >= std::chrono::seconds(9));
    Step step;
    step.body = shown;
    return step;
  });
  EXPECT_EQ(rig.ask("two", pool, R"({"properties":{"count":2}})").head.status, 200);
}

// Where no ETag tells, a PATCH that takes effect late is wiped out by the replacement of whoever has looked before.
TEST(Settle, ALostPatchKeepsReplacementsOffWhereNoEtagIsShown) {
  const std::string without = R"({"sku":{"capacity":1},"tags":{},"properties":{"provisioningState":"Succeeded"}})";
  for (const bool has_etag : {false, true}) {
    const std::string& shown = has_etag ? kState : without;
    StageRig rig;
    TimePoint sent{};
    rig.arm_lives([&](const arm::Request& request) {
      Step step;
      step.body = shown;
      if (request.head.method == arm::Method::Patch)
        step.failure = upstream_error(ErrorKind::Reset, Sent::Maybe, "the script says so");
      if (request.head.method == arm::Method::Put) sent = rig.now();
      return step;
    });
    rig.ask("two", get(kScaleSet));
    EXPECT_EQ(rig.ask("one", kPatch, R"({"tags":{"a":"1"}})").head.status, 409) << "the outcome is unknown";
    const TimePoint then = rig.now();
    EXPECT_EQ(rig.ask("two", put(kScaleSet), R"({"sku":{"capacity":2},"tags":{}})").head.status, 200);
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(sent - then);
    EXPECT_EQ(waited >= std::chrono::seconds(9), !has_etag) << waited.count();
  }
}

}  // namespace
}  // namespace armgate::world::settle_test
