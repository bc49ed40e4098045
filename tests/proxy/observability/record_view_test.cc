// Goal: a record is told in the words of docs/journal.md, "Did it run?", and nothing secret of it. Method: a table of what is known of a
// write, and one record with everything.
#include "proxy/observability/record_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/tree.h"

namespace armgate {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr WallTime kBegun = WallTime(milliseconds(1767225600007));

WriteOutcome answered(int status, arm::TrackedBy by = arm::TrackedBy::Nothing) {
  WriteOutcome outcome;
  outcome.status = status;
  outcome.tracking.by = by;
  outcome.known = kBegun + milliseconds(20);
  return outcome;
}

WriteOutcome without_answer(OutcomeKind kind) {
  WriteOutcome outcome;
  outcome.kind = kind;
  return outcome;
}

TEST(RecordView, TheStateOfAWriteIsOneWord) {
  using arm::Progress;
  using arm::TrackedBy;
  const struct {
    const char* state;
    std::optional<WriteOutcome> outcome;
    bool ended;
    Progress result = Progress::Unknown;
    bool given_up = false;
  } rows[] = {
      {"no-answer", std::nullopt, false},
      {"no-answer-settled", std::nullopt, true},
      {"not-sent", without_answer(OutcomeKind::NotSent), true},
      {"in-doubt", without_answer(OutcomeKind::InDoubt), false},
      {"in-doubt-settled", without_answer(OutcomeKind::InDoubt), true},
      {"running", answered(202), false},
      {"done", answered(200), true, Progress::Succeeded},
      {"failed", answered(200), true, Progress::Failed},
      {"canceled", answered(202), true, Progress::Canceled},
      {"ended", answered(202), true, Progress::Unknown},
      {"given-up", answered(202), true, Progress::Unknown, true},
      {"refused", answered(409), true},
      {"in-doubt", answered(503), false},
      {"in-doubt-settled", answered(503, TrackedBy::ResourceState), true},
  };
  for (const auto& row : rows) {
    JournaledWrite write;
    write.outcome = row.outcome;
    write.result.how = row.result;
    write.given_up = row.given_up;
    if (row.ended) write.ended = kBegun;
    EXPECT_EQ(to_json(write)["state"], row.state) << to_json(write);
  }
}

TEST(RecordView, TellsWhatIsKnownWithoutSecrets) {
  JournaledWrite write;
  write.id = 7;
  write.method = "PUT";
  write.path = "/subscriptions/s";
  write.client_label = "nightly";
  write.begun = kBegun;
  write.ended = kBegun + milliseconds(1500);
  write.touched = "/tags/a\n/sku";
  write.replays = 2;
  write.outcome = answered(201, arm::TrackedBy::StatusUrl);
  write.outcome->tracking.status_url = "https://management.azure.com/subscriptions/s/operations/1?api-version=1&sig=SECRET";
  write.outcome->merged = 1;
  const json told = to_json(write);
  EXPECT_EQ(told["begun"], "2026-01-01T00:00:00.007Z");
  EXPECT_EQ(told["took_ms"], 1500);
  EXPECT_EQ(told["changed"], json::parse(R"(["/tags/a", "/sku"])"));
  EXPECT_EQ(told["replays"], 2);
  EXPECT_EQ(told["merged"], 1);
  EXPECT_EQ(told["status"], 201);
  EXPECT_EQ(told["operation"], "management.azure.com/subscriptions/s/operations/1");
  EXPECT_THAT(told.dump(), testing::Not(testing::HasSubstr("SECRET")));
  for (const char* unknown : {"tool", "error_code", "message_code"}) EXPECT_FALSE(told.contains(unknown)) << unknown;
}

TEST(RecordView, TheOldestComesFirst) {
  std::vector<JournaledWrite> newest_first(2);
  newest_first[0].id = 2;
  newest_first[1].id = 1;
  const json told = to_json(newest_first, ResourceState{"/subscriptions/s", "Failed", kBegun});
  EXPECT_EQ(told["writes"][0]["id"], 1);
  EXPECT_EQ(told["writes"][1]["id"], 2);
  EXPECT_EQ(told["state"]["provisioning_state"], "Failed");
  EXPECT_FALSE(to_json(newest_first, std::nullopt).contains("state"));
}

}  // namespace
}  // namespace armgate
